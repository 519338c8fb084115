// bilateral_grid against the grid built and looked up by plain loops in double arithmetic.
#include <algorithm>
#include <cmath>

#include "operators/images.h"

namespace calotype::test {
namespace {

constexpr int kCell = 8, kMargin = 2;

/// The grid of one channel, blurred: the sum of samples in each cell and their number.
class Grid {
 public:
  Grid(const Buffer& image, std::int64_t channel, int bins)
      : image_(image),
        channel_(channel),
        width_(image.extent(0) / kCell + 2),
        height_(image.extent(1) / kCell + 2),
        depth_(bins + 1),
        bins_(bins),
        cells_(2 * size()) {
    // Cells up to a margin around the picture get samples of its edge.
    for (std::int64_t j = -kMargin; j < height_ + kMargin; ++j)
      for (std::int64_t i = -kMargin; i < width_ + kMargin; ++i)
        for (int b = -kCell / 2; b < kCell / 2; ++b)
          for (int a = -kCell / 2; a < kCell / 2; ++a) {
            const double v = sample(kCell * i + a, kCell * j + b);
            const int k = static_cast<int>(static_cast<float>(v) + 0.5f);
            cell(0, i, j, k) += v;
            cell(1, i, j, k) += 1;
          }
    for (int axis : {2, 0, 1}) blur(axis);
  }

  double look_up(std::int64_t x, std::int64_t y) const {
    const double v = sample(x, y);
    const int below = std::clamp(static_cast<int>(v), 0, bins_ - 1);
    double found[2] = {0, 0};
    for (int corner = 0; corner < 8; ++corner) {
      const int i = corner % 2, j = corner / 2 % 2, k = corner / 4;
      const double fx = x % kCell / 8.0, fy = y % kCell / 8.0, fz = v - below;
      const double weight = (i ? fx : 1 - fx) * (j ? fy : 1 - fy) * (k ? fz : 1 - fz);
      for (int part : {0, 1})
        found[part] += weight * cells_[at(part, x / kCell + i, y / kCell + j, below + k)];
    }
    return found[0] / found[1] / bins_;
  }

 private:
  std::size_t size() const {
    return (width_ + 2 * kMargin) * (height_ + 2 * kMargin) * (depth_ + 2 * kMargin);
  }
  std::size_t at(int part, std::int64_t i, std::int64_t j, std::int64_t k) const {
    return part * size() + i + kMargin +
           (width_ + 2 * kMargin) * (j + kMargin + (height_ + 2 * kMargin) * (k + kMargin));
  }
  double& cell(int part, std::int64_t i, std::int64_t j, std::int64_t k) { return cells_[at(part, i, j, k)]; }
  /// In cells above the grid's floor, rounded as a product of f32 is.
  double sample(std::int64_t x, std::int64_t y) const {
    const double v = image_.value({std::clamp<std::int64_t>(x, 0, image_.extent(0) - 1),
                                   std::clamp<std::int64_t>(y, 0, image_.extent(1) - 1), channel_});
    return static_cast<float>(std::clamp(v, 0.0, 1.0) * bins_);
  }
  void blur(int axis) {
    const std::vector<double> before = cells_;
    const double weights[5] = {1, 4, 6, 4, 1};
    for (int part : {0, 1})
      for (std::int64_t k = -kMargin; k < depth_ + kMargin; ++k)
        for (std::int64_t j = -kMargin; j < height_ + kMargin; ++j)
          for (std::int64_t i = -kMargin; i < width_ + kMargin; ++i) {
            double sum = 0;
            for (int t = -2; t <= 2; ++t) {
              const std::int64_t a = i + (axis == 0 ? t : 0), b = j + (axis == 1 ? t : 0),
                                 c = k + (axis == 2 ? t : 0);
              const bool inside = a >= -kMargin && a < width_ + kMargin && b >= -kMargin &&
                                  b < height_ + kMargin && c >= -kMargin && c < depth_ + kMargin;
              if (inside) sum += weights[t + 2] * before[at(part, a, b, c)];
            }
            cell(part, i, j, k) = sum;
          }
  }

  const Buffer& image_;
  std::int64_t channel_, width_, height_, depth_;
  int bins_;
  std::vector<double> cells_;
};

void check_definition(std::int64_t width, std::int64_t height, std::int64_t channels, int bins) {
  const Pipeline pipeline = find_operator("bilateral_grid").pipeline(OperatorTypes::parse("f32"));
  const cli::Call call =
      image_call("bilateral_grid", pipeline, {{"W", width}, {"H", height}, {"C", channels}},
                 {{"bins", static_cast<double>(bins)}}, Layout::Planar);
  const Buffer got = pipeline.evaluate(call.inputs, call.params, call.sizes).outputs[0];
  for (std::int64_t c = 0; c < channels; ++c) {
    const Grid grid(call.inputs[0], c, bins);
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        // Some fifty roundings of 2^-24 each, of values that are all positive.
        ASSERT_NEAR(got.value({x, y, c}), grid.look_up(x, y), 4e-6) << x << ", " << y << ", " << c;
  }
}

TEST(BilateralGrid, TheReferenceIsTheDefinition) {
  check_definition(29, 19, 2, 10);
  check_definition(16, 8, 1, 3);
  check_definition(1, 1, 1, 1);
}

// Without edges nothing is changed.
TEST(BilateralGrid, LeavesAnEvenImage) {
  const Pipeline pipeline = find_operator("bilateral_grid").pipeline(OperatorTypes::parse("f32"));
  Buffer image(Float(32), {21, 13, 1});
  image.fill(0.375);
  const Buffer got = pipeline.evaluate({image}, {{"bins", 10}}, {{"W", 21}, {"H", 13}, {"C", 1}}).outputs[0];
  for (std::int64_t i = 0; i < got.elements(); ++i) EXPECT_NEAR(got.value({i % 21, i / 21, 0}), 0.375, 1e-6);
}

class BilateralGridSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(BilateralGridSchedules, EqualTheReference) {
  check_images(GetParam(), {{"W", 67}, {"H", 37}, {"C", 2}});
  check_images(GetParam(), {{"W", 64}, {"H", 32}, {"C", 1}}, {{"bins", 4}});
  check_images(GetParam(), {{"W", 1}, {"H", 1}, {"C", 1}});
  check_images(GetParam(), {{"W", 5}, {"H", 1}, {"C", 3}}, {{"bins", 25}});
  check_images(GetParam(), {{"W", 0}, {"H", 4}, {"C", 1}});
  if (!GetParam().gpu) check_layouts(GetParam(), {{"W", 23}, {"H", 9}, {"C", 3}});
}

INSTANTIATE_TEST_SUITE_P(Operators, BilateralGridSchedules,
                         testing::ValuesIn(schedule_cases("bilateral_grid")), case_name);

}  // namespace
}  // namespace calotype::test
