// Any bytes as an integer expression, and the simplifier on it.
#include <stdexcept>

#include "fuzz/bytes.h"
#include "ir/simplify_random.h"

namespace calotype::fuzz {

namespace {

constexpr int deepest = 6;
constexpr int points = 8;

/// Reads an expression from bytes; when they are used up all is 0, which is a leaf.
class Decoder {
 public:
  Decoder(const std::uint8_t* data, std::size_t size, const std::vector<Expr>& symbols)
      : at_(data), end_(data + size), symbols_(symbols) {}

  Expr expression(Type type, int depth) {
    const std::uint8_t head = next();
    if (depth == 0 || head == 0) return leaf(type);
    const auto sub = [&] { return expression(type, depth - 1); };
    if (type.is_bool()) return condition(head, depth);
    static const ir::Op two[] = {ir::Op::Add,   ir::Op::Sub,    ir::Op::Mul, ir::Op::Div,
                                 ir::Op::Mod,   ir::Op::Min,    ir::Op::Max, ir::Op::BitAnd,
                                 ir::Op::BitOr, ir::Op::BitXor, ir::Op::Add, ir::Op::Sub};
    static const ir::Op one[] = {ir::Op::BitNot, ir::Op::Popcount, ir::Op::CountLeadingZeros,
                                 ir::Op::CountTrailingZeros};
    if (head < 140) return ir::make(two[head % 12], type, {sub(), sub()});
    if (head < 165) return ir::make(head % 2 ? ir::Op::Div : ir::Op::Mod, type, {sub(), constant(type)});
    if (head < 180) return ir::make(ir::Op::Mul, type, {sub(), constant(type)});
    if (head < 200) return ir::make(ir::Op::Select, type, {expression(Bool(), depth - 1), sub(), sub()});
    if (head < 225) return ir::make(ir::Op::Cast, type, {expression(any_type(), depth - 1)});
    if (head < 235) return ir::make(head % 2 ? ir::Op::Shl : ir::Op::Shr, type, {sub(), shift(type)});
    if (head < 242) return ir::make(ir::Op::Likely, type, {sub()});
    if (head < 248 && type.is_int()) return ir::make(ir::Op::Neg, type, {sub()});
    return ir::make(one[head % 4], type, {sub()});
  }

  Type any_type() {
    static const Type types[] = {Int(64), Int(64), Int(32), UInt(8), Int(16), UInt(32), UInt(64), Int(8)};
    return types[next() % 8];
  }

  std::uint8_t next() { return at_ == end_ ? 0 : *at_++; }

 private:
  Expr condition(std::uint8_t head, int depth) {
    static const ir::Op compare[] = {ir::Op::Lt, ir::Op::Le, ir::Op::Eq, ir::Op::Ne};
    const auto side = [&] { return expression(Bool(), depth - 1); };
    if (head < 40) return ir::make(ir::Op::Not, Bool(), {side()});
    if (head < 110) return ir::make(head % 2 ? ir::Op::And : ir::Op::Or, Bool(), {side(), side()});
    const Type of = any_type();
    return ir::make(compare[head % 4], Bool(), {expression(of, depth - 1), expression(of, depth - 1)});
  }

  Expr leaf(Type type) {
    if (type.is_bool()) return ir::make_int(Bool(), next() & 1);
    const std::uint8_t which = next();
    if (which % 3 == 0) return constant(type);
    const Expr symbol = symbols_[which % symbols_.size()];
    return type == Int(64) ? symbol : ir::make(ir::Op::Cast, type, {symbol});
  }

  Expr constant(Type type) {
    const std::uint8_t low = next();
    if (low < 240) return ir::make_int(type, static_cast<std::int64_t>(low) - 100);
    std::int64_t value = 0;
    for (int i = 0; i < 8; ++i)
      value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << 8 | next());
    return ir::make_int(type, value);
  }

  Expr shift(Type type) { return ir::make_int(type, next() % 16); }

  const std::uint8_t *at_, *end_;
  const std::vector<Expr>& symbols_;
};

[[noreturn]] void fail(const std::string& what, const Expr& e, const std::string& found) {
  throw std::logic_error(what + ": " + ir::to_string(e) + "\n" + found);
}

bool below(std::int64_t a, std::int64_t b, Type type) {
  return type == UInt(64) ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
}

}  // namespace

void try_simplifier(const std::uint8_t* data, std::size_t size) {
  const ir::testing::World world;
  Decoder decoder(data, size, world.symbols);
  const Type type = decoder.next() % 4 == 0 ? Bool() : decoder.any_type();
  const Expr e = decoder.expression(type, deepest), simple = ir::simplify(e, world.facts);
  const bool proved = type.is_bool() && ir::prove(e, world.facts);
  const auto low = ir::constant_lower_bound(e, world.facts), high = ir::constant_upper_bound(e, world.facts);
  ir::testing::Generator g(decoder.next(), world.symbols);
  for (int i = 0; i < points; ++i) {
    const ir::testing::Environment point = world.point(g);
    const auto value = ir::testing::Evaluator(point)(e);
    if (!value) continue;
    const std::int64_t got = ir::testing::Evaluator(point).wrapped(simple);
    if (got != *value)
      fail("another value", e,
           ir::to_string(simple) + " is " + std::to_string(got) + ", not " + std::to_string(*value));
    if (proved && *value == 0) fail("proved, and does not hold", e, "");
    if ((low && below(*value, *low, type)) || (high && below(*high, *value, type)))
      fail("outside its bounds", e, std::to_string(*value));
  }
}

}  // namespace calotype::fuzz
