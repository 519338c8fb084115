// The operators that an algorithm is made of, as a library of array operations would name them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analyze/traffic.h"

namespace calotype::analyze {
namespace {

struct ByStructure {
  bool operator()(const Expr& a, const Expr& b) const { return ir::compare(a, b) < 0; }
};

bool is_conversion(const Expr& e) {
  return ir::is(e, ir::Op::Cast) || ir::is(e, ir::Op::Strict) || ir::is(e, ir::Op::Likely);
}

/// An array that an expression depends on: a Func or input, the result of an operation of the same
/// expression, or nothing.
struct Operand {
  enum class Kind { Nothing, Source, Operation } kind = Kind::Nothing;
  int index = 0;  ///< Source: among the sources met; Operation: among the operations
  auto operator<=>(const Operand&) const = default;
  bool is_array() const { return kind != Kind::Nothing; }
};

/// One operation of an expression with the arrays it depends on.
struct Operation {
  Expr node;
  std::vector<Operand> operands;
};

/// Cuts one expression into operations.
class Cutter {
 public:
  /// `same_array`: the source whose elements a Call gives, through Funcs that only read.
  template <class F>
  Cutter(F same_array, std::function<bool(const Expr&)> belongs_to_operand)
      : same_array_(same_array), belongs_to_operand_(std::move(belongs_to_operand)) {}

  Operand cut(const Expr& e) {
    if (const auto known = known_.find(e); known != known_.end()) return known->second;
    const Operand operand = fresh(e);
    known_.emplace(e, operand);
    return operand;
  }

  const std::vector<Operation>& operations() const { return operations_; }
  const std::vector<Source>& sources() const { return sources_; }
  /// Which of an operation's operands a node is the value of, if any.
  std::optional<Operand> operand_of(const Expr& e, const Operation& operation) const {
    const auto at = known_.find(e);
    if (at == known_.end() || e.same_as(operation.node)) return std::nullopt;
    const std::vector<Operand>& all = operation.operands;
    return std::find(all.begin(), all.end(), at->second) == all.end() ? std::nullopt
                                                                      : std::optional(at->second);
  }

 private:
  Operand fresh(const Expr& e) {
    if (ir::is(e, ir::Op::Call)) return call(e);
    std::vector<Operand> operands;
    for (const Expr& arg : e->args) {
      const Operand operand = cut(arg);
      if (operand.is_array()) operands.push_back(operand);
    }
    if (operands.empty()) return {};
    if (is_conversion(e) || belongs_to_operand_(e)) return operands.front();
    if (operands.size() > 1)
      if (const std::optional<Operand> common = common_origin(operands)) operands = {*common};
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    operations_.push_back({e, operands});
    return {Operand::Kind::Operation, static_cast<int>(operations_.size()) - 1};
  }

  Operand call(const Expr& e) {
    const Operand array = source(same_array_(e));
    std::vector<Operand> operands = {array};
    for (const Expr& coordinate : e->args)
      if (const Operand index = cut(coordinate); index.is_array()) operands.push_back(index);
    if (operands.size() == 1) return array;
    operations_.push_back({e, operands});  // a gather
    return {Operand::Kind::Operation, static_cast<int>(operations_.size()) - 1};
  }

  Operand source(const Source& source) {
    auto at = std::find(sources_.begin(), sources_.end(), source);
    if (at == sources_.end()) at = sources_.insert(at, source);
    return {Operand::Kind::Source, static_cast<int>(at - sources_.begin())};
  }

  /// The operand, and what it is computed from as long as that is one array alone.
  std::vector<Operand> chain(Operand operand) const {
    std::vector<Operand> chain = {operand};
    while (operand.kind == Operand::Kind::Operation && operations_[operand.index].operands.size() == 1) {
      operand = operations_[operand.index].operands.front();
      chain.push_back(operand);
    }
    return chain;
  }

