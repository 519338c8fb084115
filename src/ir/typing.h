#pragma once
// Typing of the public operators: literals take the other operand's type, mixed types go to a common one.

#include "ir/expr_node.h"

namespace calotype::ir {

/// Throws Error(Algorithm) if `e` is undefined; `what` names the operation.
void require_defined(const Expr& e, const char* what);
/// Throws Error(Algorithm) that names the operation `what` and the operand's type unless `holds`.
void require_operand(bool holds, const char* what, const Expr& operand, const char* legal);
/// Throws Error(Algorithm) for a float of 8 bits, in which nothing is computed.
void require_wide(const char* what, const Expr& operand);
/// The type that two operands of different types meet in.
Type common_type(Type a, Type b);
/// A constant that no cast has fixed to its type.
bool is_literal(const Expr& e);
/// `e` converted to the element type `type`; constants are folded, lanes are kept.
Expr convert(Type type, const Expr& e);
/// Give both operands one element type and one number of lanes.
void match(const char* what, Expr& a, Expr& b);
/// Give both operands one number of lanes by broadcasting a scalar.
void match_lanes(const char* what, Expr& a, Expr& b);
/// A literal converted to `type`; throws Error(Algorithm) that names it and `other` where it does not fit.
Expr adopt(const char* what, const Expr& literal, Type type, const Expr& other);
/// Whether a literal takes the type of an operand: all do but a float literal beside an integer.
bool adopts(const Expr& literal, Type other);

/// A node of the operation, or its value if all operands are constants (scalars).
Expr make_folded(Op op, Type type, std::vector<Expr> args);

}  // namespace calotype::ir
