// The reference evaluator against plain loops: stencils, products, reductions, scatter, scans, predicates.

#include "lang/evaluate.h"

#include <cmath>

#include "calotype/math.h"
#include "helpers.h"

namespace calotype {
namespace {

using test::random_buffer;
using test::refused;

const Var x("x"), y("y"), c("c");

TEST(Evaluate, Stencil) {
  for (const auto& [w, h] : {std::pair{1, 1}, {300, 5}, {17, 31}, {257, 2}}) {
    ImageParam in(UInt(8), 2, "in");
    Func clamped = boundary::repeat_edge(in, "clamped"), wide("wide"), out("out");
    wide(x, y) = cast<int>(clamped(x - 1, y)) + 2 * cast<int>(clamped(x, y)) + clamped(x + 1, y);
    out(x, y) = cast<std::uint8_t>((wide(x, y - 1) + 2 * wide(x, y) + wide(x, y + 1) + 8) / 16);
    const Pipeline p("p", {in}, {{out, {in.width(), in.height()}}});
    const Buffer input = random_buffer(UInt(8), {w, h}, 1, 1, 255);
    const Evaluation result = p.evaluate({input});
    EXPECT_FALSE(result.exact[0].defined());
    const auto at = [&](int i, int j) {
      return static_cast<int>(input.value({std::clamp(i, 0, w - 1), std::clamp(j, 0, h - 1)}));
    };
    for (int j = 0; j < h; ++j) {
      for (int i = 0; i < w; ++i) {
        int sum = 8;
        const int weight[3] = {1, 2, 1};
        for (int dj = -1; dj <= 1; ++dj) {
          for (int di = -1; di <= 1; ++di) sum += weight[di + 1] * weight[dj + 1] * at(i + di, j + dj);
        }
        ASSERT_EQ(result.outputs[0].value({i, j}), sum / 16);
      }
    }
  }
}

TEST(Evaluate, Matmul) {
  for (const auto& [M, N, K] : {std::tuple{1, 1, 1}, {7, 31, 13}, {3, 300, 2}, {5, 4, 0}}) {
    Dim m("M"), n("N"), kk("K");
    ImageParam A(Float(32), {kk, m}, "A"), B(Float(32), {n, kk}, "B");
    RDom k(0, kk, "k");
    Func C("C");
    C(x, y) += A(k, y) * B(x, k);
    const Pipeline p("matmul", {A, B}, {C});
    const Buffer a = random_buffer(Float(32), {K, M}, 1), b = random_buffer(Float(32), {N, K}, 2);
    const Buffer got = p.evaluate({a, b}, {}, {{"C.extent.0", N}, {"C.extent.1", M}}).outputs[0];
    for (int j = 0; j < M; ++j) {
      for (int i = 0; i < N; ++i) {
        float sum = 0;
        for (int l = 0; l < K; ++l) {
          const volatile float product = a.at<float>({l, j}) * b.at<float>({i, l});
          sum = sum + product;
        }
        ASSERT_EQ(got.at<float>({i, j}), sum);
      }
    }
  }
}

TEST(Evaluate, Softmax) {
  const int n = 37, rows = 11;
  ImageParam in(Float(32), 2, "x");
  RDom r(0, in.width(), "r");
  Func largest("largest"), e("e"), total("total"), out("out");
  largest(y) = maximum(in(r, y), "row");
  e(x, y) = exp(in(x, y) - largest(y));
  total(y) += e(r, y);
  out(x, y) = e(x, y) / total(y);
  const Pipeline p("softmax", {in}, {{out, {in.width(), in.height()}}});
  const Buffer input = random_buffer(Float(32), {n, rows}, 3);
  const Evaluation result = p.evaluate({input});
  for (int j = 0; j < rows; ++j) {
    float top = -INFINITY, sum = 0;
    for (int i = 0; i < n; ++i) top = std::max(top, input.at<float>({i, j}));
    const auto term = [&](int i) {
      return static_cast<float>(std::exp(static_cast<double>(input.at<float>({i, j}) - top)));
    };
    for (int i = 0; i < n; ++i) sum += term(i);
    for (int i = 0; i < n; ++i) ASSERT_EQ(result.outputs[0].at<float>({i, j}), term(i) / sum);
  }
}

TEST(Evaluate, HistogramAndCumulativeSum) {
  ImageParam in(UInt(8), 2, "in");
  RDom r({{0, in.width()}, {0, in.height()}}, "r"), b(1, 255, "b");
  Func histogram("histogram"), cumulative("cumulative");
  histogram(cast<int>(in(r.x(), r.y()))) += 1;
  cumulative(x) = 0;
  cumulative(0) = histogram(0);
  cumulative(b) = cumulative(b - 1) + histogram(b);
  const Pipeline p("p", {in}, {{cumulative, {256}}});
  const Buffer input = random_buffer(UInt(8), {23, 19}, 5, 1, 255);
  int counts[256] = {};
  for (int j = 0; j < 19; ++j) {
    for (int i = 0; i < 23; ++i) counts[static_cast<int>(input.value({i, j}))]++;
  }
  const Buffer got = p.evaluate({input}).outputs[0];
  int sum = 0;
  for (int i = 0; i < 256; ++i) {
    sum += counts[i];
    ASSERT_EQ(got.value({i}), sum) << i;
  }
  EXPECT_EQ(sum, 23 * 19);
}

TEST(Evaluate, ReductionOrderHasDimensionZeroInnermost) {
  // A recurrence that does not commute: the digits of the visits.
  RDom r({{1, 3}, {4, 2}}, "r");
  Func f("f");
  f() = cast<std::int64_t>(0);
  f() = f() * 100 + r.x() * 10 + r.y();
  const Buffer got = Pipeline("p", {}, {f}).evaluate({}).outputs[0];
  EXPECT_EQ(got.at<std::int64_t>({}), 142434152535);
}

TEST(Evaluate, ScansAlongOneDimension) {
  ImageParam in(Int(32), 2, "in");
  RDom r(1, in.height() - 1, "r");
  Func f("f");
  f(x, y) = in(x, y);
  f(x, r) = f(x, r - 1) * 3 + f(x, r);
  f(x, y) = f(x, y) + 1;
  const Pipeline p("p", {in}, {{f, {in.width(), in.height()}}});
  const int w = 300, h = 9;
  const Buffer input = random_buffer(Int(32), {w, h}, 8);
  const Buffer got = p.evaluate({input}).outputs[0];
  for (int i = 0; i < w; ++i) {
    int value = 0;
    for (int j = 0; j < h; ++j) {
      value = value * 3 + input.at<int>({i, j});
      ASSERT_EQ(got.at<int>({i, j}), value + 1);
    }
  }
}

TEST(Evaluate, OwnReadsWidenTheBox) {
  // The output is the last row alone, but the scan starts at -2.
  RDom r(-1, 10, "r");
  Func f("f"), out("out");
  f(x, y) = cast<int>(x + y);
  f(x, r) = f(x, r - 1) + f(x, r);
  out(x) = f(x, 8);
  const Buffer got = Pipeline("p", {}, {{out, {5}}}).evaluate({}).outputs[0];
  for (int i = 0; i < 5; ++i) {
    int sum = 0;
    for (int j = -2; j <= 8; ++j) sum += i + j;
    EXPECT_EQ(got.at<int>({i}), sum);
  }
}

TEST(Evaluate, PredicatesAndWritesOutsideTheBox) {
  // A triangle: reads under a false condition would lie outside the input.
  ImageParam in(Int(32), 1, "in");
  RDom r(0, in.width(), "r");
  r.where(r <= x && in(r) > 0);
  Func f("f"), scattered("scattered");
  f(x) += in(x - r) * (r + 1);
  scattered(x) = 1;
  RDom s(0, 20, "s");
  scattered(s * 3 - 7) = cast<int>(s) + 100;
  const Pipeline p("p", {in}, {{f, {in.width()}}, {scattered, {10}}});
  const int n = 29;
  const Buffer input = random_buffer(Int(32), {n}, 4);
  const Evaluation result = p.evaluate({input});
  for (int i = 0; i < n; ++i) {
    std::int64_t sum = 0;
    for (int j = 0; j <= i; ++j) sum += input.at<int>({j}) > 0 ? input.at<int>({i - j}) * (j + 1) : 0;
    ASSERT_EQ(result.outputs[0].value({i}), static_cast<double>(sum));
  }
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(result.outputs[1].value({i}), (i + 7) % 3 == 0 ? (i + 7) / 3 + 100 : 1);
}

TEST(Evaluate, UpdatesOnDiagonalsAndCorners) {
  Func f("f");
  f(x, y) = 0;
  f(x, x) = cast<int>(x) + 1;
  f(x, x + 1) += 10;
  f(3, y) = f(3, y) * 2 + 1;
  const Buffer got = Pipeline("p", {}, {{f, {6, 6}}}).evaluate({}).outputs[0];
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 6; ++i) {
      int expected = i == j ? i + 1 : j == i + 1 ? 10 : 0;
      if (i == 3) expected = expected * 2 + 1;
      EXPECT_EQ(got.value({i, j}), expected) << i << "," << j;
    }
  }
}

