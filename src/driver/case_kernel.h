#pragma once
// A kernel of several schedules: each call takes the case of a schedule file that fits its sizes and buffers.

#include <map>
#include <memory>
#include <mutex>

#include "codegen/cuda/once.h"
#include "driver/buffer_reader.h"
#include "driver/kernel_base.h"
#include "driver/kernel_impl.h"
#include "driver/size_reader.h"
#include "schedule/cases.h"

namespace calotype::driver {

class CaseKernel : public KernelBase {
 public:
  /// The file has been checked for the algorithm. Compiles nothing yet.
  CaseKernel(std::shared_ptr<const lang::Graph> graph, ScheduleFile file, const std::string& variant,
             Target target);

  void call(std::span<const Arg> args, calotype_context& context, const CallMode& mode) const override;
  const Target& target() const override { return target_; }
  std::vector<std::pair<std::string, double>> pass_seconds() const override;
  std::string show(const std::string& level) const override;
  std::string numerics() const override;
  std::vector<std::string> warnings() const override;
  std::string explain(const std::vector<Arg>& args) const override;
  const KernelImpl& general() const override { return kernel(order_.general()); }

 private:
  /// A case once it is compiled. Two threads may need different cases at the same time.
  struct Slot {
    cuda::Once once;
    std::unique_ptr<const KernelImpl> kernel;
  };
  const KernelImpl& kernel(std::size_t case_index) const;

  const std::shared_ptr<const lang::Graph> graph_;
  const ScheduleFile file_;
  const Target target_;
  const schedule::CaseOrder order_;
  const SizeReader sizes_;
  const BufferReader buffers_;
  mutable std::map<std::size_t, Slot> slots_;  ///< one a case, made with the kernel
  mutable std::mutex mutex_;                   ///< of the list below
  mutable std::vector<const KernelImpl*> compiled_;
};

}  // namespace calotype::driver
