// Questions that several passes ask of the loop tree, and its text.

#include "lower/loop_tree.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"
#include "lower/call_values.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

void visit_from(const Node& node, std::vector<const Node*>& chain,
                const std::function<void(const Node&, const std::vector<const Node*>&)>& f) {
  f(node, chain);
  chain.push_back(&node);
  for (const Node& child : node.children) visit_from(child, chain, f);
  chain.pop_back();
}

std::string box_text(const Box& box) {
  std::string text;
  for (const ir::Interval& i : box)
    text += fmt::format("{}[{}, {}]", text.empty() ? "" : " x ", i.min.defined() ? ir::to_string(i.min) : "?",
                        i.max.defined() ? ir::to_string(i.max) : "?");
  return text.empty() ? "one value" : text;
}

const char* guard_word(Tail tail) {
  switch (tail) {
    case Tail::Guard:
      return "if";
    case Tail::PredicateLoads:
      return "loads where";
    case Tail::PredicateStores:
      return "stores where";
    default:
      return "where";
  }
}

class Printer {
 public:
  explicit Printer(const LoopTree& tree) : tree_(tree) {}

  std::string run() {
    for (const auto& check : tree_.promises)
      line(fmt::format("require {}: {}", ir::to_string(check.condition), check.message));
    for (const auto& check : tree_.checks)
      line(fmt::format("require {}: {}", ir::to_string(check.condition), check.message));
    for (const Binding& b : tree_.root_lets)
      line(fmt::format("let {} = {}", b.symbol->name, ir::to_string(b.value)));
    for (const Node& child : tree_.root.children) print(child);
    return text_;
  }

 private:
  void line(const std::string& s) { text_ += std::string(2 * depth_, ' ') + s + "\n"; }

  void print(const Node& node) {
    switch (node.kind) {
      case NodeKind::Root:
        break;
      case NodeKind::Realize:
        line(realize_text(node.func));
        print_conversions(node.func);
        break;
      case NodeKind::Produce:
        line(produce_text(node.func));
        break;
      case NodeKind::Loop:
        print_loop(tree_.loop(node.loop));
        return print_children(node);
      case NodeKind::Body:
        print_body(node.stage);
        break;
      case NodeKind::Reduce:
        line(reduce_text(node.stage));
        break;
      case NodeKind::Send:
        line("send partial results");
        break;
      case NodeKind::Combine:
        line("combine partial results");
        break;
      case NodeKind::Publish:
        line(tree_.func(node.stage.func).name + " to shared memory");
        break;
      case NodeKind::Sync:
        line(ir::to_string(node.sync) + (node.sync.reason.empty() ? "" : "  # " + node.sync.reason));
        break;
      case NodeKind::First:
        line(fmt::format("for the first {} iterations of {}:", node.count, tree_.loop(node.loop).name));
        break;
      case NodeKind::Ahead:
        line(
            fmt::format("for the iteration of {} that is {} later:", tree_.loop(node.loop).name, node.count));
        break;
      case NodeKind::Behind:
        line(fmt::format("for the iteration of {} that was {} before:", tree_.loop(node.loop).name,
                         node.count));
        break;
      case NodeKind::Last:
        line(fmt::format("for the last iteration of {}:", tree_.loop(node.loop).name));
        break;
      case NodeKind::Role:
        line(role_text(tree_.kernels.at(node.stage).roles[static_cast<std::size_t>(node.count)]));
        break;
    }
    print_children(node);
  }

  std::string role_text(const RoleInfo& info) {
    const schedule::Role& role = tree_.scheduled.roles[info.role];
    return fmt::format("role {}, threads {} to {}:  # {}", role.name, info.first,
                       info.first + info.threads - 1, role.origin);
  }

  std::string produced(FuncId first) {
    std::string names;
    for (FuncId func : sharing(tree_.scheduled, first))
      names += (names.empty() ? "" : ", ") + tree_.func(func).name;
    return names;
  }

