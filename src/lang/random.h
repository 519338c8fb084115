#pragma once
// Random numbers as arithmetic on the coordinates of a point.

#include "ir/expr_node.h"

namespace calotype::lang {

/// 32 random bits, UInt(32): a hash of the number of the call, the seed and the coordinates.
Expr random_bits(int call, const Expr& seed, const std::vector<Expr>& coordinates);

/// Throws Error(Algorithm) if `e`, which is `where` in the Func, has random numbers, requirements or values
/// left undefined.
void require_determined(const std::string& where, const std::string& func, const Expr& e);
/// The same for undefined values alone.
void require_defined_throughout(const std::string& where, const std::string& func, const Expr& e);

}  // namespace calotype::lang
