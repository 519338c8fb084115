#pragma once
// Evaluating a Func that a function computes.

#include "lang/evaluate_regions.h"
#include "lang/run_stage.h"

namespace calotype::lang {

/// Calls the function once, for the whole region. Of its floats `exact` is what it returns; `bound` is 0 if
/// what it reads has no rounding errors, and else kUnknownError: what a function makes of them is not known.
///
/// If something of what it reads is spoiled, all its values are. Error(Argument) where the function fails.
void run_extern(const FuncDef& func, const Region& region, const Constants& constants, Stores& stores);

/// A bound that allows anything, and is finite, so that it may be added and multiplied.
constexpr double kUnknownError = 0x1p300;

}  // namespace calotype::lang
