// copy: who carries the elements of a copy to shared memory.
#include <fmt/format.h>

#include "schedule/dims.h"
#include "schedule/gpu.h"
#include "schedule/order.h"

namespace calotype {

Stage& Stage::copy(Copy how) { return record("copy", {{"how", schedule::text_of(how)}}); }

namespace schedule {

static void apply(Application& a) {
  const std::string& how = text_of(a.copy("how"));
  own_memory(a);
  FuncSchedule& f = a.state.out.funcs[a.func.value];
  if (!f.copy_origin.empty())
    a.refuse(fmt::format("how '{}' is copied is chosen already, by {}", a.func_def().name, f.copy_origin),
             how, "one copy directive a Func");
  if (a.copy("how") != Copy::Threads && !a.state.out.target.is_gpu())
    a.refuse(fmt::format("the target {} has no asynchronous copies", a.state.out.target.str()), how,
             "threads; the targets cuda and cuda-interpreter");
  const Target& target = a.state.out.target;
  if (a.copy("how") == Copy::Bulk && most_cluster_blocks(target) == 1)
    a.refuse(fmt::format("the target {} has no bulk copies", target.str()), how, "sm_90 and later; async");
  f.copy = a.copy("how");
  f.copy_origin = a.origin();
}

/// What the whole schedule decides. The definition is looked at by lowering, when Funcs have been inlined.
static void check(Application& a) {
  if (a.copy("how") == Copy::Threads) return;
  const std::string &name = a.func_def().name, &how = text_of(a.copy("how"));
  if (a.func_def().stages.size() > 1 || a.func_def().is_tuple())
    a.refuse(fmt::format("'{}' {}, so it is no plain copy", name,
                         a.func_def().is_tuple() ? "has several values" : "has updates"),
             how, "threads; or a copy of what is read, made by in()");
  if (a.copy("how") == Copy::Bulk && a.func_def().rank() == 0)
    a.refuse(fmt::format("'{}' is a single element, and bulk copies are of rows", name), how,
             "threads, or async");
  if (const StorageSchedule& storage = a.state.out.of(a.func).storage;
      a.copy("how") == Copy::Bulk && storage.swizzle != 0)
    a.refuse(fmt::format("rows of '{}' lie in pieces, by {}", name, storage.swizzle_origin), how,
             "async; or no swizzle");
  for (const SharedNest& nest : a.state.out.shared)
    if (nest.func == a.func || nest.with == a.func)
      a.refuse(fmt::format("'{}' shares loops with another Func, by {}", name, nest.origin), how,
               "threads; or no compute_with");
}

DirectiveSpec copy_spec() {
  return {
      .name = "copy",
      .addresses = Addresses::Func,
      .doc =
          "Says who carries the elements of a Func that only copies from global to shared memory, such as "
          "`in` makes. `threads`: each thread loads and stores, as without the directive. `async`: a thread "
          "starts copies (`cp.async`) that pass no register and go on by themselves; the block waits for "
          "them "
          "before the first reader, or earlier iterations start them, by `pipeline`. Copies are of 16, 8 or "
          "4 "
          "bytes: as many elements of a vector as lie side by side in both memories at addresses that are "
          "multiples of that. So elements of 1 or 2 bytes need a vector, along the coordinate that has "
          "neighbours in memory. In calls whose buffers lie otherwise (a pitch that is no multiple of 4 "
          "bytes), "
          "and at the ends of rows, single elements of 1 or 2 bytes are carried by the threads. `bulk`: the "
          "innermost loop, which must be serial and along the coordinate that has neighbours in memory, is "
          "one copy (`cp.async.bulk`, from sm_90) that one thread starts: a thread of each iteration of the "
          "loops around that are bound to threads, or one for the block. A barrier in shared memory counts "
          "the bytes, so that copies cost the block no instructions and go on while its threads, or its "
          "cluster, wait for each other. Rows are copied up to their last whole 16 bytes, and the threads "
          "carry the rest; in calls whose buffers lie otherwise (an address or pitch that is no multiple of "
          "16 bytes) they carry all.",
      .args = {{.name = "how", .kind = ArgKind::Choice, .doc = "who copies", .choices = copy_options()}},
      .refused = {"the Func is an output", "it has a copy directive already",
                  "async, bulk: the target is a host; bulk: it has no bulk copies (below sm_90)",
                  "async, bulk: the Func has updates or several values, or shares loops",
                  "async, bulk: its definition is more than a read of one element: it computes or converts",
                  "async, bulk: what is read is not in global memory, or is written by the same kernel",
                  "async, bulk: the Func is not in shared memory",
                  "async, bulk: a split of the Func has the tail predicate_loads",
                  "async: elements of 1 or 2 bytes without neighbours to be copied with",
                  "bulk: the Func has no coordinates, or a swizzle",
                  "bulk: its innermost loop is not serial, or its iterations are no neighbours in memory",
                  "bulk: a tail of that loop leaves out others than the last",
                  "bulk: rows begin at no multiples of 16 bytes in either memory, whatever the call"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
