#pragma once
// BufferForm: how the memory of an argument lies, as schedules assume it and cases of a schedule file ask for
// it.

#include <cstdint>
#include <string>

namespace calotype {

/// What holds of the memory of an input or output. A dimension of one element may have any stride.
struct BufferForm {
  std::string buffer;  ///< its name: "A", or "C.0" for the first buffer of an output that is a Tuple
  /// The stride of dimension 0 is 1, that of each other the extent times the stride of the one before it.
  bool dense = false;
  std::int64_t pitch_multiple = 1;  ///< bytes: divides the strides of all dimensions but the first
  /// Bytes, a power of two: divides the address of the element at the smallest coordinates. Where a kernel
  /// runs on a device and the buffer lies in host memory, that of its copy there, which is made so.
  std::int64_t base_align = 1;

  bool operator==(const BufferForm&) const = default;
  /// "A dense", "A pitch multiple of 16 bytes, base aligned to 64 bytes", "A of any form".
  std::string str() const;
};

/// What holds where both do, of the buffer that `a` names.
BufferForm join(const BufferForm& a, const BufferForm& b);

}  // namespace calotype
