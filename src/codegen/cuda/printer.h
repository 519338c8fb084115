#pragma once
// Lowered kernels to CUDA C.

#include <set>
#include <string>
#include <vector>

#include "ir/simplify.h"
#include "lower/program.h"

namespace calotype::cuda {

struct PrintOptions {
  /// Data pointers of Arguments are multiples of 16 bytes. (Workspace and shared memory always are.)
  bool aligned_arguments = false;
  /// A kernel's blocks may come onto the GPU while the kernel before it in its stream leaves: it waits for
  /// the end of that one before it does anything. From sm_90 on.
  bool begins_early = false;
  /// What else is known about the scalars, as `set_range` or a `multiple`: wide accesses need proof.
  ir::Facts facts;
  /// Kernels, by the names under which they are defined, that may take all the registers there are: one block
  /// of theirs has a multiprocessor to itself. Of others the assembler weighs registers against how many
  /// blocks share one, and rather spills a few bytes.
  std::set<std::string> alone = {};
};

/// One source for all kernels of a program: no headers, byte-identical for equal input.
/// Functions that are no kernels are passed over. Error(Internal) if a kernel is not at level `lowered`.
std::string print(const std::vector<lower::Function>& kernels, const PrintOptions& options = {});

/// The names under which `print` defines the functions, one each, in order.
std::vector<std::string> kernel_names(const std::vector<lower::Function>& kernels);

/// Shared memory that a launch must ask for, in bytes: 0 where the kernel declares its own.
std::int64_t dynamic_shared_bytes(const lower::Function& kernel);

}  // namespace calotype::cuda