TEST(Evaluate, InlineReductions) {
  ImageParam in(Int(16), 2, "in");
  RDom r({{-1, 3}, {0, 2}}, "r");
  Func clamped = boundary::repeat_edge(in, "clamped"), out("out");
  const Expr value = clamped(x + r.x(), y + r.y());
  out(x, y) = sum(cast<int>(value)) + 1000 * cast<int>(maximum(value)) +
              minimum(cast<int>(value)) * product(cast<int>(value));
  const Pipeline p("p", {in}, {{out, {in.width(), in.height()}}});
  const int w = 9, h = 4;
  const Buffer input = random_buffer(Int(16), {w, h}, 6, -5, 5);
  const Buffer got = p.evaluate({input}).outputs[0];
  for (int j = 0; j < h; ++j) {
    for (int i = 0; i < w; ++i) {
      int s = 0, top = INT_MIN, low = INT_MAX, times = 1;
      for (int dj = 0; dj < 2; ++dj) {
        for (int di = -1; di < 2; ++di) {
          const int v = input.at<std::int16_t>({std::clamp(i + di, 0, w - 1), std::min(j + dj, h - 1)});
          s += v, top = std::max(top, v), low = std::min(low, v), times *= v;
        }
      }
      ASSERT_EQ(got.value({i, j}), s + 1000 * top + low * times);
    }
  }
}

