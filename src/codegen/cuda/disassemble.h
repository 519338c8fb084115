#pragma once
// Machine code of a GPU as text.

#include <string>

namespace calotype::cuda {

/// The instructions of a cubin, by NVIDIA's nvdisasm or cuobjdump: the program that CALOTYPE_NVDISASM names,
/// or one of the toolkit's (CUDA_HOME, CUDA_PATH, the usual place), or one on the path. Error(Target) says
/// what to install where there is none, and what the program said if it failed.
std::string disassemble(const std::string& cubin);

}  // namespace calotype::cuda
