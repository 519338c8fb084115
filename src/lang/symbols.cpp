// Var, Dim and Param: the scalars that an algorithm names.

#include <fmt/format.h>

#include <cmath>

#include "calotype/func.h"
#include "ir/expr_node.h"
#include "ir/value.h"
#include "lang/errors.h"

namespace calotype {

Var::Var(const std::string& name) {
  lang::require_name("Var", name);
  symbol_ = ir::var_symbol(name);
}
const std::string& Var::name() const { return symbol_->name; }
Var::operator Expr() const { return ir::make_var(symbol_); }

Dim::Dim(const std::string& name) {
  lang::require_name("Dim", name);
  symbol_ = ir::make_symbol(ir::SymbolKind::Dim, name);
}
const std::string& Dim::name() const { return symbol_->name; }
Dim::operator Expr() const { return ir::make_var(symbol_); }

Param::Param(Type type, const std::string& name, std::optional<double> initial) : initial_(initial) {
  lang::require_name("Param", name);
  if (!type.is_scalar())
    lang::refuse(fmt::format("Param '{}' is a vector", name), "", type.str(), "a scalar type");
  if (type.is_float8())
    lang::refuse(fmt::format("Param '{}' is an 8-bit float", name), "", type.str(),
                 "a wider type, with a cast where it is used: 8-bit floats are for storage");
  if (initial) {
    const double held = type.is_float() ? ir::round_float(type, *initial) : std::trunc(*initial);
    const bool fits = type.is_float() ? std::isfinite(held) || !std::isfinite(*initial)
                                      : held == *initial && held >= static_cast<double>(type.min_int()) &&
                                            held <= static_cast<double>(type.max_int());
    if (!fits) {
      lang::refuse(fmt::format("the initial value of Param '{}' does not fit its type {}", name, type.str()),
                   "", fmt::format("{}", *initial),
                   type.is_float() ? "a value in its range"
                                   : fmt::format("an integer from {} to {}", type.min_int(), type.max_int()));
    }
  }
  symbol_ = ir::make_symbol(ir::SymbolKind::Param, name, type);
}
const std::string& Param::name() const { return symbol_->name; }
Type Param::type() const { return symbol_->type; }
Param::operator Expr() const { return ir::make_var(symbol_); }

namespace {

/// An end of a range as a value of the type: floats are rounded to it.
double end_of(const std::string& name, Type type, double end) {
  const double held = type.is_float() ? ir::round_float(type, end) : end;
  // No double is the largest of 64 bits: the next one is beyond it.
  const bool whole =
      type.is_float() || (end == std::trunc(end) && end >= static_cast<double>(type.min_int()) &&
                          end <= static_cast<double>(type.max_int()) && end < std::ldexp(1, 63));
  if (!std::isfinite(held) || !whole)
    lang::refuse(
        fmt::format("an end of the range of Param '{}' is no value of its type {}", name, type.str()), "",
        fmt::format("{}", end),
        type.is_float()
            ? "a finite value in its range"
            : fmt::format("integers from {} to {}, as a double has them", type.min_int(), type.max_int()));
  return held;
}

}  // namespace

Param Param::range(double low, double high) const {
  Param p = *this;
  p.low_ = end_of(name(), type(), low);
  p.high_ = end_of(name(), type(), high);
  if (*p.low_ > *p.high_)
    lang::refuse(fmt::format("the range of Param '{}' has no value", name()), "",
                 fmt::format("from {} to {}", low, high), "an end that is not below the start");
  const double held =
      type().is_float() ? ir::round_float(type(), initial_.value_or(0)) : initial_.value_or(0);
  if (initial_ && !(held >= *p.low_ && held <= *p.high_))
    lang::refuse(fmt::format("the initial value of Param '{}' lies outside its range", name()), "",
                 fmt::format("{}", *initial_), fmt::format("from {} to {}", *p.low_, *p.high_));
  return p;
}

}  // namespace calotype