  void print_children(const Node& node) {
    ++depth_;
    if (node.kind == NodeKind::Loop)
      for (const Binding& b : tree_.loop(node.loop).lets)
        line(fmt::format("let {} = {}", b.symbol->name, ir::to_string(b.value)));
    for (const Node& child : node.children) print(child);
    --depth_;
  }

  std::string produce_text(FuncId func) {
    const auto when = tree_.used_when.find(func);
    return fmt::format("produce {}{}:", produced(func),
                       when == tree_.used_when.end() ? "" : ", used if " + ir::to_string(when->second));
  }

  /// "reduce total.update(0) by threads: 32 lanes, 8 warps through memory:".
  std::string reduce_text(StageRef stage) {
    static constexpr const char* kNames[] = {"lanes",           "warps",           "lanes along y",
                                             "threads along y", "threads along z", "blocks"};
    const ThreadReduction& r = tree_.reductions.at(stage);
    std::string text;
    for (std::size_t d = 0; d < ThreadReduction::kDigits; ++d)
      if (r.reduced[d] && r.extents[d] > 1)
        text += fmt::format("{}{} {}", text.empty() ? " " : ", ", r.extents[d],
                            d == ThreadReduction::Warp && !r.reduced[ThreadReduction::Lane] &&
                                    r.extents[ThreadReduction::Lane] == 1
                                ? "threads along x"
                                : kNames[d]);
    return fmt::format("reduce {} by threads:{}{}", lang::stage_name(tree_.func(stage.func), stage.stage),
                       text, r.exchanges() ? ", through shared memory" : "");
  }

  std::string realize_text(FuncId func) {
    auto it = tree_.storage.find(func);
    if (it == tree_.storage.end()) return fmt::format("realize {}:", tree_.func(func).name);
    const Storage& storage = it->second;
    std::string text = fmt::format("realize {} {} over {}", tree_.func(func).name,
                                   tree_.func(func).type_text(), box_text(storage.box));
    for (std::size_t d = 0; d < storage.folds.size(); ++d)
      if (storage.folds[d]) text += fmt::format(", dimension {} a ring of {}", d, storage.folds[d]);
    if (storage.copies > 1)
      text += fmt::format(", {} copies, number {}", storage.copies, ir::to_string(storage.copy));
    if (!storage.buffers.empty())
      text += fmt::format(" in {}", ir::to_string(storage.buffers.front()->space));
    if (storage.layout) {
      std::vector<std::string> names;
      for (const auto& arg : tree_.func(func).args) names.push_back(arg->name);
      text += fmt::format(", layout {}", storage.layout->str(names));
    }
    return text + ":";
  }

  /// "x: converted by shuffles for out".
  void print_conversions(FuncId func) {
    ++depth_;
    for (const auto& [read, conversion] : tree_.conversions)
      if (read.second == func)
        line(fmt::format("{}: converted {} for {}", tree_.func(func).name,
                         conversion == Conversion::Shuffles ? "by shuffles" : "through shared memory",
                         lang::stage_name(tree_.func(read.first.func), read.first.stage)));
    --depth_;
  }

  void print_loop(const LoopInfo& loop) {
    if (!loop.var) return line("for ?:");
    std::string binding =
        loop.binding == ir::Binding::Serial ? "" : fmt::format(" {}", ir::to_string(loop.binding));
    if (loop.part != ir::ThreadPart::Whole)
      binding += loop.part == ir::ThreadPart::Lane ? ".lane" : ".warp";
    else if (loop.binding == ir::Binding::GpuBlock || loop.binding == ir::Binding::GpuThread)
      binding += fmt::format(".{}", "xyz"[loop.axis]);
    line(fmt::format("for {} in [{}, {} + {}){}:{}", loop.name, ir::to_string(loop.min),
                     ir::to_string(loop.min), ir::to_string(loop.extent), binding,
                     loop.origin.empty() ? "" : "  # " + loop.origin));
  }

