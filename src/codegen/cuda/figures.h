#pragma once
// What became of kernels in machine code: registers, memory and what went wrong with them.

#include <string>
#include <vector>

#include "codegen/cuda/nvrtc_compile.h"
#include "lower/program.h"

namespace calotype::cuda {

/// Level `ptxas`: registers, shared and local memory of each kernel, then the warnings.
std::string figures_text(const std::vector<lower::Function>& kernels, const Compiled& compiled);

/// The compiler's warnings, and each kernel whose values overflow into local memory, or lie there because
/// they are indexed by what is no constant, though no stage is stored there.
std::vector<std::string> warnings_of(const std::vector<lower::Function>& kernels, const Compiled& compiled);

}  // namespace calotype::cuda
