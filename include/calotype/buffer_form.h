#pragma once
// BufferForm: how the memory of an argument lies, as schedules assume it and cases of a schedule file ask for
// it.

#include <cstdint>
#include <string>

namespace calotype {

/// What holds of the memory of an input or output.
struct BufferForm {
  std::string buffer;  ///< its name: "A", or "C.0" for the first buffer of an output that is a Tuple
  /// The stride of dimension 0 is 1, that of each other the extent times the stride of the one before it.
  bool dense = false;
  std::int64_t pitch_multiple = 1;  ///< bytes: divides the strides of all dimensions but the first
  std::int64_t base_align = 1;      ///< bytes: divides the address of the element at the smallest coordinates

  bool operator==(const BufferForm&) const = default;
  /// "A dense", "A pitch multiple of 16 bytes, base aligned to 64 bytes".
  std::string str() const;
};

}  // namespace calotype