TEST(Evaluate, ReductionsOfEmptyDomainsGiveTheIdentity) {
  Dim n("n");
  RDom r(0, n, "r");
  Func f("f");
  f(x) = select(x == 0, maximum(cast<float>(r + x), "top"),
                select(x == 1, minimum(cast<float>(r + x), "low"), product(cast<float>(r + x), "times")));
  const Buffer got = Pipeline("p", {}, {{f, {3}}}).evaluate({}, {}, {{"n", 0}}).outputs[0];
  EXPECT_EQ(got.value({0}), -INFINITY);
  EXPECT_EQ(got.value({1}), INFINITY);
  EXPECT_EQ(got.value({2}), 1);
}

TEST(Evaluate, StridedInputsAndParams) {
  ImageParam in(Float(32), 3, "in");
  Param gain(Float(32), "gain", 2.0), offset(Int(32), "offset");
  Func f("f");
  f(x, y, c) = in(x, y, c) * gain + offset;
  const Pipeline p("p", {in, gain, offset}, {{f, {in.width(), in.height(), in.channels()}}});
  // Interleaved channels, rows upside down.
  const Buffer memory = random_buffer(Float(32), {3, 8, 5}, 9);
  float* last_row = static_cast<float*>(memory.data()) + 4 * 24;
  const Buffer view(last_row, {8, 5, 3}, {3, -24, 1});
  const Buffer got = p.evaluate({view}, {{"offset", -7}, {"gain", 0.1}}).outputs[0];
  for (int k = 0; k < 3; ++k) {
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 8; ++i) {
        const volatile float scaled = memory.at<float>({k, i, 4 - j}) * 0.1f;
        ASSERT_EQ(got.at<float>({i, j, k}), scaled + -7.0f);
      }
    }
  }
  EXPECT_EQ(p.evaluate({view}, {{"offset", 0}}).outputs[0].at<float>({0, 0, 0}),
            2 * view.at<float>({0, 0, 0}));
}

