// The fingerprint of an algorithm: a hash of its structure with names left out.
//
// Every expression node becomes a line that refers to its operands by the numbers of their lines; equal lines
// get one number, so the text does not depend on which equal nodes happen to be shared. Symbols, inputs and
// Funcs are numbered where they first appear, depth first from the outputs. The hash of the text is the
// fingerprint.

#include <fmt/format.h>

#include <bit>
#include <map>
#include <string_view>

#include "lang/graph.h"

namespace calotype::lang {

namespace {

class StructureText {
 public:
  explicit StructureText(const Graph& graph) : graph_(graph) {}

  std::string operator()() {
    for (const OutputDef& output : graph_.outputs) {
      const int func = func_number(output.func.value);
      text_ +=
          fmt::format("output f{}{} {}", func, component(output.component), output.sized ? "sized" : "free");
      if (output.sized) text_ += numbers(output.extents);
      text_ += '\n';
    }
    return text_;
  }

 private:
  /// The number of a Func, whose definitions are written when it is first asked for.
  int func_number(int id) {
    const auto found = funcs_.find(id);
    if (found != funcs_.end()) return found->second;
    const FuncDef& func = graph_.funcs[id];
    std::string definition = fmt::format("{}/{}", func.type_text(), func.rank());
    const int number = static_cast<int>(funcs_.size());
    funcs_.emplace(id, number);
    for (const StageDef& stage : func.stages) definition += stage_text(func, stage);
    text_ += fmt::format("func f{} {}\n", number, definition);
    return number;
  }

  std::string stage_text(const FuncDef& func, const StageDef& stage) {
    // Coordinates have numbers within their stage only.
    const std::map<const ir::Symbol*, std::string> outer = std::exchange(coordinates_, {});
    for (int d = 0; d < func.rank(); ++d) coordinates_[func.args[d].get()] = fmt::format("v{}", d);
    for (std::size_t d = 0; d < stage.reduction.size(); ++d) {
      coordinates_[stage.reduction[d].symbol.get()] = fmt::format("r{}", d);
    }
    std::string text = fmt::format("; {} =", number(stage.value));
    text += numbers(stage.lhs);
    for (const ReductionDim& dim : stage.reduction)
      text += fmt::format(" [{}]", numbers({dim.min, dim.extent}));
    if (stage.predicate.defined()) text += fmt::format(" where {}", number(stage.predicate));
    coordinates_ = outer;
    return text;
  }

  std::string numbers(const std::vector<Expr>& exprs) {
    std::string text;
    for (const Expr& e : exprs) text += fmt::format(" {}", number(e));
    return text;
  }

  int number(const Expr& e) {
    std::map<const ir::ExprNode*, int> done;  // within one expression; asked for membership only
    ir::visit(e, [&](const Expr& node) {
      std::string line = fmt::format("{} {}{}", ir::info(node->op).name, node->type.str(), attribute(node));
      for (const Expr& arg : node->args) line += fmt::format(" {}", done.at(arg.node().get()));
      done[node.node().get()] = line_number(line);
    });
    return done.at(e.node().get());
  }

  int line_number(const std::string& line) {
    const auto [place, is_new] = lines_.emplace(line, static_cast<int>(lines_.size()));
    if (is_new) text_ += fmt::format("{} {}\n", place->second, line);
    return place->second;
  }

  static std::string component(int c) { return c == 0 ? "" : fmt::format(".{}", c); }

  std::string attribute(const Expr& node) {
    if (const auto* value = std::get_if<std::int64_t>(&node->attr)) return fmt::format(" #{}", *value);
    if (const auto* value = std::get_if<double>(&node->attr)) {
      return fmt::format(" #{:016x}", std::bit_cast<std::uint64_t>(*value));
    }
    if (ir::is(node, ir::Op::Variable) || ir::is(node, ir::Op::Let)) return " " + symbol(ir::symbol_of(node));
    if (ir::is(node, ir::Op::Extern)) return function(*ir::extern_of(node));
    if (!ir::is(node, ir::Op::Call)) return "";
    const ir::CalleePtr& callee = ir::callee_of(node);
    if (callee->kind == ir::CalleeKind::Func)
      return fmt::format(" f{}{}", func_number(callee->index), component(callee->component));
    return fmt::format(" i{}", input_number(callee->index));
  }

  static std::string function(const ir::Extern& callee) {
    std::string text = " " + callee.function.name;
    for (const Type& type : callee.types) text += " " + type.str();
    return fmt::format("{} of {}", text, callee.reads);
  }

  int input_number(int id) {
    const auto found = inputs_.find(id);
    if (found != inputs_.end()) return found->second;
    const int assigned = static_cast<int>(inputs_.size());
    inputs_.emplace(id, assigned);
    const InputDef& input = graph_.inputs[id];
    text_ += fmt::format("input i{} {}{}\n", assigned, input.type.str(), numbers(input.extents));
    return assigned;
  }

  std::string symbol(const ir::SymbolPtr& s) {
    const auto coordinate = coordinates_.find(s.get());
    if (coordinate != coordinates_.end()) return coordinate->second;
    const char* prefix = s->kind == ir::SymbolKind::Dim ? "d" : "p";
    const auto [at, is_new] = symbols_.emplace(s.get(), symbols_.size());
    const std::size_t number = at->second;
    if (is_new) add_range(s, number);
    return fmt::format("{}{}", prefix, number);
  }

  void add_range(const ir::SymbolPtr& s, std::size_t number) {
    for (const ParamDef& p : graph_.params)
      if (p.symbol == s && p.low)
        text_ += fmt::format("range p{} #{:016x} #{:016x}\n", number, std::bit_cast<std::uint64_t>(*p.low),
                             std::bit_cast<std::uint64_t>(*p.high));
  }

  const Graph& graph_;
  std::string text_;
  std::map<std::string, int> lines_;
  std::map<int, int> funcs_, inputs_;
  // Keyed by address for look-up alone: numbers follow the order of first use.
  std::map<const ir::Symbol*, std::size_t> symbols_;
  std::map<const ir::Symbol*, std::string> coordinates_;
};

/// FNV-1a of 64 bits with a final mix, so that short texts differ in all digits.
std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9;
  h = (h ^ (h >> 27)) * 0x94d049bb133111eb;
  return h ^ (h >> 31);
}

}  // namespace

std::string structure_hash(const Graph& graph) {
  return fmt::format("h1:{:016x}", hash_text(StructureText(graph)()));
}

}  // namespace calotype::lang
