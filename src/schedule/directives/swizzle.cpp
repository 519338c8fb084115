// swizzle: pieces of 16 bytes moved within rows of shared memory.
#include <fmt/format.h>

#include "schedule/dims.h"

namespace calotype {

Stage& Stage::swizzle(Factor bytes) { return record("swizzle", {{"bytes", bytes}}); }

namespace schedule {

static void apply(Application& a) {
  const std::int64_t bytes = a.integer("bytes");
  if (!a.state.out.target.is_gpu())
    a.refuse(fmt::format("the target {} has no memory in banks", a.state.out.target.str()),
             std::to_string(bytes), "the targets cuda and cuda-interpreter; pad or layout on this one");
  StorageSchedule& memory = own_memory(a);
  if (bytes != 32 && bytes != 64 && bytes != 128)
    a.refuse(fmt::format("there is no swizzle of rows of {} bytes", bytes), std::to_string(bytes),
             "32, 64 or 128");
  if (memory.swizzle != 0)
    a.refuse(fmt::format("the memory of '{}' is swizzled already, by {}", a.func_def().name,
                         memory.swizzle_origin),
             std::to_string(bytes), "one swizzle a Func");
  memory.swizzle = bytes;
  memory.swizzle_origin = memory.origin = a.origin();
}

DirectiveSpec swizzle_spec() {
  return {
      .name = "swizzle",
      .addresses = Addresses::Func,
      .doc =
          "Moves the pieces of 16 bytes within each row of shared memory by the number of the row, so that "
          "a column of pieces lies in different banks. A row is what has neighbours in memory: the "
          "innermost coordinate, or the innermost part of a `layout`; it takes exactly `bytes`. Of byte "
          "address a bits 4 to 6 (128; 4 to 5: 64; 4: 32) are combined by exclusive or with the bits from "
          "7 on. Vectors of up to 16 bytes are still one access.",
      .args = {{.name = "bytes", .kind = ArgKind::Integer, .doc = "of a row: 32, 64 or 128"}},
      .refused = {"the target is a host, or the Func an output", "it has a swizzle already",
                  "`bytes` is not 32, 64 or 128", "the Func is not in shared memory",
                  "rows in memory do not take exactly `bytes`"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