TEST(Evaluate, SizeZero) {
  ImageParam in(Float(32), 2, "in");
  Func f("f"), g("g");
  f(x, y) = in(x, y);
  g(x, y) = f(x, y) + 1.0f;
  const Pipeline p("p", {in}, {{g, {in.width(), in.height()}}});
  const Evaluation result = p.evaluate({Buffer(Float(32), {0, 4})});
  EXPECT_EQ(result.outputs[0].elements(), 0);
  EXPECT_EQ(result.exact[0].elements(), 0);
}

TEST(Evaluate, SeveralOutputsThatFeedEachOther) {
  Func f("f"), g("g");
  f(x) = cast<float>(x) * 0.5f;
  g(x) = f(x + 100) + f(x);
  const Evaluation result = Pipeline("p", {}, {{g, {4}}, {f, {7}}}).evaluate({});
  EXPECT_EQ(result.outputs[0].value({3}), 53);
  EXPECT_EQ(result.outputs[1].extent(0), 7);
  EXPECT_EQ(result.outputs[1].value({6}), 3);
  EXPECT_EQ(result.exact[1].value({5}), 2.5);
}

TEST(Evaluate, ReadsOutsideAnInputAreNamed) {
  ImageParam in(Int(32), 2, "photo");
  Func shifted("shifted"), out("out");
  shifted(x, y) = in(x, y) + 1;
  out(x, y) = shifted(x + 1, y);
  const Pipeline p("p", {in}, {{out, {in.width(), in.height()}}});
  const Diagnostic d = refused(ErrorKind::Argument, [&] { p.evaluate({random_buffer(Int(32), {7, 3}, 1)}); });
  EXPECT_EQ(d.func, "shifted");
  EXPECT_EQ(d.value, "(7, 0)");
  EXPECT_NE(d.message.find("'photo'"), std::string::npos);
  EXPECT_NE(d.message.find("(7, 3)"), std::string::npos);
}

TEST(Evaluate, OnlyPointsThatAreNeededCanFail) {
  // x - x % 2 is at least 0, which the box of `pairs` does not show.
  ImageParam in(Int(32), 1, "in");
  Func pairs("pairs"), out("out"), chosen("chosen");
  pairs(x) = in(x) * 3;
  out(x) = pairs(x - x % 2);
  const Buffer input = random_buffer(Int(32), {9}, 2);
  const Buffer got = Pipeline("p", {in}, {{out, {in.width()}}}).evaluate({input}).outputs[0];
  for (int i = 0; i < 9; ++i) EXPECT_EQ(got.at<int>({i}), input.at<int>({i - i % 2}) * 3);
}

TEST(Evaluate, CoordinatesWithoutBounds) {
  ImageParam in(Int(32), 1, "in"), bytes(UInt(8), 1, "bytes");
  Func table("table"), out("out"), good("good");
  table(x) = cast<int>(x * x);
  out(x) = table(in(x));
  test::expect_algorithm_error("table", "'out'", [&] {
    Pipeline("p", {in}, {{out, {in.width()}}}).evaluate({random_buffer(Int(32), {4}, 1)});
  });
  good(x) = table(cast<int>(bytes(x)) - 3) + table(clamp(in(x), -2, 2)) + table(abs(in(x)) % 7);
  const Buffer numbers = random_buffer(Int(32), {50}, 3, -100, 100),
               small = random_buffer(UInt(8), {50}, 4, 1, 255);
  const Pipeline p("q", {in, bytes}, {{good, {50}}});
  const Buffer got = p.evaluate({numbers, small}).outputs[0];
  for (int i = 0; i < 50; ++i) {
    const int a = static_cast<int>(small.value({i})) - 3, b = std::clamp(numbers.at<int>({i}), -2, 2),
              d = std::abs(numbers.at<int>({i})) % 7;
    ASSERT_EQ(got.at<int>({i}), a * a + b * b + d * d);
  }
}

