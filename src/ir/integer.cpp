// The public operations on integers and bits, and choices by number or weight.

#include "calotype/integer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calotype/error.h"
#include "ir/typing.h"

namespace calotype {

using ir::Op;

namespace {

void require_whole(const char* what, const Expr& e) {
  ir::require_operand(e->type.is_integral() && !e->type.is_bool(), what, e, "integers");
}

void match_whole(const char* what, Expr& a, Expr& b) {
  ir::match(what, a, b);
  require_whole(what, a);
}

Type unsigned_of(Type t) { return UInt(t.bits, t.lanes); }

/// The largest value of an unsigned type of at most 32 bits, in a type that holds it.
Expr all_ones(Type in, int bits) { return ir::make_int(in, (std::int64_t{1} << bits) - 1); }

/// A weight as a whole number of 2^n - 1 parts, in UInt(n).
Expr whole_weight(const Expr& weight, int n) {
  const Type parts = UInt(n, weight->type.lanes);
  if (weight->type.is_float()) {
    const Type wide = n == 32 || weight->type.bits == 64 ? Float(64) : Float(32);
    const Expr scaled = ir::convert(wide, weight) * ir::make_float(wide, std::ldexp(1.0, n) - 1);
    return cast(parts, scaled);
  }
  // 2^m - 1 is a multiple of 2^n - 1 for powers of two n < m, with all-ones digits of base 2^n as quotient.
  const int m = weight->type.bits;
  std::uint64_t quotient = 0;
  for (int digit = 0; digit < std::max(m, n); digit += std::min(m, n)) quotient |= std::uint64_t{1} << digit;
  const auto factor = [&](Type t) { return ir::make_int(t, static_cast<std::int64_t>(quotient)); };
  if (m <= n) return cast(parts, weight) * factor(parts);
  return cast(parts, weight / factor(weight->type));
}

Expr lerp_integers(const Expr& a, const Expr& b, const Expr& weight) {
  const Type type = a->type;
  const int n = type.bits;
  const Type narrow = unsigned_of(type), wide = UInt(2 * n, type.lanes);
  // Signed values are moved up by half of the range, which moves the result alike.
  const Expr offset = type.is_int() ? ir::make_int(narrow, type.min_int()) : ir::make_zero(narrow);
  const auto moved = [&](const Expr& e) { return cast(wide, cast(narrow, e) - offset); };
  const Expr w = cast(wide, whole_weight(weight, n));
  const Expr sum =
      moved(a) * (all_ones(wide, n) - w) + moved(b) * w + ir::make_int(wide, std::int64_t{1} << (n - 1));
  // Division by 2^n - 1, to nearest.
  const Expr shift = ir::make_int(wide, n);
  const Expr divided = cast(narrow, ((sum >> shift) + sum) >> shift);
  return cast(type, divided + offset);
}

Expr lerp_floats(Expr a, Expr b, Expr weight) {
  if (!weight->type.is_float()) {
    const Type wide = weight->type.bits >= 32 || a->type.bits == 64 ? Float(64) : Float(32);
    weight = ir::convert(
        a->type, ir::convert(wide, weight) / ir::make_float(wide, std::ldexp(1.0, weight->type.bits) - 1));
  }
  ir::match("lerp", a, weight);
  ir::match("lerp", b, weight);
  return a * (ir::make_one(a->type) - weight) + b * weight;
}

}  // namespace

Expr absd(Expr a, Expr b) {
  ir::match("absd", a, b);
  ir::require_operand(!a->type.is_bool(), "absd", a, "numbers");
  if (a->type.is_float()) return abs(a - b);
  const Type type = unsigned_of(a->type);
  return cast(type, max(a, b)) - cast(type, min(a, b));
}

Expr lerp(Expr a, Expr b, Expr weight) {
  ir::match("lerp", a, b);
  ir::require_defined(weight, "lerp");
  ir::require_wide("lerp", weight);
  if (ir::is_literal(weight) && weight->type.is_integral())
    weight = ir::adopt("lerp", weight,
                       a->type.is_integral() && !a->type.is_bool() ? unsigned_of(a->type) : UInt(8), a);
  ir::require_operand(
      weight->type.is_float() || (weight->type.is_uint() && !weight->type.is_bool()), "lerp", weight,
      "a weight that is a float from 0 to 1 or unsigned, where the largest value stands for 1");
  ir::match_lanes("lerp", a, weight);
  ir::match_lanes("lerp", b, weight);
  if (a->type.is_float()) return lerp_floats(std::move(a), std::move(b), std::move(weight));
  if (a->type.is_bool()) {
    const Expr half = weight->type.is_float() ? ir::make_float(weight->type, 0.5)
                                              : ir::make_int(weight->type, weight->type.max_int() / 2);
    if (weight->type == UInt(64)) return select(weight >= ir::make_int(UInt(64), INT64_MIN), b, a);
    return select(weight > half, b, a);
  }
  ir::require_operand(a->type.bits <= 32, "lerp", a, "integers of at most 32 bits, floats or bools");
  return lerp_integers(a, b, weight);
}

Expr mux(Expr index, const std::vector<Expr>& values) {
  ir::require_defined(index, "mux");
  require_whole("mux", index);
  if (values.empty()) {
    throw Error({.kind = ErrorKind::Algorithm,
                 .message = fmt::format("'mux' by '{}' has no values", index.str()),
                 .value = "{}",
                 .legal = "one or more values"});
  }
  Expr chosen = values.back();
  ir::require_defined(chosen, "mux");
  for (std::size_t i = values.size() - 1; i-- > 0;)
    chosen = select(index == ir::make_int(index->type, static_cast<std::int64_t>(i)), values[i], chosen);
  return chosen;
}

namespace {

Expr count(Op op, Expr a) {
  const char* what = ir::info(op).text;
  ir::require_defined(a, what);
  require_whole(what, a);
  return ir::make_folded(op, a->type, {a});
}

}  // namespace

Expr popcount(Expr a) { return count(Op::Popcount, std::move(a)); }
Expr count_leading_zeros(Expr a) { return count(Op::CountLeadingZeros, std::move(a)); }
Expr count_trailing_zeros(Expr a) { return count(Op::CountTrailingZeros, std::move(a)); }

Expr extract_bits(Type type, Expr a, Expr lowest) {
  const auto is_number = [](Type t) { return !t.is_bool() && (t.is_integral() || t.is_float()); };
  ir::require_defined(a, "extract_bits");
  ir::require_defined(lowest, "extract_bits");
  ir::require_operand(is_number(a->type), "extract_bits", a, "an integer or float");
  require_whole("extract_bits", lowest);
  if (!is_number(type)) {
    throw Error({.kind = ErrorKind::Algorithm,
                 .message = fmt::format("bits of '{}' are extracted as {}", a.str(), type.str()),
                 .value = type.str(),
                 .legal = "an integer or float type; a comparison with 0 for one bit as a bool"});
  }
  type = type.with_lanes(a->type.lanes);
  const Type held = unsigned_of(a->type), result = unsigned_of(type);
  const Type wide = held.bits < result.bits ? result : held;
  if (const auto at = ir::as_int(lowest); at && (*at >= held.bits || *at <= -result.bits))
    return reinterpret(type, ir::make_typed(ir::make_zero(result)));
  const Expr bits = cast(wide, reinterpret(held, std::move(a)));
  return reinterpret(type, cast(result, bits >> std::move(lowest)));
}

namespace {

[[noreturn]] void refuse_parts(std::string message, std::string value, std::string legal) {
  throw Error({.kind = ErrorKind::Algorithm,
               .message = std::move(message),
               .value = std::move(value),
               .legal = std::move(legal)});
}

/// The parts in one type: that of the first which is no literal.
std::vector<Expr> of_one_type(std::vector<Expr> parts) {
  for (const Expr& part : parts) {
    ir::require_defined(part, "concat_bits");
    require_whole("concat_bits", part);
  }
  const auto typed = std::find_if_not(parts.begin(), parts.end(), ir::is_literal);
  const Expr model = typed == parts.end() ? parts.front() : *typed;
  for (Expr& part : parts) {
    if (ir::is_literal(part)) part = ir::adopt("concat_bits", part, model->type, model);
    if (part->type != model->type)
      refuse_parts(fmt::format("'concat_bits' of '{}' of type {} and '{}' of type {}", model.str(),
                               model->type.str(), part.str(), part->type.str()),
                   part->type.str(), "parts of one type; cast them");
  }
  return parts;
}

}  // namespace

Expr concat_bits(const std::vector<Expr>& given) {
  const std::vector<Expr> parts = given.empty() ? given : of_one_type(given);
  const int count = static_cast<int>(parts.size());
  if (count == 0 || (count & (count - 1)) != 0 || count * parts[0]->type.bits > 64)
    refuse_parts(fmt::format("'concat_bits' of {} parts", count), std::to_string(count),
                 "1, 2, 4 or 8 parts, together of at most 64 bits");
  const Type part = parts[0]->type;
  if (count == 1) return parts[0];
  const Type all = UInt(part.bits * count, part.lanes);
  Expr joined = ir::make_zero(all);
  for (int i = 0; i < count; ++i)
    joined = joined | cast(all, cast(unsigned_of(part), parts[i])) << ir::make_int(all, i * part.bits);
  return part.is_int() ? cast(Int(all.bits, all.lanes), joined) : joined;
}

Expr div_round_to_zero(Expr a, Expr b) {
  match_whole("div_round_to_zero", a, b);
  if (a->type.is_uint()) return a / b;
  const Expr zero = ir::make_zero(a->type), one = ir::make_one(a->type);
  if (const auto divisor = ir::as_int(b); divisor && *divisor > 0) {
    // Each half on its own, so that the ends of a's range give those of the quotient's.
    return (min(a, zero) + (b - one)) / b + max(a, zero) / b;
  }
  const Expr floored = a / b;
  return select(a % b != zero && floored < zero, floored + one, floored);
}

Expr mod_round_to_zero(Expr a, Expr b) {
  match_whole("mod_round_to_zero", a, b);
  Expr rest = a % b;
  if (a->type.is_uint()) return rest;
  const Expr zero = ir::make_zero(a->type);
  return select(a < zero && rest != zero, rest - cast(a->type, abs(b)), rest);
}

Expr reinterpret(Type type, Expr a) {
  ir::require_defined(a, "reinterpret");
  type = type.with_lanes(a->type.lanes);
  if (type == a->type) return a;
  if (type.bits != a->type.bits) {
    throw Error(
        {.kind = ErrorKind::Algorithm,
         .message = fmt::format("'{}' of type {} is reinterpreted as {}", a.str(), a->type.str(), type.str()),
         .value = type.str(),
         .legal = fmt::format("a type of {} bits", a->type.bits)});
  }
  const Expr result = ir::make_folded(Op::Bitcast, type, {a});
  return ir::is_const(result) ? ir::make_typed(result) : result;
}

}  // namespace calotype