  /// The nearest array from which all of them are computed, and from no other.
  std::optional<Operand> common_origin(const std::vector<Operand>& operands) const {
    for (const Operand& candidate : chain(operands.front())) {
      const auto leads_there = [&](const Operand& operand) {
        const std::vector<Operand> way = chain(operand);
        return std::find(way.begin(), way.end(), candidate) != way.end();
      };
      if (std::all_of(operands.begin(), operands.end(), leads_there)) return candidate;
    }
    return std::nullopt;
  }

  std::function<Source(const Expr&)> same_array_;
  std::function<bool(const Expr&)> belongs_to_operand_;
  std::map<Expr, Operand, ByStructure> known_;
  std::vector<Operation> operations_;
  std::vector<Source> sources_;
};

class Operators {
 public:
  Operators(const Graph& graph, const Constants& constants) : graph_(graph), footprint_(graph, constants) {
    for (const lang::FuncDef& func : graph.funcs) count_uses(func);
  }

  std::vector<Work> run() {
    for (const lang::FuncDef& func : graph_.funcs) {
      if (!footprint_.needed(func.id) || is_alias(func)) continue;
      const std::size_t first = absorbs_start(func) ? 1 : 0;
      for (std::size_t s = first; s < func.stages.size(); ++s) add_stage(func, static_cast<int>(s));
    }
    return std::move(works_);
  }

 private:
  // --- what a Func is to those that read it

  void count_uses(const lang::FuncDef& func) {
    std::set<Expr, ByStructure> calls;
    for (const lang::StageDef& stage : func.stages)
      ir::visit(stage.value, [&](const Expr& e) {
        if (ir::is(e, ir::Op::Call) && ir::callee_of(e)->kind == ir::CalleeKind::Func &&
            ir::callee_of(e)->index != func.id.value)
          calls.insert(e);
      });
    for (const Expr& call : calls) ++uses_[ir::callee_of(call)->index];
  }

  static bool reads_anything(const Expr& e) {
    return ir::any_of(e, [](const Expr& node) { return ir::is(node, ir::Op::Call); });
  }

  static Expr without_conversions(Expr e) {
    while (is_conversion(e)) e = e->args.front();
    return e;
  }

  /// A Func whose values are those of another, elsewhere: a conversion or a boundary condition.
  bool is_alias(const lang::FuncDef& func) const {
    return func.stages.size() == 1 && !func.is_tuple() && !graph_.is_output(func.id) &&
           ir::is(without_conversions(func.stages[0].value), ir::Op::Call);
  }

  Source same_array(const Expr& call) const {
    const Source source = source_of(call);
    if (source.kind == ir::CalleeKind::Input) return source;
    const lang::FuncDef& func = graph_.funcs[source.index];
    return is_alias(func) ? same_array(without_conversions(func.stages[0].value)) : source;
  }

  /// A reduction starts from a constant or from elements of what it reads: no operator of its own.
  static bool absorbs_start(const lang::FuncDef& func) {
    if (func.stages.size() == 1) return false;
    const std::vector<Expr> start = func.stages[0].values();
    return std::all_of(start.begin(), start.end(), [](const Expr& e) {
      return ir::is(without_conversions(e), ir::Op::Call) || !reads_anything(e);
    });
  }

  /// The division of a sum by a constant, where nothing else reads the sum.
  bool is_mean(const Expr& e) const {
    if (!ir::is(e, ir::Op::Div) && !ir::is(e, ir::Op::Mul)) return false;
    const Expr sum = without_conversions(e->args[0]);
    if (!ir::is(sum, ir::Op::Call) || ir::callee_of(sum)->kind != ir::CalleeKind::Func) return false;
    const lang::FuncDef& func = graph_.funcs[ir::callee_of(sum)->index];
    return !reads_anything(e->args[1]) && func.stages.size() == 2 &&
           func.stages[1].reduce_op == ir::Op::Add && uses_.at(func.id.value) == 1;
  }

  // --- stages

