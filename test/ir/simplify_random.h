#pragma once
// Random expressions and their values, for the tests of the algebra: an evaluator that knows nothing of the
// simplifier, and a generator of expressions over a few symbols.

#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "ir/simplify.h"
#include "ir/value.h"

namespace calotype::ir::testing {

/// Values of symbols by their order of creation.
using Environment = std::map<std::uint64_t, std::int64_t>;

/// The value of lane `lane` of an integer expression; nullopt where Int(64) overflows, which the simplifier
/// takes as not happening.
class Evaluator {
 public:
  explicit Evaluator(const Environment& environment) : environment_(environment) {}

  std::optional<std::int64_t> operator()(const Expr& e, int lane = 0) {
    overflow_ = false;
    const std::int64_t v = wrapped(e, lane);
    return overflow_ ? std::nullopt : std::optional(v);
  }
  std::int64_t wrapped(const Expr& e, int lane = 0) { return evaluate(e, lane).i; }

 private:
  Value evaluate(const Expr& e, int lane) {
    const Type type = e.type().element();
    switch (e->op) {
      case Op::Const:
        return Value::of_int(type, *as_int(e));
      case Op::Variable:
        return Value::of_int(type, environment_.at(symbol_of(e)->unique));
      case Op::Broadcast:
        return evaluate(e->args[0], 0);
      case Op::Likely:
        return evaluate(e->args[0], lane);
      case Op::Ramp: {
        const Value base = evaluate(e->args[0], 0), stride = evaluate(e->args[1], 0);
        return Value::of_int(type, base.i + stride.i * lane);
      }
      case Op::Let: {
        Environment inner = environment_;
        inner[symbol_of(e)->unique] = evaluate(e->args[0], lane).i;
        std::swap(inner, environment_);
        const Value v = evaluate(e->args[1], lane);
        std::swap(inner, environment_);
        return v;
      }
      default:
        break;
    }
    std::vector<Value> args;
    for (const Expr& a : e->args) args.push_back(evaluate(a, a.type().is_scalar() ? 0 : lane));
    const Value v = *apply(e->op, type, args);
    if (type == Int(64)) overflow_ |= overflows(e->op, args) || v.i > kLarge || v.i < -kLarge;
    return v;
  }

  static bool overflows(Op op, const std::vector<Value>& args) {
    std::int64_t r;
    return (op == Op::Add && __builtin_add_overflow(args[0].i, args[1].i, &r)) ||
           (op == Op::Sub && __builtin_sub_overflow(args[0].i, args[1].i, &r)) ||
           (op == Op::Mul && __builtin_mul_overflow(args[0].i, args[1].i, &r));
  }

  /// Sums of several values below this may be reordered without overflow.
  static constexpr std::int64_t kLarge = std::int64_t{1} << 50;
  Environment environment_;
  bool overflow_ = false;
};

/// Random integer expressions over given symbols.
class Generator {
 public:
  Generator(std::uint32_t seed, std::vector<Expr> symbols) : random_(seed), symbols_(std::move(symbols)) {}

  std::int64_t number(std::int64_t lo, std::int64_t hi) {
    return std::uniform_int_distribution<std::int64_t>(lo, hi)(random_);
  }
  bool chance(int one_in) { return number(1, one_in) == 1; }

  Expr integer(int depth) {
    if (depth == 0 || chance(8)) return chance(4) ? index(number(-9, 9)) : symbols_[pick(symbols_.size())];
    const auto sub = [&] { return integer(depth - 1); };
    switch (number(0, 14)) {
      case 0:
      case 1:
        return binary(Op::Add, sub(), sub());
      case 2:
      case 3:
        return binary(Op::Sub, sub(), sub());
      case 4:
        return binary(Op::Mul, sub(), index(number(-9, 9)));
      case 5:
        return binary(Op::Mul, sub(), symbols_[pick(symbols_.size())]);
      case 6:
        return binary(Op::Div, sub(), divisor());
      case 7:
        return binary(Op::Mod, sub(), divisor());
      case 8:
        return binary(Op::Add, binary(Op::Mul, sub(), index(8)), binary(Op::Mod, sub(), index(8)));
      case 9:
        return binary(Op::Min, sub(), sub());
      case 10:
        return binary(Op::Max, sub(), sub());
      case 11:
        return make(Op::Select, Int(64), {condition(depth - 1), sub(), sub()});
      case 12:
        return make(Op::Cast, Int(64), {narrow(depth - 1)});
      case 13:
        return binary(Op::Div, binary(Op::Add, sub(), index(number(0, 15))),
                      index(std::int64_t{1} << number(1, 4)));
      default:
        return chance(3) ? make(Op::Likely, Int(64), {sub()}) : make(Op::Neg, Int(64), {sub()});
    }
  }

