#pragma once
// Memory laid out by parts of coordinates: the extent of a part, and where an element lies.

#include <vector>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// How many values the part takes of a coordinate from 0 to below `extent`.
Expr extent_of_part(const schedule::StoragePart& part, const Expr& extent);
/// The index of the element at `positions`, which count from 0 along each coordinate, in a buffer with a
/// dimension for each part.
Expr index_of_parts(const std::vector<schedule::StoragePart>& parts, const ir::BufferPtr& buffer,
                    const std::vector<Expr>& positions);

}  // namespace calotype::lower
