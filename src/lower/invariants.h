#pragma once
// What each level promises, checked after its pass in debug builds (with NDEBUG the checks do nothing). A
// broken one is Error(Internal) naming the pass and the Func.

#include "lower/loop_tree.h"
#include "lower/program.h"

namespace calotype::lower {

/// Every stage of every Func that is not inlined has exactly one body, inside the loops of its schedule; no
/// definition calls an inlined Func; every Func is produced after its producers.
void check_placed(const LoopTree& tree);
/// Every loop of a present stage has a variable, a minimum and an extent; every stage has a region and
/// coordinates; every stored Func a box.
void check_bounds(const LoopTree& tree);
/// Every root nest of a GPU program is a kernel of at most 1024 threads; thread loops stand inside block
/// loops and do not exceed the block.
void check_tiles(const LoopTree& tree);
/// Every body has an instruction record that its target has.
void check_pipeline(const LoopTree& tree);
/// Every stored Func has a buffer; shared and thread-private ones have constant extents.
void check_memory(const LoopTree& tree);
/// Flat accesses, no Call, no Vector or Unrolled or GPU loop left; vector operands agree in lanes; Bool
/// predicates; every variable is an argument or bound.
void check_program(const Program& program);

}  // namespace calotype::lower