  Expr condition(int depth) {
    const auto sub = [&] { return integer(depth > 0 ? depth - 1 : 0); };
    if (depth > 1 && chance(3)) {
      if (chance(3)) return make(Op::Not, Bool(), {condition(depth - 1)});
      return make(chance(2) ? Op::And : Op::Or, Bool(), {condition(depth - 1), condition(depth - 1)});
    }
    const Op ops[] = {Op::Lt, Op::Le, Op::Lt, Op::Le, Op::Eq, Op::Ne};
    return make(ops[pick(6)], Bool(), {sub(), sub()});
  }

  /// Arithmetic in types that wrap.
  Expr narrow(int depth) {
    const Type types[] = {Int(32), UInt(8), Int(8), UInt(16), UInt(64), UInt(32)};
    return narrow(types[pick(6)], depth);
  }

  Expr narrow(Type type, int depth) {
    if (depth <= 0) return make(Op::Cast, type, {integer(0)});
    const auto sub = [&] { return narrow(type, depth - 1); };
    switch (number(0, 8)) {
      case 0:
        return make(Op::Add, type, {sub(), sub()});
      case 1:
        return make(Op::Sub, type, {sub(), sub()});
      case 2:
        return make(Op::Mul, type, {sub(), make_int(type, number(0, 200))});
      case 3:
        return make(Op::Min, type, {sub(), sub()});
      case 4:
        return make(Op::Max, type, {sub(), make_int(type, number(0, 50))});
      case 5:
        return make(Op::Div, type, {sub(), make_int(type, number(1, 9))});
      case 6:
        return make(Op::Mod, type, {sub(), make_int(type, number(1, 9))});
      case 7:
        return make(Op::Cast, type, {narrow(depth - 1)});
      default:
        return make(Op::Cast, type, {integer(depth - 1)});
    }
  }

  /// A vector of lanes: ramps, broadcasts and operations on them.
  Expr vector(int lanes, int depth) {
    const Type type = Int(64, lanes);
    if (depth == 0) {
      if (chance(3)) return make(Op::Broadcast, type, {integer(1)});
      return make(Op::Ramp, type, {integer(1), chance(2) ? index(number(-2, 8)) : integer(0)});
    }
    const Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Div, Op::Mod};
    const Expr a = vector(lanes, depth - 1), b = vector(lanes, depth - 1);
    if (chance(6))
      return make(Op::Select, type, {make(Op::Lt, Bool(lanes), {a, b}), vector(lanes, depth - 1), b});
    const Op op = ops[pick(7)];
    if ((op == Op::Div || op == Op::Mod || op == Op::Mul) && !chance(3))
      return make(op, type, {a, make(Op::Broadcast, type, {index(number(1, 9))})});
    return make(op, type, {a, b});
  }

 private:
  std::size_t pick(std::size_t n) {
    return static_cast<std::size_t>(number(0, static_cast<std::int64_t>(n) - 1));
  }
  static Expr binary(Op op, Expr a, Expr b) { return make(op, Int(64), {std::move(a), std::move(b)}); }

  Expr divisor() {
    if (chance(4)) return symbols_[pick(symbols_.size())];
    if (chance(8)) return index(number(-4, 0));
    const std::int64_t usual[] = {1, 2, 3, 4, 8, 8, 16, 64};
    return index(usual[pick(8)]);
  }

  std::mt19937 random_;
  std::vector<Expr> symbols_;
};

/// Symbols with facts of many kinds, and points where the facts hold.
struct World {
  Expr width, x, lane, tile, free, rounded, bound;
  Facts facts;
  std::vector<Expr> symbols;

  World() {
    width = named("W"), x = named("x"), lane = named("v"), tile = named("t"), free = named("a"),
    rounded = named("m");
    bound = named("let");
    facts.set_range(symbol_of(width), index(1), {});
    facts.set_range(symbol_of(x), index(0), make(Op::Sub, Int(64), {width, index(1)}));
    facts.set_range(symbol_of(lane), index(0), index(7));
    facts.set_range(symbol_of(tile), index(0), index(31));
    facts.set_multiple(symbol_of(rounded), 8);
    const Expr value = make(Op::Add, Int(64), {make(Op::Mul, Int(64), {tile, index(8)}), lane});
    facts.set_value(symbol_of(bound), value);
    facts.assume(make(Op::Lt, Bool(), {free, width}));
    symbols = {width, x, lane, tile, free, rounded, bound};
  }

  Environment point(Generator& g) const {
    Environment e;
    const std::int64_t w = g.chance(3) ? g.number(1, 3) : g.number(1, 300), l = g.number(0, 7),
                       t = g.number(0, 31);
    e[symbol_of(width)->unique] = w;
    e[symbol_of(x)->unique] = g.chance(3) ? w - 1 : g.number(0, w - 1);
    e[symbol_of(lane)->unique] = l;
    e[symbol_of(tile)->unique] = t;
    e[symbol_of(free)->unique] = g.chance(4) ? w - 1 : g.number(-300, w - 1);
    e[symbol_of(rounded)->unique] = g.number(-10, 20) * 8;
    e[symbol_of(bound)->unique] = t * 8 + l;
    return e;
  }

  static Expr named(const char* name) { return make_var(make_symbol(SymbolKind::Loop, name)); }
};

}  // namespace calotype::ir::testing
