#pragma once
// Roles as statements: used by emit and where tiles get their order.

#include <functional>
#include <vector>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// The parts of a kernel's roles, each run by its threads.
ir::Stmt run_roles(const LoopTree& tree, StageRef kernel, std::vector<ir::Stmt> parts);
/// What is run by roles with `change` made to the part of each, behind what the role does once; another body
/// is changed as a whole.
ir::Stmt within_roles(const ir::Stmt& body, const std::function<ir::Stmt(const ir::Stmt&)>& change);

}  // namespace calotype::lower
