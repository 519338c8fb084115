// Scalar expressions: math functions.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "calotype/error.h"
#include "codegen/cuda/expr_printer.h"
#include "codegen/cuda/types.h"

namespace calotype::cuda {

using ir::Op;

namespace {

/// What CUDA's math library calls an operation, and whether its f32 form, "...f", is documented to be within
/// 2 ulp. Those that are not are computed in f64 and rounded.
struct LibraryFunction {
  Op op;
  const char* name;
  bool within_two_ulp = true;
};

constexpr std::array kLibrary = {
    LibraryFunction{Op::Exp, "exp"},
    LibraryFunction{Op::Exp2, "exp2"},
    LibraryFunction{Op::Expm1, "expm1"},
    LibraryFunction{Op::Log, "log"},
    LibraryFunction{Op::Log2, "log2"},
    LibraryFunction{Op::Log1p, "log1p"},
    LibraryFunction{Op::Sqrt, "sqrt"},
    LibraryFunction{Op::Rsqrt, "rsqrt"},
    LibraryFunction{Op::Pow, "pow", false},
    LibraryFunction{Op::Hypot, "hypot", false},
    LibraryFunction{Op::Erf, "erf"},
    LibraryFunction{Op::Sin, "sin"},
    LibraryFunction{Op::Cos, "cos"},
    LibraryFunction{Op::Tan, "tan", false},
    LibraryFunction{Op::Asin, "asin"},
    LibraryFunction{Op::Acos, "acos"},
    LibraryFunction{Op::Atan, "atan"},
    LibraryFunction{Op::Atan2, "atan2", false},
    LibraryFunction{Op::Sinh, "sinh", false},
    LibraryFunction{Op::Cosh, "cosh"},
    LibraryFunction{Op::Tanh, "tanh"},
    LibraryFunction{Op::Asinh, "asinh", false},
    LibraryFunction{Op::Acosh, "acosh", false},
    LibraryFunction{Op::Atanh, "atanh", false},
    LibraryFunction{Op::Floor, "floor"},
    LibraryFunction{Op::Ceil, "ceil"},
    LibraryFunction{Op::Trunc, "trunc"},
    LibraryFunction{Op::Round, "rint"},
};

const LibraryFunction& library_function(Op op) {
  const auto* found =
      std::find_if(kLibrary.begin(), kLibrary.end(), [&](const LibraryFunction& f) { return f.op == op; });
  if (found != kLibrary.end()) return *found;
  throw Error({.kind = ErrorKind::Internal,
               .message = "an operation that CUDA C does not have",
               .value = ir::info(op).name});
}

/// An operation that is allowed to be less exact, and the helper that has it for f32.
struct FastFunction {
  Op op, exact;
  const char* helper;
};

constexpr std::array kFast = {
    FastFunction{Op::FastExp, Op::Exp, "fast_exp"},    FastFunction{Op::FastLog, Op::Log, "fast_log"},
    FastFunction{Op::FastSin, Op::Sin, "fast_sin"},    FastFunction{Op::FastCos, Op::Cos, "fast_cos"},
    FastFunction{Op::FastTanh, Op::Tanh, "fast_tanh"}, FastFunction{Op::FastDivide, Op::Div, "fast_divide"},
};

/// Null for other operations.
const FastFunction* fast_function(Op op) {
  const auto* found =
      std::find_if(kFast.begin(), kFast.end(), [&](const FastFunction& f) { return f.op == op; });
  return found == kFast.end() ? nullptr : found;
}

/// The power of two that exp(e) is, of a product with a constant: log2(e) becomes a part of that.
Expr power_of_two(const Expr& e) {
  if (!ir::is(e, Op::Mul)) return {};
  for (const int constant : {0, 1}) {
    const Expr& factor = e->args[constant];
    if (!ir::is(factor, Op::Const)) continue;
    const double log2_e = 1.4426950408889634;
    const Expr scaled = ir::make_float(e->type, std::get<double>(factor->attr) * log2_e);
    return ir::make(Op::Mul, e->type, {e->args[1 - constant], scaled});
  }
  return {};
}

}  // namespace

/// The machine has instructions for f32; other types have the exact operations.
Text ExprPrinter::fast_math(const Expr& e) {
  const FastFunction& function = *fast_function(e->op);
  if (e->type != Float(32)) return node(ir::make(function.exact, e->type, e->args));
  if (const Expr power = e->op == Op::FastExp ? power_of_two(e->args[0]) : Expr(); power.defined())
    return helper("fast_exp2", {operand(power, Precedence::Conditional)});
  std::vector<std::string> values;
  for (const Expr& a : e->args) values.push_back(operand(a, Precedence::Conditional));
  return helper(function.helper, values);
}

Text ExprPrinter::fused_multiply_add(const Expr& e) {
  if (e->type.is_integral()) {
    const Expr product = ir::make(Op::Mul, e->type, {e->args[0], e->args[1]});
    return arith(ir::make(Op::Add, e->type, {product, e->args[2]}));
  }
  std::vector<std::string> values;
  for (const Expr& a : e->args) values.push_back(operand(a, Precedence::Conditional));
  if (is_half(e->type)) return helper("fma_" + c_type(e->type), values);
  return call(e->type.bits == 64 ? "fma" : "fmaf", values);
}

Text ExprPrinter::math(const Expr& e) {
  if (e->op == Op::Fma) return fused_multiply_add(e);
  if (fast_function(e->op)) return fast_math(e);
  const LibraryFunction& function = library_function(e->op);
  std::vector<std::string> values;
  for (const Expr& a : e->args) values.push_back(as_float(a));
  if (e->type == Float(64)) return call(function.name, values);
  if (!function.within_two_ulp)
    for (std::string& value : values) value = fmt::format("(double)({})", value);
  std::string value =
      fmt::format("{}{}({})", function.name, function.within_two_ulp ? "f" : "", fmt::join(values, ", "));
  if (!function.within_two_ulp) value = "(float)" + value;
  if (is_half(e->type)) return half_of(e->type, value);
  return {value, function.within_two_ulp ? Precedence::Primary : Precedence::Unary};
}

}  // namespace calotype::cuda
