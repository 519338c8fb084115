// Random numbers of an algorithm, and values that are not stored: what evaluate() gives, and what is refused.

#include "calotype/random.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calotype/values.h"
#include "helpers.h"

namespace calotype {
namespace {

using test::expect_algorithm_error;

const Var x("x"), y("y");

Buffer plane_of(const std::function<Expr()>& value, std::int64_t w, std::int64_t h) {
  Func f("f");
  f(x, y) = value();
  return Pipeline("p", {}, {{f, {w, h}}}).evaluate({}).outputs[0];
}

std::vector<double> values_of(const Buffer& b) {
  std::vector<double> all;
  for (std::int64_t j = 0; j < b.extent(1); ++j)
    for (std::int64_t i = 0; i < b.extent(0); ++i) all.push_back(b.value({i, j}));
  return all;
}

double mean(const std::vector<double>& v) {
  double sum = 0;
  for (const double each : v) sum += each;
  return sum / static_cast<double>(v.size());
}

TEST(Random, FloatsAreUniformAndNeighboursIndependent) {
  const std::int64_t w = 512, h = 256;
  const Buffer b = plane_of([] { return random_float(); }, w, h);
  const std::vector<double> v = values_of(b);
  const double n = static_cast<double>(v.size());
  EXPECT_TRUE(std::all_of(v.begin(), v.end(), [](double each) { return each >= 0 && each < 1; }));
  EXPECT_NEAR(mean(v), 0.5, 5 / std::sqrt(12 * n));
  std::vector<int> bins(64);
  for (const double each : v) ++bins[static_cast<std::size_t>(each * 64)];
  double chi = 0;
  for (const int count : bins) chi += (count - n / 64) * (count - n / 64) / (n / 64);
  EXPECT_LT(chi, 63 + 5 * std::sqrt(2 * 63));
  // Correlation with a neighbour along x, along y, and along the diagonals.
  for (const auto& [dx, dy] :
       std::vector<std::pair<int, int>>{{1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 7}, {32, 1}}) {
    double sum = 0;
    for (std::int64_t j = 0; j + dy < h; ++j)
      for (std::int64_t i = 0; i + dx < w; ++i)
        sum += (b.value({i, j}) - 0.5) * (b.value({i + dx, j + dy}) - 0.5);
    EXPECT_LT(std::fabs(sum * 12 / n), 5 / std::sqrt(n)) << dx << " " << dy;
  }
}

TEST(Random, IntegersHaveEveryBitAlike) {
  for (const bool is_signed : {false, true}) {
    const Buffer b = plane_of([&] { return is_signed ? random_int() : random_uint(); }, 256, 128);
    EXPECT_EQ(b.type(), is_signed ? Int(32) : UInt(32));
    std::vector<int> ones(32);
    std::set<double> distinct;
    const std::vector<double> all = values_of(b);
    for (const double v : all) {
      const auto bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(v));
      for (std::size_t k = 0; k < 32; ++k) ones[k] += static_cast<int>(bits >> k & 1);
      distinct.insert(v);
    }
    const double n = static_cast<double>(all.size());
    for (const int count : ones) EXPECT_LT(std::fabs(count - n / 2), 5 * std::sqrt(n) / 2);
    EXPECT_GT(static_cast<double>(distinct.size()), n - 5);
  }
}

TEST(Random, SeedsAndCallsDifferAndOneExprIsOneNumber) {
  const auto one = values_of(plane_of([] { return random_uint(1); }, 16, 16));
  EXPECT_EQ(one, values_of(plane_of([] { return random_uint(1); }, 16, 16)));  // every run
  EXPECT_NE(one, values_of(plane_of([] { return random_uint(2); }, 16, 16)));
  EXPECT_NE(one, values_of(plane_of([] { return random_uint(Expr(std::int64_t{1} << 40)); }, 16, 16)));
  const auto twice = values_of(plane_of(
      [] {
        const Expr r = random_uint(1);
        return r - r;
      },
      8, 8));
  EXPECT_EQ(twice, std::vector<double>(64, 0));
  const auto other = values_of(plane_of([] { return random_uint(1) ^ random_uint(1); }, 8, 8));
  EXPECT_EQ(std::count(other.begin(), other.end(), 0.0), 0);
}

TEST(Random, EachPointOfAReductionHasItsNumber) {
  RDom r(0, 1000, "r");
  Func f("f");
  f(x) += random_float();
  Func g("g");
  g(x) += random_float() + 0.0f * cast<float>(r);
  const Evaluation e = Pipeline("p", {}, {{g, {4}}}).evaluate({});
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(e.outputs[0].value({i}), 500, 50);
  EXPECT_NE(e.outputs[0].value({0}), e.outputs[0].value({1}));
}

TEST(Random, TheStructureDoesNotDependOnWhichProgramMadeIt) {
  const auto make = [] {
    Func f("f");
    f(x) = random_int(3);
    return Pipeline("p", {}, {{f, {8}}}).fingerprint();
  };
  EXPECT_EQ(make(), make());
}

TEST(Random, RefusedWhereACoordinateOrASizeIsMeant) {
  expect_algorithm_error("f", "is random", [] {
    Func f("f");
    f(x) = 0;
    f(random_int() % 8) = 1;
  });
  expect_algorithm_error("", "is random", [] { RDom(0, cast<std::int64_t>(random_uint()), "r"); });
  expect_algorithm_error("", "is random", [] {
    RDom r(0, 8, "r");
    r.where(random_float() < 0.5f);
  });
  test::refused(ErrorKind::Algorithm, [] { random_float(0.5f); });
}

TEST(Undef, LeavesElementsAsTheyAre) {
  Func f("f");
  f(x) = undef<std::int32_t>();
  f(x) = select(x % 3 == 0, 7, x % 3 == 1, undef<std::int32_t>(), cast<std::int32_t>(x));
  f(x) = select(x % 3 == 1, -1, undef<std::int32_t>());
  const Evaluation e = Pipeline("p", {}, {{f, {31}}}).evaluate({});
  for (std::int64_t i = 0; i < 31; ++i) {
    EXPECT_EQ(e.outputs[0].value({i}), static_cast<double>(i % 3 == 0 ? 7 : i % 3 == 1 ? -1 : i)) << i;
  }
}

TEST(Undef, OnBothSidesOfASelect) {
  Func f("f");
  f(x) = cast<std::int32_t>(x);
  const Expr none = undef<std::int32_t>();
  f(x) = select(x < 10, select(x < 5, none, 100), select(x < 20, none, 200));
  f(x) = undef<std::int32_t>();
  const Evaluation e = Pipeline("p", {}, {{f, {25}}}).evaluate({});
  for (std::int64_t i = 0; i < 25; ++i)
    EXPECT_EQ(e.outputs[0].value({i}), static_cast<double>(i >= 20 ? 200 : i >= 5 && i < 10 ? 100 : i)) << i;
}

TEST(Undef, RefusedInsideAValue) {
  expect_algorithm_error("f", "undefined part", [] {
    Func f("f");
    f(x) = undef<float>() + 1.0f;
  });
  expect_algorithm_error("f", "undefined part", [] {
    Func f("f");
    f(x) = 1.0f;
    f(x) += select(x < 3, undef<float>(), 1.0f);
  });
  expect_algorithm_error("f", "undefined part", [] {
    Func f("f");
    f(x) = 1.0f;
    f(cast<std::int32_t>(undef<float>())) = 1.0f;
  });
  expect_algorithm_error("f", "type f64", [] {
    Func f("f");
    f(x) = 1.0f;
    f(x) = undef<double>();
  });
}

TEST(Require, IsRefusedOutsideOfValuesAndWithoutAText) {
  expect_algorithm_error("f", "has a requirement", [] {
    Func f("f");
    f(x) = 0;
    f(require(Expr(0) < 1, Expr(0), "never")) = 1;
    f(require(cast<std::int32_t>(x) < 1, Expr(0), "never")) = 1;
  });
  expect_algorithm_error("", "has no message", [] { require(x < 1, x, ""); });
  expect_algorithm_error("", "'require' is not defined for the type s64", [] { require(x, x, "text"); });
}

}  // namespace
}  // namespace calotype
