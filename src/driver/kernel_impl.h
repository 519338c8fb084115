#pragma once
// What a Kernel holds: the scheduled algorithm, and one compiled variant for each layout class of its
// arguments and each way through the schedule's conditions.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calotype/kernel.h"
#include "driver/condition_reader.h"
#include "driver/executable.h"
#include "driver/kernel_base.h"
#include "driver/plan_encoder.h"
#include "lower/lower.h"
#include "schedule/scheduled.h"

namespace calotype::driver {

/// What a variant was compiled for. Kernels count as layout classes, not as shapes.
struct LayoutClass {
  std::vector<std::int64_t> unit_strides;  ///< of dimension 0, a buffer argument each; 0: any
  int index_bits = 64;
  std::size_t way = 0;  ///< of schedule::Ways
  auto operator<=>(const LayoutClass&) const = default;
};

/// The time of one step of a compilation.
struct StepTime {
  std::string part;  ///< "schedule", "lowering" or "code generation"
  std::string step;
  double seconds = 0;
};

struct Variant {
  lower::Program program;
  std::shared_ptr<const EncodedPlan> plan;
  std::unique_ptr<Executable> executable;
  std::vector<StepTime> times;
};

/// What a kernel does that neither algorithm nor schedule says.
struct KernelOptions {
  /// As lower::Options::stored_stages: an argument more for each, after the outputs.
  std::vector<lang::FuncId> stored_stages;
  /// Host: the code is measured and reports to these. Calls must not overlap.
  std::shared_ptr<Meters> meters = nullptr;
};

/// The variant that is compiled first.
LayoutClass dense_class(const schedule::Scheduled& scheduled, const KernelOptions& options);
/// How a variant is lowered.
lower::Options lower_options(const schedule::Scheduled& scheduled, const KernelOptions& options,
                             const LayoutClass& layout);

/// The value of a Param of this type and name in the representation of the plan's slots.
std::int64_t scalar_bits(double value, Type type, const std::string& name);

/// The schedule as one of a single way.
schedule::Ways one_way(schedule::Scheduled scheduled);

class KernelImpl : public KernelBase {
 public:
  /// Compiles the variant for dense arguments and no condition that holds; others follow when a call first
  /// needs them. That they can be is found out here: each way is lowered. `graph` is the algorithm's.
  KernelImpl(const lang::Graph& graph, schedule::Ways ways,
             std::vector<std::pair<std::string, double>> seconds_before, KernelOptions options = {});

  void call(std::span<const Arg> args) const;
  void call(std::span<const Arg> args, calotype_context& context, const CallMode& mode = {}) const override;

  const Target& target() const override { return scheduled().target; }
  /// Where no condition holds.
  const schedule::Scheduled& scheduled() const { return ways_.ways.front().scheduled; }
  std::vector<std::pair<std::string, double>> pass_seconds() const override;
  /// Every step from the schedule to machine code, of the variant for dense arguments.
  std::vector<StepTime> step_times() const;
  std::string show(const std::string& level) const override;
  std::string numerics() const override;
  std::vector<std::string> warnings() const override;
  std::string explain(const std::vector<Arg>& args) const override;
  const KernelImpl& general() const override { return *this; }
  /// The variant for dense arguments.
  const Variant& dense() const { return *dense_; }

 private:
  /// The variant that a call takes.
  const Variant& variant_for(std::span<const calotype_argument> arguments, std::size_t way) const;
  std::int64_t unit_stride(std::size_t argument, const calotype_buffer& buffer) const;
  std::vector<bool> dense_arguments() const;
  const Variant& variant(const LayoutClass& layout) const;
  std::unique_ptr<Variant> compile(const LayoutClass& layout) const;
  /// What the variants of one way share; under the mutex.
  std::shared_ptr<calotype_value_cache> cache(std::size_t way) const;
  const schedule::Scheduled& scheduled(const LayoutClass& layout) const {
    return ways_.ways[layout.way].scheduled;
  }
  std::size_t way_of(std::span<const Arg> args) const;
  std::string show(const std::string& level, std::size_t way) const;
  calotype_argument convert(std::size_t position, const Arg& arg) const;
  void check_count(std::size_t arguments) const;

  schedule::Ways ways_;
  ConditionReader conditions_;
  KernelOptions options_;
  std::vector<std::pair<std::string, double>> seconds_before_;
  const std::vector<bool> dense_arguments_;
  mutable std::mutex mutex_;
  mutable std::map<LayoutClass, std::unique_ptr<Variant>> variants_;
  mutable std::map<std::size_t, std::shared_ptr<calotype_value_cache>> caches_;
  const Variant* dense_ = nullptr;
};

}  // namespace calotype::driver
