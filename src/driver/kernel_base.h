#pragma once
// KernelBase: what a Kernel does, however many schedules are behind it.

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calotype/kernel.h"
#include "driver/executable.h"

namespace calotype::driver {

class KernelBase {
 public:
  virtual ~KernelBase() = default;
  virtual void call(std::span<const Arg> args, calotype_context& context,
                    const CallMode& mode = {}) const = 0;
  virtual const Target& target() const = 0;
  virtual std::vector<std::pair<std::string, double>> pass_seconds() const = 0;
  virtual std::string show(const std::string& level) const = 0;
  virtual std::string numerics() const = 0;
  virtual std::vector<std::string> warnings() const = 0;
  virtual std::string explain(const std::vector<Arg>& args) const = 0;
  /// The kernel of the one schedule, or of the case for all sizes.
  virtual const KernelImpl& general() const = 0;
};

}  // namespace calotype::driver
