// When a result counts as equal to the reference.

#include "lang/equality.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace calotype::lang {

namespace {

/// Same bits, or both NaN. 16- and 32-bit floats are told apart by their exact doubles as well.
bool same_float(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// 64-bit integers do not fit a double, so they are compared as they are.
bool same_integer(const Buffer& a, const std::vector<std::int64_t>& at_a, const Buffer& b,
                  const std::vector<std::int64_t>& at_b) {
  if (a.type() == Int(64)) return a.at<std::int64_t>(at_a) == b.at<std::int64_t>(at_b);
  if (a.type() == UInt(64)) return a.at<std::uint64_t>(at_a) == b.at<std::uint64_t>(at_b);
  return a.value(at_a) == b.value(at_b);
}

void check_shape(const Buffer& got, const Buffer& reference) {
  bool same = got.type() == reference.type() && got.rank() == reference.rank();
  for (int d = 0; same && d < got.rank(); ++d) same = got.extent(d) == reference.extent(d);
  if (same) return;
  const auto text = [](const Buffer& b) {
    std::vector<std::int64_t> extents;
    for (int d = 0; d < b.rank(); ++d) extents.push_back(b.extent(d));
    return fmt::format("{}[{}]", b.type().str(), fmt::join(extents, ", "));
  };
  throw Error({.kind = ErrorKind::Argument,
               .message = "a result of another type or shape than the reference",
               .value = text(got),
               .legal = text(reference)});
}

/// Advances coordinates within the box, dimension 0 fastest; false after the last.
bool next(const Buffer& box, std::vector<std::int64_t>& at) {
  for (int d = 0; d < box.rank(); ++d) {
    if (++at[d] < box.extent(d)) return true;
    at[d] = 0;
  }
  return false;
}

class Comparison {
 public:
  Comparison(bool bitwise, double allowance) : bitwise_(bitwise), allowance_(allowance) {}

  void integer(const Element& e, bool same) {
    note_error(e.got, e.expected);
    if (!same) note_difference(e, std::fabs(e.got - e.expected));
  }

  void real(Element e, double bound) {
    e.allowed = 2 * bound + allowance_;
    note_error(e.got, e.exact);
    if (same_float(e.got, e.expected)) return;
    const double error = std::fabs(e.got - e.exact);
    const bool close = error <= e.allowed || same_float(e.got, e.exact);
    if (bitwise_ || !close) note_difference(e, bitwise_ ? std::fabs(e.got - e.expected) : error - e.allowed);
  }

  EqualityReport report;

 private:
  void note_error(double got, double exact) {
    report.elements++;
    const double error = std::fabs(got - exact);
    if (!std::isfinite(error)) return;  // not a number that could be reported
    report.max_abs_error = std::max(report.max_abs_error, error);
    if (exact != 0) report.max_rel_error = std::max(report.max_rel_error, error / std::fabs(exact));
  }

  /// `excess` orders the differences; NaN counts as the largest.
  void note_difference(const Element& e, double excess) {
    if (!(excess < INFINITY)) excess = INFINITY;
    report.ok = false;
    if (report.different++ == 0) report.first = e;
    if (report.different > 1 && excess <= worst_) return;
    report.worst = e;
    worst_ = excess;
  }

  bool bitwise_;
  double allowance_, worst_ = 0;
};

std::string text(const Element& e) {
  return fmt::format("({}): got {}, expected {}", fmt::join(e.at, ", "), e.got, e.expected);
}

}  // namespace

std::string EqualityReport::str() const {
  if (ok) return fmt::format("{} elements agree", elements);
  return fmt::format("{} of {} elements differ; first at {}; worst at {}", different, elements, text(first),
                     text(worst));
}

namespace {

Buffer from_zero(const Buffer& b) {
  return b.defined() ? b.translate(std::vector<std::int64_t>(b.rank(), 0)) : b;
}

std::vector<std::int64_t> shifted(std::vector<std::int64_t> at, const Buffer& by) {
  for (int d = 0; d < by.rank(); ++d) at[d] += by.min(d);
  return at;
}

}  // namespace

EqualityReport compare(const Buffer& got_anywhere, const Expected& expected, bool bitwise, double allowance) {
  check_shape(got_anywhere, expected.values);
  const Buffer got = from_zero(got_anywhere), values = from_zero(expected.values),
               exact = from_zero(expected.exact), bound = from_zero(expected.bound),
               counted = from_zero(expected.counted);
  Comparison comparison(bitwise, allowance);
  if (got.elements() == 0) return comparison.report;
  std::vector<std::int64_t> at(got.rank(), 0);
  do {
    if (counted.defined() && counted.value(at) == 0) continue;
    Element e{.at = shifted(at, expected.values), .got = got.value(at), .expected = values.value(at)};
    if (got.type().is_float()) {
      e.exact = exact.value(at);
      comparison.real(e, bound.value(at));
    } else {
      e.exact = e.expected;
      comparison.integer(e, same_integer(got, at, values, at));
    }
  } while (next(got, at));
  return comparison.report;
}

EqualityReport compare_with_reference(const Buffer& got, const Evaluation& reference, std::size_t index,
                                      bool bitwise, double allowance) {
  return compare(got,
                 {.values = reference.outputs.at(index),
                  .exact = reference.exact.at(index),
                  .bound = reference.bound.at(index),
                  .counted = {}},
                 bitwise, allowance);
}

}  // namespace calotype::lang
