// Funcs with several values: definitions, updates of all values and of one, and what the evaluator makes of
// them, against closed forms.

#include "calotype/tuple.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "calotype/calotype.h"
#include "helpers.h"
#include "lang/graph.h"

namespace calotype {
namespace {

using test::random_buffer;

const Var x("x"), y("y");

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "(none)";
}

TEST(Tuple, TypesAndUses) {
  Func f("f"), g("g");
  f(x) = Tuple(cast<std::uint8_t>(x), cast<float>(x) * 0.5f);
  EXPECT_EQ(f.types(), (std::vector<Type>{UInt(8), Float(32)}));
  g(x) = cast<float>(f(x)[0]) + f(x + 1)[1];
  const Pipeline p("p", {}, {{g, {Dim("N")}}});
  const Evaluation e = p.evaluate({}, {}, {{"N", 5}});
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_EQ(e.outputs[0].value({i}), double(i) + (double(i) + 1) * 0.5);
  EXPECT_NE(p.str().find("f: (u8, f32)"), std::string::npos) << p.str();
}

TEST(Tuple, OneValueIsAPlainFunc) {
  Func f("f"), g("g");
  f(x) = Tuple(std::vector<Expr>{x * 2});
  g(x) = f(x) + 1;
  const Pipeline p("p", {}, {{g, {Dim("N")}}});
  EXPECT_EQ(p.evaluate({}, {}, {{"N", 4}}).outputs[0].value({3}), 7);
}

TEST(Tuple, UpdatesComputeAllValuesFromThoseBefore) {
  Dim N("N");
  RDom k(0, N, "k");
  Func f("f");
  f(x) = Tuple(cast<int>(x), cast<int>(x) + 1);
  f(x) = Tuple(f(x)[1], f(x)[0] + f(x)[1] + cast<int>(0 * k));
  const Pipeline p("p", {}, {{f, {Dim("W")}}});
  const Evaluation e = p.evaluate({}, {}, {{"N", 10}, {"W", 3}});
  ASSERT_EQ(e.outputs.size(), 2u);
  EXPECT_EQ(p.graph().output_name(p.graph().outputs[1]), "f.1");
  for (std::int64_t i = 0; i < 3; ++i) {
    std::int64_t a = i, b = i + 1;
    for (int n = 0; n < 10; ++n) std::tie(a, b) = std::make_pair(b, a + b);
    EXPECT_EQ(e.outputs[0].value({i}), double(a));
    EXPECT_EQ(e.outputs[1].value({i}), double(b));
  }
}

TEST(Tuple, AnUpdateOfOneValueLeavesTheOthers) {
  Func f("f");
  f(x) = Tuple(cast<int>(x), cast<float>(x));
  f(x)[1] += 2.5f;
  f(x)[0] = f(x)[0] * 3;
  f(2)[1] = -1.0f;
  const Pipeline p("p", {}, {{f, {Dim("N")}}});
  const Evaluation e = p.evaluate({}, {}, {{"N", 4}});
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(e.outputs[0].value({i}), 3.0 * double(i));
    EXPECT_EQ(e.outputs[1].value({i}), i == 2 ? -1 : double(i) + 2.5);
  }
}

TEST(Tuple, UndefinedComponentsOfUpdatesKeepTheirValues) {
  Func f("f"), g("g");
  f(x) = Tuple(x, x * 2);
  f(x) = Tuple(undef(Int(64)), f(x)[1] + 1);
  f(x) = Tuple(select(x % 2 == 0, f(x)[1], undef(Int(64))), f(x)[1] + 1);
  f(x) = select(x == 3, Tuple(-x, -x), Tuple(undef(Int(64)), undef(Int(64))));
  const Pipeline p("p", {}, {{f, {Dim("N")}}});
  EXPECT_TRUE(p.graph().funcs[0].stages[3].predicate.defined());
  const Evaluation e = p.evaluate({}, {}, {{"N", 6}});
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(e.outputs[0].value({i}), i == 3 ? -3 : i % 2 == 0 ? 2.0 * double(i) + 1 : double(i));
    EXPECT_EQ(e.outputs[1].value({i}), i == 3 ? -3 : 2.0 * double(i) + 2);
  }
  EXPECT_NE(refusal([&] { g(x) = Tuple(x, undef(Int(64))); }).find("undefined where another has a value"),
            std::string::npos);
}

TEST(Tuple, CopiesOfWholeTuples) {
  Func f("f"), g("g"), h("h");
  f(x) = Tuple(x, -x);
  g(x) = f(x + 1);
  h(x) = select(x % 2 == 0, g(x), Tuple(cast<std::int64_t>(100), cast<std::int64_t>(200)));
  const Pipeline p("p", {}, {{h, {Dim("N")}}});
  const Evaluation e = p.evaluate({}, {}, {{"N", 6}});
  for (std::int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(e.outputs[0].value({i}), i % 2 ? 100 : double(i) + 1);
    EXPECT_EQ(e.outputs[1].value({i}), i % 2 ? 200 : -double(i) - 1);
  }
}

