// Fused sums of tensor cores.

#include "instr/tensor_sum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

namespace calotype::instr {
namespace {

constexpr std::uint32_t kNan = 0x7fffffff, kInfinity = 0x7f800000;

struct Format {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;
};

Format format_of(Number n) {
  switch (n) {
    case Number::F16:
      return {5, 10, 15, true};
    case Number::BF16:
      return {8, 7, 127, true};
    case Number::TF32:
      return {8, 10, 127, true};
    case Number::E4M3:
      return {4, 3, 7, false};
    default:
      return {5, 2, 15, true};
  }
}

/// +-digits * 2^(exponent - fraction), as the hardware takes it apart.
struct Term {
  enum class Kind { Finite, Infinite, Nan } kind = Kind::Finite;
  bool negative = false;
  int exponent = 0, fraction = 0;
  std::uint64_t digits = 0;
};

Term parts(std::uint32_t bits, const Format& f) {
  Term t;
  t.fraction = f.mantissa_bits;
  t.negative = bits >> (f.exponent_bits + f.mantissa_bits) & 1;
  const std::uint32_t top = (1u << f.exponent_bits) - 1, mantissa = bits & ((1u << f.mantissa_bits) - 1);
  const std::uint32_t exponent = bits >> f.mantissa_bits & top;
  if (f.has_infinity ? exponent == top : exponent == top && mantissa == (1u << f.mantissa_bits) - 1) {
    t.kind = f.has_infinity && mantissa == 0 ? Term::Kind::Infinite : Term::Kind::Nan;
    return t;
  }
  t.exponent = static_cast<int>(std::max(exponent, 1u)) - f.bias;
  t.digits = mantissa | (exponent != 0 ? 1u << f.mantissa_bits : 0);
  return t;
}

Term operand(std::uint32_t bits, Number n) {
  return parts(n == Number::TF32 ? bits >> 13 : bits, format_of(n));
}
Term number_f32(std::uint32_t bits) { return parts(bits, {8, 23, 127, true}); }

Term product(const Term& a, const Term& b) {
  Term t;
  t.negative = a.negative != b.negative;
  const auto is_zero = [](const Term& x) { return x.kind == Term::Kind::Finite && x.digits == 0; };
  if (a.kind == Term::Kind::Nan || b.kind == Term::Kind::Nan) {
    t.kind = Term::Kind::Nan;
  } else if (a.kind == Term::Kind::Infinite || b.kind == Term::Kind::Infinite) {
    t.kind = is_zero(a) || is_zero(b) ? Term::Kind::Nan : Term::Kind::Infinite;
  } else {
    t.exponent = a.exponent + b.exponent;
    t.fraction = a.fraction + b.fraction;
    t.digits = a.digits * b.digits;
  }
  return t;
}

/// A sum before it is a number of the result: total * 2^unit, or what it is instead.
struct Sum {
  std::uint32_t special = 0;  ///< bits of an infinity or NaN; 0: none
  std::int64_t total = 0;
  int unit = 0;
};

Sum add(const std::vector<Term>& terms, int kept) {
  bool positive = false, negative = false, nan = false;
  int top = -100000;
  for (const Term& t : terms) {
    nan |= t.kind == Term::Kind::Nan;
    if (t.kind == Term::Kind::Infinite) (t.negative ? negative : positive) = true;
    if (t.kind == Term::Kind::Finite && t.digits != 0) top = std::max(top, t.exponent);
  }
  if (nan || (positive && negative)) return {.special = kNan};
  if (positive || negative) return {.special = kInfinity | (negative ? 0x80000000u : 0)};
  Sum sum{.unit = top - kept};
  for (const Term& t : terms) {
    if (t.digits == 0) continue;
    const int shift = t.exponent - t.fraction - sum.unit;  // at most `kept`
    const std::uint64_t cut = shift >= 0 ? t.digits << shift : shift > -64 ? t.digits >> -shift : 0;
    sum.total += t.negative ? -static_cast<std::int64_t>(cut) : static_cast<std::int64_t>(cut);
  }
  return sum;
}

/// Cut toward zero to `mantissa` bits behind the first.
std::uint32_t to_f32(const Sum& sum, int mantissa) {
  if (sum.special) return sum.special;
  if (sum.total == 0) return 0;
  const std::uint32_t sign = sum.total < 0 ? 0x80000000u : 0;
  const std::uint64_t digits = static_cast<std::uint64_t>(std::abs(sum.total));
  const int exponent = sum.unit + std::bit_width(digits) - 1;
  if (exponent > 127) return sign | kInfinity;
  const int last = std::max(exponent, -126) - mantissa;  // of the lowest bit kept
  const int shift = sum.unit - last;
  const std::uint64_t cut = shift >= 0 ? digits << shift : shift > -64 ? digits >> -shift : 0;
  const std::uint64_t in_place = cut << (23 - mantissa);  // with its first bit, if it is normal
  if (exponent < -126) return in_place == 0 ? 0 : sign | static_cast<std::uint32_t>(in_place);
  return sign | static_cast<std::uint32_t>(((exponent + 127) << 23) + (in_place - (1u << 23)));
}

/// Rounded to nearest even.
std::uint32_t to_f16(const Sum& sum) {
  if (sum.special == kNan) return 0x7fff;
  if (sum.special) return (sum.special >> 16 & 0x8000) | 0x7c00;
  if (sum.total == 0) return 0;
  const std::uint32_t sign = sum.total < 0 ? 0x8000 : 0;
  const std::uint64_t digits = static_cast<std::uint64_t>(std::abs(sum.total));
  const int exponent = sum.unit + std::bit_width(digits) - 1;
  const int shift = sum.unit - (std::max(exponent, -14) - 10);
  std::uint64_t rounded = 0;
  if (shift >= 0) {
    rounded = digits << shift;
  } else if (shift > -64) {
    const std::uint64_t rest = digits & ((std::uint64_t{1} << -shift) - 1),
                        half = std::uint64_t{1} << (-shift - 1);
    rounded = digits >> -shift;
    rounded += rest > half || (rest == half && (rounded & 1) != 0);
  }
  // A carry out of the mantissa moves the exponent on by itself.
  const std::uint64_t bits =
      exponent < -14 ? rounded : (static_cast<std::uint64_t>(exponent + 14) << 10) + rounded;
  return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(bits, 0x7c00));
}

/// C of instructions that accumulate in f16 is an f16.
Term accumulator(const TensorRule& rule, std::uint32_t c) {
  return rule.to_f16 ? operand(c & 0xffff, Number::F16) : number_f32(c);
}

std::uint32_t integer_sum(const TensorRule& rule, std::span<const std::uint32_t> a,
                          std::span<const std::uint32_t> b, std::uint32_t c) {
  const auto value = [](std::uint32_t bits, Number n) {
    return n == Number::S8 ? static_cast<std::int32_t>(static_cast<std::int8_t>(bits))
                           : static_cast<std::int32_t>(bits & 0xff);
  };
  for (int k = 0; k < rule.products; ++k)
    c += static_cast<std::uint32_t>(value(a[k], rule.a) * value(b[k], rule.b));
  return c;
}

/// Two sums of half the products as the hardware emulates it, and C in f32 arithmetic.
std::uint32_t sum_in_halves(const TensorRule& rule, const std::vector<Term>& products, std::uint32_t c) {
  std::uint32_t so_far = 0;
  for (int half = 0; half < 2; ++half) {
    std::vector<Term> terms = {number_f32(so_far)};
    for (int k = 0; k < rule.products; ++k)
      if ((k & 3) / 2 == half) terms.push_back(products[static_cast<std::size_t>(k)]);
    so_far = to_f32(add(terms, rule.kept), rule.mantissa);
  }
  const float sum = std::bit_cast<float>(c) + std::bit_cast<float>(so_far);
  return std::isnan(sum) ? kNan : std::bit_cast<std::uint32_t>(sum);
}

}  // namespace

