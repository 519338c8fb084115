#pragma once
// Kernel: the product of algorithm, schedule and target. Immutable, callable from several threads.

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "calotype/buffer.h"
#include "calotype/target.h"

namespace calotype {

namespace driver {
class KernelBase;
class KernelImpl;
}  // namespace driver

/// One argument of a call: a Buffer, or the value of a Param.
class Arg {
 public:
  Arg(const Buffer& buffer) : value_(buffer) {}
  Arg(double scalar) : value_(scalar) {}
  Arg(int scalar) : value_(static_cast<double>(scalar)) {}
  const std::variant<Buffer, double>& value() const { return value_; }

 private:
  std::variant<Buffer, double> value_;
};

class Kernel {
 public:
  explicit Kernel(std::shared_ptr<const driver::KernelBase> base) : base_(std::move(base)) {}

  /// Inputs and Params as listed in the Pipeline, then outputs. Checks every argument first (type, rank,
  /// extents, strides, null, overlap, required regions) and throws Error(Argument) with nothing written. On
  /// CUDA copies in, runs, copies out and waits.
  template <class... Args>
  void operator()(Args&&... args) const {
    call({Arg(args)...});
  }
  void call(const std::vector<Arg>& args) const;
  /// The same through the caller's hooks for memory and parallel loops, which compiled host code calls too,
  /// from every thread of a loop. A null hook means what a call without a context does: aligned memory of the
  /// C library, loops of oneTBB. What failed stands in `context.error` as well.
  void call(const std::vector<Arg>& args, calotype_context& context) const;

  const Target& target() const;
  /// Seconds from Pipeline to machine code, and by pass in order. Of a schedule file: of the cases compiled
  /// so far.
  double compile_seconds() const;
  std::vector<std::pair<std::string, double>> pass_seconds() const;
  /// Text of a level: "schedule", "bounds", "loops", "tiles", "pipeline", "memory", "sync", "lowered",
  /// "plan", "llvm", "asm", "cuda", "ptx". Error(Usage) lists the levels this target has. Of a schedule file
  /// with several cases: the text of each under a heading, or with "cases" the headings alone.
  std::string show(const std::string& level) const;
  /// What the schedule let the compiler do to float results: JSON text of the `numerics` object.
  std::string numerics() const;
  /// Which case of a schedule file a call with these arguments takes, and of each other case the first key of
  /// its `when` that does not fit. Runs nothing.
  std::string explain(const std::vector<Arg>& args) const;
  /// The kernel of the one schedule, or of the case for all sizes.
  const driver::KernelImpl& impl() const;

 private:
  std::shared_ptr<const driver::KernelBase> base_;
};

}  // namespace calotype
