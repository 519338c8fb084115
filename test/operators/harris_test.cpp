// harris against its formula in double arithmetic.
#include <algorithm>
#include <cmath>

#include "operators/images.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  const Buffer& image = call.inputs[0];
  auto gray = [&](std::int64_t x, std::int64_t y) {
    x = std::clamp<std::int64_t>(x, 0, image.extent(0) - 1);
    y = std::clamp<std::int64_t>(y, 0, image.extent(1) - 1);
    return static_cast<double>(0.299f) * image.value({x, y, 0}) +
           static_cast<double>(0.587f) * image.value({x, y, 1}) +
           static_cast<double>(0.114f) * image.value({x, y, 2});
  };
  double xx = 0, xy = 0, yy = 0;
  for (std::int64_t y = at[1] - 1; y <= at[1] + 1; ++y)
    for (std::int64_t x = at[0] - 1; x <= at[0] + 1; ++x) {
      double dx = 0, dy = 0;
      for (int i = -1; i <= 1; ++i) {
        const double weight = (i == 0 ? 2 : 1) / 8.0;
        dx += weight * (gray(x + 1, y + i) - gray(x - 1, y + i));
        dy += weight * (gray(x + i, y + 1) - gray(x + i, y - 1));
      }
      xx += dx * dx;
      xy += dx * dy;
      yy += dy * dy;
    }
  const double k = static_cast<float>(call.params.at("k"));
  return xx * yy - xy * xy - k * (xx + yy) * (xx + yy);
}

TEST(Harris, TheReferenceIsTheDefinition) {
  for (double k : {0.04, 0.25}) {
    check_reference("harris", "f32", {{"W", 13}, {"H", 7}}, {{"k", k}}, expected, 1e-9);
    check_reference("harris", "f32", {{"W", 1}, {"H", 2}}, {{"k", k}}, expected, 1e-9);
  }
}

TEST(Harris, ACornerIsPositiveAndAnEdgeNegative) {
  const Pipeline pipeline = find_operator("harris").pipeline(OperatorTypes::parse("f32"));
  Buffer image(Float(32), {16, 16, 3});
  for (std::int64_t i = 0; i < image.elements(); ++i) {
    const std::int64_t x = i % 16, y = i / 16 % 16;
    image.set_value({x, y, i / 256}, x >= 8 && y >= 8 ? 1 : 0);
  }
  const Buffer corners = pipeline.evaluate({image}, {{"k", 0.04}}, {{"W", 16}, {"H", 16}}).outputs[0];
  EXPECT_GT(corners.value({8, 8}), 0);
  EXPECT_LT(corners.value({8, 13}), 0);
  EXPECT_EQ(corners.value({2, 2}), 0);
}

class HarrisSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(HarrisSchedules, EqualTheReference) {
  check_images(GetParam(), {{"W", 67}, {"H", 37}});
  check_images(GetParam(), {{"W", 64}, {"H", 32}}, {{"k", 0.1}});
  check_images(GetParam(), {{"W", 1}, {"H", 1}});
  check_images(GetParam(), {{"W", 0}, {"H", 4}});
  if (!GetParam().gpu) check_layouts(GetParam(), {{"W", 19}, {"H", 5}});
}

INSTANTIATE_TEST_SUITE_P(Operators, HarrisSchedules, testing::ValuesIn(schedule_cases("harris")), case_name);

}  // namespace
}  // namespace calotype::test
