// The error bound beside float values: it contains what happens, in any order of a sum, and is not idle.

#include <cmath>

#include "calotype/math.h"
#include "helpers.h"
#include "lang/lanes.h"

namespace calotype {
namespace {

using test::random_buffer;

const Var x("x");

struct Case {
  const char* name;
  std::function<Expr(Expr, Expr)> f;  ///< of operands between 0.51 and 8
};

const std::vector<Case> kCases = {
    {"sum", [](Expr a, Expr b) { return a + b * a - b; }},
    {"quotient", [](Expr a, Expr b) { return a / (b + a) / b; }},
    {"cancellation", [](Expr a, Expr b) { return (a + b) * (a - b) - (a * a - b * b); }},
    {"exp", [](Expr a, Expr b) { return exp(a - b * a / 8); }},
    {"log", [](Expr a, Expr b) { return log(a * b + 1); }},
    {"sqrt", [](Expr a, Expr b) { return sqrt(a * b) + rsqrt(a + b); }},
    {"tanh", [](Expr a, Expr b) { return tanh(a - b) * erf(a * b / 16); }},
    {"sin", [](Expr a, Expr b) { return sin(a * b) + cos(a - b); }},
    {"pow", [](Expr a, Expr b) { return pow(a * b, 1 / b); }},
    {"exp2", [](Expr a, Expr b) { return exp2(a - b) + expm1(a / b); }},
    {"log2", [](Expr a, Expr b) { return log2(a * b) * log1p(a * b); }},
    {"tan", [](Expr a, Expr b) { return tan(a / b / 16); }},
    {"asin", [](Expr a, Expr b) { return asin(a * b / 65) + acos(b * a / -65); }},
    {"atan", [](Expr a, Expr b) { return atan(a * b) + atan2(a * b, b - a); }},
    {"sinh", [](Expr a, Expr b) { return sinh(a / b / 3) + cosh(b / a / 3); }},
    {"asinh", [](Expr a, Expr b) { return asinh(a * b) + acosh(a * b + 1); }},
    {"atanh", [](Expr a, Expr b) { return atanh(a * b / 70); }},
    {"hypot", [](Expr a, Expr b) { return hypot(a * b, a - b); }},
    {"fma", [](Expr a, Expr b) { return fma(a * b, b, a); }},
    {"mod", [](Expr a, Expr b) { return (a * 7) % b; }},
    {"minmax", [](Expr a, Expr b) { return max(min(a * b, b * b), abs(a - b)); }},
    {"select", [](Expr a, Expr b) { return select(a < b, a * b, a / b) * a; }},
    {"floor", [](Expr a, Expr b) { return floor(a) + b * 3; }},
    {"round trip",
     [](Expr a, Expr b) {
       return cast(a.type(), cast<bfloat16_t>(a * b)) + cast(a.type(), cast<float16_t>(b));
     }},
};

TEST(ErrorBound, ContainsTheErrorOfEveryOperation) {
  for (const Type type : {Float(32), Float(16), BFloat(16)}) {
    for (const Case& c : kCases) {
      ImageParam a(type, 1, "a"), b(type, 1, "b");
      Func f("f");
      f(x) = c.f(a(x), b(x));
      const int n = 5000;
      const Pipeline p("p", {a, b}, {{f, {a.extent(0)}}});
      const Evaluation e =
          p.evaluate({random_buffer(type, {n}, 1, 0.51, 8), random_buffer(type, {n}, 2, 0.51, 8)});
      int moved = 0;
      double tightest = 1e300;
      for (int i = 0; i < n; ++i) {
        const double error = std::fabs(e.outputs[0].value({i}) - e.exact[0].value({i})),
                     bound = e.bound[0].value({i});
        // First order: the square of the relative error is left out.
        ASSERT_LE(error, bound * 1.1 + 1e-12)
            << c.name << " " << type.str() << " at " << i << " value " << e.outputs[0].value({i});
        moved += error > 0;
        if (error > 0) tightest = std::min(tightest, bound / error);
      }
      EXPECT_GT(moved, 0) << c.name;
      EXPECT_LT(tightest, 40) << c.name << " " << type.str();
    }
  }
}

TEST(ErrorBound, FastOperationsHaveTheErrorsThatTheyAreAllowed) {
  const auto bound_of = [](Type type, const std::function<Expr(Expr)>& f) {
    ImageParam a(type, 1, "a");
    Func g("g");
    g(x) = f(a(x));
    Buffer input(type, {1});
    input.set_value({0}, 5.0);
    const Evaluation e = Pipeline("p", {a}, {{g, {a.extent(0)}}}).evaluate({input});
    return e.bound[0].value({0}) / e.exact[0].value({0});
  };
  const auto fast_exp = [](Expr a) { return fast::exp(a); };
  const auto fast_third = [](Expr a) { return fast::divide(a, 3); };
  EXPECT_NEAR(bound_of(Float(32), fast_exp), 0x1p-21 + 5 * 0x1p-23, 1e-12);
  EXPECT_NEAR(bound_of(Float(32), fast_third), 0x1p-21, 1e-12);
  EXPECT_NEAR(bound_of(Float(64), fast_exp), bound_of(Float(64), [](Expr a) { return exp(a); }), 1e-20);
  const auto fast_cos = [](Expr a) { return fast::cos(a / 2); };  // of 2.5
  const auto exact_cos = [](Expr a) { return cos(a / 2); };
  EXPECT_NEAR((bound_of(Float(32), fast_cos) - bound_of(Float(32), exact_cos)) * std::cos(2.5),
              0x1p-21 - 0x1p-22 * std::fabs(std::cos(2.5)), 1e-12);
  EXPECT_NEAR(bound_of(Float(32), [](Expr a) { return fast::sin(a); }) * std::sin(5.0), 2, 1e-5);
  EXPECT_NEAR(bound_of(Float(32), [](Expr a) { return fast::tanh(a); }), 0x1p-11, 0x1p-21);
  EXPECT_NEAR(bound_of(Float(64), fast_cos), bound_of(Float(64), exact_cos), 1e-20);
  EXPECT_NEAR(bound_of(Float(64), fast_third), bound_of(Float(64), [](Expr a) { return a / 3; }), 1e-20);
}

TEST(ErrorBound, CoversSumsInAnyOrder) {
  // Large terms cancel: partial sums of one order are small, those of another are not.
  const int n = 4096;
  ImageParam in(Float(32), 1, "in");
  RDom r(0, in.extent(0), "r");
  Func f("f");
  f() += in(r);
  const Buffer input(Float(32), {n});
  for (int i = 0; i < n; ++i)
    input.at<float>({i}) = static_cast<float>((i % 2 == 0 ? 1 : -1) * (1000.1 + i * 0.37));
  const Evaluation e = Pipeline("p", {in}, {f}).evaluate({input});
  float positive = 0, negative = 0;
  for (int i = 0; i < n; i += 2) positive += input.at<float>({i}), negative += input.at<float>({i + 1});
  const double error = std::fabs(static_cast<double>(positive + negative) - e.exact[0].value({}));
  EXPECT_GT(error, 0);
  EXPECT_LE(error, 2 * e.bound[0].value({}));
  // n - 1 additions of at most the sum of |terms|, each half an ulp.
  double size = 0;
  for (int i = 0; i < n; ++i) size += std::fabs(input.at<float>({i}));
  EXPECT_LE(e.bound[0].value({}), n * size * 0x1p-24);
}

TEST(ErrorBound, ExactWhereNothingRounds) {
  ImageParam in(Float(32), 1, "in");
  Func f("f");
  f(x) = max(-in(x), abs(in(x)) / 1.0f);
  const Evaluation e =
      Pipeline("p", {in}, {{f, {in.extent(0)}}}).evaluate({random_buffer(Float(32), {9}, 2)});
  for (int i = 0; i < 9; ++i) EXPECT_EQ(e.bound[0].value({i}), 0);
}

TEST(ErrorBound, InfinityHasNoError) {
  ImageParam in(Float(32), 1, "in");
  Func f("f");
  f(x) = exp(min(in(x), -std::numeric_limits<float>::infinity())) + in(x);
  const Evaluation e =
      Pipeline("p", {in}, {{f, {in.extent(0)}}}).evaluate({random_buffer(Float(32), {9}, 2)});
  for (int i = 0; i < 9; ++i) {
    EXPECT_LT(e.bound[0].value({i}), 1e-5);
    EXPECT_EQ(e.outputs[0].value({i}), e.exact[0].value({i}));
  }
}

TEST(ErrorBound, SurvivesIntermediateFuncs) {
  ImageParam in(Float(32), 1, "in");
  Func f("f"), g("g"), h("h");
  f(x) = in(x) / 3.0f;
  g(x) = cast<int>(f(x) * 100);  // an integer: what depends on it is exact
  h(x) = f(x) * f(x) + g(x);
  const Evaluation e =
      Pipeline("p", {in}, {{h, {in.extent(0)}}}).evaluate({random_buffer(Float(32), {999}, 2)});
  int moved = 0;
  for (int i = 0; i < 999; ++i) {
    const double error = std::fabs(e.outputs[0].value({i}) - e.exact[0].value({i}));
    ASSERT_LE(error, e.bound[0].value({i}));
    moved += error > 0;
  }
  EXPECT_GT(moved, 900);
}

}  // namespace
}  // namespace calotype