TEST(Evaluate, ArgumentsAreChecked) {
  Dim W("W"), H("H");
  ImageParam a(Float(32), {W, H}, "a"), b(Float(32), {W - 1}, "b");
  Param n(UInt(8), "n");
  Func f("f");
  f(x, y) = a(x, y) + b(x) * n;
  const Pipeline p("p", {a, b, n}, {{f, {W - 1, H}}});
  const Buffer ga = random_buffer(Float(32), {5, 3}, 1), gb = random_buffer(Float(32), {4}, 2);
  const std::map<std::string, double> params{{"n", 3}};
  EXPECT_EQ(p.evaluate({ga, gb}, params).outputs[0].extent(0), 4);
  const auto expect_refused = [&](const char* part, const std::vector<Buffer>& inputs,
                                  const std::map<std::string, double>& given,
                                  const std::map<std::string, std::int64_t>& sizes) {
    const Diagnostic d = refused(ErrorKind::Argument, [&] { p.evaluate(inputs, given, sizes); });
    EXPECT_NE(d.str().find(part), std::string::npos) << d.str();
  };
  expect_refused("number of inputs", {ga}, params, {});
  expect_refused("undefined", {ga, Buffer()}, params, {});
  expect_refused("another type", {ga, random_buffer(Float(64), {4}, 1)}, params, {});
  expect_refused("number of dimensions", {ga, ga}, params, {});
  expect_refused("is to be W - 1", {ga, random_buffer(Float(32), {5}, 1)}, params, {});
  expect_refused("no memory", {ga, Buffer(Float(32), nullptr, {4})}, params, {});
  expect_refused("translate", {ga, gb.translate({1})}, params, {});
  expect_refused("no value", {ga, gb}, {}, {});
  expect_refused("0 to 255", {ga, gb}, {{"n", 256}}, {});
  expect_refused("no Param 'm'", {ga, gb}, {{"n", 3}, {"m", 3}}, {});
  expect_refused("two values", {ga, gb}, params, {{"W", 6}});
  expect_refused("no size", {ga, gb}, params, {{"Wide", 6}});
  Func g("g");
  g(x) = x;
  const Pipeline q("q", {}, {g});
  EXPECT_NE(refused(ErrorKind::Argument, [&] { q.evaluate({}); }).message.find("g.extent.0"),
            std::string::npos);
  refused(ErrorKind::Argument, [&] { q.evaluate({}, {}, {{"g.extent.0", -1}}); });
}

template <class T>
class EvaluateTypes : public testing::Test {};
using Types =
    testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                   std::uint32_t, std::uint64_t, float, double, float16_t, bfloat16_t>;
TYPED_TEST_SUITE(EvaluateTypes, Types);

