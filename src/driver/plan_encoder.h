#pragma once
// A lowered Program's plan as the runtime's constant data.

#include <memory>

#include "lower/program.h"
#include "runtime/plan.h"

namespace calotype::driver {

/// Owns the arrays and texts that a calotype_plan points at. Immutable, so that calls from several threads
/// share it.
class EncodedPlan {
 public:
  virtual ~EncodedPlan() = default;
  virtual const calotype_plan& plan() const = 0;
};

/// Error(Internal) if an expression of the plan is not one of 64-bit integers, or names a scalar or buffer
/// that the Program does not list.
std::shared_ptr<const EncodedPlan> encode_plan(const lower::Program& program);

}  // namespace calotype::driver
