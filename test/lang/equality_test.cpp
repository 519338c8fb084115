// The comparison with the reference.

#include "lang/equality.h"

#include <cmath>

#include "helpers.h"

namespace calotype {
namespace {

using lang::compare_with_reference;
using lang::EqualityReport;

Evaluation floats() {
  Evaluation e;
  e.outputs = {Buffer(Float(32), {3, 2})};
  e.exact = {Buffer(Float(64), {3, 2})};
  e.bound = {Buffer(Float(64), {3, 2})};
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) {
      e.outputs[0].set_value({x, y}, x + 10 * y);
      e.exact[0].set_value({x, y}, x + 10 * y + 0.001);
      e.bound[0].set_value({x, y}, 0.01);
    }
  }
  return e;
}

TEST(Equality, FloatsWithinTwiceTheBound) {
  const Evaluation e = floats();
  const Buffer got = e.outputs[0].copy();
  EXPECT_TRUE(compare_with_reference(got, e, 0, true).ok);
  got.set_value({1, 1}, 11.015);
  EqualityReport report = compare_with_reference(got, e, 0, false);
  EXPECT_TRUE(report.ok) << report.str();
  EXPECT_NEAR(report.max_abs_error, 0.014, 1e-5);
  EXPECT_NEAR(report.max_rel_error, 0.014 / 11.001, 1e-5 + 1);
  EXPECT_FALSE(compare_with_reference(got, e, 0, true).ok);
  got.set_value({2, 0}, 2.03);
  got.set_value({1, 1}, 12);
  report = compare_with_reference(got, e, 0, false);
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(report.different, 2);
  EXPECT_EQ(report.elements, 6);
  EXPECT_EQ(report.first.at, (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(report.worst.at, (std::vector<std::int64_t>{1, 1}));
  EXPECT_EQ(report.worst.got, 12);
  EXPECT_EQ(report.worst.expected, 11);
  EXPECT_NE(report.str().find("(2, 0): got 2.0"), std::string::npos) << report.str();
  EXPECT_TRUE(compare_with_reference(got, e, 0, false, 2).ok);
}

TEST(Equality, ElementsThatDoNotCountAreLeftOut) {
  const Evaluation e = floats();
  Buffer got = e.outputs[0].copy(), counted(UInt(8), {3, 2});
  got.set_value({0, 1}, 99);
  got.set_value({2, 1}, 99);
  counted.fill(1);
  counted.set_value({0, 1}, 0);
  // The reference may lie on other coordinates, which name the elements then.
  const lang::Expected expected{e.outputs[0].translate({-1, 5}), e.exact[0], e.bound[0], counted};
  const EqualityReport report = lang::compare(got, expected, false);
  EXPECT_EQ(report.elements, 5);
  EXPECT_EQ(report.different, 1);
  EXPECT_EQ(report.first.at, (std::vector<std::int64_t>{1, 6}));
  counted.fill(0);
  EXPECT_TRUE(lang::compare(got, expected, false).ok);
}

TEST(Equality, NotANumber) {
  const Evaluation e = floats();
  const Buffer got = e.outputs[0].copy();
  got.set_value({0, 0}, std::nan(""));
  EXPECT_FALSE(compare_with_reference(got, e, 0, false).ok);
  e.outputs[0].set_value({0, 0}, std::nan(""));
  EXPECT_TRUE(compare_with_reference(got, e, 0, true).ok);
  got.set_value({0, 0}, 1);
  EXPECT_TRUE(!compare_with_reference(got, e, 0, false).ok);
  got.set_value({0, 0}, INFINITY);
  EXPECT_FALSE(compare_with_reference(got, e, 0, false).ok);
}

TEST(Equality, SignOfZeroCountsBitForBit) {
  const Evaluation e = floats();
  const Buffer got = e.outputs[0].copy();
  got.set_value({0, 0}, -0.0);
  EXPECT_FALSE(compare_with_reference(got, e, 0, true).ok);
  EXPECT_TRUE(compare_with_reference(got, e, 0, false).ok);
}

TEST(Equality, IntegersBitForBit) {
  Evaluation e;
  e.outputs = {Buffer(Int(64), {2})};
  e.exact = e.bound = {Buffer()};
  e.outputs[0].at<std::int64_t>({0}) = INT64_MAX;
  e.outputs[0].at<std::int64_t>({1}) = 5;
  const Buffer got = e.outputs[0].copy();
  EXPECT_TRUE(compare_with_reference(got, e, 0, false).ok);
  got.at<std::int64_t>({0}) = INT64_MAX - 1;  // the same double
  const EqualityReport report = compare_with_reference(got, e, 0, false);
  EXPECT_EQ(report.different, 1);
  EXPECT_EQ(report.first.at, std::vector<std::int64_t>{0});
}

TEST(Equality, StridesAndShapes) {
  const Evaluation e = floats();
  std::vector<float> memory(12);
  const Buffer got(memory.data() + 2, {3, 2}, {-1, 6});
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) got.set_value({x, y}, x + 10 * y);
  }
  EXPECT_TRUE(compare_with_reference(got.translate({5, 5}), e, 0, true).ok);
  test::refused(ErrorKind::Argument, [&] { compare_with_reference(got.transpose({1, 0}), e, 0, true); });
  test::refused(ErrorKind::Argument, [&] { compare_with_reference(Buffer(Float(64), {3, 2}), e, 0, true); });
}

}  // namespace
}  // namespace calotype
