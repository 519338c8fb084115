#pragma once
// The lines that `trace` prints, as statements. Their grammar, which programs may rely on:
//
//   line    = "load " place " = " value | "store " place " = " value | "produce " name [ " " box ]
//   place   = name "(" [ number { ", " number } ] ")"
//   box     = "[" number ", " number ")" { " x [" number ", " number ")" }
//
// A name is that of the Func or input; of a Func of several values with ".0", ".1" and on in places. Values
// are written as by print().

#include <string>
#include <vector>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// "load g(2, 4) = 1" for a Call in a definition, whose coordinates are values of the loops; null if its
/// loads are not reported.
ir::Stmt load_line(const LoopTree& tree, const Expr& call, const Expr& value);
/// Stores of a stage to the buffers of its Func; where they are reported with "store f(3, 4) = 7" behind
/// each.
ir::Stmt with_store_lines(const LoopTree& tree, StageRef stage, const std::vector<ir::BufferPtr>& buffers,
                          const ir::Stmt& stores, const std::vector<Expr>& coordinates);
/// "produce f [0, 8) x [0, 4)" for the Func and those that share its loops, of boxes that have elements;
/// printed where `where` holds. Null if none is reported.
ir::Stmt production_lines(const LoopTree& tree, FuncId func, const Expr& where);

/// Error(Target): a kernel of a GPU has no way to say that what the definition requires does not hold.
[[noreturn]] void refuse_requirement(const LoopTree& tree, StageRef stage, const Expr& requirement);

}  // namespace calotype::lower
