#pragma once
// The order in which the blocks of a kernel take its tiles.

#include "lower/loop_tree.h"
#include "lower/program.h"

namespace calotype::lower {

/// Of a kernel whose block loops are bound: with `raster` or `persistent` its tiles are counted along one
/// axis of the grid, and the block variables become names for what a number stands for; with `persistent`
/// each block goes from its own number on in steps of as many as there are blocks. What is known of the new
/// names is added to the facts.
void order_tiles(Function& f, const LoopTree& tree, StageRef stage, ir::Facts& facts);

}  // namespace calotype::lower
