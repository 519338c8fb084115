// local_laplacian against pyramids of plain loops in double arithmetic, point by point.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "operators/images.h"

namespace calotype::test {
namespace {

constexpr int kLevels = 8;

std::int64_t half(std::int64_t a) { return a >= 0 ? a / 2 : -((1 - a) / 2); }

/// The filter by its definition: each value is computed when it is asked for, and kept.
class Filter {
 public:
  explicit Filter(const cli::Call& call)
      : image_(call.inputs[0]),
        alpha_(call.params.at("alpha")),
        beta_(call.params.at("beta")),
        sigma_(call.params.at("sigma")),
        largest_(image_.type() == UInt(8) ? 255 : 65535) {}

  /// Before it is rounded to an integer.
  double at(const std::vector<std::int64_t>& p) {
    const double gray = blurred(0, -1, p[0], p[1]), color = image_.value(p) / largest_;
    const double scaled = (result(0, p[0], p[1]) + 0.01) * (color + 0.01) / (gray + 0.01) - 0.01;
    return std::clamp(scaled * largest_, 0.0, largest_);
  }

 private:
  using Key = std::tuple<int, int, std::int64_t, std::int64_t>;

  double gray(std::int64_t x, std::int64_t y) const {
    x = std::clamp<std::int64_t>(x, 0, image_.extent(0) - 1);
    y = std::clamp<std::int64_t>(y, 0, image_.extent(1) - 1);
    return (0.299 * image_.value({x, y, 0}) + 0.587 * image_.value({x, y, 1}) +
            0.114 * image_.value({x, y, 2})) /
           largest_;
  }
  /// The curve around intensity k / 7. Distances are multiples of 1 / 1792.
  double curve(double v, int k) const {
    const double distance = (std::floor(std::clamp(v * 1792, 0.0, 1792.0)) - 256 * k) / 1792;
    const double d = std::fabs(distance), t = std::clamp((d - 0.01) / 0.01, 0.0, 1.0);
    const double detail = t * t * (3 - 2 * t) * (sigma_ * std::pow(d / sigma_, alpha_) - d);
    const double added = d <= sigma_ ? detail : (beta_ - 1) * (d - sigma_);
    return v + (distance < 0 ? -added : added);
  }
  /// A Gaussian pyramid: of the remapped image k, or of the image's own intensity (k = -1).
  double blurred(int level, int k, std::int64_t x, std::int64_t y) {
    if (level == 0) return k < 0 ? gray(x, y) : curve(gray(x, y), k);
    const auto [known, made] = blurred_.try_emplace(Key{level, k, x, y}, 0.0);
    if (!made) return known->second;
    const double weights[4] = {1, 3, 3, 1};
    double sum = 0;
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        sum += weights[i] * weights[j] / 64 * blurred(level - 1, k, 2 * x - 1 + i, 2 * y - 1 + j);
    return blurred_[Key{level, k, x, y}] = sum;
  }
  template <class F>
  double upsampled(std::int64_t x, std::int64_t y, F&& coarse) {
    const std::int64_t nx = half(x), ny = half(y), fx = nx + (x == 2 * nx ? -1 : 1),
                       fy = ny + (y == 2 * ny ? -1 : 1);
    return 0.75 * (0.75 * coarse(nx, ny) + 0.25 * coarse(nx, fy)) +
           0.25 * (0.75 * coarse(fx, ny) + 0.25 * coarse(fx, fy));
  }
  double laplacian(int level, int k, std::int64_t x, std::int64_t y) {
    if (level == kLevels - 1) return blurred(level, k, x, y);
    return blurred(level, k, x, y) -
           upsampled(x, y, [&](std::int64_t i, std::int64_t j) { return blurred(level + 1, k, i, j); });
  }
  double result(int level, std::int64_t x, std::int64_t y) {
    const auto [known, made] = result_.try_emplace(Key{level, 0, x, y}, 0.0);
    if (!made) return known->second;
    const double place = 7 * blurred(level, -1, x, y);
    const int below = std::clamp(static_cast<int>(place), 0, 6);
    const double low = laplacian(level, below, x, y), high = laplacian(level, below + 1, x, y);
    double value = low + (place - below) * (high - low);
    if (level + 1 < kLevels)
      value += upsampled(x, y, [&](std::int64_t i, std::int64_t j) { return result(level + 1, i, j); });
    return result_[Key{level, 0, x, y}] = value;
  }

  const Buffer& image_;
  double alpha_, beta_, sigma_, largest_;
  std::map<Key, double> blurred_, result_;
};

cli::Call call_of(const std::string& types, std::int64_t width, std::int64_t height,
                  const std::map<std::string, double>& params) {
  const Pipeline pipeline = find_operator("local_laplacian").pipeline(OperatorTypes::parse(types));
  return image_call("local_laplacian", pipeline, {{"W", width}, {"H", height}}, params, Layout::Planar);
}

Buffer reference(const std::string& types, const cli::Call& call) {
  const Pipeline pipeline = find_operator("local_laplacian").pipeline(OperatorTypes::parse(types));
  return pipeline.evaluate(call.inputs, call.params, call.sizes).outputs[0];
}

TEST(LocalLaplacian, TheReferenceIsTheDefinition) {
  for (const char* types : {"u8", "u16"})
    for (const std::map<std::string, double>& params :
         {std::map<std::string, double>{{"alpha", 0.5}, {"beta", 1}, {"sigma", 0.2}},
          std::map<std::string, double>{{"alpha", 2}, {"beta", 0.25}, {"sigma", 0.1}}}) {
      const cli::Call call = call_of(types, 13, 6, params);
      const Buffer got = reference(types, call);
      Filter filter(call);
      // f32 has 24 bits; what the sums, powers and quotients may lose of them is far below this.
      const double slack = std::string(types) == "u8" ? 1e-3 : 0.25;
      for (std::int64_t i = 0; i < got.elements(); ++i) {
        const std::vector<std::int64_t> at{i % 13, i / 13 % 6, i / 78};
        ASSERT_NEAR(got.value(at), filter.at(at), 0.5 + slack) << types << " at " << at[0] << ", " << at[1];
      }
    }
}

// With both parameters 1 every curve is the identity, and so is the filter.
TEST(LocalLaplacian, WithParametersOfOneIsTheIdentity) {
  for (const char* types : {"u8", "u16"}) {
    const cli::Call call = call_of(types, 37, 21, {{"alpha", 1}, {"beta", 1}});
    const Buffer got = reference(types, call);
    for (std::int64_t i = 0; i < got.elements(); ++i) {
      const std::vector<std::int64_t> at{i % 37, i / 37 % 21, i / 37 / 21};
      ASSERT_NEAR(got.value(at), call.inputs[0].value(at), std::string(types) == "u8" ? 0 : 1);
    }
  }
}

class LocalLaplacianSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(LocalLaplacianSchedules, EqualTheReference) {
  check_images(GetParam(), {{"W", 67}, {"H", 35}}, {{"alpha", 0.5}, {"beta", 0.7}});
  check_images(GetParam(), {{"W", 1}, {"H", 1}});
  if (GetParam().schedule == "host") check_layouts(GetParam(), {{"W", 5}, {"H", 41}});
}

INSTANTIATE_TEST_SUITE_P(Operators, LocalLaplacianSchedules,
                         testing::ValuesIn(schedule_cases("local_laplacian")), case_name);

}  // namespace
}  // namespace calotype::test
