// Interval arithmetic of the evaluator on random expressions: every value lies in its range.

#include <gtest/gtest.h>

#include <random>

#include "calotype/func.h"
#include "lang/evaluate_regions.h"

namespace calotype::lang {
namespace {

class RandomExpr {
 public:
  RandomExpr(std::mt19937& engine, std::vector<Expr> leaves) : engine_(engine), leaves_(std::move(leaves)) {}

  Expr operator()(int depth) {
    if (depth == 0)
      return pick(3) == 0 ? Expr(std::int64_t{pick(9)} - 4) : leaves_[pick(static_cast<int>(leaves_.size()))];
    const Expr a = (*this)(depth - 1), b = (*this)(depth - 1);
    switch (pick(15)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return a * b;
      case 3:
        return a / b;
      case 4:
        return a % b;
      case 5:
        return min(a, b);
      case 6:
        return max(a, b);
      case 7:
        return -a;
      case 8:
        return cast<std::int64_t>(abs(a));
      case 9:
        return select(a < b, a, b + 1);
      case 10:
        return a & b;
      case 11:
        return a << cast<std::int64_t>(pick(3));
      case 12:
        return a >> cast<std::int64_t>(pick(3));
      case 13:
        return cast<std::int64_t>(cast<std::int8_t>(a));
      default:
        return select(a == b || !(a <= b), likely(a), cast<std::int64_t>(cast<std::uint8_t>(b)));
    }
  }

 private:
  int pick(int n) { return static_cast<int>(engine_() % n); }
  std::mt19937& engine_;
  std::vector<Expr> leaves_;
};

TEST(RangeOf, ContainsEveryValue) {
  std::mt19937 engine(3);
  const Var x("x"), y("y");
  const Dim n("n");
  RandomExpr random(engine, {x, y, n});
  for (int round = 0; round < 3000; ++round) {
    const Expr e = random(1 + round % 4);
    Ranges ranges;
    for (const Var& v : {x, y}) {
      const std::int64_t min = static_cast<int>(engine() % 21) - 10;
      ranges[v.symbol().get()] = {min, min + static_cast<int>(engine() % 6)};
    }
    Constants constants{{n.symbol().get(), ir::Value::of_int(Int(64), engine() % 7)}};
    const Range range = range_of(e, ranges, constants);
    const Range rx = ranges[x.symbol().get()], ry = ranges[y.symbol().get()];
    for (std::int64_t i = rx.min; i <= rx.max; ++i) {
      for (std::int64_t j = ry.min; j <= ry.max; ++j) {
        Constants point = constants;
        point[x.symbol().get()] = ir::Value::of_int(Int(64), i);
        point[y.symbol().get()] = ir::Value::of_int(Int(64), j);
        const std::int64_t value = size_value(e, point);
        ASSERT_TRUE(range.min <= value && value <= range.max)
            << e.str() << " = " << value << " at " << i << ", " << j << " outside [" << range.min << ", "
            << range.max << "]";
      }
    }
  }
}

TEST(RangeOf, IsTightWhereCoordinatesUseIt) {
  const Var x("x");
  const auto range = [&](const Expr& e) { return range_of(e, {{x.symbol().get(), {-3, 12}}}, {}); };
  EXPECT_EQ(range(Expr(x) * -2 + 1), (Range{-23, 7}));
  EXPECT_EQ(range(Expr(x) / 2), (Range{-2, 6}));
  EXPECT_EQ(range(Expr(x) % 5), (Range{0, 4}));
  EXPECT_EQ(range((Expr(x) + 3) % 32), (Range{0, 15}));
  EXPECT_EQ(range(clamp(x, 0, 9)), (Range{0, 9}));
  EXPECT_EQ(range(select(Expr(x) < 100, x, 1000)), (Range{-3, 12}));
}

}  // namespace
}  // namespace calotype::lang
