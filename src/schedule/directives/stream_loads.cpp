// stream_loads: loads that pass the caches by.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/callees.h"
#include "schedule/gpu.h"

namespace calotype {

void Schedule::stream_loads(const FuncName& of) {
  append({.name = "stream_loads", .args = {{"of", of.name}}});
}

namespace schedule {

static void apply(Application& a) {
  const ir::CalleePtr of = find_callee(a, "of");
  const auto once = [&](bool already) {
    if (already)
      a.refuse(fmt::format("the loads of '{}' do so already", of->name), of->name, "one stream_loads each");
  };
  if (of->kind == ir::CalleeKind::Func) {
    StorageSchedule& memory = a.state.out.funcs[of->index].storage;
    once(memory.stream_loads);
    memory.stream_loads = true;
    FuncState& f = a.state.funcs[of->index];
    if (f.first_directive < 0) f.first_directive = a.index;
    return;
  }
  std::vector<lang::InputId>& inputs = a.state.out.streamed_inputs;
  const lang::InputId id{of->index};
  once(std::find(inputs.begin(), inputs.end(), id) != inputs.end());
  inputs.push_back(id);
}

// A later directive may move the Func.
static void check(Application& a) {
  const ir::CalleePtr of = find_callee(a, "of");
  if (of->kind == ir::CalleeKind::Func) require_global_memory(a, FuncId{of->index});
}

static std::string in_cpp(const Directive& d) {
  return fmt::format("s.stream_loads(\"{}\");", text_of(*find_arg(d, "of")));
}

DirectiveSpec stream_loads_spec() {
  return {.name = "stream_loads",
          .addresses = Addresses::Graph,
          .doc =
              "Marks every load of the values of a Func or input as one that will not be repeated soon, for "
              "the machine not to keep it in the caches: by loads of their own kind, or on an x86 by "
              "fetching its line as one that is not kept, or on a GPU, for vectors of 4, 8 or 16 bytes, by "
              "loads that the first cache does not keep.",
          .args = {{.name = "of", .kind = ArgKind::Source, .doc = "what is read"}},
          .refused = {"it has stream_loads already",
                      "on a GPU: the Func is computed inside a kernel and not in global memory"},
          .apply = apply,
          .check = check,
          .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
