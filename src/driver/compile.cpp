// Pipeline::compile and the public face of kernels.

#include <chrono>

#include "calotype/pipeline.h"
#include "calotype/schedule.h"
#include "driver/kernel_impl.h"

namespace calotype {

Kernel Pipeline::compile(const Schedule& schedule, const Target& target) const {
  const auto start = std::chrono::steady_clock::now();
  schedule::Scheduled scheduled = schedule::apply_or_throw(graph(), schedule, target);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Kernel(std::make_shared<driver::KernelImpl>(
      std::move(scheduled), std::vector<std::pair<std::string, double>>{{"schedule", seconds}}));
}

void Kernel::call(const std::vector<Arg>& args) const { impl_->call(args); }
void Kernel::call(const std::vector<Arg>& args, calotype_context& context) const {
  impl_->call(args, context);
}
const Target& Kernel::target() const { return impl_->target(); }

double Kernel::compile_seconds() const {
  double total = 0;
  for (const auto& [pass, seconds] : impl_->pass_seconds()) total += seconds;
  return total;
}

std::vector<std::pair<std::string, double>> Kernel::pass_seconds() const { return impl_->pass_seconds(); }
std::string Kernel::show(const std::string& level) const { return impl_->show(level); }
std::string Kernel::numerics() const { return impl_->numerics(); }

}  // namespace calotype