TYPED_TEST(EvaluateTypes, SumsInTheirOwnType) {
  using T = TypeParam;
  ImageParam in(type_of<T>(), 2, "in");
  RDom r(0, in.height(), "r");
  Func f("f");
  f(x) += in(x, r) * in(x, r);
  const Pipeline p("p", {in}, {{f, {in.width()}}});
  const int w = 261, h = 37;
  const Buffer input = random_buffer(type_of<T>(), {w, h}, 17, type_of<T>().is_uint() ? 1 : -100, 100);
  const Evaluation result = p.evaluate({input});
  EXPECT_EQ(result.outputs[0].type(), type_of<T>());
  for (int i = 0; i < w; ++i) {
    T sum{};
    double exact = 0;
    for (int j = 0; j < h; ++j) {
      const T v = input.at<T>({i, j});
      if constexpr (std::is_integral_v<T>) {
        sum = static_cast<T>(static_cast<std::uint64_t>(sum) +
                             static_cast<std::uint64_t>(v) * static_cast<std::uint64_t>(v));
      } else if constexpr (std::is_same_v<T, double>) {
        sum += v * v;
      } else {
        const T product = static_cast<T>(static_cast<float>(v) * static_cast<float>(v));
        sum = static_cast<T>(static_cast<float>(sum) + static_cast<float>(product));
      }
      exact += static_cast<double>(v) * static_cast<double>(v);
    }
    ASSERT_EQ(result.outputs[0].value({i}), static_cast<double>(sum)) << i;
    if (!type_of<T>().is_float()) continue;
    ASSERT_EQ(result.exact[0].value({i}), exact);
    if (std::isinf(static_cast<double>(sum))) continue;  // no first-order bound covers overflow
    ASSERT_LE(std::fabs(static_cast<double>(sum) - exact), result.bound[0].value({i}));
  }
}

TEST(EvaluateFuncs, ValuesOverTheBoxThatOutputsNeed) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  RDom k(0, 3, "k");
  Func edged = boundary::repeat_edge(in, "edged"), sum("sum"), unread("unread"), out("out");
  sum(x) += edged(x + k) * 2.0f;
  out(x) = cast<int>(sum(x - 1));
  const Pipeline p("p", {in}, {{out, {N}}});
  const Buffer input = random_buffer(Float(32), {5}, 3);
  const lang::FuncId edged_id = p.graph().find_func("edged")->id, sum_id = p.graph().find_func("sum")->id;
  const auto found = lang::evaluate_funcs(p.graph(), {sum_id, edged_id}, {input}, {}, {});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0][0].values.min(0), -1);
  EXPECT_EQ(found[0][0].values.extent(0), 5);
  EXPECT_EQ(found[1][0].values.extent(0), 7);
  EXPECT_FALSE(found[0][0].spoiled.defined());
  for (std::int64_t i = -1; i < 4; ++i) {
    double exact = 0;
    for (std::int64_t j = 0; j < 3; ++j) exact += 2 * input.value({std::clamp<std::int64_t>(i + j, 0, 4)});
    EXPECT_EQ(found[1][0].values.value({i}), input.value({std::max<std::int64_t>(i, 0)}));
    // An output of integers does without float64 values; who asks for the stage gets them.
    EXPECT_NEAR(found[0][0].exact.value({i}), exact, 1e-12);
    EXPECT_NEAR(found[0][0].values.value({i}), exact, found[0][0].bound.value({i}));
  }
}

TEST(EvaluateFuncs, WhatDependsOnReadsOutsideAnInputIsMarked) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Func mid("mid"), out("out");
  mid(x) = in(x) + 1;
  out(x) = mid(select(x == 0, 0, N + 3 - min(x, 1) * (N + 3)));
  const Pipeline p("p", {in}, {{out, {N}}});
  const auto found = lang::evaluate_funcs(p.graph(), {p.graph().find_func("mid")->id},
                                          {random_buffer(Int(32), {4}, 4)}, {}, {});
  ASSERT_TRUE(found[0][0].spoiled.defined());
  EXPECT_EQ(found[0][0].spoiled.value({3}), 0);
  EXPECT_NE(found[0][0].spoiled.value({4}), 0);
}

TEST(EvaluateFuncs, OfAFuncThatNothingNeeds) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  RDom k(0, N, "k");
  Func square("square"), sum("sum");
  square(x) = in(x)*in(x);
  sum() += square(k);
  const Pipeline p("p", {in}, {{sum, {}}});
  const auto found =
      lang::evaluate_funcs(p.graph(), {p.graph().find_func("square")->id}, {Buffer(Float(32), {0})}, {}, {});
  EXPECT_FALSE(found[0][0].values.defined());
}

}  // namespace
}  // namespace calotype
