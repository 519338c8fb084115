#pragma once
// When a result counts as equal to the reference.
//
// Integers are equal bit for bit, and so are floats of a kernel whose schedule licenses no change of float
// results. Otherwise a float is equal where |got - exact| <= 2B plus what the caller allows: `exact` is the
// definition in float64 arithmetic and B the running error bound of the definition's own types. One B covers
// the reference itself, the other a result whose terms were added in another order. NaNs are equal to each
// other.

#include <string>
#include <vector>

#include "calotype/pipeline.h"

namespace calotype::lang {

/// One element: where, what it is, and what it is to be.
struct Element {
  std::vector<std::int64_t> at;   ///< dimension 0 first
  double got = 0, expected = 0;   ///< expected: the reference in the definition's types
  double exact = 0, allowed = 0;  ///< of inexact comparisons
};

struct EqualityReport {
  bool ok = true;
  std::int64_t elements = 0, different = 0;
  double max_abs_error = 0,
         max_rel_error = 0;  ///< over all elements, from `exact` (integers: from the reference)
  Element first, worst;      ///< of the elements that differ; meaningful if not ok

  /// "12 of 100 elements differ; first at (3, 0): got 1, expected 2; worst at ..." or "100 elements agree".
  std::string str() const;
};

/// What values are compared with, over one box.
struct Expected {
  Buffer values;
  Buffer exact, bound;  ///< floats
  Buffer counted;       ///< u8: elements with 0 are left out; undefined: none is
};

/// Compares element by element from the smallest coordinates on; elements are named by the coordinates of
/// `expected`. `bitwise` asks for equality bit for bit; else `allowance` is added to 2B. Error(Argument) if
/// type or extents differ from the reference's.
EqualityReport compare(const Buffer& got, const Expected& expected, bool bitwise, double allowance = 0);

/// The same with output `index` of an evaluation.
EqualityReport compare_with_reference(const Buffer& got, const Evaluation& reference, std::size_t index,
                                      bool bitwise, double allowance = 0);

}  // namespace calotype::lang
