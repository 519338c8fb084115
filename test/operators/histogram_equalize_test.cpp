// histogram_equalize against counts of plain loops.
#include <algorithm>
#include <array>
#include <cmath>

#include "operators/images.h"

namespace calotype::test {
namespace {

int gray(const Buffer& image, std::int64_t x, std::int64_t y) {
  return static_cast<int>(77 * image.value({x, y, 0}) + 150 * image.value({x, y, 1}) +
                          29 * image.value({x, y, 2}) + 128) /
         256;
}

void check_definition(const Buffer& image) {
  const std::int64_t width = image.extent(0), height = image.extent(1);
  std::array<std::int64_t, 256> up_to{};
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      for (int i = gray(image, x, y); i < 256; ++i) ++up_to[i];
  const std::int64_t fewest = *std::find_if(up_to.begin(), up_to.end(), [](std::int64_t n) { return n > 0; });
  const Pipeline pipeline = find_operator("histogram_equalize").pipeline(OperatorTypes::parse("u8"));
  const Buffer got = pipeline.evaluate({image}).outputs[0];
  for (std::int64_t c = 0; c < 3; ++c)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const int own = gray(image, x, y);
        double level = own;
        if (up_to[255] > fewest)
          level = std::floor(255.0 * (up_to[own] - fewest) / (up_to[255] - fewest) + 0.5);
        ASSERT_EQ(got.value({x, y, c}), std::clamp(image.value({x, y, c}) + level - own, 0.0, 255.0));
      }
}

TEST(HistogramEqualize, TheReferenceIsTheDefinition) {
  check_definition(random_image(UInt(8), {37, 21, 3}, Layout::Planar, 1));
  check_definition(random_image(UInt(8), {1, 1, 3}, Layout::Planar, 2));
  Buffer dark(UInt(8), {16, 16, 3});
  for (std::int64_t i = 0; i < dark.elements(); ++i)
    dark.set_value({i % 16, i / 16 % 16, i / 256}, 20 + i % 16 / 2);
  check_definition(dark);
  dark.fill(7);
  check_definition(dark);
}

class HistogramEqualizeSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(HistogramEqualizeSchedules, EqualTheReference) {
  check_images(GetParam(), {{"W", 67}, {"H", 137}});
  check_images(GetParam(), {{"W", 64}, {"H", 64}});
  check_images(GetParam(), {{"W", 1}, {"H", 1}});
  check_images(GetParam(), {{"W", 4}, {"H", 0}});
  if (!GetParam().gpu) check_layouts(GetParam(), {{"W", 23}, {"H", 9}});
}

INSTANTIATE_TEST_SUITE_P(Operators, HistogramEqualizeSchedules,
                         testing::ValuesIn(schedule_cases("histogram_equalize")), case_name);

}  // namespace
}  // namespace calotype::test