  void add_stage(const lang::FuncDef& func, int index) {
    const lang::StageDef& stage = func.stages[index];
    if (index == 0 && !func.is_tuple() && !func.is_extern()) return add_pure(func, stage);
    if (stage.reduce_op && !func.is_tuple()) return add_reduction(func, index);
    add_whole(func, index);
  }

  Cutter cutter() const {
    return Cutter([this](const Expr& call) { return same_array(call); },
                  [this](const Expr& e) { return is_mean(e); });
  }

  void add_pure(const lang::FuncDef& func, const lang::StageDef& stage) {
    Cutter cut = cutter();
    const Operand result = cut.cut(stage.value);
    const lang::Ranges loops = footprint_.loops(func.id, 0);
    if (result.kind != Operand::Kind::Operation) {  // a copy, or values from nothing
      Work work{.name = func.name, .text = ir::to_string(stage.value)};
      work.read = footprint_.bytes(reads({stage.value}, loops));
      work.operations = arithmetic(stage.value) * footprint_.points(func.id, 0);
      work.written = footprint_.bytes(func.id);
      works_.push_back(std::move(work));
      return;
    }
    add_operations(func.name, cut, result, loops);
    works_.back().written = footprint_.bytes(func.id);
  }

  /// The operations that `result` needs, in order; it comes last.
  void add_operations(const std::string& name, const Cutter& cut, const Operand& result,
                      const lang::Ranges& loops) {
    std::vector<bool> live(cut.operations().size());
    live[result.index] = true;
    for (int i = result.index; i >= 0; --i)
      if (live[i])
        for (const Operand& operand : cut.operations()[i].operands)
          if (operand.kind == Operand::Kind::Operation) live[operand.index] = true;
    std::map<int, std::string> names;
    for (int i = 0; i <= result.index; ++i) {
      if (!live[i]) continue;
      names[i] = i == result.index ? name : fmt::format("{}.{}", name, names.size() + 1);
      add_operation(names, cut, i, loops);
    }
  }

  void add_operation(const std::map<int, std::string>& names, const Cutter& cut, int index,
                     const lang::Ranges& loops) {
    const Operation& operation = cut.operations()[index];
    const auto is_operand = [&](const Expr& e) { return cut.operand_of(e, operation).has_value(); };
    const auto is_result = [&](const Expr& e) {
      const std::optional<Operand> operand = cut.operand_of(e, operation);
      return operand && operand->kind == Operand::Kind::Operation;
    };
    Work work{.name = names.at(index), .text = text(operation, names, cut)};
    const std::int64_t points = footprint_.points(operation.node, loops);
    work.operations = arithmetic(operation.node, is_operand) * points;
    work.written = points * operation.node->type.bytes();
    for (const Operand& operand : operation.operands)
      if (operand.kind == Operand::Kind::Operation) {
        const Expr& node = cut.operations()[operand.index].node;
        work.read += footprint_.points(node, loops) * node->type.bytes();
      }
    work.read += footprint_.bytes(reads({operation.node}, loops, is_result));
    works_.push_back(std::move(work));
  }

  /// The Funcs and inputs that expressions read, through Funcs that only read. Nodes for which `stop` holds
  /// are not entered.
  Boxes reads(const std::vector<Expr>& expressions, const lang::Ranges& loops,
              const std::function<bool(const Expr&)>& stop = nullptr) const {
    Boxes boxes;
    std::set<const ir::ExprNode*> seen;
    const std::function<void(const Expr&)> visit = [&](const Expr& node) {
      if (!seen.insert(node.node().get()).second || (stop && stop(node))) return;
      if (ir::is(node, ir::Op::Call)) add_read(node, loops, boxes);
      for (const Expr& arg : node->args) visit(arg);
    };
    for (const Expr& e : expressions) visit(e);
    return boxes;
  }

  /// The same, and what the start of the Func reads if the first update has taken it in.
  Boxes reads_with_start(const lang::FuncDef& func, int index, const std::vector<Expr>& expressions) const {
    const auto is_own = [&](const Expr& e) { return func.is_read(e); };
    Boxes boxes = reads(expressions, footprint_.loops(func.id, index), is_own);
    if (index == 1 && absorbs_start(func))
      for (const auto& [source, region] : reads(func.stages[0].values(), footprint_.loops(func.id, 0)))
        if (region.needed) boxes[source].include(region.dims);
    return boxes;
  }

