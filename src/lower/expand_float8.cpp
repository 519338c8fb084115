// 8-bit floats as the integers of their bits: what code generators see of them.
//
// Used by emit, on every value as soon as its reads are loads. Requires: values that only load, store, select
// and convert 8-bit floats, as definitions are held to; buffers of UInt(8) in their place (`stored_type`).
// Leaves: the same values with no 8-bit float in them. A conversion becomes arithmetic on the bits of a wider
// float, exact as ir::convert has it: every target computes the same, and vectors need nothing of their own.

#include <bit>
#include <cmath>
#include <map>

#include "ir/value.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

/// A format of floats by its bits.
struct Format {
  int bits, fraction, bias;
};
constexpr Format kSingle{32, 23, 127}, kDouble{64, 52, 1023}, kE4M3{8, 3, 7}, kE5M2{8, 2, 15};
constexpr int kNaN = 0x7f;

const Format& format_of(Type type) { return type.code == TypeCode::E4M3 ? kE4M3 : kE5M2; }

Expr bits_as(Type type, const Expr& e) { return ir::make(ir::Op::Bitcast, type, {e}); }

/// The f32 equal to bits in a UInt(8).
Expr decoded(Type type, const Expr& bits) {
  if (type.code == TypeCode::E5M2)  // the upper byte of an f16
    return cast(Float(32), bits_as(Float(16), cast(UInt(16), bits) << 8));
  const Expr word = cast(UInt(32), bits), magnitude = word & 0x7f;
  const int up = kSingle.fraction - kE4M3.fraction;
  const Expr normal =
      (magnitude << up) + ir::make_int(UInt(32), std::int64_t{kSingle.bias - kE4M3.bias} << kSingle.fraction);
  const Expr small = cast(Float(32), cast(Int(32), magnitude)) * ir::make_float(Float(32), 0x1p-9);
  const Expr number = select(magnitude < (1 << kE4M3.fraction), bits_as(UInt(32), small), normal);
  const Expr size = select(magnitude == kNaN, ir::make_int(UInt(32), 0x7fc00000), number);
  return bits_as(Float(32), ((word & 0x80) << 24) | size);
}

/// The bits of a constant of the format's type.
Expr constant_bits(Type type, double value) {
  const std::int64_t bits = type.bits == 64 ? std::bit_cast<std::int64_t>(value)
                                            : std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return ir::make_int(UInt(type.bits), bits);
}

/// The bits nearest to an f32 or f64, in a UInt(8).
Expr encoded(Type type, const Expr& value) {
  const Type real = value.type(), word = UInt(real.bits);
  const Format &narrow = format_of(type), &wide = real.bits == 64 ? kDouble : kSingle;
  const auto whole = [&](std::int64_t v) { return ir::make_int(word, v); };
  const Expr bits = bits_as(word, value);
  const Expr magnitude = bits & whole(static_cast<std::int64_t>((std::uint64_t{1} << (wide.bits - 1)) - 1));
  const Expr capped = min(magnitude, constant_bits(real, ir::largest_float8(type)));
  // Normal numbers: the exponent counted anew, then the fraction cut with a carry that may raise it.
  const int cut = wide.fraction - narrow.fraction;
  const Expr rebased = capped - whole(std::int64_t{wide.bias - narrow.bias} << wide.fraction);
  const Expr normal =
      (rebased + whole((std::int64_t{1} << (cut - 1)) - 1) + ((rebased >> cut) & whole(1))) >> cut;
  // Below them all numbers are as far apart as those of the wide type around this one: a sum rounds to them.
  const double anchor = std::ldexp(1.0, wide.fraction + 1 - narrow.bias - narrow.fraction);
  const Expr sum = bits_as(real, capped) + ir::make_float(real, anchor);
  const Expr small = bits_as(word, sum) - constant_bits(real, anchor);
  const Expr least_normal = constant_bits(real, std::ldexp(1.0, 1 - narrow.bias));
  const Expr size = cast(UInt(8), select(capped < least_normal, small, normal));
  const Expr sign = cast(UInt(8), bits >> (wide.bits - 8)) & 0x80;
  return select(magnitude > constant_bits(real, INFINITY), ir::make_int(UInt(8), kNaN), size | sign);
}

/// The node with operands that have no 8-bit float left.
Expr expanded(const Expr& e, const std::vector<Expr>& args) {
  if (e->type.is_float8()) {
    if (ir::is_const(e)) return ir::make_int(UInt(8), ir::float8_bits(e->type, *ir::as_float(e)));
    if (ir::is(e, ir::Op::Cast)) {
      const Type from = e->args[0]->type;
      if (from.is_float8()) return encoded(e->type, decoded(from, args[0]));
      // The integers that f32 does not hold are beyond the largest value.
      return encoded(e->type, from == Float(64) ? args[0] : cast(Float(32), args[0]));
    }
    if (ir::is(e, ir::Op::Bitcast)) return args[0]->type == UInt(8) ? args[0] : bits_as(UInt(8), args[0]);
    return ir::make(e->op, UInt(8), args, e->attr);
  }
  const bool reads = !e->args.empty() && e->args[0]->type.is_float8();
  if (reads && ir::is(e, ir::Op::Cast)) return cast(e->type, decoded(e->args[0]->type, args[0]));
  if (reads && ir::is(e, ir::Op::Bitcast)) return e->type == UInt(8) ? args[0] : bits_as(e->type, args[0]);
  return ir::make(e->op, e->type, args, e->attr);
}

}  // namespace

Type stored_type(Type type) { return type.is_float8() ? UInt(8, type.lanes) : type; }

Expr expand_float8(const Expr& e) {
  if (!ir::any_of(e, [](const Expr& n) { return n->type.is_float8(); })) return e;
  std::map<const ir::ExprNode*, Expr> done;
  ir::visit(e, [&](const Expr& node) {
    std::vector<Expr> args;
    bool same = !node->type.is_float8();
    for (const Expr& a : node->args) {
      args.push_back(done.at(a.node().get()));
      same &= args.back().same_as(a) && !a->type.is_float8();
    }
    done.emplace(node.node().get(), same ? node : expanded(node, args));
  });
  return done.at(e.node().get());
}

}  // namespace calotype::lower
