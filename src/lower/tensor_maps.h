#pragma once
// The tensors of which a kernel copies boxes.

#include "ir/simplify.h"
#include "lower/program.h"

namespace calotype::lower {

/// The body with one TensorMap for all boxes that are alike: of one source, with the same sides and swizzle.
/// `tensors`: those that there are, in the order of their first use.
ir::Stmt find_tensors(const ir::Stmt& body, std::vector<ir::TensorMapPtr>& tensors);

/// Refuses more than a launch has room for.
void require_few_tensors(const Function& kernel);

/// What a call has to have for the hardware to take the source as a tensor. That an argument's strides and
/// address are multiples is checked as what its FormAssumption says.
std::vector<PlanCheck> tensor_checks(const ir::TensorMap& map, const ir::Facts& facts);

}  // namespace calotype::lower
