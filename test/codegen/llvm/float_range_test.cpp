// When a conversion to an integer need not clamp: only if clamps by constants show that it cannot matter.
#include "codegen/llvm/float_range.h"

#include <cmath>

#include "codegen/llvm/harness.h"

namespace calotype::llvm_backend {
namespace {

using ir::Op;

Expr real(double value) { return ir::make_float(Float(32), value); }
Expr clamped(double low, double high) {
  const Expr x = ir::make_var(ir::make_symbol(ir::SymbolKind::Param, "x", Float(32)));
  return binary(Op::Max, binary(Op::Min, x, real(high)), real(low));
}
Expr unary(Op op, const Expr& e) { return ir::make(op, e->type, {e}); }

TEST(FloatRange, ClampsByConstants) {
  EXPECT_TRUE(fits_integer(clamped(0, 255), UInt(8)));
  EXPECT_TRUE(fits_integer(clamped(-128, 127), Int(8)));
  EXPECT_TRUE(fits_integer(unary(Op::Round, unary(Op::Strict, clamped(0, 254.7))), UInt(8)));
  EXPECT_TRUE(fits_integer(broadcast(clamped(0, 65535), 8), UInt(16)));
}

TEST(FloatRange, WhatMayLieOutside) {
  EXPECT_FALSE(fits_integer(clamped(0, 256), UInt(8)));
  EXPECT_FALSE(fits_integer(clamped(-1, 255), UInt(8)));
  EXPECT_FALSE(fits_integer(unary(Op::Ceil, clamped(0, 255.5)), UInt(8)));
  EXPECT_FALSE(fits_integer(binary(Op::Add, clamped(0, 255), real(0)), UInt(8)));
  EXPECT_FALSE(fits_integer(clamped(0, 1), Int(32)));
  EXPECT_FALSE(fits_integer(clamped(0, 1), Bool()));
}

// One side of a clamp leaves the other open; a constant that is no number proves nothing.
TEST(FloatRange, HalfAClampAndNaN) {
  const Expr x = ir::make_var(ir::make_symbol(ir::SymbolKind::Param, "x", Float(32)));
  EXPECT_FALSE(fits_integer(binary(Op::Min, x, real(255)), UInt(8)));
  EXPECT_FALSE(fits_integer(binary(Op::Max, x, real(0)), UInt(8)));
  EXPECT_FALSE(fits_integer(clamped(NAN, 255), UInt(8)));
}

}  // namespace
}  // namespace calotype::llvm_backend
