#pragma once
// Roles of a block: used by the tiles and pipeline passes.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Which threads of the kernel of a Func at root have which role. Error(Schedule) where they cannot.
void give_roles(const LoopTree& tree, FuncId root, KernelInfo& kernel);
/// Names the slot of a ring at the head of the loop by which it turns: all rings of the loop turn alike.
void name_slot(LoopTree& tree, LoopId loop, Storage& storage);
/// What blocks do, one part a role: see split_roles.cpp.
void split_roles(LoopTree& tree);

}  // namespace calotype::lower
