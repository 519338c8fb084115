// resize against the kernel summed up in double arithmetic over all samples of the image.
#include <algorithm>
#include <cmath>

#include "operators/images.h"

namespace calotype::test {
namespace {

double cubic(double t) {
  t = std::fabs(t);
  if (t < 1) return 1.5 * t * t * t - 2.5 * t * t + 1;
  return t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2 : 0;
}

/// Weights of the samples of a side of `from` for point i of one of `to`; samples beyond the ends count for
/// those.
std::vector<double> weights(std::int64_t i, std::int64_t from, std::int64_t to) {
  const double ratio = double(from) / to, wide = std::max(ratio, 1.0), middle = (i + 0.5) * ratio - 0.5;
  std::vector<double> all(from, 0.0);
  double sum = 0;
  for (std::int64_t k = std::floor(middle - 2 * wide) - 1; k <= middle + 2 * wide + 1; ++k) {
    const double weight = cubic((k - middle) / wide);
    all[std::clamp<std::int64_t>(k, 0, from - 1)] += weight;
    sum += weight;
  }
  for (double& weight : all) weight /= sum;
  return all;
}

void check_definition(const char* types, const cli::Sizes& sizes) {
  const Pipeline pipeline = find_operator("resize").pipeline(OperatorTypes::parse(types));
  const cli::Call call = image_call("resize", pipeline, sizes, {}, Layout::Planar);
  const Buffer& image = call.inputs[0];
  const Buffer got = pipeline.evaluate(call.inputs, call.params, call.sizes).outputs[0];
  ASSERT_EQ(got.extent(0), sizes.at("OW"));
  for (std::int64_t c = 0; c < got.extent(2); ++c)
    for (std::int64_t y = 0; y < got.extent(1); ++y)
      for (std::int64_t x = 0; x < got.extent(0); ++x) {
        const std::vector<double> wx = weights(x, image.extent(0), got.extent(0)),
                                  wy = weights(y, image.extent(1), got.extent(1));
        double sum = 0;
        for (std::int64_t j = 0; j < image.extent(1); ++j)
          for (std::int64_t i = 0; i < image.extent(0); ++i) sum += wx[i] * wy[j] * image.value({i, j, c});
        if (image.type().is_float())
          ASSERT_NEAR(got.value({x, y, c}), sum, 2e-6) << x << ", " << y;
        else
          ASSERT_NEAR(got.value({x, y, c}), std::clamp(sum, 0.0, 255.0), 0.501) << x << ", " << y;
      }
}

TEST(Resize, TheReferenceIsTheDefinition) {
  for (const char* types : {"u8", "f32"}) {
    check_definition(types, {{"W", 13}, {"H", 9}, {"C", 2}, {"OW", 31}, {"OH", 20}});
    check_definition(types, {{"W", 31}, {"H", 29}, {"C", 1}, {"OW", 7}, {"OH", 4}});
    check_definition(types, {{"W", 12}, {"H", 17}, {"C", 1}, {"OW", 11}, {"OH", 40}});
    check_definition(types, {{"W", 1}, {"H", 2}, {"C", 1}, {"OW", 3}, {"OH", 1}});
  }
}

TEST(Resize, ToTheSameSizeChangesNothing) {
  const Pipeline pipeline = find_operator("resize").pipeline(OperatorTypes::parse("u8"));
  const cli::Call call = image_call(
      "resize", pipeline, {{"W", 19}, {"H", 8}, {"C", 3}, {"OW", 19}, {"OH", 8}}, {}, Layout::Planar);
  const Buffer got = pipeline.evaluate(call.inputs, call.params, call.sizes).outputs[0];
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const std::vector<std::int64_t> at{i % 19, i / 19 % 8, i / 152};
    EXPECT_EQ(got.value(at), call.inputs[0].value(at));
  }
}

class ResizeSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(ResizeSchedules, EqualTheReference) {
  check_images(GetParam(), {{"W", 23}, {"H", 19}, {"C", 2}, {"OW", 67}, {"OH", 37}});
  check_images(GetParam(), {{"W", 67}, {"H", 37}, {"C", 1}, {"OW", 16}, {"OH", 11}});
  check_images(GetParam(), {{"W", 1}, {"H", 1}, {"C", 1}, {"OW", 1}, {"OH", 1}});
  check_images(GetParam(), {{"W", 5}, {"H", 7}, {"C", 1}, {"OW", 0}, {"OH", 3}});
  if (!GetParam().gpu) check_layouts(GetParam(), {{"W", 23}, {"H", 9}, {"C", 3}, {"OW", 40}, {"OH", 5}});
}

INSTANTIATE_TEST_SUITE_P(Operators, ResizeSchedules, testing::ValuesIn(schedule_cases("resize")), case_name);

}  // namespace
}  // namespace calotype::test
