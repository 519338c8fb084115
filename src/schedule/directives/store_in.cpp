// store_in: the kind of memory that holds a Func.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/state.h"

namespace calotype {

Stage& Stage::store_in(Memory memory) { return record("store_in", {{"memory", schedule::text_of(memory)}}); }

namespace schedule {

static std::vector<Memory> kinds_of(const Target& target) {
  if (target.is_gpu()) return {Memory::Auto, Memory::Global, Memory::Shared, Memory::Register, Memory::Local};
  return {Memory::Auto, Memory::Heap, Memory::Stack};
}

static void apply(Application& a) {
  FuncState& f = a.state.funcs[a.func.value];
  const Memory memory = a.memory("memory");
  if (f.memory_directive >= 0)
    a.refuse(fmt::format("the memory is chosen already, by {}", a.state.directive_text(f.memory_directive)),
             text_of(memory), "one store_in a Func");
  if (a.state.out.graph.is_output(a.func) && memory != Memory::Auto)
    a.refuse(fmt::format("'{}' is an output, which lives in the caller's memory", a.func_def().name),
             text_of(memory), "auto; or a Func of its own for what goes before it");
  const std::vector<Memory> kinds = kinds_of(a.state.out.target);
  std::vector<std::string> names;
  for (Memory m : kinds) names.push_back(text_of(m));
  if (std::find(kinds.begin(), kinds.end(), memory) == kinds.end())
    a.refuse(fmt::format("the target {} has no {} memory", a.state.out.target.str(), text_of(memory)),
             text_of(memory), fmt::format("{}", fmt::join(names, ", ")));
  f.memory_directive = a.index;
  a.state.out.funcs[a.func.value].memory = memory;
  a.state.out.funcs[a.func.value].memory_origin = a.origin();
}

DirectiveSpec store_in_spec() {
  return {
      .name = "store_in",
      .addresses = Addresses::Func,
      .doc =
          "Chooses the kind of memory: heap or stack on a host; global, shared, register or local on a GPU. "
          "Registers of a block are dealt out to its threads by the loops of the first definition; what "
          "other threads read of them comes to them by shuffles within a warp, else through shared memory.",
      .args = {{.name = "memory", .kind = ArgKind::Choice, .doc = "the kind", .choices = memory_options()}},
      .refused = {"the target has no such memory", "the Func is an output",
                  "shared, register or local memory for a Func that is stored outside every block"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
