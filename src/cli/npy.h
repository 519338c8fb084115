#pragma once
// NumPy's .npy files. Dimension 0 of a Buffer is the last NumPy axis.

#include <string>

#include "calotype/buffer.h"

namespace calotype::cli {

/// Reads versions 1 to 3, either byte order, C or Fortran order. The Buffer is dense and owned.
/// Error(Usage) for a file that is none or holds another element type.
Buffer read_npy(const std::string& path);
/// The same from the bytes of a file named `path`.
Buffer parse_npy(const std::string& bytes, const std::string& path);

/// Writes version 1 in C order. bfloat16 and the 8-bit floats, which NumPy lacks, are written as f32,
/// exactly.
void write_npy(const std::string& path, const Buffer& buffer);

}  // namespace calotype::cli
