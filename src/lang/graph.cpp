// Looking things up in a Graph, and its text.

#include "lang/graph.h"

#include <fmt/format.h>

#include <algorithm>

namespace calotype::lang {

const FuncDef* Graph::find_func(const std::string& func_name) const {
  const auto found =
      std::find_if(funcs.begin(), funcs.end(), [&](const FuncDef& f) { return f.name == func_name; });
  return found == funcs.end() ? nullptr : &*found;
}

const InputDef* Graph::find_input(const std::string& input_name) const {
  const auto found =
      std::find_if(inputs.begin(), inputs.end(), [&](const InputDef& i) { return i.name == input_name; });
  return found == inputs.end() ? nullptr : &*found;
}

bool Graph::is_output(FuncId id) const {
  return std::any_of(outputs.begin(), outputs.end(), [&](const OutputDef& o) { return o.func == id; });
}

bool Graph::is_boxed(FuncId id) const {
  const auto reads = [&](const FuncDef& f) {
    const std::vector<Expr> all = f.is_extern() ? f.stages.front().reads() : std::vector<Expr>{};
    return std::any_of(all.begin(), all.end(), [&](const Expr& e) { return func(id).is_read(e); });
  };
  return func(id).is_extern() || std::any_of(funcs.begin(), funcs.end(), reads);
}

std::vector<std::string> Graph::func_names() const {
  std::vector<std::string> names;
  for (const FuncDef& f : funcs) names.push_back(f.name);
  return names;
}

Subject Graph::subject_of(const std::string& owner) const {
  if (find_func(owner)) return Subject::Func;
  if (find_input(owner)) return Subject::Input;
  const auto is_param = [&](const ParamDef& p) { return p.name == owner; };
  if (std::any_of(params.begin(), params.end(), is_param)) return Subject::Param;
  const auto is_dim = [&](const ir::SymbolPtr& d) { return d->name == owner; };
  if (std::any_of(dims.begin(), dims.end(), is_dim)) return Subject::Size;
  return owner == name ? Subject::Pipeline : Subject::Func;
}

std::string Graph::output_name(const OutputDef& output) const {
  const FuncDef& f = func(output.func);
  return f.is_tuple() ? fmt::format("{}.{}", f.name, output.component) : f.name;
}

std::vector<Expr> StageDef::values() const {
  return ir::is(value, ir::Op::Tuple) ? value->args : std::vector<Expr>{value};
}

const ir::Extern* StageDef::function() const {
  return ir::is(value, ir::Op::Extern) ? ir::extern_of(value).get() : nullptr;
}

std::vector<Expr> StageDef::reads() const {
  return {value->args.begin(), value->args.begin() + static_cast<std::ptrdiff_t>(function()->reads)};
}

std::vector<Expr> StageDef::scalars() const {
  return {value->args.begin() + static_cast<std::ptrdiff_t>(function()->reads), value->args.end()};
}

bool FuncDef::any_float() const {
  return std::any_of(types.begin(), types.end(), [](Type t) { return t.is_float(); });
}

std::string FuncDef::type_text() const {
  std::vector<std::string> texts;
  for (const Type& t : types) texts.push_back(t.str());
  return is_tuple() ? fmt::format("({})", fmt::join(texts, ", ")) : texts.front();
}

bool FuncDef::is_read(const Expr& e) const {
  return ir::is(e, ir::Op::Call) && ir::same_source(*ir::callee_of(e), *callee());
}

Expr FuncDef::read(const std::vector<Expr>& coordinates) const {
  std::vector<Expr> calls;
  for (const ir::CalleePtr& c : callees) calls.push_back(ir::make(ir::Op::Call, c->type, coordinates, c));
  return ir::joined(calls);
}

void FuncDef::make_callees(FuncId own) {
  id = own;
  callees.clear();
  for (int c = 0; c < components(); ++c)
    callees.push_back(std::make_shared<const ir::Callee>(ir::Callee{.kind = ir::CalleeKind::Func,
                                                                    .name = name,
                                                                    .index = id.value,
                                                                    .component = c,
                                                                    .rank = rank(),
                                                                    .type = types[c]}));
}

std::string ParamDef::range_text() const { return low ? fmt::format(" from {} to {}", *low, *high) : ""; }

static void visit_producers(const Graph& graph, FuncId id, std::vector<bool>& seen,
                            std::vector<FuncId>& order) {
  if (seen[id.value]) return;
  seen[id.value] = true;
  for (const StageDef& stage : graph.func(id).stages)
    for (const ir::CalleePtr& c : callees(stage))
      if (c->kind == ir::CalleeKind::Func) visit_producers(graph, FuncId{c->index}, seen, order);
  order.push_back(id);
}

std::vector<FuncId> producers_first(const Graph& graph) {
  std::vector<FuncId> order;
  std::vector<bool> seen(graph.funcs.size(), false);
  for (const FuncDef& f : graph.funcs) visit_producers(graph, f.id, seen, order);
  return order;
}

std::string stage_name(const FuncDef& func, int stage) {
  return stage == 0 ? func.name : fmt::format("{}.update({})", func.name, stage - 1);
}

std::vector<ir::CalleePtr> callees(const StageDef& stage) {
  std::vector<ir::CalleePtr> found;
  const auto collect = [&](const Expr& node) {
    if (!ir::is(node, ir::Op::Call)) return;
    const ir::CalleePtr& callee = ir::callee_of(node);
    if (std::find(found.begin(), found.end(), callee) == found.end()) found.push_back(callee);
  };
  ir::visit(stage.value, collect);
  for (const Expr& e : stage.lhs) ir::visit(e, collect);
  ir::visit(stage.predicate, collect);
  return found;
}

namespace {

std::string list(const std::vector<Expr>& exprs) {
  std::vector<std::string> texts;
  for (const Expr& e : exprs) texts.push_back(e.str());
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string argument_text(const Graph& graph, const Graph::ArgumentRef& argument) {
  if (argument.is_param) {
    const ParamDef& p = graph.params[argument.index];
    return fmt::format("{}: {}{}{}", p.name, p.type.str(), p.initial ? fmt::format(" = {}", *p.initial) : "",
                       p.range_text());
  }
  const InputDef& input = graph.inputs[argument.index];
  return fmt::format("{}: {}[{}]", input.name, input.type.str(), list(input.extents));
}

std::string stage_text(const FuncDef& func, int index) {
  const StageDef& stage = func.stages[index];
  std::string text = fmt::format("  {}({}) = {}", func.name, list(stage.lhs), stage.value.str());
  for (std::size_t d = stage.reduction.size(); d-- > 0;) {
    const ReductionDim& dim = stage.reduction[d];
    text += fmt::format(" for {} in [{}, {})", dim.name, dim.min.str(), (dim.min + dim.extent).str());
  }
  if (stage.predicate.defined()) text += fmt::format(" where {}", stage.predicate.str());
  return text + "\n";
}

}  // namespace

std::string to_string(const Graph& graph) {
  std::vector<std::string> arguments, outputs;
  for (const auto& argument : graph.arguments) arguments.push_back(argument_text(graph, argument));
  for (const OutputDef& output : graph.outputs) {
    outputs.push_back(fmt::format("{}: {}[{}]", graph.output_name(output), graph.output_type(output).str(),
                                  list(output.extents)));
  }
  std::string text =
      fmt::format("{}({}) -> {}\n", graph.name, fmt::join(arguments, ", "), fmt::join(outputs, ", "));
  for (const FuncDef& func : graph.funcs) {
    text += fmt::format("{}: {}\n", func.name, func.type_text());
    for (std::size_t s = 0; s < func.stages.size(); ++s) text += stage_text(func, static_cast<int>(s));
  }
  return text;
}

}  // namespace calotype::lang
