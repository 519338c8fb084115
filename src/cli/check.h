#pragma once
// Comparison of a kernel's outputs with the reference, by the rule of lang/equality.h.

#include <string>
#include <vector>

#include "lang/equality.h"

namespace calotype::cli {

/// One element that differs.
using Difference = lang::Element;

/// An output by name, and how it compares.
struct Comparison : lang::EqualityReport {
  std::string name;
  bool passed() const { return ok; }
};

/// One comparison an output.
std::vector<Comparison> compare_outputs(const Pipeline& pipeline, const std::vector<Buffer>& outputs,
                                        const Evaluation& reference);

}  // namespace calotype::cli