  void add_read(const Expr& call, const lang::Ranges& loops, Boxes& boxes) const {
    const Source source = source_of(call);
    if (source.kind == ir::CalleeKind::Func && is_alias(graph_.funcs[source.index])) {
      const lang::FuncDef& func = graph_.funcs[source.index];
      ir::Substitution coordinates;
      for (std::size_t d = 0; d < func.args.size(); ++d)
        coordinates.emplace_back(func.args[d], call->args[d]);
      return add_read(ir::substitute(without_conversions(func.stages[0].value), coordinates), loops, boxes);
    }
    footprint_.add_read(call, loops, boxes);
  }

  void add_reduction(const lang::FuncDef& func, int index) {
    const lang::StageDef& stage = func.stages[index];
    const lang::Ranges loops = footprint_.loops(func.id, index);
    const std::int64_t points = footprint_.points(func.id, index);
    Cutter cut = cutter();
    const Operand term = cut.cut(stage.reduce_term);
    const Boxes boxes = reads_with_start(func, index, {stage.reduce_term});
    const bool own_term = term.kind == Operand::Kind::Operation &&
                          points <= footprint_.elements(boxes) + footprint_.elements(func.id);
    Work work{.name = func.name, .text = reduction_text(func, stage)};
    work.written = footprint_.bytes(func.id);
    work.operations = points;
    if (own_term) {
      add_operations(func.name + ".term", cut, term, loops);
      work.read = works_.back().written;
    } else {
      work.read = footprint_.bytes(boxes);
      work.operations += points * arithmetic(stage.reduce_term);
    }
    works_.push_back(std::move(work));
  }

  /// A stage that is one operator: several values, a scan, a scatter, a function written elsewhere.
  void add_whole(const lang::FuncDef& func, int index) {
    const lang::StageDef& stage = func.stages[index];
    Work work{.name = lang::stage_name(func, index), .text = ir::to_string(stage.value)};
    work.operations = arithmetic(stage.value) * footprint_.points(func.id, index);
    work.read = footprint_.bytes(reads_with_start(func, index, stage.values()));
    work.written = footprint_.bytes(func.id);
    works_.push_back(std::move(work));
  }

  // --- what an operator computes, in words

  static std::string reduction_text(const lang::FuncDef& func, const lang::StageDef& stage) {
    std::vector<std::string> over;
    for (const lang::ReductionDim& dim : stage.reduction) over.push_back(dim.name);
    return fmt::format("{} of {} over {}", ir::info(*stage.reduce_op).text, ir::to_string(stage.reduce_term),
                       over.empty() ? func.name : fmt::format("{}", fmt::join(over, ", ")));
  }

  static std::string text(const Operation& operation, const std::map<int, std::string>& names,
                          const Cutter& cut) {
    std::map<int, Expr> named;
    const std::function<Expr(const Expr&)> shorten = [&](const Expr& e) -> Expr {
      const std::optional<Operand> operand = cut.operand_of(e, operation);
      if (operand && operand->kind == Operand::Kind::Operation) {
        Expr& name = named[operand->index];
        if (!name.defined())
          name = ir::make_var(ir::make_symbol(ir::SymbolKind::Let, names.at(operand->index), e->type));
        return name;
      }
      return ir::is(e, ir::Op::Call) ? e : ir::map_args(e, shorten);
    };
    return ir::to_string(shorten(operation.node));
  }

  const Graph& graph_;
  Footprint footprint_;
  std::map<int, int> uses_;  ///< by FuncId: distinct Calls
  std::vector<Work> works_;
};

}  // namespace

std::vector<Work> operators(const Graph& graph, const Constants& constants) {
  return Operators(graph, constants).run();
}

}  // namespace calotype::analyze
