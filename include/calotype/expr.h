#pragma once
// Expr: an immutable scalar expression, shared by reference. The operators build new ones.
//
// Integer semantics: division floors and modulo is never negative; x / 0 and x % 0 are 0; unsigned and narrow
// signed types wrap. A literal takes the type of the other operand and is an error where it does not fit.
// An integer with a float goes to the float; integers widen to the wider one; signed with unsigned goes to
// signed.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calotype/type.h"

namespace calotype {

namespace ir {
struct ExprNode;
using ExprPtr = std::shared_ptr<const ExprNode>;
}  // namespace ir

class Expr {
 public:
  Expr() = default;  ///< undefined; using it in an operation throws Error(Algorithm)
  Expr(bool value);
  Expr(int value);
  Expr(unsigned value);
  Expr(long value);
  Expr(unsigned long value);
  Expr(long long value);
  Expr(unsigned long long value);
  Expr(float value);
  Expr(double value);
  Expr(float16_t value);
  Expr(bfloat16_t value);
  Expr(float8_e4m3_t value);
  Expr(float8_e5m2_t value);
  explicit Expr(ir::ExprPtr node) : node_(std::move(node)) {}

  bool defined() const { return node_ != nullptr; }
  /// The type; throws if undefined.
  Type type() const;
  /// Readable text, as `x*2 + y`.
  std::string str() const;

  const ir::ExprPtr& node() const { return node_; }
  const ir::ExprNode* operator->() const { return node_.get(); }
  const ir::ExprNode& operator*() const { return *node_; }
  /// Same node (cheap); for equality of structure see ir::equal.
  bool same_as(const Expr& other) const { return node_ == other.node_; }

 private:
  ir::ExprPtr node_;
};

// Arithmetic
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);  ///< integers: floor division, x / 0 is 0
Expr operator%(Expr a, Expr b);  ///< integers: Euclidean modulo, x % 0 is 0; floats: a - b * floor(a / b)
Expr operator-(Expr a);
Expr& operator+=(Expr& a, Expr b);
Expr& operator-=(Expr& a, Expr b);
Expr& operator*=(Expr& a, Expr b);
Expr& operator/=(Expr& a, Expr b);

// Comparison: Bool
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);

// Logic on Bool; both sides are evaluated
Expr operator&&(Expr a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator!(Expr a);

// Bits, integers only. A shift by the width or more gives 0, or the sign for a signed right shift; a negative
// amount shifts the other way.
Expr operator&(Expr a, Expr b);
Expr operator|(Expr a, Expr b);
Expr operator^(Expr a, Expr b);
Expr operator~(Expr a);
Expr operator<<(Expr a, Expr b);
Expr operator>>(Expr a, Expr b);

Expr min(Expr a, Expr b);  ///< one NaN: the other operand
Expr max(Expr a, Expr b);  ///< one NaN: the other operand
template <class... Rest>
Expr min(Expr a, Expr b, Expr c, Rest... rest) {
  return min(std::move(a), min(std::move(b), std::move(c), std::move(rest)...));
}
template <class... Rest>
Expr max(Expr a, Expr b, Expr c, Rest... rest) {
  return max(std::move(a), max(std::move(b), std::move(c), std::move(rest)...));
}
/// max(min(a, high), low)
Expr clamp(Expr a, Expr low, Expr high);
Expr abs(Expr a);  ///< of a signed integer: the unsigned type of the same width
/// condition ? a : b, both sides evaluated
Expr select(Expr condition, Expr a, Expr b);
/// The first true condition chooses: select(c0, v0, c1, v1, ..., otherwise)
template <class... Rest>
Expr select(Expr c0, Expr v0, Expr c1, Expr v1, Rest... rest) {
  return select(std::move(c0), std::move(v0), select(std::move(c1), std::move(v1), std::move(rest)...));
}

/// Value conversion. Float to integer truncates and saturates, NaN gives 0; integer to integer wraps;
/// to a narrower float rounds to nearest even; to an 8-bit float it saturates (calotype/float8.h).
Expr cast(Type type, Expr a);
template <class T>
Expr cast(Expr a) {
  return cast(type_of<T>(), std::move(a));
}
/// Integers only: conversion that clamps to the range of `type` (floats saturate in any case).
Expr saturating_cast(Type type, Expr a);
template <class T>
Expr saturating_cast(Expr a) {
  return saturating_cast(type_of<T>(), std::move(a));
}

/// Marks the condition or value that holds in the steady state, so that loops may be cut around it.
Expr likely(Expr a);
/// The same as `likely`: which loops are cut is found from their bodies, for a clamp or condition that shapes
/// no vector or unrolled loop the innermost ones alone, so the mark has no loop around to be kept from.
inline Expr likely_if_innermost(Expr a) { return likely(std::move(a)); }
/// No contraction or reassociation inside `a`.
Expr strict_float(Expr a);

}  // namespace calotype