int bytes_of(Number number) {
  switch (number) {
    case Number::TF32:
      return 4;
    case Number::F16:
    case Number::BF16:
      return 2;
    default:
      return 1;
  }
}

std::span<const TensorRule> tensor_rules() {
  using N = Number;
  static const std::array<TensorRule, 25> rules = {{
      {.instruction = "mma.sync", .a = N::F16, .b = N::F16},
      {.instruction = "mma.sync", .a = N::BF16, .b = N::BF16},
      {.instruction = "mma.sync", .a = N::TF32, .b = N::TF32, .products = 8},
      {.instruction = "mma.sync", .a = N::E4M3, .b = N::E4M3, .products = 32, .halves = true},
      {.instruction = "mma.sync", .a = N::E5M2, .b = N::E5M2, .products = 32, .halves = true},
      {.instruction = "mma.sync", .a = N::E4M3, .b = N::E5M2, .products = 32, .halves = true},
      {.instruction = "mma.sync", .a = N::E5M2, .b = N::E4M3, .products = 32, .halves = true},
      {.instruction = "mma.sync", .a = N::S8, .b = N::S8, .products = 32},
      {.instruction = "mma.sync", .a = N::U8, .b = N::U8, .products = 32},
      {.instruction = "mma.sync", .a = N::S8, .b = N::U8, .products = 32},
      {.instruction = "mma.sync", .a = N::U8, .b = N::S8, .products = 32},
      {.instruction = "wgmma", .a = N::F16, .b = N::F16},
      {.instruction = "wgmma", .a = N::BF16, .b = N::BF16},
      {.instruction = "wgmma", .a = N::TF32, .b = N::TF32, .products = 8},
      {.instruction = "wgmma", .a = N::E4M3, .b = N::E4M3, .products = 32, .kept = 13, .mantissa = 13},
      {.instruction = "wgmma", .a = N::E5M2, .b = N::E5M2, .products = 32, .kept = 13, .mantissa = 13},
      {.instruction = "wgmma", .a = N::E4M3, .b = N::E5M2, .products = 32, .kept = 13, .mantissa = 13},
      {.instruction = "wgmma", .a = N::E5M2, .b = N::E4M3, .products = 32, .kept = 13, .mantissa = 13},
      {.instruction = "wgmma", .a = N::F16, .b = N::F16, .to_f16 = true},
      {.instruction = "wgmma", .a = N::E4M3, .b = N::E4M3, .to_f16 = true, .products = 32, .kept = 13},
      {.instruction = "wgmma", .a = N::E5M2, .b = N::E5M2, .to_f16 = true, .products = 32, .kept = 13},
      {.instruction = "wgmma", .a = N::S8, .b = N::S8, .products = 32},
      {.instruction = "wgmma", .a = N::U8, .b = N::U8, .products = 32},
      {.instruction = "wgmma", .a = N::S8, .b = N::U8, .products = 32},
      {.instruction = "wgmma", .a = N::U8, .b = N::S8, .products = 32},
  }};
  return rules;
}

const TensorRule* find_rule(const std::string& instruction, Number a, Number b, bool to_f16) {
  const auto all = tensor_rules();
  const auto found = std::find_if(all.begin(), all.end(), [&](const TensorRule& r) {
    return r.instruction == instruction && r.a == a && r.b == b && r.to_f16 == to_f16;
  });
  return found == all.end() ? nullptr : &*found;
}

std::uint32_t tensor_sum(const TensorRule& rule, std::span<const std::uint32_t> a,
                         std::span<const std::uint32_t> b, std::uint32_t c) {
  if (rule.integer()) return integer_sum(rule, a, b, c);
  std::vector<Term> terms;
  for (int k = 0; k < rule.products; ++k)
    terms.push_back(product(operand(a[k], rule.a), operand(b[k], rule.b)));
  if (rule.halves) return sum_in_halves(rule, terms, c);
  terms.push_back(accumulator(rule, c));
  const Sum sum = add(terms, rule.kept);
  return rule.to_f16 ? to_f16(sum) : to_f32(sum, rule.mantissa);
}

}  // namespace calotype::instr
