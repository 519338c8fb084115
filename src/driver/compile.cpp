// Pipeline::compile and the public face of kernels.

#include <fmt/format.h>

#include <chrono>

#include "calotype/pipeline.h"
#include "calotype/schedule.h"
#include "calotype/schedule_file.h"
#include "driver/case_kernel.h"
#include "driver/kernel_impl.h"

namespace calotype {

Kernel Pipeline::compile(const Schedule& schedule, const Target& target) const {
  const auto start = std::chrono::steady_clock::now();
  schedule::Ways ways = schedule::ways_or_throw(graph(), schedule, target);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Kernel(std::make_shared<driver::KernelImpl>(
      graph(), std::move(ways), std::vector<std::pair<std::string, double>>{{"schedule", seconds}}));
}

Kernel Pipeline::compile(const ScheduleFile& file, const Target& target) const {
  if (file.target().is_gpu() != target.is_gpu())
    throw Error(
        {.kind = ErrorKind::Target,
         .message = fmt::format("the schedule file is for {}, not for {}", file.target().str(), target.str()),
         .value = target.str(),
         .legal = file.target().is_gpu() ? "a cuda target" : "a host target"});
  file.check(*this);
  return Kernel(std::make_shared<driver::CaseKernel>(graph_ptr(), file, file.variant(*this).name, target));
}

void Kernel::call(std::span<const Arg> args) const {
  calotype_context context{};
  base_->call(args, context);
}
void Kernel::call(const std::vector<Arg>& args) const { call(std::span<const Arg>(args)); }
void Kernel::call(const std::vector<Arg>& args, calotype_context& context) const {
  base_->call(args, context);
}

KernelOnStream Kernel::on(void* stream) const {
  if (target().kind != Target::Kind::Cuda)
    throw Error({.kind = ErrorKind::Usage,
                 .message = fmt::format("a kernel for {} runs in no CUDA stream", target().str()),
                 .value = target().str(),
                 .legal = "a kernel for cuda, or the call without a stream"});
  return {base_, stream};
}

void KernelOnStream::call(std::span<const Arg> args) const {
  calotype_context context{};
  base_->call(args, context, {.stream = stream_});
}

void KernelOnStream::call(const std::vector<Arg>& args) const { call(std::span<const Arg>(args)); }

const Target& Kernel::target() const { return base_->target(); }

double Kernel::compile_seconds() const {
  double total = 0;
  for (const auto& [pass, seconds] : base_->pass_seconds()) total += seconds;
  return total;
}

std::vector<std::pair<std::string, double>> Kernel::pass_seconds() const { return base_->pass_seconds(); }
std::string Kernel::show(const std::string& level) const { return base_->show(level); }
std::string Kernel::numerics() const { return base_->numerics(); }
std::vector<std::string> Kernel::warnings() const { return base_->warnings(); }
std::string Kernel::explain(const std::vector<Arg>& args) const { return base_->explain(args); }
const driver::KernelImpl& Kernel::impl() const { return base_->general(); }

}  // namespace calotype
