#pragma once
// The CPU backend: lowered host functions to machine code of this process, or to text for any known machine.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lower/program.h"

namespace calotype::llvm_backend {

struct Options {
  /// "" = this machine; "x86_64-avx2", "x86_64-avx512", "x86_64-avx512vnni", "aarch64-neon"
  std::string arch;
  /// a * b + c outside `strict_float` becomes one fused operation where the machine has it.
  bool contract = true;
  /// Make the texts while compiling instead of when they are asked for.
  bool keep_text = false;
};

/// What a compiled function returns.
enum Status : int { kGood = 0, kCheckFailed = 1, kOutOfMemory = 2 };

/// A compiled function. `context` points at a `Hooks` (hooks.h) or is null; `scalars` and `buffers` are in
/// the order of lower::Function::scalars and ::buffers. A scalar slot holds an integer (narrower ones are cut
/// to their type) or the bits of a float in its low part.
using HostFunction = int (*)(void* context, const std::int64_t* scalars, void* const* buffers);

/// Machine code and how it came about; the code lives as long as the Module. Callable from several threads.
class Module {
 public:
  virtual ~Module() = default;
  /// Error(Target) if the code is for another machine, Error(Internal) if there is no such function.
  virtual HostFunction function(const std::string& name) const = 0;
  /// Optimised LLVM IR.
  virtual std::string llvm_text() const = 0;
  virtual std::string asm_text() const = 0;
  /// Time of each step of the compilation, in order: LLVM IR, optimisation, machine code,
  /// linking.
  virtual std::vector<std::pair<std::string, double>> seconds() const = 0;
};

/// Compile host functions together. May be called from several threads at the same time. Error(Target) for an
/// unknown `arch`; Error(Internal) if the functions break an invariant of level `lowered`.
std::shared_ptr<Module> compile(const std::vector<lower::Function>& functions, const Options& options);

}  // namespace calotype::llvm_backend
