#pragma once
// Executable: a Program made runnable on one kind of target. Adding a target is one more maker.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calotype/verification.h"
#include "driver/meters.h"
#include "lower/program.h"
#include "runtime/plan.h"

namespace calotype::driver {

/// How a call runs, beside its arguments.
struct CallMode {
  std::optional<void*> stream = {};  ///< of CUDA programs alone: where the work goes, without waiting for it
  /// Of the interpreter alone: what it finds is told here and does not end the call. Null: it does.
  Verification* verification = nullptr;
  VerifyOptions verify = {};
};

/// What finding and running a Program's functions takes on one target. Immutable after it is made; callable
/// from several threads.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Run the encoded plan on checked or unchecked arguments; fills `context`.
  virtual calotype_error_kind run(const calotype_plan& plan, calotype_context& context,
                                  std::span<const calotype_argument> arguments,
                                  const CallMode& mode) const = 0;
  /// Text of a level below `lowered` ("llvm", "asm", "cuda", "ptx", "ptxas", "sass"); Error(Usage) for
  /// others.
  virtual std::string show(const std::string& level) const = 0;
  virtual std::vector<std::string> levels() const = 0;
  /// Seconds of code generation, by step.
  virtual std::vector<std::pair<std::string, double>> seconds() const = 0;
  /// What the code generator warns of, a sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }
};

struct ExecutableOptions {
  bool contract = true;
  /// What a profiled host program reports to; calls must not overlap.
  std::shared_ptr<Meters> meters = nullptr;
  /// Where calls of host programs find values that earlier ones left.
  std::shared_ptr<calotype_value_cache> cache = nullptr;
};

std::unique_ptr<Executable> make_host_executable(const lower::Program& program,
                                                 const ExecutableOptions& options);
std::unique_ptr<Executable> make_cuda_executable(const lower::Program& program,
                                                 const ExecutableOptions& options);
std::unique_ptr<Executable> make_interpreter_executable(const lower::Program& program,
                                                        const ExecutableOptions& options);

/// Error(Usage) for a level that a target does not have.
[[noreturn]] void refuse_level(const std::string& level, const std::vector<std::string>& levels);

}  // namespace calotype::driver
