#pragma once
// Comparison of a kernel's outputs with the reference.
//
// Integers are compared bit for bit. Floats pass where they equal the reference, or where |got - exact| <=
// 2B: `exact` is the definition in float64 arithmetic and B the running first-order error bound of the
// definition's own types.

#include <string>
#include <vector>

#include "calotype/pipeline.h"

namespace calotype::cli {

/// One element that differs.
struct Difference {
  std::vector<std::int64_t> at;  ///< coordinates, dimension 0 first
  double got = 0, expected = 0, exact = 0, allowed = 0;
};

struct Comparison {
  std::string name;
  std::int64_t elements = 0, different = 0;
  double max_abs_error = 0, max_rel_error = 0;
  Difference first, worst;  ///< meaningful if different > 0
  bool passed() const { return different == 0; }
};

/// `exact` and `bound` are undefined for integers.
Comparison compare(const std::string& name, const Buffer& got, const Buffer& expected, const Buffer& exact,
                   const Buffer& bound);
/// One comparison an output.
std::vector<Comparison> compare_outputs(const Pipeline& pipeline, const std::vector<Buffer>& outputs,
                                        const Evaluation& reference);

}  // namespace calotype::cli
