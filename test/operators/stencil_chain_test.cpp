// stencil_chain against 32 passes of plain loops in whole numbers.
#include <algorithm>

#include "operators/images.h"

namespace calotype::test {
namespace {

// The sample at (x, y) after `n` stencils, from a picture that is as much larger as they reach;
// before them samples are divided.
std::vector<std::int64_t> chain(const Buffer& image, std::int64_t divide, std::int64_t channel, int n) {
  const std::int64_t margin = 2 * n, width = image.extent(0) + 2 * margin,
                     height = image.extent(1) + 2 * margin;
  const int weights[5] = {1, 4, 6, 4, 1};
  std::vector<std::int64_t> now(width * height), next;
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const std::vector<std::int64_t> at{std::clamp<std::int64_t>(x - margin, 0, image.extent(0) - 1),
                                         std::clamp<std::int64_t>(y - margin, 0, image.extent(1) - 1),
                                         channel};
      now[y * width + x] = static_cast<std::int64_t>(image.value(at)) / divide;
    }
  for (int pass = 0; pass < n; ++pass) {
    next = now;
    for (std::int64_t y = 2; y + 2 < height; ++y)
      for (std::int64_t x = 2; x + 2 < width; ++x) {
        std::int64_t sum = 128;
        for (int j = 0; j < 5; ++j)
          for (int i = 0; i < 5; ++i) sum += weights[i] * weights[j] * now[(y + j - 2) * width + x + i - 2];
        next[y * width + x] = sum / 256;
      }
    now = next;
  }
  return now;
}

void expect_the_definition(const std::string& type, std::int64_t divide, std::int64_t multiply) {
  const Pipeline pipeline = find_operator("stencil_chain").pipeline(OperatorTypes::parse(type));
  const cli::Call call =
      image_call("stencil_chain", pipeline, {{"W", 7}, {"H", 5}, {"C", 2}}, {}, Layout::Planar);
  const Buffer got = pipeline.evaluate(call.inputs, call.params, call.sizes).outputs[0];
  for (std::int64_t c = 0; c < 2; ++c) {
    const std::vector<std::int64_t> expected = chain(call.inputs[0], divide, c, 32);
    for (std::int64_t y = 0; y < 5; ++y)
      for (std::int64_t x = 0; x < 7; ++x)
        ASSERT_EQ(got.value({x, y, c}), multiply * expected[(y + 64) * (7 + 128) + x + 64]) << x << ", " << y;
  }
}

TEST(StencilChain, TheReferenceIsTheDefinition) {
  expect_the_definition("u16", 256, 257);
  expect_the_definition("u8", 1, 1);
}

// A photo of either width is taken as it is.
TEST(StencilChain, TakesPhotosOfBothWidths) {
  const Operator& op = find_operator("stencil_chain");
  for (const Type type : {UInt(8), UInt(16)})
    EXPECT_EQ(cli::choose_types(op, "", {{"image", "photo.png", Buffer(type, {4, 3, 3}), true}}).str(),
              type.str());
}

class StencilChainSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(StencilChainSchedules, EqualTheReference) {
  check_images(GetParam(), {{"W", 67}, {"H", 37}, {"C", 2}});
  check_images(GetParam(), {{"W", 1}, {"H", 1}, {"C", 1}});
  if (!GetParam().gpu) check_layouts(GetParam(), {{"W", 33}, {"H", 5}, {"C", 3}});
}

INSTANTIATE_TEST_SUITE_P(Operators, StencilChainSchedules, testing::ValuesIn(schedule_cases("stencil_chain")),
                         case_name);

}  // namespace
}  // namespace calotype::test
