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
  const bool output = a.state.out.graph.is_output(a.func);
  if (output && a.copy("how") != Copy::Tma) own_memory(a);
  FuncSchedule& f = a.state.out.funcs[a.func.value];
  if (!f.copy_origin.empty())
    a.refuse(fmt::format("how '{}' is copied is chosen already, by {}", a.func_def().name, f.copy_origin),
             how, "one copy directive a Func");
  if (a.copy("how") != Copy::Threads && !a.state.out.target.is_gpu())
    a.refuse(fmt::format("the target {} has no asynchronous copies", a.state.out.target.str()), how,
             "threads; the targets cuda and cuda-interpreter");
  const Target& target = a.state.out.target;
  if (is_counted(a.copy("how")) && most_cluster_blocks(target) == 1)
    a.refuse(fmt::format("the target {} has no {} copies", target.str(),
                         a.copy("how") == Copy::Bulk ? "bulk" : "tensor"),
             how, "sm_90 and later; async");
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
  if (is_counted(a.copy("how")) && a.func_def().rank() == 0)
    a.refuse(
        fmt::format("'{}' is a single element, and {}", name,
                    a.copy("how") == Copy::Bulk ? "bulk copies are of rows" : "tensor copies are of boxes"),
        how, "threads, or async");
  if (const StorageSchedule& storage = a.state.out.of(a.func).storage;
      a.copy("how") == Copy::Tma && !storage.pads.empty())
    a.refuse(
        fmt::format("'{}' has elements in memory that nothing uses, by pad, and boxes lie densely", name),
        how, "swizzle in place of pad; or bulk, async");
  if (const StorageSchedule& storage = a.state.out.of(a.func).storage;
      a.copy("how") == Copy::Bulk && storage.swizzle != 0)
    a.refuse(fmt::format("rows of '{}' lie in pieces, by {}", name, storage.swizzle_origin), how,
             "async; or no swizzle");
  for (const SharedNest& nest : a.state.out.shared)
    if (nest.func == a.func || nest.with == a.func)
      a.refuse(fmt::format("'{}' shares loops with another Func, by {}", name, nest.origin), how,
               "threads; or no compute_with");
}

static bool copies_boxes(const Directive& d) {
  const Value* how = find_arg(d, "how");
  return how && text_of(*how) == text_of(Copy::Tma);
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
          "16 bytes) they carry all. `tma`: the innermost loops, which must be serial, of up to 256 "
          "iterations, and each along one more dimension of what is read, the first one innermost, are one "
          "box of a tensor (`cp.async.bulk.tensor`, from sm_90) that one thread of the block starts; loops "
          "around them start a box an iteration. The same barriers count its bytes. What of a box lies "
          "past the end of the tensor is filled with zeros, so that ragged tiles cost nothing. Rows of a "
          "box take whole 16 bytes, begin at such in the tensor, and lie densely; `swizzle(32)`, `(64)` or "
          "`(128)` moves pieces of rows that take so many bytes. What is read is an argument or a Func at "
          "root, of up to 5 dimensions. In a call its address and the strides of all dimensions but the "
          "first have to be multiples of 16 bytes, strides positive and below 2^40: other calls take the "
          "next case of a schedule file, or are refused.",
      .args = {{.name = "how", .kind = ArgKind::Choice, .doc = "who copies", .choices = copy_options()}},
      .refused =
          {"the Func is an output", "it has a copy directive already",
           "all but threads: the target is a host; bulk, tma: it is below sm_90",
           "all but threads: the Func has updates or several values, or shares loops",
           "all but threads: its definition is more than a read of one element: it computes or converts",
           "all but threads: what is read is not in global memory, or is written by the same kernel",
           "all but threads: the Func is not in shared memory",
           "all but threads: a split of the Func has the tail predicate_loads",
           "async: elements of 1 or 2 bytes without neighbours to be copied with",
           "bulk, tma: the Func has no coordinates; bulk: a swizzle; tma: a pad, or a condition on its "
           "definition",
           "bulk: its innermost loop is not serial, or its iterations are no neighbours in memory",
           "bulk, tma: a tail leaves out others than the last",
           "bulk, tma: a loop around a row or a box is vectorised",
           "bulk: rows begin at no multiples of 16 bytes in either memory, whatever the call",
           "tma: its innermost loop is not serial, has no constant bound or one above 256, or advances "
           "other than one coordinate of what is read by 1",
           "tma: rows of the box take no whole 16 bytes, or begin elsewhere than at such in the tensor; "
           "boxes go to other places than multiples of 128 bytes, with a swizzle of 8 rows",
           "tma: the last box would run into memory of the next, or a loop is bound to threads",
           "tma: what is read has more than 5 dimensions, or lies in other order than its coordinates"},
      .apply = apply,
      .check = check,
      .asks_of_calls = copies_boxes};
}

}  // namespace schedule
}  // namespace calotype
