// 128-bit products as two words.

#include "ir/wide_product.h"

#include "ir/typing.h"

namespace calotype::ir {

namespace {

constexpr Type kWord = UInt(64);

Expr word(std::int64_t value) { return make_int(kWord, value); }
Expr low_half(const Expr& e) { return e & word(0xffffffff); }
Expr high_half(const Expr& e) { return e >> word(32); }

/// The upper word of a product of unsigned words, by halves.
Expr high_word(const Expr& a, const Expr& b) {
  const Expr a0 = low_half(a), a1 = high_half(a), b0 = low_half(b), b1 = high_half(b);
  const Expr middle = a1 * b0 + high_half(a0 * b0);
  const Expr carry = low_half(middle) + a0 * b1;
  return a1 * b1 + high_half(middle) + high_half(carry);
}

/// A number of 128 bits: the upper word has the sign.
struct Wide {
  Expr high;  ///< Int(64) or UInt(64)
  Expr low;   ///< UInt(64)
};

Wide product(const Expr& a, const Expr& b) {
  const Type t = a->type;
  const Expr x = cast(kWord, a), y = cast(kWord, b);
  Expr high = high_word(x, y);
  if (t.is_int()) {  // a negative number reads as itself plus 2^64
    high = high - select(a < make_zero(t), y, word(0)) - select(b < make_zero(t), x, word(0));
    high = cast(t, high);
  }
  return {high, x * y};
}

/// Rounded down. A shift of a word by 64 or more gives 0 or the sign.
Wide shifted(const Wide& w, const Expr& by) {
  const Expr within = (w.low >> by) | (cast(kWord, w.high) << (word(64) - by));
  const Expr beyond = cast(kWord, w.high >> cast(w.high->type, by - word(64)));
  return {w.high >> cast(w.high->type, by), select(by < word(64), within, beyond)};
}

}  // namespace

Expr wide_product_shifted(const Expr& a, const Expr& b, const Expr& q, bool rounded) {
  const Type t = a->type;
  const Wide all = product(a, b);
  Wide result = shifted(all, q);
  if (rounded) {
    const Expr last = shifted(all, max(q, word(1)) - word(1)).low & word(1);
    const Expr bit = select(q == word(0), word(0), last);
    const Expr low = result.low + bit;
    result = {result.high + cast(t, select(low < bit, word(1), word(0))), low};
  }
  const Expr value = cast(t, result.low);
  if (t.is_uint()) return select(result.high == word(0), value, word(-1));
  const Expr fits = result.high == (value >> make_int(t, 63));
  return select(fits, value,
                select(result.high < make_zero(t), make_int(t, INT64_MIN), make_int(t, INT64_MAX)));
}

}  // namespace calotype::ir
