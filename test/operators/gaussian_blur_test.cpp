// gaussian_blur against the recursion written out on a signal that goes on far beyond its ends, and against
// the Gaussian itself.
#include <algorithm>
#include <cmath>

#include "operators/images.h"

namespace calotype::test {
namespace {

/// One line filtered both ways; its end samples go on for so long that nothing else is felt.
std::vector<double> filtered(const std::vector<double>& line, double sigma) {
  const double q =
      sigma >= 2.5 ? 0.98711 * sigma - 0.96330 : 3.97156 - 4.14554 * std::sqrt(1 - 0.26891 * sigma);
  const double b0 = 1.57825 + 2.44413 * q + 1.4281 * q * q + 0.422205 * q * q * q;
  const double a[3] = {(2.44413 * q + 2.85619 * q * q + 1.26661 * q * q * q) / b0,
                       -(1.4281 * q * q + 1.26661 * q * q * q) / b0, 0.422205 * q * q * q / b0};
  const double gain = 1 - a[0] - a[1] - a[2];
  const std::int64_t beyond = static_cast<std::int64_t>(40 * sigma) + 10, size = line.size();
  std::vector<double> v(size + 2 * beyond);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(v.size()); ++i)
    v[i] = line[std::clamp<std::int64_t>(i - beyond, 0, size - 1)];
  for (int way = 0; way < 2; ++way) {
    for (std::size_t i = 3; i < v.size(); ++i)
      v[i] = gain * v[i] + a[0] * v[i - 1] + a[1] * v[i - 2] + a[2] * v[i - 3];
    std::reverse(v.begin(), v.end());
  }
  return {v.begin() + beyond, v.begin() + beyond + size};
}

std::vector<std::vector<double>> plane(const Buffer& image, std::int64_t channel) {
  std::vector<std::vector<double>> rows(image.extent(1), std::vector<double>(image.extent(0)));
  for (std::int64_t y = 0; y < image.extent(1); ++y)
    for (std::int64_t x = 0; x < image.extent(0); ++x) rows[y][x] = image.value({x, y, channel});
  return rows;
}

std::vector<std::vector<double>> transposed(const std::vector<std::vector<double>>& in) {
  std::vector<std::vector<double>> out(in[0].size(), std::vector<double>(in.size()));
  for (std::size_t y = 0; y < in.size(); ++y)
    for (std::size_t x = 0; x < in[0].size(); ++x) out[x][y] = in[y][x];
  return out;
}

TEST(GaussianBlur, TheReferenceIsTheDefinition) {
  const Pipeline pipeline = find_operator("gaussian_blur").pipeline(OperatorTypes::parse("f32"));
  for (double sigma : {0.5, 1.25, 3.0, 20.0})
    for (const auto& [width, height] : {std::pair{17, 11}, std::pair{1, 1}, std::pair{2, 3}}) {
      const cli::Call call = image_call("gaussian_blur", pipeline, {{"W", width}, {"H", height}, {"C", 2}},
                                        {{"sigma", sigma}}, Layout::Planar);
      const Evaluation got = pipeline.evaluate(call.inputs, call.params, call.sizes);
      for (int c = 0; c < 2; ++c) {
        std::vector<std::vector<double>> lines = plane(call.inputs[0], c);
        for (int pass = 0; pass < 2; ++pass) {
          lines = transposed(lines);
          for (std::vector<double>& line : lines) line = filtered(line, sigma);
        }
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x) {
            // The coefficients are rounded to f32; what differs is amplified where the filter is slow.
            ASSERT_NEAR(got.exact[0].value({x, y, c}), lines[y][x], 1e-6 + 1e-6 * sigma * sigma)
                << sigma << ": " << x << ", " << y;
            ASSERT_NEAR(got.outputs[0].value({x, y, c}), got.exact[0].value({x, y, c}),
                        got.bound[0].value({x, y, c}));
          }
      }
    }
}

// A point of light becomes a bell of the width asked for.
TEST(GaussianBlur, IsCloseToTheGaussian) {
  const Pipeline pipeline = find_operator("gaussian_blur").pipeline(OperatorTypes::parse("f32"));
  const double sigma = 4;
  Buffer image(Float(32), {65, 65, 1});
  image.fill(0);
  image.set_value({32, 32, 0}, 1);
  const Buffer got = pipeline.evaluate({image}, {{"sigma", sigma}}).outputs[0];
  double sum = 0, variance = 0;
  for (int y = 0; y < 65; ++y)
    for (int x = 0; x < 65; ++x) {
      const double d = (x - 32) * (x - 32) + (y - 32) * (y - 32),
                   peak = 1 / (2 * std::acos(-1.0) * sigma * sigma);
      EXPECT_NEAR(got.value({x, y, 0}), peak * std::exp(-d / (2 * sigma * sigma)), 0.06 * peak);
      sum += got.value({x, y, 0});
      variance += got.value({x, y, 0}) * (x - 32) * (x - 32);
    }
  EXPECT_NEAR(sum, 1, 1e-4);
  // The filter's tails are heavier than the Gaussian's: it is fitted to the bell, not to the variance.
  EXPECT_NEAR(std::sqrt(variance), 1.11 * sigma, 0.01 * sigma);
}

class GaussianBlurSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(GaussianBlurSchedules, EqualTheReference) {
  check_images(GetParam(), {{"W", 67}, {"H", 71}, {"C", 2}});
  check_images(GetParam(), {{"W", 64}, {"H", 32}, {"C", 1}}, {{"sigma", 1.5}});
  check_images(GetParam(), {{"W", 1}, {"H", 1}, {"C", 1}});
  check_images(GetParam(), {{"W", 5}, {"H", 2}, {"C", 3}}, {{"sigma", 12}});
  if (!GetParam().gpu) check_layouts(GetParam(), {{"W", 23}, {"H", 9}, {"C", 3}});
}

INSTANTIATE_TEST_SUITE_P(Operators, GaussianBlurSchedules, testing::ValuesIn(schedule_cases("gaussian_blur")),
                         case_name);

}  // namespace
}  // namespace calotype::test
