// Expressions: typing of the public operators, structure, rewriting and text.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "calotype/error.h"
#include "calotype/math.h"
#include "ir/expr_node.h"

namespace calotype::ir {
namespace {

Expr variable(const std::string& name, Type type = Int(64)) {
  return make_var(make_symbol(SymbolKind::Param, name, type));
}

template <class F>
Diagnostic refusal(F f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Algorithm);
    return error.diagnostic();
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(Typing, LiteralsTakeTheOtherType) {
  const Expr u8 = variable("u8", UInt(8)), f16 = variable("f16", Float(16)), bf = variable("bf", BFloat(16));
  EXPECT_EQ((u8 + 255).type(), UInt(8));
  EXPECT_EQ((3 - u8).type(), UInt(8));
  EXPECT_EQ((f16 * 2).type(), Float(16));
  EXPECT_EQ((bf * 0.1).type(), BFloat(16));
  EXPECT_EQ((1.0 / variable("f", Float(32))).type(), Float(32));
  EXPECT_EQ(max(u8, 7).type(), UInt(8));
  EXPECT_EQ(select(u8 < 4, u8, 0).type(), UInt(8));
  EXPECT_EQ(variable("v", UInt(8, 4)).type(), (u8 + make_int(UInt(8, 4), 1)).type());
  EXPECT_TRUE(as_float((bf * 0.1)->args[1]).has_value());
  EXPECT_EQ(*as_float((bf * 0.1)->args[1]), bfloat16_t(0.1f));
}

TEST(Typing, AFloatLiteralBesideAnIntegerMakesAFloat) {
  EXPECT_EQ((variable("i", Int(32)) * 0.5f).type(), Float(32));
  EXPECT_EQ((variable("i", UInt(8)) * 2.0f).type(), Float(32));
}

TEST(Typing, LiteralsThatDoNotFitAreRefused) {
  const Expr u8 = variable("pixel", UInt(8));
  for (const auto& make_it : std::vector<std::function<Expr()>>{
           [&] { return u8 + 256; }, [&] { return 256 > u8; }, [&] { return u8 * -1; },
           [&] { return min(u8, 1000); }, [&] { return u8 << 256; },
           [&] { return select(u8 < 1, u8, 300); }}) {
    const Diagnostic d = refusal(make_it);
    EXPECT_NE(d.message.find("pixel"), std::string::npos) << d.message;
    EXPECT_NE(d.message.find(d.value), std::string::npos) << d.message;
    EXPECT_NE(d.legal.find("0 to 255"), std::string::npos) << d.legal;
  }
  const Expr s8 = variable("s", Int(8)), f16 = variable("h", Float(16)), u64 = variable("w", UInt(64));
  EXPECT_EQ((s8 + -128).type(), Int(8));
  EXPECT_EQ(refusal([&] { return s8 + 128; }).value, "128");
  EXPECT_EQ(refusal([&] { return f16 * 70000; }).value, "70000");
  EXPECT_EQ(refusal([&] { return f16 * 1e6; }).value, "1000000.0");
  EXPECT_EQ((u64 + UINT64_MAX).type(), UInt(64));
  EXPECT_EQ(refusal([&] { return variable("i", Int(64)) + UINT64_MAX; }).value, "18446744073709551615");
}

TEST(Typing, AnExplicitCastIsNoLiteral) {
  const Expr u8 = variable("u8", UInt(8)), bf = variable("bf", BFloat(16));
  EXPECT_EQ((cast<std::uint16_t>(2) * u8).type(), UInt(16));
  EXPECT_EQ((bf * cast<float>(2)).type(), Float(32));
  EXPECT_EQ((bf * (cast<float>(2) + 1)).type(), Float(32));
  EXPECT_EQ((bf * (Expr(2) + 1)).type(), BFloat(16));
  EXPECT_TRUE(equal(cast<float>(2), make_float(Float(32), 2)));
}

TEST(Typing, MixedTypesMeet) {
  const auto meet = [](Type a, Type b) {
    const Type one = (variable("a", a) + variable("b", b)).type();
    EXPECT_EQ(one, (variable("b", b) + variable("a", a)).type());
    return one;
  };
  EXPECT_EQ(meet(Int(8), Int(32)), Int(32));
  EXPECT_EQ(meet(UInt(8), UInt(16)), UInt(16));
  EXPECT_EQ(meet(UInt(32), Int(32)), Int(32));
  EXPECT_EQ(meet(UInt(64), Int(8)), Int(64));
  EXPECT_EQ(meet(Int(64), Float(16)), Float(16));
  EXPECT_EQ(meet(Float(32), Float(64)), Float(64));
  EXPECT_EQ(meet(BFloat(16), Float(32)), Float(32));
  EXPECT_EQ(meet(BFloat(16), Float(16)), Float(32));
  EXPECT_EQ(meet(Bool(), Int(32)), Int(32));
}

TEST(Typing, ResultsOfOtherOperations) {
  const Expr s16 = variable("s", Int(16)), u8 = variable("u", UInt(8)), f = variable("f", Float(32));
  EXPECT_EQ((s16 < 3).type(), Bool());
  EXPECT_EQ((make_int(Int(16, 4), 1) < s16).type(), Bool(4));
  EXPECT_EQ(abs(s16).type(), UInt(16));
  EXPECT_EQ(abs(f).type(), Float(32));
  EXPECT_EQ(exp(u8).type(), Float(32));
  EXPECT_EQ(pow(variable("d", Float(64)), 2).type(), Float(64));
  EXPECT_EQ((u8 << 3).type(), UInt(8));
  EXPECT_EQ((variable("w", UInt(32)) >> variable("n", Int(32))).type(),
            UInt(32));  // not Int: the shift would change
  EXPECT_EQ((u8 >> -1)->args[1].type(), Int(8));
  EXPECT_EQ((u8 << variable("n", Int(32))).type(), UInt(32));
  EXPECT_EQ(cast(Bool(), s16).str(), "s != 0");
  EXPECT_EQ(((s16 < 3) & (u8 < 3))->op, Op::And);
}

TEST(Typing, WrongOperandsAreRefused) {
  const Expr f = variable("f", Float(32)), b = variable("b", Bool());
  refusal([&] { return f & f; });
  refusal([&] { return ~f; });
  refusal([&] { return f << 1; });
  refusal([&] { return f && b; });
  refusal([&] { return !f; });
  refusal([&] { return b + b; });
  refusal([&] { return -b; });
  refusal([&] { return select(f, 1, 2); });
  refusal([&] { return Expr() + f; });
  refusal([&] { return exp(Expr()); });
  refusal([&] { return Expr().type(); });
  refusal([&] { return variable("v", Int(32, 4)) + variable("w", Int(32, 8)); });
}

TEST(Operators, FoldOnlyWhatIsExact) {
  const Expr i = variable("i"), f = variable("f", Float(32)), b = variable("b", Bool());
  EXPECT_TRUE((i + 0).same_as(i));
  EXPECT_TRUE((0 + i).same_as(i));
  EXPECT_TRUE((i - 0).same_as(i));
  EXPECT_TRUE((1 * i).same_as(i));
  EXPECT_TRUE((f * 1).same_as(f));
  EXPECT_TRUE((i / 1).same_as(i));
  EXPECT_TRUE((b && true).same_as(b));
  EXPECT_TRUE((false || b).same_as(b));
  EXPECT_EQ((f + 0)->op, Op::Add);  // -0 + 0 is +0
  EXPECT_EQ((f * 0)->op, Op::Mul);
  EXPECT_EQ(as_int(Expr(-7) / 2), -4);
  EXPECT_EQ(as_int(Expr(-7) % 2), 1);
  EXPECT_EQ(as_int(Expr(3) < 4), 1);
  EXPECT_TRUE(select(Expr(3) < 4, i, i + 1).same_as(i));
}

TEST(Operators, Compound) {
  Expr e = variable("i");
  e += 2;
  e *= 3;
  e -= 1;
  e /= 4;
  EXPECT_EQ(e.str(), "((i + 2)*3 - 1)/4");
}

TEST(SaturatingCast, ClampsOnlyWhereTheRangesDiffer) {
  const auto text = [](Type to, Type from) { return saturating_cast(to, variable("a", from)).str(); };
  EXPECT_EQ(text(UInt(8), Int(32)), "u8(min(max(a, 0), 255))");
  EXPECT_EQ(text(Int(8), UInt(8)), "s8(min(a, 127))");
  EXPECT_EQ(text(UInt(16), UInt(8)), "u16(a)");
  EXPECT_EQ(text(UInt(8), Int(8)), "u8(max(a, 0))");
  EXPECT_EQ(text(Int(64), UInt(64)), "s64(min(a, 9223372036854775807))");
  EXPECT_EQ(text(UInt(64), Int(64)), "u64(max(a, 0))");
  EXPECT_EQ(text(UInt(8), Float(32)), "u8(a)");
  EXPECT_EQ(text(Int(32), UInt(64)), "s32(min(a, 2147483647))");
}

TEST(Constants, WrapAndBroadcast) {
  EXPECT_EQ(as_int(make_int(UInt(8), 300)), 44);
  EXPECT_EQ(as_int(make_int(Int(8), 200)), -56);
  EXPECT_EQ(as_int(make_int(Bool(), 2)), 1);
  const Expr v = make_const(Float(32, 8), 0.1);
  EXPECT_EQ(v->op, Op::Broadcast);
  EXPECT_EQ(as_float(v), 0.1f);
  EXPECT_TRUE(is_one(make_one(Int(16, 4))));
  EXPECT_TRUE(is_zero(make_zero(Float(16))));
  EXPECT_FALSE(is_zero(make_float(Float(32), -0.0)));
  EXPECT_EQ(as_int(Expr(UINT64_MAX)), -1);
  EXPECT_FALSE(as_int(make_float(Float(32), 1)).has_value());
  EXPECT_FALSE(as_int(Expr()).has_value());
}

TEST(Make, ChecksTheArity) {
  EXPECT_THROW(make(Op::Add, Int(64), {index(1)}), Error);
  EXPECT_THROW(make(Op::Neg, Int(64), {Expr()}), Error);
  EXPECT_THROW(symbol_of(index(1)), Error);
}

TEST(Structure, EqualityIsByStructureAndIdentity) {
  const SymbolPtr x = make_symbol(SymbolKind::Loop, "x");
  const auto build = [](const SymbolPtr& s) { return min(make_var(s) * 2 + 1, 7); };
  EXPECT_TRUE(equal(build(x), build(x)));
  EXPECT_EQ(build(x)->hash, build(x)->hash);
  EXPECT_FALSE(equal(build(x), build(make_symbol(SymbolKind::Loop, "x"))));  // one name, two symbols
  EXPECT_TRUE(var_symbol("x") == var_symbol("x"));
  EXPECT_FALSE(equal(make_int(Int(32), 1), make_int(Int(64), 1)));
  EXPECT_FALSE(equal(make_float(Float(32), 0.0), make_float(Float(32), -0.0)));
  EXPECT_TRUE(equal(make_float(Float(32), NAN), make_float(Float(32), NAN)));
  EXPECT_TRUE(equal(std::vector<Expr>{build(x)}, std::vector<Expr>{build(x)}));
  EXPECT_FALSE(equal(std::vector<Expr>{build(x)}, std::vector<Expr>{}));
  const auto callee = [](int i) {
    return std::make_shared<const Callee>(
        Callee{.kind = CalleeKind::Func, .name = "f", .index = i, .rank = 1, .type = Int(32)});
  };
  const CalleePtr f = callee(0), g = callee(1);
  const auto call = [](const CalleePtr& c) { return make(Op::Call, Int(32), {index(1)}, c); };
  EXPECT_TRUE(equal(call(f), call(f)));
  EXPECT_FALSE(equal(call(f), call(g)));
  EXPECT_FALSE(equal(call(f), call(callee(0))));
}

TEST(Structure, CompareIsATotalOrder) {
  const Expr x = variable("x"), y = variable("y"), f = variable("f", Float(32));
  std::vector<Expr> all = {x, y, x + y, y + x, x + 1, x + 2, x * 2, f, f * 2, f + 1, x < y, Expr(), index(3)};
  EXPECT_LT(compare(x, y), 0);  // in the order of creation
  for (const Expr& a : all) {
    for (const Expr& b : all) {
      EXPECT_EQ(compare(a, b), -compare(b, a));
      EXPECT_EQ(compare(a, b) == 0, a.same_as(b));
    }
  }
  std::vector<Expr> sorted = all;
  const auto less = [](const Expr& a, const Expr& b) { return compare(a, b) < 0; };
  std::sort(sorted.begin(), sorted.end(), less);
  std::mt19937 random(1);
  std::shuffle(all.begin(), all.end(), random);
  std::sort(all.begin(), all.end(), less);
  EXPECT_TRUE(equal(all, sorted));
}

/// A graph of n nodes and 2^n paths.
Expr doubled(Expr e, int n) {
  for (int i = 0; i < n; ++i) e = e + e;
  return e;
}

TEST(Sharing, WalksTakeTheTimeOfTheNodes) {
  const SymbolPtr x = make_symbol(SymbolKind::Loop, "x");
  const Expr a = doubled(make_var(x), 60), b = doubled(make_var(x), 60);
  EXPECT_TRUE(equal(a, b));
  EXPECT_FALSE(equal(a, doubled(make_var(x), 59)));
  int nodes = 0;
  visit(a, [&](const Expr&) { ++nodes; });
  EXPECT_EQ(nodes, 61);
  const Expr c = substitute(a, {{x, index(1)}});
  EXPECT_FALSE(uses(c, x));
  EXPECT_TRUE(uses(a, x));
  int calls = 0;
  EXPECT_TRUE(rewrite(a, [&](const Expr& e) {
                ++calls;
                return e;
              }).same_as(a));
  EXPECT_EQ(calls, 61);
  EXPECT_FALSE(any_of(a, [](const Expr& e) { return e->op == Op::Mul; }));
}

TEST(Rewriting, BottomUp) {
  const Expr x = variable("x"), y = variable("y");
  const Expr e = (x + y) * (x + y) + min(x, 3);
  const Expr swapped =
      rewrite(e, [](const Expr& n) { return n->op == Op::Add ? make(Op::Sub, n->type, n->args) : n; });
  EXPECT_EQ(swapped.str(), "(x - y)*(x - y) - min(x, 3)");
  EXPECT_TRUE(map_args(e, [](const Expr& n) { return n; }).same_as(e));
  EXPECT_EQ(map_args(e, [&](const Expr&) { return Expr(y); }).str(), "y + y");
  std::vector<std::string> order;
  visit(x + y * 2, [&](const Expr& n) { order.push_back(n.str()); });
  EXPECT_EQ(order, (std::vector<std::string>{"x", "y", "2", "y*2", "x + y*2"}));
}

TEST(Rewriting, SubstituteIsSimultaneous) {
  const Expr x = variable("x"), y = variable("y");
  const Substitution swap = {{symbol_of(x), y}, {symbol_of(y), x}};
  EXPECT_EQ(substitute(x - y * 2, swap).str(), "y - x*2");
}

TEST(Rewriting, FreeSymbolsLeaveOutLets) {
  const Expr x = variable("x"), y = variable("y"), t = variable("t");
  const Expr e = make(Op::Let, Int(64), {y + 1, t * x + t}, symbol_of(t));
  EXPECT_EQ(free_symbols(e), (std::vector<SymbolPtr>{symbol_of(y), symbol_of(x)}));
  EXPECT_EQ(substitute(e, {{symbol_of(x), index(2)}}).str(), "let t = y + 1 in t*2 + t");
}

TEST(Printing, MinimalParentheses) {
  const Expr x = variable("x"), y = variable("y"), z = variable("z"), p = variable("p", Bool()),
             q = variable("q", Bool()), f = variable("f", Float(32));
  const std::pair<Expr, const char*> cases[] = {
      {x * 2 + y, "x*2 + y"},
      {x * (y + 2), "x*(y + 2)"},
      {x - (y - z), "x - (y - z)"},
      {x - y - z, "x - y - z"},
      {x + -1, "x - 1"},
      {x * -1, "x*-1"},
      {x / y * z, "x/y*z"},
      {x / (y * z), "x/(y*z)"},
      {x % 8, "x%8"},
      {-x * y, "-x*y"},
      {-(x * y), "-(x*y)"},
      {-(-x), "-(-x)"},
      {min(x, 7), "min(x, 7)"},
      {cast<float>(x + 1), "f32(x + 1)"},
      {(x < y) == p, "(x < y) == p"},
      {p != (x == y), "p != (x == y)"},
      {p && (q || x >= y), "p && (q || y <= x)"},
      {(p && q) || !(x == y), "p && q || !(x == y)"},
      {(x & 3) == 0, "(x & 3) == 0"},
      {x << 2 | y, "x << 2 | y"},
      {~x ^ y, "~x ^ y"},
      {select(p, f * 0.5f, 2.0f), "select(p, f*0.5, 2.0)"},
      {sqrt(f) + 0.1f, "sqrt(f) + 0.1"},
      {f - 1e20f, "f - 1e+20"},
      {f * make_float(Float(32), INFINITY), "f*inf"},
      {p == true, "p == true"},
      {Expr(UINT64_MAX), "18446744073709551615"},
      {Expr(), "<undefined>"},
      {make(Op::Ramp, Int(64, 8), {x * 8, index(1)}), "ramp(x*8, 1, 8)"},
      {make_int(Int(32, 4), 5), "broadcast(5, 4)"},
      {make(Op::ReduceAdd, Int(64), {make(Op::Broadcast, Int(64, 4), {x})}), "reduce_add(broadcast(x, 4))"},
      {make(Op::Bitcast, UInt(32), {f}), "bitcast<u32>(f)"},
      {likely(p), "likely(p)"},
      {strict_float(f * f), "strict_float(f*f)"},
  };
  for (const auto& [e, text] : cases) EXPECT_EQ(to_string(e), text);
}

TEST(Printing, CallsAndLoads) {
  const Expr x = variable("x"), p = variable("p", Bool());
  const auto blur = std::make_shared<const Callee>(
      Callee{.kind = CalleeKind::Func, .name = "blur", .index = 0, .rank = 2, .type = Float(32)});
  EXPECT_EQ(make(Op::Call, Float(32), {x + 1, index(0)}, blur).str(), "blur(x + 1, 0)");
  const BufferPtr in = make_buffer({.name = "in", .type = Float(32)});
  EXPECT_EQ(make(Op::Load, Float(32), {x * 3}, in).str(), "in[x*3]");
  EXPECT_EQ(make(Op::LoadIf, Float(32), {p, x, index(2)}, in).str(), "load_if(p, in[x, 2])");
  EXPECT_EQ((make(Op::Let, Int(64), {x * x, x}, symbol_of(x)) + 1).str(), "(let x = x*x in x) + 1");
}

}  // namespace
}  // namespace calotype::ir