TEST(Tuple, ErrorBoundsOfFloatComponents) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  RDom k(0, N, "k");
  Func f("f");
  f() = Tuple(0.0f, cast<int>(0), 0.0f);
  f() = Tuple(f()[0] + in(k), f()[1] + 1, f()[2] + in(k)*in(k));
  const Pipeline p("p", {in}, {{f, {}}});
  const Buffer input = random_buffer(Float(32), {777}, 4);
  const Evaluation e = p.evaluate({input}, {}, {});
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < 777; ++i) {
    sum += input.value({i});
    squares += input.value({i}) * input.value({i});
  }
  EXPECT_EQ(e.outputs[1].value({}), 777);
  EXPECT_NEAR(e.exact[0].value({}), sum, 1e-9);
  EXPECT_NEAR(e.outputs[0].value({}), sum, e.bound[0].value({}));
  EXPECT_NEAR(e.outputs[2].value({}), squares, e.bound[2].value({}));
  EXPECT_FALSE(e.exact[1].defined());
}

TEST(Arg, LargestAndSmallestOfRows) {
  Dim W("W"), H("H");
  ImageParam in(Int(16), {W, H}, "in");
  RDom k(0, W, "k");
  Func out("out");
  const Tuple most = argmax(in(k, y), "most"), least = argmin(in(k, y), "least");
  out(y) = Tuple(most[0], most[1], least[0], least[1]);
  const Pipeline p("p", {in}, {{out, {H}}});
  const Buffer input = random_buffer(Int(16), {50, 40}, 8, -6, 6);  // with ties
  const Evaluation e = p.evaluate({input}, {}, {});
  for (std::int64_t j = 0; j < 40; ++j) {
    std::int64_t high = 0, low = 0;
    for (std::int64_t i = 0; i < 50; ++i) {
      if (input.value({i, j}) > input.value({high, j})) high = i;
      if (input.value({i, j}) < input.value({low, j})) low = i;
    }
    EXPECT_EQ(e.outputs[0].value({j}), double(high));
    EXPECT_EQ(e.outputs[1].value({j}), input.value({high, j}));
    EXPECT_EQ(e.outputs[2].value({j}), double(low));
    EXPECT_EQ(e.outputs[3].value({j}), input.value({low, j}));
  }
}

TEST(Arg, TwoDimensionsNaNsAndNothing) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  RDom r({{0, W}, {0, H}}, "r");
  Func out("out");
  out() = argmin(in(r.x(), r.y()));
  const Pipeline p("p", {in}, {{out, {}}});
  Buffer input = random_buffer(Float(32), {7, 5}, 9, 1, 8);
  input.at<float>({0, 0}) = std::nanf("");
  input.at<float>({4, 3}) = 0.5f;
  Evaluation e = p.evaluate({input}, {}, {});
  EXPECT_EQ(e.outputs[0].value({}), 4);
  EXPECT_EQ(e.outputs[1].value({}), 3);
  EXPECT_EQ(e.outputs[2].value({}), 0.5);
  e = p.evaluate({Buffer(Float(32), {0, 5})}, {}, {});
  EXPECT_EQ(e.outputs[1].value({}), 0);
  EXPECT_EQ(e.outputs[2].value({}), std::numeric_limits<double>::infinity());
}

TEST(Tuple, TheOrderOfValuesIsStructure) {
  const auto fingerprint = [](bool swapped, int component) {
    Func f("f"), g("g");
    const Expr a = cast<float>(x), b = cast<float>(x) * 2.0f;
    f(x) = swapped ? Tuple(b, a) : Tuple(a, b);
    g(x) = f(x)[component];
    return Pipeline("p", {}, {{g, {Dim("N")}}}).fingerprint();
  };
  EXPECT_NE(fingerprint(false, 0), fingerprint(true, 0));
  EXPECT_NE(fingerprint(false, 0), fingerprint(false, 1));
}

TEST(Tuple, Refusals) {
  Func f("f"), g("g"), h("h"), u("u");
  f(x) = Tuple(x, x + 1);
  EXPECT_NE(refusal([&] { g(x) = f(x) + 1; }).find("has 2 values at each point and is used as one"),
            std::string::npos);
  EXPECT_NE(refusal([&] { g(x) = f(x)[2]; }).find("has no component 2"), std::string::npos);
  EXPECT_NE(refusal([&] { f(x) = x; }).find("have 2 components, and it is defined with 1"),
            std::string::npos);
  EXPECT_NE(refusal([&] { f(x) = Tuple(x, x, x); }).find("defined with 3"), std::string::npos);
  EXPECT_NE(refusal([&] { f(x) = Tuple(x, cast<float>(x)); }).find("is given a value of type f32"),
            std::string::npos);
  EXPECT_NE(refusal([&] { f(x) += x; }).find("one is accumulated"), std::string::npos);
  EXPECT_NE(refusal([&] { f(x)[3] = x; }).find("has no component 3"), std::string::npos);
  EXPECT_NE(refusal([&] { u(x)[0] = x; }).find("defined before the whole"), std::string::npos);
  EXPECT_NE(refusal([&] { Tuple(std::vector<Expr>{}); }).find("has no values"), std::string::npos);
  EXPECT_NE(refusal([&] { h(x) = Tuple(x, Expr()); }).find("undefined"), std::string::npos);
  EXPECT_NE(refusal([&] { select(x > 0, Tuple(x, x), Tuple(x, x, x)); }).find("2 and 3 values"),
            std::string::npos);
  EXPECT_NE(refusal([&] { Tuple(x, x)[2]; }).find("component 2 of a Tuple of 2"), std::string::npos);
  EXPECT_EQ(f.updates(), 0);
  EXPECT_FALSE(g.defined());
  EXPECT_NE(refusal([&] { Func(std::vector<Type>{}, 1, "w"); }).find("no values"), std::string::npos);
}

}  // namespace
}  // namespace calotype
