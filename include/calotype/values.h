#pragma once
// What is known, or left open, about a value.

#include "calotype/expr.h"

namespace calotype {

/// `value`, with the promise that it is from `low` to `high`: what reads a Func or an input at it needs no
/// more than that range, with no clamp in the code. Nothing checks the promise; if it is broken, the call
/// reads and writes outside its buffers. Integers; the ends take the type of the value.
Expr promise_clamped(Expr value, Expr low, Expr high);

/// `value`, where the condition holds; where it does not, the call ends with an Error(Argument) that names
/// the Func and says `message`. It is checked at each point that is computed, also in an arm of a select that
/// is not chosen. In the value of a Func only; the host and evaluate() have it, kernels of a GPU do not.
Expr require(Expr condition, Expr value, const std::string& message);

/// A value that is not stored. As the whole value of a definition, or as an arm of a select that is the whole
/// value, it leaves the element as it is: of an output what the caller's buffer holds, of a first definition
/// anything, which an update may set and nobody may read before. In any other place it throws
/// Error(Algorithm).
Expr undef(Type type);
template <class T>
Expr undef() {
  return undef(type_of<T>());
}

}  // namespace calotype
