#pragma once
// Tiles of tensor cores: used by the tiles pass.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Of four warps that multiply together: their threads, and rows of the result.
inline constexpr std::int64_t kWideThreads = 128, kWideRows = 64;

/// Finds the stages of the nest that instructions of tensor cores carry out, and makes the block as large as
/// they need it. Error(Schedule) says why a stage cannot be.
void choose_tensor_tiles(LoopTree& tree, const Node& nest, KernelInfo& kernel);
/// Deals out the loops of their first definitions and of what reads them, and puts one body in the place of
/// the tile's loops.
void deal_tensor_tiles(LoopTree& tree, Node& nest);

}  // namespace calotype::lower
