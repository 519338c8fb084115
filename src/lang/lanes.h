#pragma once
// Arithmetic on batches of points for the evaluator: the operations of ir::apply, a lane at a time, and the
// running error bound of floats.

#include <cstdint>

#include "ir/expr_node.h"

namespace calotype::lang {

constexpr int kLanes = 256;

/// A register: a value for each point of a batch. Integers in `i`, floats in `f` as doubles that their type
/// holds. For floats, where asked for, also the same computed in float64 and a bound of |f - exact| to first
/// order.
struct Lanes {
  union {
    std::int64_t i[kLanes];
    double f[kLanes];
  };
  double exact[kLanes];
  double bound[kLanes];
};

/// An operation on operands of one type (Cast: from `operand` to `type`); unused operands are null. Select:
/// `a` is the condition. `with_error` computes exact and bound as well.
void apply_lanes(ir::Op op, Type type, Type operand, const Lanes* a, const Lanes* b, const Lanes* c,
                 Lanes& out, int n, bool with_error);

// The parts
/// Round each to the type, to nearest even.
void round_lanes(Type type, double* values, int n);
/// Wrap each to the type.
void wrap_lanes(Type type, std::int64_t* values, int n);
/// Unary and binary operations on floats of the type, rounded to it.
void float_lanes(ir::Op op, Type type, const double* a, const double* b, double* out, int n);
/// The bound of the operation's result, from those of its operands: each times the size of its derivative,
/// plus what rounding to the type may add.
void bound_lanes(ir::Op op, Type type, const Lanes& a, const Lanes* b, Lanes& out, int n);
/// The same for a * b + c.
void fma_bounds(Type type, const Lanes& a, const Lanes& b, const Lanes& c, Lanes& out, int n);
/// The same for a sum a + b whose rounding error follows `magnitude` rather than the result.
void sum_bounds(Type type, const Lanes& a, const Lanes& b, const double* magnitude, Lanes& out, int n);
/// Largest error of rounding a result of this size to the type: half an ulp.
double rounding_error(Type type, double result);
/// Whether a conversion between float types, or from an integer type, may round.
bool rounds(Type to, Type from);

}  // namespace calotype::lang
