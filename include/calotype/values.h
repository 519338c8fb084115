#pragma once
// What is known, or left open, about a value.

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

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

/// What `print` writes: a value, or a text.
class Printed {
 public:
  Printed(const char* text) : text_(text) {}
  Printed(std::string text) : text_(std::move(text)) {}
  template <class T>
    requires std::is_convertible_v<T, Expr>
  Printed(T value) : value_(std::move(value)) {}

  const Expr& value() const { return value_; }  ///< undefined for a text
  const std::string& text() const { return text_; }

 private:
  Expr value_;
  std::string text_;
};

/// `value`. Each time it is computed a line is printed with it and what follows, a blank between any two:
/// print(in(x), "at", x) prints "0.5 at 3". Floats are written with as many digits as tell them apart. How
/// often, and in which order, a point is computed is the schedule's matter.
///
/// Lines go to the `print` hook of the call's context, else where calotype_set_print says, else to stderr; on
/// a CUDA device to the standard output of the process, when the driver empties its buffer. In the value of a
/// Func only: Error(Algorithm) elsewhere.
Expr print(Expr value, const std::vector<Printed>& more);
/// The same where the condition holds; elsewhere just the value.
Expr print_when(Expr condition, Expr value, const std::vector<Printed>& more);
template <class... More>
  requires(std::is_convertible_v<More, Printed> && ...)
Expr print(Expr value, More&&... more) {
  return print(std::move(value), std::vector<Printed>{Printed(std::forward<More>(more))...});
}
template <class... More>
  requires(std::is_convertible_v<More, Printed> && ...)
Expr print_when(Expr condition, Expr value, More&&... more) {
  return print_when(std::move(condition), std::move(value),
                    std::vector<Printed>{Printed(std::forward<More>(more))...});
}

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
