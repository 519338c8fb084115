#pragma once
// What a condition says of an index: of the sum that it bounds, its quotients and what is fixed beside them.

#include "ir/simplify.h"

namespace calotype::lower {

/// Whether a quotient or remainder stands in it.
bool divides(const Expr& e);

/// Makes `range` no larger than `other`; undefined ends say nothing.
void intersect(ir::Algebra& algebra, ir::Interval& range, const ir::Interval& other);

/// The ends that `condition` (undefined: none) gives the index, where it bounds the very combination of
/// symbols of the scope that is the index, or one that the index is a multiple of or is made of by quotients
/// and by what is fixed.
ir::Interval range_by_condition(ir::Algebra& algebra, const Expr& index, const Expr& condition,
                                const ir::Scope& scope);

}  // namespace calotype::lower
