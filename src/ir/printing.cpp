// What is printed while a value is computed.

#include <fmt/format.h>

#include "calotype/values.h"
#include "ir/typing.h"

namespace calotype {

namespace {

/// A brace of the caller's text is no place for a value: it is written twice.
std::string literal(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '{' ? "{{" : std::string(1, c);
  return result;
}

/// What the printing code knows how to write: bools and numbers of 32 or 64 bits.
Expr printable(const Expr& e) {
  const Type t = e->type;
  if (t.is_float() && t.bits < 32) return cast(Float(32), e);
  return e;
}

}  // namespace

Expr print_when(Expr condition, Expr value, const std::vector<Printed>& more) {
  const char* what = "print";
  ir::require_defined(condition, what);
  ir::require_defined(value, what);
  ir::require_operand(condition->type.is_bool() && condition->type.is_scalar(), what, condition,
                      "a bool, as a comparison gives");
  ir::require_operand(value->type.is_scalar(), what, value, "a value of one lane");
  std::string text = "{}";
  std::vector<Expr> args{value, std::move(condition), printable(value)};
  for (const Printed& item : more) {
    text += item.value().defined() ? " {}" : " " + literal(item.text());
    if (!item.value().defined()) continue;
    ir::require_operand(item.value()->type.is_scalar(), what, item.value(), "a value of one lane");
    args.push_back(printable(item.value()));
  }
  const Type type = value->type;
  return ir::make(ir::Op::Print, type, std::move(args), std::make_shared<const std::string>(std::move(text)));
}

Expr print(Expr value, const std::vector<Printed>& more) {
  return print_when(ir::make_one(Bool()), std::move(value), more);
}

}  // namespace calotype
