#pragma once
// The statements of a tile of tensor cores: used by emit.

#include "lower/addresses.h"

namespace calotype::lower {

/// Every product of the tile, inside the loops `open`, of which one is over threads. Error(Schedule) says why
/// an operand lies in memory as the instruction cannot read it.
ir::Stmt multiply_tile(const LoopTree& tree, const Addresses& addresses, StageRef stage,
                       const std::vector<LoopId>& open);

}  // namespace calotype::lower
