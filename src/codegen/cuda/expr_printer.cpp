// Scalar expressions: structure, arithmetic and memory. Conversions and bits are in
// expr_convert.cpp, math functions in expr_math.cpp.

#include "codegen/cuda/expr_printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <functional>

#include "calotype/error.h"
#include "codegen/cuda/types.h"
#include "layout/swizzle.h"

namespace calotype::cuda {

using ir::Op;

namespace {

std::string wrapped(Text t, Precedence at_least) {
  return t.precedence < at_least ? "(" + t.text + ")" : std::move(t.text);
}

Precedence tighter(Precedence p) { return static_cast<Precedence>(static_cast<int>(p) + 1); }

const char* sign_of(Op op) { return op == Op::Add ? " + " : op == Op::Sub ? " - " : " * "; }

Precedence precedence_of(Op op) { return op == Op::Mul ? Precedence::Product : Precedence::Sum; }

/// A constant that divides the product.
std::int64_t constant_factor(const Expr& e) {
  if (const auto value = ir::as_int(e)) return *value;
  return ir::is(e, Op::Mul) ? constant_factor(e->args[0]) * constant_factor(e->args[1]) : 1;
}

}  // namespace

std::string ExprPrinter::print(const Expr& e, Arithmetic arithmetic, Precedence at_least) {
  const Arithmetic before = arithmetic_;
  arithmetic_ = arithmetic;
  std::string text = wrapped(node(e), at_least);
  arithmetic_ = before;
  return text;
}

std::string ExprPrinter::operand(const Expr& e, Precedence at_least) { return wrapped(node(e), at_least); }

Text ExprPrinter::call(const std::string& function, const std::vector<std::string>& arguments) const {
  return {fmt::format("{}({})", function, fmt::join(arguments, ", "))};
}

Text ExprPrinter::helper(const std::string& name, const std::vector<std::string>& arguments) {
  return call(prelude_.use(name), arguments);
}

Text ExprPrinter::node(const Expr& e) {
  if (e->type.is_vector())
    throw Error({.kind = ErrorKind::Internal,
                 .message = "a vector where a scalar is printed",
                 .value = ir::to_string(e)});
  switch (e->op) {
    case Op::Const:
      return literal(e);
    case Op::Variable:
      return {names_.of(ir::symbol_of(e))};
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Neg:
      return arith(e);
    case Op::Div:
    case Op::Mod:
    case Op::TruncDiv:
    case Op::TruncMod:
      return division(e);
    case Op::Min:
    case Op::Max:
      return extreme(e);
    case Op::Abs:
      return absolute(e);
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
      return comparison(e);
    case Op::And:
      return binary(e, " && ", Precedence::And);
    case Op::Or:
      return binary(e, " || ", Precedence::Or);
    case Op::Not:
      return {"!" + operand(e->args[0], Precedence::Unary), Precedence::Unary};
    case Op::BitAnd:
    case Op::BitOr:
    case Op::BitXor:
    case Op::BitNot:
      return bits(e);
    case Op::Shl:
    case Op::Shr:
      return shift(e);
    case Op::Popcount:
    case Op::CountLeadingZeros:
    case Op::CountTrailingZeros:
      return count_bits(e);
    case Op::Select:
      return select(e);
    case Op::Cast:
      return convert(e);
    case Op::Bitcast:
      return bitcast(e);
    case Op::Likely:
      return node(e->args[0]);
    case Op::Strict: {
      const bool before = strict_;
      strict_ = true;
      Text text = node(e->args[0]);
      strict_ = before;
      return text;
    }
    case Op::Load:
    case Op::LoadIf:
      return load(e);
    case Op::Shuffle:
    case Op::ShuffleXor:
      return shuffle(e);
    case Op::Let:
      hoister_.declare(ir::symbol_of(e), e->args[0]);
      return node(e->args[1]);
    case Op::Lane:
    case Op::ReduceAdd:
    case Op::ReduceMul:
    case Op::ReduceMin:
    case Op::ReduceMax:
      return node(hoister_.take_apart(e));
    case Op::Call:
    case Op::Ramp:
    case Op::Broadcast:
      throw Error({.kind = ErrorKind::Internal,
                   .message = "an operation that no kernel can hold",
                   .value = ir::to_string(e)});
    default:
      return math(e);
  }
}

Text ExprPrinter::literal(const Expr& e) {
  if (e->type.is_float()) {
    const double value = std::get<double>(e->attr);
    if (is_half(e->type)) prelude_.use(e->type.code == TypeCode::BFloat ? "bf16_of" : "f16_of");
    const bool negative = std::signbit(value) && !is_half(e->type);
    return {c_float(e->type, value), negative ? Precedence::Unary : Precedence::Primary};
  }
  const std::int64_t value = std::get<std::int64_t>(e->attr);
  const bool negative = value < 0 && e->type.is_int();
  return {c_int(e->type, value), negative ? Precedence::Unary : Precedence::Primary};
}

/// Operands of one precedence from left to right. Sums within bit operations and `&&` within `||` are in
/// parentheses, as nobody should have to know how they bind.
Text ExprPrinter::binary(const Expr& e, const char* symbol, Precedence precedence) {
  if (precedence >= Precedence::BitOr && precedence <= Precedence::BitAnd)
    return {operand(e->args[0], Precedence::Unary) + symbol + operand(e->args[1], Precedence::Unary),
            precedence};
  if (precedence == Precedence::Or) {
    const auto side = [&](const Expr& a) {
      return operand(a, a->op == Op::Or    ? Precedence::Or
                        : a->op == Op::And ? Precedence::BitOr
                                           : Precedence::And);
    };
    return {side(e->args[0]) + symbol + side(e->args[1]), precedence};
  }
  return {operand(e->args[0], precedence) + symbol + operand(e->args[1], tighter(precedence)), precedence};
}

// ---- Arithmetic

Text ExprPrinter::arith(const Expr& e) {
  if (is_half(e->type)) return half_arith(e);
  if (e->type.is_float()) return float_arith(e);
  if (e->type.bits < 32) return narrow_arith(e);
  return integer_arith(e);
}

Text ExprPrinter::integer_arith(const Expr& e) {
  if (e->type.is_int() && arithmetic_ == Arithmetic::Data)
    return {fmt::format("({}){}", c_type(e->type), wrapped(unsigned_arith(e), Precedence::Unary)),
            Precedence::Unary};
  if (e->op == Op::Neg) return {"-" + operand(e->args[0], Precedence::Primary), Precedence::Unary};
  const std::optional<std::int64_t> right = ir::as_int(e->args[1]);
  if (e->op == Op::Add && e->type.is_int() && right && *right < 0 && *right > e->type.min_int())
    return {fmt::format("{} - {}", operand(e->args[0], Precedence::Sum), c_int(e->type, -*right)),
            Precedence::Sum};
  return binary(e, sign_of(e->op), precedence_of(e->op));
}

/// Signed integers that may overflow, computed as unsigned; inner sums and products stay unsigned.
Text ExprPrinter::unsigned_arith(const Expr& e) {
  const Type as = UInt(e->type.bits);
  if (ir::is_const(e))
    return {c_int(as, std::get<std::int64_t>(e->attr) & (e->type.bits == 32 ? 0xffffffffll : -1ll))};
  const auto side = [&](std::size_t i, Precedence p) { return wrapped(unsigned_arith(e->args[i]), p); };
  switch (e->op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul: {
      const Precedence p = precedence_of(e->op);
      return {side(0, p) + sign_of(e->op) + side(1, tighter(p)), p};
    }
    case Op::Neg:
      return {"0u - " + side(0, Precedence::Product), Precedence::Sum};
    default:
      return {fmt::format("({}){}", c_type(as), operand(e, Precedence::Unary)), Precedence::Unary};
  }
}

/// 8 and 16 bits (and bools): computed in 32 bits, then cut.
Text ExprPrinter::narrow_arith(const Expr& e) {
  std::string value;
  if (e->op == Op::Neg) {
    value = "-" + operand(e->args[0], Precedence::Unary);
  } else {
    const Precedence p = precedence_of(e->op);
    // two u16 may have a product beyond int
    const char* widen = e->op == Op::Mul && e->type == UInt(16) ? "(unsigned int)" : "";
    value = widen + operand(e->args[0], *widen ? Precedence::Unary : p) + sign_of(e->op) +
            operand(e->args[1], tighter(p));
  }
  return {fmt::format("({})({})", c_type(e->type), value), Precedence::Unary};
}

Text ExprPrinter::float_arith(const Expr& e) {
  if (e->op == Op::Neg) return {"-" + operand(e->args[0], Precedence::Primary), Precedence::Unary};
  if (strict_) return strict_arith(e);
  return binary(e, sign_of(e->op), precedence_of(e->op));
}

/// Operations that the compiler leaves as they are.
Text ExprPrinter::strict_arith(const Expr& e) {
  const char* name = e->op == Op::Add ? "add" : e->op == Op::Sub ? "sub" : e->op == Op::Mul ? "mul" : "div";
  return call(fmt::format("__{}{}_rn", e->type.bits == 64 ? "d" : "f", name),
              {operand(e->args[0], Precedence::Conditional), operand(e->args[1], Precedence::Conditional)});
}

/// Computed in f32 and rounded: f32 is wide enough that this is the correctly rounded result.
Text ExprPrinter::half_arith(const Expr& e) {
  if (e->op == Op::Neg) return half_of(e->type, "-" + as_float(e->args[0], Precedence::Primary));
  const Precedence p = precedence_of(e->op);
  return half_of(e->type, as_float(e->args[0], p) + sign_of(e->op) + as_float(e->args[1], tighter(p)));
}

Text ExprPrinter::division(const Expr& e) {
  const bool quotient = e->op == Op::Div || e->op == Op::TruncDiv;
  const Expr &a = e->args[0], &b = e->args[1];
  if (e->type.is_float()) {
    if (!quotient)
      return helper(fmt::format("mod_{}", e->type.str()),
                    {operand(a, Precedence::Conditional), operand(b, Precedence::Conditional)});
    if (is_half(e->type))
      return half_of(e->type, as_float(a, Precedence::Product) + " / " + as_float(b, Precedence::Unary));
    return strict_ ? strict_arith(e) : binary(e, " / ", Precedence::Product);
  }
  const std::optional<std::int64_t> divisor = ir::as_int(b);
  const bool plain =
      e->op == Op::TruncDiv || e->op == Op::TruncMod || (e->type.is_uint() && divisor && *divisor != 0);
  if (plain) return binary(e, quotient ? " / " : " % ", Precedence::Product);
  if (divisor && *divisor > 0 && std::has_single_bit(static_cast<std::uint64_t>(*divisor))) {
    // floors and is never negative, whatever the sign
    if (quotient)
      return {fmt::format("{} >> {}", operand(a, Precedence::Unary),
                          std::countr_zero(static_cast<std::uint64_t>(*divisor))),
              Precedence::Shift};
    return {fmt::format("{} & {}", operand(a, Precedence::Unary), c_int(e->type, *divisor - 1)),
            Precedence::BitAnd};
  }
  const Type wide = e->type.bits < 32 ? e->type.with_lanes(1) : e->type;
  const std::string suffix = fmt::format("{}{}", wide.is_uint() ? "u" : "s", wide.bits == 64 ? 64 : 32);
  Text text = helper((quotient ? "floor_div_" : "mod_") + suffix,
                     {operand(a, Precedence::Conditional), operand(b, Precedence::Conditional)});
  if (e->type.bits < 32) return {fmt::format("({}){}", c_type(e->type), text.text), Precedence::Unary};
  return text;
}

Text ExprPrinter::extreme(const Expr& e) {
  const bool smaller = e->op == Op::Min;
  if (is_half(e->type))
    return half_of(e->type, fmt::format("{}({}, {})", smaller ? "fminf" : "fmaxf", as_float(e->args[0]),
                                        as_float(e->args[1])));
  std::vector<std::string> sides;
  for (const Expr& side : e->args) {
    // one overload has to fit: narrow integers compare as int
    const bool narrow = e->type.is_integral() && e->type.bits < 32;
    sides.push_back(narrow ? "(int)" + operand(side, Precedence::Unary)
                           : operand(side, Precedence::Conditional));
  }
  if (e->type.is_float())
    return call(fmt::format("{}{}", smaller ? "fmin" : "fmax", e->type.bits == 64 ? "" : "f"), sides);
  Text text = call(smaller ? "min" : "max", sides);
  if (e->type.bits < 32) return {fmt::format("({}){}", c_type(e->type), text.text), Precedence::Unary};
  return text;
}

Text ExprPrinter::absolute(const Expr& e) {
  const Type of = e->args[0]->type;
  if (is_half(of)) return half_of(of, fmt::format("fabsf({})", as_float(e->args[0])));
  const std::string value = operand(e->args[0], Precedence::Conditional);
  if (of.is_float()) return call(of.bits == 64 ? "fabs" : "fabsf", {value});
  if (of.is_uint()) return node(e->args[0]);
  Text text = helper(of.bits == 64 ? "abs_s64" : "abs_s32", {value});
  if (of.bits < 32) return {fmt::format("({}){}", c_type(e->type), text.text), Precedence::Unary};
  return text;
}

Text ExprPrinter::comparison(const Expr& e) {
  const bool equality = e->op == Op::Eq || e->op == Op::Ne;
  const Precedence p = equality ? Precedence::Equal : Precedence::Relation;
  const std::string symbol = fmt::format(" {} ", ir::info(e->op).text);
  if (is_half(e->args[0]->type))
    return {as_float(e->args[0], tighter(p)) + symbol + as_float(e->args[1], tighter(p)), p};
  return {operand(e->args[0], tighter(p)) + symbol + operand(e->args[1], tighter(p)), p};
}

Text ExprPrinter::select(const Expr& e) {
  const Precedence tight = tighter(Precedence::Conditional);
  return {fmt::format("{} ? {} : {}", operand(e->args[0], tight), operand(e->args[1], tight),
                      operand(e->args[2], Precedence::Conditional)),
          Precedence::Conditional};
}

// ---- Other lanes

/// Every lane of the warp takes part. One that asks for lane -1 uses nothing, and may have any other's value.
Text ExprPrinter::shuffle(const Expr& e) {
  const bool by_xor = e->op == Op::ShuffleXor;
  const std::string value = operand(e->args[0], Precedence::Conditional);
  const Expr& from = e->args[1];
  const bool sometimes = ir::is(from, Op::Select) && ir::as_int(from->args[2]) == -1;
  const std::string lane = print(sometimes ? from->args[1] : from, Arithmetic::Index);
  const std::string name = by_xor ? "shuffle_xor" : "shuffle";
  if (is_half(e->type)) return helper(fmt::format("{}_{}", name, e->type.str()), {value, lane});
  const char* function = by_xor ? "__shfl_xor_sync" : "__shfl_sync";
  if (e->type.is_float() || e->type.bits >= 32) return call(function, {"0xffffffffu", value, lane});
  return {fmt::format(
              "({}){}", c_type(e->type),
              call(function, {"0xffffffffu", "(int)" + operand(e->args[0], Precedence::Unary), lane}).text),
          Precedence::Unary};
}

// ---- Memory

std::string ExprPrinter::element(const ir::BufferPtr& buffer, const Expr& index) {
  if (is_single(buffer)) return names_.of(buffer);
  return fmt::format("{}[{}]", names_.of(buffer),
                     buffer->swizzle == 0 ? print(index, Arithmetic::Index) : swizzled(*buffer, index));
}

/// Whole multiples of eight rows stay outside: they move nothing.
std::string ExprPrinter::swizzled(const ir::Buffer& buffer, const Expr& index) {
  const std::int64_t bytes = buffer.type.bytes(), eight_rows = 8 * buffer.swizzle / bytes;
  Expr near, far;
  const std::function<void(const Expr&)> take_apart = [&](const Expr& e) {
    if (ir::is(e, Op::Add)) return take_apart(e->args[0]), take_apart(e->args[1]);
    Expr& part = constant_factor(e) % eight_rows == 0 ? far : near;
    part = part.defined() ? ir::make(Op::Add, e->type, {part, e}) : e;
  };
  take_apart(index);
  if (!near.defined()) return print(index, Arithmetic::Index);
  std::string place = fmt::format("{}({}, {})", prelude_.use("swizzled"), print(near, Arithmetic::Index),
                                  layout::swizzle_mask(buffer.swizzle, bytes));
  return far.defined() ? print(far, Arithmetic::Index, Precedence::Sum) + " + " + place : place;
}

std::string ExprPrinter::packed_element(const ir::BufferPtr& buffer, const Expr& index) {
  const std::string bits = helper(buffer->type.bytes() == 2 ? "bits_at" : "byte_at",
                                  {names_.of(buffer), print(index, Arithmetic::Index)})
                               .text;
  if (is_half(buffer->type)) return helper(c_type(buffer->type) + "_from_bits", {bits}).text;
  return buffer->type.is_uint() ? bits : fmt::format("(({}){})", c_type(buffer->type), bits);
}

Text ExprPrinter::load(const Expr& e) {
  const ir::BufferPtr& buffer = ir::buffer_of(e);
  const Expr& index = e->args.back();
  const std::string value = is_packed(buffer) ? packed_element(buffer, index) : element(buffer, index);
  if (e->op == Op::Load || ir::is_one(e->args[0])) return {value};
  const std::string condition = print(e->args[0], Arithmetic::Index, tighter(Precedence::Conditional));
  const std::string zero = is_half(e->type) ? c_type(e->type) + "()" : node(ir::make_zero(e->type)).text;
  return {fmt::format("{} ? {} : {}", condition, value, zero), Precedence::Conditional};
}

}  // namespace calotype::cuda