  /// "f over [0, 9]: extern name(...), of g [0, 10]".
  void print_function(const lang::FuncDef& func, const lang::StageDef& def, const StageInfo* info) {
    std::string text = func.name;
    if (info) text += " over " + box_text(info->need);
    text += ": " + ir::to_string(def.value);
    if (info)
      for (const ReadBox& read : info->reads)
        text += fmt::format(", {} {}", read.of->name, box_text(read.box));
    line(text);
  }

  void print_body(StageRef ref) {
    const lang::StageDef& def = tree_.def(ref);
    auto it = tree_.stages.find(ref);
    if (def.function())
      return print_function(tree_.func(ref.func), def, it == tree_.stages.end() ? nullptr : &it->second);
    if (it != tree_.stages.end()) {
      for (const Guard& g : it->second.guards)
        line(fmt::format("{} {}", guard_word(g.tail), ir::to_string(g.condition)));
      for (std::size_t i = 0; i < it->second.dims.size(); ++i)
        if (it->second.coordinates[i].defined() &&
            ir::to_string(it->second.coordinates[i]) != it->second.dims[i]->name)
          line(fmt::format("{} := {}", it->second.dims[i]->name, ir::to_string(it->second.coordinates[i])));
    }
    if (def.predicate.defined()) line(fmt::format("where {}", ir::to_string(def.predicate)));
    std::string lhs;
    for (const Expr& e : def.lhs) lhs += (lhs.empty() ? "" : ", ") + ir::to_string(e);
    line(fmt::format("{}({}) = {}", tree_.func(ref.func).name, lhs, ir::to_string(def.value)));
  }

  const LoopTree& tree_;
  int depth_ = 0;
  std::string text_;
};

}  // namespace

void visit(const Node& node, const std::function<void(const Node&, const std::vector<const Node*>&)>& f) {
  std::vector<const Node*> chain;
  visit_from(node, chain, f);
}

std::vector<LoopId> site_loops(const LoopTree& tree, const schedule::Place& place) {
  std::vector<LoopId> result;
  if (place.kind != schedule::Place::Kind::At) return result;
  const std::vector<LoopId>& loops = tree.scheduled.of(place.func).stages[place.stage].loops;
  bool inside = false;
  for (LoopId loop : loops) {  // innermost first
    if (loop == place.loop) inside = true;
    if (inside) result.push_back(loop);
  }
  for (LoopId loop : site_loops(tree, tree.scheduled.of(place.func).compute)) result.push_back(loop);
  return result;
}

std::vector<LoopId> enclosing_loops(const LoopTree& tree, StageRef stage) {
  std::vector<LoopId> result = tree.schedule_of(stage).loops;
  for (LoopId loop : site_loops(tree, tree.scheduled.of(stage.func).compute)) result.push_back(loop);
  return result;
}

bool runs_again(const LoopTree& tree, LoopId id) {
  const LoopInfo& loop = tree.loop(id);
  switch (loop.binding) {
    case ir::Binding::GpuThread:
    case ir::Binding::GpuCluster:
      return false;
    case ir::Binding::GpuBlock:
      return !tree.schedule_of(loop.owner).persistent_origin.empty();
    default:
      return !ir::is_one(ir::simplify(loop.extent, tree.facts));
  }
}

std::vector<Expr> calls_in(const lang::StageDef& stage) {
  std::vector<Expr> calls;
  auto collect = [&](const Expr& e) {
    if (!e.defined()) return;
    ir::visit(e, [&](const Expr& node) {
      if (ir::is(node, ir::Op::Call)) calls.push_back(node);
    });
  };
  for (const Expr& e : stage.lhs) collect(e);
  collect(stage.value);
  collect(stage.predicate);
  for (const lang::ReductionDim& r : stage.reduction) {
    collect(r.min);
    collect(r.extent);
  }
  return calls;
}

