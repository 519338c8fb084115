// Comparison of a kernel's outputs with the reference.
#include "cli/check.h"

#include <cmath>

#include "cli/convert.h"
#include "lang/graph.h"

namespace calotype::cli {
namespace {

bool same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Fills error figures and says whether the element is as it must be.
bool element_passes(Comparison& result, const Difference& d, bool is_float) {
  if (same_value(d.got, is_float ? d.exact : d.expected)) return true;
  const double error = std::fabs(d.got - (is_float ? d.exact : d.expected));
  // Neither side finite and not the same: no error figure can say how far off it is.
  if (std::isfinite(error)) {
    result.max_abs_error = std::max(result.max_abs_error, error);
    const double size = std::fabs(is_float ? d.exact : d.expected);
    if (size > 0) result.max_rel_error = std::max(result.max_rel_error, error / size);
  }
  return is_float && (same_value(d.got, d.expected) || error <= d.allowed);
}

// How much worse than allowed: orders the differences.
double badness(const Difference& d) {
  const double error = std::fabs(d.got - d.exact);
  return std::isfinite(error) ? error - d.allowed : INFINITY;
}

}  // namespace

Comparison compare(const std::string& name, const Buffer& got_any, const Buffer& expected_any,
                   const Buffer& exact_any, const Buffer& bound_any) {
  const Buffer got = dense(got_any), expected = dense(expected_any);
  const bool is_float = got.type().is_float();
  const Buffer exact = is_float ? dense(exact_any) : Buffer(), bound = is_float ? dense(bound_any) : Buffer();
  Comparison result;
  result.name = name;
  result.elements = got.elements();
  for (std::int64_t i = 0; i < result.elements; ++i) {
    Difference d;
    d.got = element(got, i);
    d.expected = element(expected, i);
    d.exact = is_float ? element(exact, i) : d.expected;
    d.allowed = is_float ? 2 * element(bound, i) : 0;
    if (element_passes(result, d, is_float)) continue;
    d.at = coordinates_of(got, i);
    if (result.different++ == 0) result.first = result.worst = d;
    if (badness(d) > badness(result.worst)) result.worst = d;
  }
  return result;
}

std::vector<Comparison> compare_outputs(const Pipeline& pipeline, const std::vector<Buffer>& outputs,
                                        const Evaluation& reference) {
  const lang::Graph& graph = pipeline.graph();
  std::vector<Comparison> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool is_float = outputs[i].type().is_float();
    results.push_back(compare(graph.func(graph.outputs[i].func).name, outputs[i], reference.outputs[i],
                              is_float ? reference.exact[i] : Buffer(),
                              is_float ? reference.bound[i] : Buffer()));
  }
  return results;
}

}  // namespace calotype::cli
