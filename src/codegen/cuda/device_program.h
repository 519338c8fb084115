#pragma once
// The kernels of a Program: printed, compiled, loaded when first called, and run as the steps of its plan.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/device.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "codegen/cuda/printer.h"

namespace calotype::cuda {

/// Immutable after it is made; calls may run at the same time.
///
/// Accesses are wide where the arguments' data and strides are multiples of 16 bytes: if that changes the
/// source there are two, and a call takes the one that its arguments allow. The second is compiled when a
/// call first needs it.
class DeviceProgram {
 public:
  /// Compiles for program.target.arch, or for the GPU of this machine if that is empty. Errors: as `compile`,
  /// and Error(Target) if the architecture is to be the machine's and it has no GPU.
  explicit DeviceProgram(const lower::Program& program, const CompileOptions& options = {});
  ~DeviceProgram();

  /// Run the encoded plan of the same Program. With a stream of the caller's, which may be null, nothing is
  /// waited for and arguments in host memory are refused; without one the call waits. Error(Target) if there
  /// is no GPU or it cannot run the code.
  calotype_error_kind run(const calotype_plan& plan, calotype_context& context,
                          std::span<const calotype_argument> arguments,
                          std::optional<calotype_cu_handle> stream = {}) const;

  /// Of the code for aligned arguments.
  const std::string& source() const;
  const Compiled& compiled() const;
  /// Registers, shared memory and spills of each kernel, and the compiler's warnings.
  std::string figures_text() const;
  /// Of all the code compiled so far.
  std::vector<std::string> warnings() const;
  /// Time of each step of making it: print, nvrtc.
  std::vector<std::pair<std::string, double>> seconds() const { return seconds_; }

 private:
  class Module;
  struct Code;
  Code& code_for(std::span<const calotype_argument> arguments) const;
  void make(Code& code) const;
  void load(Code& code) const;

  std::vector<lower::Function> functions_;
  CompileOptions options_;
  std::string arch_;
  std::unique_ptr<Code> aligned_, general_;  // general_ is printed when a call first needs it
  std::vector<std::pair<std::string, double>> seconds_;
};

/// What may be assumed of the scalars if all strides but the innermost are multiples of 16 bytes.
ir::Facts aligned_stride_facts(const lower::Program& program);

}  // namespace calotype::cuda
