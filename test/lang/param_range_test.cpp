// Ranges of Params: what they may be, where they are said, and that evaluations are held to them.

#include <limits>

#include "calotype/calotype.h"
#include "helpers.h"

namespace calotype::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The sum of a window of 2 * radius + 1 around each point, times gain.
Pipeline window(const Param& radius, const Param& gain) {
  ImageParam in(Float(32), 1, "in");
  Var x("x");
  RDom r(0, 2 * radius + 1, "r");
  Func out("out");
  out(x) += in(x + r);
  Func scaled("scaled");
  scaled(x) = out(x) * gain;
  return Pipeline("window", {in, radius, gain}, {scaled});
}

TEST(ParamRange, KeepsNameAndInitialValue) {
  const Param p = Param(Int(32), "p", 3).range(-2, 7);
  EXPECT_EQ(p.low(), -2);
  EXPECT_EQ(p.high(), 7);
  EXPECT_EQ(p.initial(), 3);
  EXPECT_EQ(p.name(), "p");
  EXPECT_FALSE(Param(Int(32), "q").low());
  EXPECT_EQ(Param(UInt(8), "p").range(0, 4).range(1, 255).high(), 255) << "the last one holds";
  EXPECT_EQ(Param(Float(32), "p").range(0.1, 0.1).low(), 0.1f) << "ends are values of the type";
}

TEST(ParamRange, NonsenseIsRefused) {
  expect_algorithm_error("", "has no value", [] { Param(Int(32), "p").range(3, 2); });
  expect_algorithm_error("", "no value of its type u8", [] { Param(UInt(8), "p").range(-1, 2); });
  expect_algorithm_error("", "no value of its type u8", [] { Param(UInt(8), "p").range(0, 256); });
  expect_algorithm_error("", "no value of its type s32", [] { Param(Int(32), "p").range(0.5, 2); });
  expect_algorithm_error("", "no value of its type f16", [] { Param(Float(16), "p").range(0, 1e6); });
  for (const double end : {kInfinity, -kInfinity, kNaN}) {
    expect_algorithm_error("", "no value of its type", [&] { Param(Float(32), "p").range(end, 2); });
    expect_algorithm_error("", "no value of its type", [&] { Param(Int(64), "p").range(0, end); });
  }
  expect_algorithm_error("", "outside its range", [] { Param(Int(32), "p", 9).range(0, 8); });
  expect_algorithm_error("", "outside its range", [] { Param(Float(32), "p", kNaN).range(0, 8); });
}

TEST(ParamRange, EvaluationsAreHeldToIt) {
  const Pipeline p = window(Param(Int(32), "radius").range(0, 3), Param(Float(32), "gain").range(0.1, 2));
  const Buffer in = random_buffer(Float(32), {20}, 1);
  const auto run = [&](double radius, double gain) {
    return p.evaluate({in}, {{"radius", radius}, {"gain", gain}}, {{"scaled.extent.0", 4}});
  };
  for (const double radius : {0, 3})
    for (const double gain : {0.1, 2.0}) run(radius, gain);
  for (const double radius : {-1.0, 4.0})
    EXPECT_NE(refused(ErrorKind::Argument, [&] { run(radius, 1); }).message.find("Param 'radius'"),
              std::string::npos);
  for (const double gain : {0.0999, 2.001, kNaN, kInfinity})
    EXPECT_NE(refused(ErrorKind::Argument, [&] { run(1, gain); }).str().find("from 0.1"), std::string::npos);
  EXPECT_EQ(p.required_inputs({{4}}, {{"radius", 3}, {"gain", 1}})[0].extents[0], 10);
  refused(ErrorKind::Argument, [&] { p.required_inputs({{4}}, {{"radius", 4}, {"gain", 1}}); });
  refused(ErrorKind::Argument, [&] { p.infer_inputs({{4}}, {{"radius", -1}, {"gain", 1}}); });
}

TEST(ParamRange, IsPartOfTheAlgorithm) {
  const Param plain(Int(32), "radius"), gain(Float(32), "gain");
  const std::string none = window(plain, gain).fingerprint();
  EXPECT_EQ(window(Param(Int(32), "other"), gain).fingerprint(), none);
  const std::string some = window(plain.range(0, 3), gain).fingerprint();
  EXPECT_NE(some, none);
  EXPECT_EQ(window(Param(Int(32), "other").range(0, 3), gain).fingerprint(), some);
  EXPECT_NE(window(plain.range(0, 4), gain).fingerprint(), some);
  EXPECT_NE(window(plain, gain.range(0, 3)).fingerprint(), some);
  EXPECT_NE(window(plain.range(0, 3), gain).str().find("radius: s32 from 0 to 3"), std::string::npos)
      << window(plain.range(0, 3), gain).str();
}

TEST(RDom, TwoNamesInBracesAreNames) {
  const RDom r({{0, 3}, {0, 4}}, {"a", "b"}), one({{0, 3}}, {"a"});
  EXPECT_EQ(r.dimensions(), 2);
  EXPECT_EQ(r[0].name(), "a");
  EXPECT_EQ(r[1].name(), "b");
  EXPECT_EQ(one[0].name(), "a");
  const std::string c = "c";
  EXPECT_EQ(RDom({{0, 3}, {0, 4}}, {c, "d"})[1].name(), "d");
}

}  // namespace
}  // namespace calotype::test
