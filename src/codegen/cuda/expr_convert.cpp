// Scalar expressions: conversions and bits.

#include <fmt/format.h>

#include "calotype/error.h"
#include "codegen/cuda/expr_printer.h"
#include "codegen/cuda/types.h"

namespace calotype::cuda {

using ir::Op;

// ---- f16 and bf16

/// The f32 equal to an f16 or bf16. What was just rounded to it need not be stored and read back as bits only
/// to be widened, but it must be rounded, so the pair of conversions stays.
std::string ExprPrinter::as_float(const Expr& e, Precedence at_least) {
  if (!is_half(e->type)) return operand(e, at_least);
  if (ir::is_const(e)) return operand(ir::make_float(Float(32), std::get<double>(e->attr)), at_least);
  prelude_.use(e->type.code == TypeCode::BFloat ? "float_of_bf16" : "float_of_f16");
  return fmt::format("float_of({})", operand(e, Precedence::Conditional));
}

Text ExprPrinter::half_of(Type type, const std::string& value) {
  return helper(type.code == TypeCode::BFloat ? "bf16_of" : "f16_of", {value});
}

// ---- Conversions

Text ExprPrinter::convert(const Expr& e) {
  const Expr& a = e->args[0];
  const Type to = e->type, from = a->type;
  if (to == from) return node(a);
  if (is_half(to)) return to_half(to, a);
  if (to.is_bool()) {
    if (is_half(from)) return {as_float(a, Precedence::Relation) + " != 0.0f", Precedence::Equal};
    return {operand(a, Precedence::Relation) + " != " + node(ir::make_zero(from)).text, Precedence::Equal};
  }
  if (from.is_float() && to.is_integral()) return float_to_int(e);
  const std::string value = is_half(from) ? as_float(a, Precedence::Unary) : operand(a, Precedence::Unary);
  if (is_half(from) && to == Float(32)) return {value};
  return {fmt::format("({}){}", c_type(to), value), Precedence::Unary};
}

Text ExprPrinter::to_half(Type to, const Expr& from) {
  const Type t = from->type;
  if (is_half(t)) return half_of(to, as_float(from));
  if (t == Float(64)) {
    prelude_.use("odd_float_f64");
    return half_of(to, fmt::format("odd_float({})", operand(from, Precedence::Conditional)));
  }
  if (t.is_float() || t.bits <= 16) return half_of(to, operand(from, Precedence::Conditional));
  // Wider integers may need more bits than f32 has.
  const Type wide = t.is_uint() ? UInt(64) : Int(64);
  prelude_.use(t.is_uint() ? "odd_float_u64" : "odd_float_s64");
  return half_of(to, fmt::format("odd_float(({}){})", c_type(wide), operand(from, Precedence::Unary)));
}

/// Truncates, saturates, NaN gives 0.
Text ExprPrinter::float_to_int(const Expr& e) {
  const Type to = e->type, from = e->args[0]->type;
  const bool is_double = from.bits == 64;
  const std::string value =
      is_half(from) ? as_float(e->args[0]) : operand(e->args[0], Precedence::Conditional);
  const std::string kind = fmt::format("{}{}", to.is_uint() ? "u" : "s", to.bits == 64 ? 64 : 32);
  std::string whole;
  if (is_double) {
    prelude_.use(kind + "_of_f64");
    whole = fmt::format("{}_of({})", kind, value);
  } else if (to.bits == 64) {
    prelude_.use(kind + "_of_f32");
    whole = fmt::format("{}_of({})", kind, value);
  } else {
    whole = fmt::format("__float2{}int_rz({})", to.is_uint() ? "u" : "", value);
  }
  if (to.bits >= 32) return {whole};
  const Type wide = to.is_uint() ? UInt(32) : Int(32);
  std::string clamped = fmt::format("min({}, {})", whole, c_int(wide, to.max_int()));
  if (to.is_int()) clamped = fmt::format("max({}, {})", clamped, c_int(wide, to.min_int()));
  return {fmt::format("({}){}", c_type(to), clamped), Precedence::Unary};
}

Text ExprPrinter::bitcast(const Expr& e) {
  const Expr& a = e->args[0];
  const Type to = e->type, from = a->type;
  const std::string value = operand(a, Precedence::Conditional);
  if (to.is_float() == from.is_float() && !is_half(to) && !is_half(from)) return convert(e);
  if (is_half(from)) {
    const std::string bits = operand(a, Precedence::Primary) + ".bits";
    if (!is_half(to)) return {fmt::format("({}){}", c_type(to), bits), Precedence::Unary};
    return helper(c_type(to) + "_from_bits", {bits});
  }
  if (is_half(to))
    return helper(c_type(to) + "_from_bits",
                  {fmt::format("(unsigned short){}", operand(a, Precedence::Unary))});
  if (to.is_float()) {
    return to.bits == 64
               ? call("__longlong_as_double", {fmt::format("(long long){}", operand(a, Precedence::Unary))})
               : call("__int_as_float", {fmt::format("(int){}", operand(a, Precedence::Unary))});
  }
  Text bits = call(from.bits == 64 ? "__double_as_longlong" : "__float_as_int", {value});
  if (to.is_int()) return bits;
  return {fmt::format("({}){}", c_type(to), bits.text), Precedence::Unary};
}

// ---- Bits

Text ExprPrinter::bits(const Expr& e) {
  if (e->type.is_bool()) {
    if (e->op == Op::BitNot) return {"!" + operand(e->args[0], Precedence::Unary), Precedence::Unary};
    if (e->op == Op::BitXor)
      return {operand(e->args[0], Precedence::Relation) + " != " + operand(e->args[1], Precedence::Relation),
              Precedence::Equal};
    return e->op == Op::BitAnd ? binary(e, " && ", Precedence::And) : binary(e, " || ", Precedence::Or);
  }
  if (e->op == Op::BitNot) {
    const std::string value = "~" + operand(e->args[0], Precedence::Unary);
    if (e->type.bits >= 32) return {value, Precedence::Unary};
    return {fmt::format("({}){}", c_type(e->type), value), Precedence::Unary};
  }
  if (e->op == Op::BitAnd) return binary(e, " & ", Precedence::BitAnd);
  return e->op == Op::BitOr ? binary(e, " | ", Precedence::BitOr) : binary(e, " ^ ", Precedence::BitXor);
}

/// A shift by the width or more gives 0 or the sign; a negative amount shifts the other way.
Text ExprPrinter::shift(const Expr& e) {
  const bool left = e->op == Op::Shl;
  const Expr &a = e->args[0], &by = e->args[1];
  const std::optional<std::int64_t> amount = ir::as_int(by);
  const std::string cast = fmt::format("({})", c_type(e->type));
  if (amount && *amount >= 0 && *amount < e->type.bits) {
    if (!left) return {fmt::format("{} >> {}", operand(a, Precedence::Unary), *amount), Precedence::Shift};
    const Type as = UInt(std::max<int>(e->type.bits, 32));
    return {fmt::format("{}(({}){} << {})", cast, c_type(as), operand(a, Precedence::Unary), *amount),
            Precedence::Unary};
  }
  std::string distance = operand(by, Precedence::Conditional);
  if (by->type.is_uint() && by->type.bits == 64) distance = helper("amount_of", {distance}).text;
  if (!left) distance = helper("minus", {distance}).text;
  const std::string shifted =
      helper(e->type.is_uint() ? "shift_unsigned" : "shift_signed",
             {operand(a, Precedence::Conditional), distance, std::to_string(e->type.bits)})
          .text;
  return {cast + shifted, Precedence::Unary};
}

/// Of narrow types: as 32 bits with zeros above. Their leading ones are taken off again; a one just above the
/// width stops the count of trailing ones.
Text ExprPrinter::count_bits(const Expr& e) {
  const int bits = e->type.bits;
  const char* suffix = bits == 64 ? "ll" : "";
  const char* number = bits == 64 ? "long long" : "int";
  std::string value = fmt::format("({}){}", c_type(UInt(bits)), operand(e->args[0], Precedence::Unary));
  std::string count;
  if (e->op == Op::Popcount) {
    count = fmt::format("__popc{}({})", suffix, value);
  } else if (e->op == Op::CountLeadingZeros) {
    count = fmt::format("__clz{}(({}){})", suffix, number, value);
    if (bits < 32) count = fmt::format("({} - {})", count, 32 - bits);
  } else {
    if (bits < 32) value += fmt::format(" | {}u", 1u << bits);
    count = fmt::format("__clz{0}(({1})__brev{0}({2}))", suffix, number, value);
  }
  return {fmt::format("({}){}", c_type(e->type), count), Precedence::Unary};
}

}  // namespace calotype::cuda
