// in: a copy of a Func or input between it and some of its consumers.
#include <fmt/format.h>

#include "schedule/callees.h"
#include "schedule/copies.h"

namespace calotype {

Stage Schedule::in(const FuncName& of, const std::vector<FuncName>& consumers) {
  append(schedule::copy_directive("in", "in", of, consumers));
  return Stage(this, schedule::text_of(*schedule::find_arg(directives_.back(), "as")));
}

namespace schedule {

namespace {

/// What is copied.
struct Source {
  std::vector<ir::CalleePtr> callees;  ///< by component
  FuncId func;                         ///< invalid: an input
  std::vector<std::string> coordinates;
};

Source find_source(const Application& a) {
  const lang::Graph& graph = a.state.out.graph;
  Source s;
  const ir::CalleePtr callee = find_callee(a, "of");
  if (callee->kind == ir::CalleeKind::Func) {
    s.func = FuncId{callee->index};
    s.callees = graph.func(s.func).callees;
    for (const ir::SymbolPtr& arg : graph.func(s.func).args) s.coordinates.push_back(arg->name);
  } else {
    s.callees = {callee};
    for (int d = 0; d < callee->rank; d++) s.coordinates.push_back(fmt::format("d{}", d));
  }
  return s;
}

void apply(Application& a) {
  State& state = a.state;
  const Source source = find_source(a);
  lang::FuncDef copy;
  copy.name = new_copy(a, "in");
  const std::vector<FuncId> consumers = find_consumers(a, *source.callees.front());

  for (const ir::CalleePtr& c : source.callees) copy.types.push_back(c->type);
  std::vector<Expr> coordinates, values;
  for (const std::string& name : source.coordinates) {
    copy.args.push_back(ir::make_symbol(ir::SymbolKind::Var, name));
    coordinates.push_back(ir::make_var(copy.args.back()));
  }
  for (const ir::CalleePtr& c : source.callees)
    values.push_back(ir::make(ir::Op::Call, c->type, coordinates, c));
  copy.stages.push_back({.lhs = coordinates, .value = ir::joined(values)});
  const FuncId id = state.add_func(std::move(copy));
  state.funcs[id.value].copies_input = !source.func.valid();
  const std::vector<ir::CalleePtr> to = state.def(id).callees;
  for (FuncId consumer : consumers)
    redirect(state.out.graph.funcs[consumer.value], *source.callees.front(), to);
}

}  // namespace

DirectiveSpec in_spec() {
  return {.name = "in",
          .addresses = Addresses::Graph,
          .doc =
              "Makes a copy of a Func or input, a Func of its own, that the consumers named read instead "
              "(all of them if none is named). It is computed at root unless told otherwise. Its loops have "
              "the names of the Func's coordinates, or d0, d1 and on for an input.",
          .args = copy_arguments("OF.in(FOR) or OF.in"),
          .refused = {"a Func named does not read it", "there is such a copy already"},
          .apply = apply,
          .cpp = copy_cpp};
}

}  // namespace schedule
}  // namespace calotype
