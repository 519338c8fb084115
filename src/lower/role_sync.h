#pragma once
// Synchronisation of roles with each other: used by the sync pass.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Within the part of a role, waits for full slots in front of what reads them and for free ones in front of
/// what writes them, and what tells the other role behind: see role_sync.cpp. The role's own waits for
/// products stand already.
void exchange_between_roles(const LoopTree& tree, Node& role);

}  // namespace calotype::lower
