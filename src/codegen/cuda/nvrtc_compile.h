#pragma once
// CUDA C to machine code through NVRTC, kept in the disk cache.

#include <string>
#include <vector>

#include "calotype/error.h"
#include "calotype/runtime.h"

namespace calotype::cuda {

struct CompileOptions {
  /// a * b + c may become one fused operation.
  bool contract = true;
  /// Look into the disk cache and write to it (CALOTYPE_CACHE=off has the last word).
  bool cache = true;
  std::string name = "kernels.cu";
};

/// What ptxas says of a kernel.
struct KernelFigures {
  std::string name;
  int registers = 0;
  int spill_bytes = 0;  ///< stored and loaded
  int stack_bytes = 0;
  int shared_bytes = 0;  ///< static
};

struct Compiled {
  std::string arch, ptx, cubin, log;
  std::vector<KernelFigures> kernels;
  std::vector<std::string> warnings;  ///< of the compiler, a line each
  int nvrtc = 0;                      ///< version of the compiler, 13000 for 13.0
  bool from_cache = false;
};

/// Compile for an architecture such as "sm_90a". May be called from several threads at the same time.
/// Error(Target) if there is no NVRTC or it does not know the architecture; Error(Internal) with the numbered
/// source and the log if the source does not compile.
Compiled compile(const std::string& source, const std::string& arch, const CompileOptions& options = {});

/// The figures in a log of `ptxas -v`.
std::vector<KernelFigures> read_figures(const std::string& log);
/// The warnings in a log, also those that ptxas calls information: losses of speed have a number (C75xx).
std::vector<std::string> read_warnings(const std::string& log);

/// The kind of a failure of the C runtime.
ErrorKind kind_of(calotype_error_kind kind);
/// Such a failure as an exception.
[[noreturn]] void throw_error(const calotype_error& error);

}  // namespace calotype::cuda
