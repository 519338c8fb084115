#pragma once
// Kernel: the product of algorithm, schedule and target. Immutable, callable from several threads.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "calotype/buffer.h"
#include "calotype/target.h"
#include "calotype/verification.h"

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

/// A kernel whose calls go into one CUDA stream: what Kernel::on gives. May be copied, and called from
/// several threads.
class KernelOnStream {
 public:
  KernelOnStream(std::shared_ptr<const driver::KernelBase> base, void* stream)
      : base_(std::move(base)), stream_(stream) {}

  /// Arguments as of Kernel's calls, with the same checks, and every buffer in memory that the GPU reaches by
  /// itself. Puts the work into the stream and returns: results are there when the stream has come to them,
  /// and what fails on the GPU is reported by whatever next asks the stream. Arguments may be destroyed at
  /// once; their memory has to last until then.
  ///
  /// May be captured into a CUDA graph, as it neither waits nor touches another stream. The first call of a
  /// layout of arguments may compile and load code; later ones allocate nothing on the GPU but stages that
  /// the schedule stores in global memory, which come out of the stream's memory pool and go back there.
  template <class... Args>
  void operator()(Args&&... args) const {
    const Arg all[] = {Arg(args)...};
    call(std::span<const Arg>(all));
  }
  void call(std::span<const Arg> args) const;
  void call(const std::vector<Arg>& args) const;

 private:
  std::shared_ptr<const driver::KernelBase> base_;
  void* stream_;
};

class Kernel {
 public:
  explicit Kernel(std::shared_ptr<const driver::KernelBase> base) : base_(std::move(base)) {}

  /// Inputs and Params as listed in the Pipeline, then outputs. Checks every argument first (type, rank,
  /// extents, strides, null, overlap, required regions) and throws Error(Argument) with nothing written. On
  /// CUDA copies host buffers in, runs, copies them out and waits. It begins after the work that was put into
  /// the default stream before; work on the arguments in other streams has to be over, or use `on`.
  template <class... Args>
  void operator()(Args&&... args) const {
    const Arg all[] = {Arg(args)...};
    call(std::span<const Arg>(all));
  }
  void call(std::span<const Arg> args) const;
  void call(const std::vector<Arg>& args) const;
  /// The same through the caller's hooks for memory and parallel loops, which compiled host code calls too,
  /// from every thread of a loop. A null hook means what a call without a context does: aligned memory of the
  /// C library, loops of oneTBB. What failed stands in `context.error` as well.
  void call(const std::vector<Arg>& args, calotype_context& context) const;
  /// The same kernel with its calls in a CUDA stream, and not waited for: `kernel.on(stream)(a, b, out)`. A
  /// cudaStream_t or CUstream of the GPU's primary context, as cudaStreamCreate makes it; null is the default
  /// stream. Error(Usage) for a kernel of another target.
  KernelOnStream on(void* stream) const;

  /// Makes the call on the simulator and tells what it has found instead of failing; the outputs are written
  /// as far as it came. Errors: as those of a call; Usage for a kernel of another target than
  /// Target::interpreter(arch).
  Verification verify(const std::vector<Arg>& args, const VerifyOptions& options = {}) const;

  const Target& target() const;
  /// Seconds from Pipeline to machine code, and by pass in order. Of a schedule file: of the cases compiled
  /// so far.
  double compile_seconds() const;
  std::vector<std::pair<std::string, double>> pass_seconds() const;
  /// Text of a level: "schedule", "bounds", "loops", "tiles", "pipeline", "memory", "sync", "lowered",
  /// "plan", "llvm", "asm", "cuda", "ptx", "ptxas" (registers, shared memory and spills of each kernel) and
  /// "sass". Error(Usage) lists the levels this target has. Of a schedule file
  /// with several cases: the text of each under a heading, or with "cases" the headings alone.
  std::string show(const std::string& level) const;
  /// What the GPU's assembler warned of, and kernels whose registers overflow into memory: each a sentence
  /// that names the kernel. Of the code compiled so far.
  std::vector<std::string> warnings() const;
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
