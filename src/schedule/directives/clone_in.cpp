// clone_in: a Func computed once more, on its own, for some of its consumers.
#include <fmt/format.h>

#include "schedule/callees.h"
#include "schedule/copies.h"

namespace calotype {

Stage Schedule::clone_in(const FuncName& of, const std::vector<FuncName>& consumers) {
  append(schedule::copy_directive("clone_in", "clone", of, consumers));
  return Stage(this, schedule::text_of(*schedule::find_arg(directives_.back(), "as")));
}

namespace schedule {

namespace {

void apply(Application& a) {
  State& state = a.state;
  const ir::CalleePtr callee = find_callee(a, "of");
  if (callee->kind == ir::CalleeKind::Input)
    a.refuse(fmt::format("'{}' is an input, which is not computed", callee->name), callee->name,
             fmt::format("in({}), which copies its values", callee->name));
  const std::string as = new_copy(a, "clone");
  const std::vector<FuncId> consumers = find_consumers(a, *callee);

  lang::FuncDef clone = state.def(FuncId{callee->index});
  clone.name = as;
  clone.callees.clear();
  const FuncId id = state.add_func(std::move(clone));
  const std::vector<ir::CalleePtr> to = state.def(id).callees;
  redirect(state.out.graph.funcs[id.value], *callee, to);  // its updates read itself
  for (FuncId consumer : consumers) redirect(state.out.graph.funcs[consumer.value], *callee, to);
  state.funcs[id.value].copies_input = state.funcs[callee->index].copies_input;
}

}  // namespace

DirectiveSpec clone_in_spec() {
  return {
      .name = "clone_in",
      .addresses = Addresses::Graph,
      .doc =
          "Makes a clone of a Func, a Func of its own with the same definitions, that the consumers named "
          "read instead (all of them if none is named): the values are computed once more, at a place and "
          "with loops of their own. It is computed at root unless told otherwise; of the directives on the "
          "Func itself it takes none. Where nothing reads the Func any more it is not computed.",
      .args = copy_arguments("OF.clone(FOR) or OF.clone"),
      .refused = {"what is copied is an input", "a Func named does not read it",
                  "there is such a clone already"},
      .apply = apply,
      .cpp = copy_cpp};
}

}  // namespace schedule
}  // namespace calotype