/// A value that loops decide is not there when a call is checked: the text has the expression in its place.
static void write_out(LoopTree::Check& check, std::size_t value) {
  const std::string expression = ir::to_string(check.values[value]);
  std::size_t before = 0;
  for (std::string* text : {&check.message, &check.legal})
    for (std::size_t at = 0; (at = text->find("{}", at)) != std::string::npos; at += 2)
      if (before++ == value) {
        text->replace(at, 2, expression);
        check.values.erase(check.values.begin() + static_cast<std::ptrdiff_t>(value));
        return;
      }
}

void require(LoopTree& tree, LoopTree::Check check) {
  check.condition = ir::simplify(check.condition, tree.facts);
  if (ir::is_one(check.condition) || ir::prove(check.condition, tree.facts)) return;
  if (!computed_by_calls(check.condition))
    throw Error(
        {.kind = ErrorKind::Algorithm,
         .subject = tree.scheduled.graph.subject_of(check.subject),
         .message = fmt::format("what is touched of '{}' is computed with floats, or by functions, and a "
                                "call checks with integers alone",
                                check.subject),
         .func = check.subject,
         .value = ir::to_string(check.condition),
         .legal = "coordinates and sizes that follow from integers; clamp() gives others an end"});
  for (Expr& v : check.values) v = ir::simplify(v, tree.facts);
  for (std::size_t i = check.values.size(); i-- > 0;)
    if (depends_on_loops(tree, check.values[i]) || !computed_by_calls(check.values[i])) write_out(check, i);
  tree.checks.push_back(std::move(check));
}

bool depends_on_loops(const LoopTree& tree, const Expr& e) {
  const auto at_root = [&](const ir::SymbolPtr& s) {
    return std::any_of(tree.root_lets.begin(), tree.root_lets.end(),
                       [&](const Binding& b) { return b.symbol == s; });
  };
  const std::vector<ir::SymbolPtr> symbols = ir::free_symbols(e);
  return std::any_of(symbols.begin(), symbols.end(), [&](const ir::SymbolPtr& s) {
    return s->kind == ir::SymbolKind::Loop || (s->kind == ir::SymbolKind::Let && !at_root(s));
  });
}

std::string to_string(const LoopTree& tree) { return Printer(tree).run(); }

std::string kernel_name(const LoopTree& tree, StageRef stage) {
  std::string name = tree.scheduled.graph.name + "_" + tree.func(stage.func).name;
  if (tree.is_copy(stage))
    name += "_stored";
  else if (stage.stage > 0)
    name += fmt::format("_update{}", stage.stage - 1);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

ir::Substitution LoopTree::coordinates_of(StageRef stage) const {
  const StageInfo& info = stages.at(stage);
  ir::Substitution values;
  for (std::size_t i = 0; i < info.dims.size(); ++i)
    if (info.coordinates[i].defined()) values.emplace_back(info.dims[i], info.coordinates[i]);
  return values;
}

LoopId LoopTree::add_loop(StageRef owner, std::string name, ir::Binding binding, std::string origin) {
  LoopInfo info;
  info.var = ir::make_symbol(ir::SymbolKind::Loop, name);
  info.min = ir::index(0);
  info.binding = binding;
  info.owner = owner;
  info.name = std::move(name);
  info.origin = std::move(origin);
  loops.push_back(std::move(info));
  return LoopId{static_cast<int>(loops.size()) - 1};
}

Expr LoopTree::own_slot(StageRef reader, FuncId of, const std::vector<Expr>& coordinates) const {
  const auto dealt = dealt_out.find(reader);
  if (dealt == dealt_out.end() || dealt->second.of != of) return {};
  const Box& box = storage.at(of).box;
  for (std::size_t d = 0; d < coordinates.size(); ++d)
    if (!ir::prove_equal(cast(Int(64), coordinates[d]) - box[d].min, dealt->second.positions[d], facts))
      return {};
  return dealt->second.slot;
}

}  // namespace calotype::lower
