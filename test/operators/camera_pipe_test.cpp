// bayer and camera_pipe against plain loops over the points of the mosaic, and together as a round trip.
#include <algorithm>
#include <cmath>

#include "operators/images.h"

namespace calotype::test {
namespace {

constexpr int kBlack = 64, kWhite = 1023, kRange = kWhite - kBlack;
constexpr double kLeak[3][3] = {{0.80, 0.15, 0.05}, {0.12, 0.76, 0.12}, {0.05, 0.20, 0.75}};

// Which colour the mosaic has at a point: 0 red, 1 green, 2 blue.
int color_at(std::int64_t x, std::int64_t y) {
  const bool odd_x = x & 1, odd_y = y & 1;
  return odd_x == odd_y ? 1 : odd_y ? 2 : 0;
}

/// 1 / what the sensor makes of white.
double white_balance(double temperature, int channel) {
  const double warm_gain[3] = {0.95, 1, 0.45}, cold_gain[3] = {0.55, 1, 0.85};
  const double warm = (1 / temperature - 1 / 7000.0) / (1 / 3200.0 - 1 / 7000.0);
  return warm / warm_gain[channel] + (1 - warm) / cold_gain[channel];
}

double raw_value(const Buffer& photo, double temperature, std::int64_t x, std::int64_t y) {
  const int color = color_at(x, y);
  double level = 0;
  for (int c = 0; c < 3; ++c) {
    const double v = photo.value({x, y, c}) / 255;
    level += kLeak[color][c] * (v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
  }
  return kBlack + std::min(level / white_balance(temperature, color) * kRange, double(kRange));
}

/// camera_pipe by its definition, in raw coordinates.
class Camera {
 public:
  explicit Camera(const cli::Call& call) : raw_(call.inputs[0]), params_(call.params) {
    // The inverse of the leak, to the seven digits that the operator has of it.
    const double unleak[3][3] = {{1.2892562, -0.2420307, -0.0472255},
                                 {-0.1983471, 1.4108619, -0.2125148},
                                 {-0.0330579, -0.3600945, 1.3931523}};
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 3; ++i)
        matrix_[c][i] = std::lround(unleak[c][i] * white_balance(params_.at("temperature"), i) * 256);
    for (int i = 0; i <= kRange; ++i) {
      const double v = std::pow(i / double(kRange), 1 / double(float(params_.at("gamma"))));
      const double slope = 2 - std::exp2(params_.at("contrast") / 100), bend = 2 - 2 * slope;
      const double curved =
          v > 0.5 ? 1 - (bend * (1 - v) * (1 - v) + slope * (1 - v)) : bend * v * v + slope * v;
      curve_.push_back(std::lround(std::clamp(curved * 255, 0.0, 255.0)));
    }
  }

  int photo(std::int64_t x, std::int64_t y, int c) const {
    auto soft_y = [&](std::int64_t i) {
      return average(average(toned(i, y - 1, c), toned(i, y + 1, c)), toned(i, y, c));
    };
    const int soft = average(average(soft_y(x - 1), soft_y(x + 1)), soft_y(x));
    const int strength = static_cast<int>(std::nearbyint(std::clamp(params_.at("sharpen"), 0.0, 4.0) * 32));
    const int own = toned(x, y, c), detail = (own - soft) * strength;
    return std::clamp(own + static_cast<int>(std::floor(detail / 32.0)), 0, 255);
  }

 private:
  static int average(int a, int b) { return static_cast<int>(std::floor((a + b + 1) / 2.0)); }
  static std::int64_t half(std::int64_t a) { return static_cast<std::int64_t>(std::floor(a / 2.0)); }
  /// The nearest coordinate inside with a neighbour of the same colour.
  static std::int64_t inside(std::int64_t at, std::int64_t size) {
    const std::int64_t parity = at & 1;
    return 2 * std::max<std::int64_t>(std::min(half(at - parity), half(size - 1 - parity)), 0) + parity;
  }
  int level(std::int64_t x, std::int64_t y) const {
    const double v = raw_.value({inside(x, raw_.extent(0)), inside(y, raw_.extent(1))});
    return static_cast<int>(std::clamp(v - kBlack, 0.0, double(kRange)));
  }
  int sample(std::int64_t x, std::int64_t y) const {
    return std::min(level(x, y), std::max(std::max(level(x - 2, y), level(x + 2, y)),
                                          std::max(level(x, y - 2), level(x, y + 2))));
  }
  static int smoother(int a, int b, int c, int d) {
    return std::abs(a - b) < std::abs(c - d) ? average(a, b) : average(c, d);
  }
  int green(std::int64_t x, std::int64_t y) const {
    if (color_at(x, y) == 1) return sample(x, y);
    return smoother(sample(x - 1, y), sample(x + 1, y), sample(x, y - 1), sample(x, y + 1));
  }
  int minus(std::int64_t x, std::int64_t y) const { return sample(x, y) - green(x, y); }
  /// Red or blue.
  int other(std::int64_t x, std::int64_t y, int c) const {
    if (color_at(x, y) == c) return sample(x, y);
    if (color_at(x, y) != 1)  // The four corners; of equal pairs the second.
      return green(x, y) + (c == 0 ? smoother(minus(x + 1, y - 1), minus(x - 1, y + 1), minus(x - 1, y - 1),
                                              minus(x + 1, y + 1))
                                   : smoother(minus(x - 1, y + 1), minus(x + 1, y - 1), minus(x + 1, y + 1),
                                              minus(x - 1, y - 1)));
    const bool beside = color_at(x + 1, y) == c;
    return sample(x, y) +
           (beside ? average(minus(x - 1, y), minus(x + 1, y)) : average(minus(x, y - 1), minus(x, y + 1)));
  }
  int toned(std::int64_t x, std::int64_t y, int c) const {
    const int rgb[3] = {other(x, y, 0), green(x, y), other(x, y, 2)};
    std::int64_t sum = 0;
    for (int i = 0; i < 3; ++i) sum += matrix_[c][i] * rgb[i];
    return curve_[std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(sum / 256.0)), 0, kRange)];
  }

  const Buffer& raw_;
  std::map<std::string, double> params_;
  std::int64_t matrix_[3][3];
  std::vector<int> curve_;
};

/// A call of camera_pipe on a raw image of random light with hot pixels in it.
cli::Call raw_call(const Pipeline& pipeline, std::int64_t width, std::int64_t height,
                   const std::map<std::string, double>& params) {
  cli::Call call = image_call("camera_pipe", pipeline, {{"W", width}, {"H", height}}, params, Layout::Planar);
  for (std::int64_t i = 0; i < width * height; ++i) {
    const std::vector<std::int64_t> at{i % width, i / width};
    call.inputs[0].set_value(at, std::floor(call.inputs[0].value(at) / 64));
  }
  return call;
}

TEST(Bayer, TheReferenceIsTheDefinition) {
  const Pipeline pipeline = find_operator("bayer").pipeline(OperatorTypes::parse("image=u8,raw=u16"));
  for (double temperature : {2500.0, 5000.0, 8000.0}) {
    const cli::Call call =
        image_call("bayer", pipeline, {{"W", 17}, {"H", 8}}, {{"temperature", temperature}}, Layout::Planar);
    const Buffer got = pipeline.evaluate(call.inputs, call.params, call.sizes).outputs[0];
    for (std::int64_t i = 0; i < 17 * 8; ++i)
      ASSERT_NEAR(got.value({i % 17, i / 17}), raw_value(call.inputs[0], temperature, i % 17, i / 17), 0.501);
  }
}

TEST(CameraPipe, TheReferenceIsTheDefinition) {
  const Pipeline pipeline = find_operator("camera_pipe").pipeline(OperatorTypes::parse("raw=u16,photo=u8"));
  using Params = std::map<std::string, double>;
  for (const Params& params :
       {Params{{"temperature", 5000}, {"gamma", 2.2}, {"contrast", 25}, {"sharpen", 1}},
        Params{{"temperature", 3200}, {"gamma", 1}, {"contrast", 0}, {"sharpen", 0}},
        Params{{"temperature", 7500}, {"gamma", 1.8}, {"contrast", 80}, {"sharpen", 3.5}}})
    for (const auto& [width, height] :
         {std::pair{13, 10}, std::pair{8, 7}, std::pair{2, 2}, std::pair{2, 5}}) {
      const cli::Call call = raw_call(pipeline, width, height, params);
      const Buffer got = pipeline.evaluate(call.inputs, call.params, call.sizes).outputs[0];
      const Camera camera(call);
      for (int c = 0; c < 3; ++c)
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x)
            ASSERT_EQ(got.value({x, y, c}), camera.photo(x, y, c)) << x << ", " << y << ", " << c;
    }
}

// Less than one square of the mosaic does not have all colours.
TEST(CameraPipe, WantsTwoRowsAndColumns) {
  const Pipeline pipeline = find_operator("camera_pipe").pipeline(OperatorTypes::parse("raw=u16,photo=u8"));
  const cli::Call call = raw_call(pipeline, 1, 4, {});
  EXPECT_THROW(pipeline.evaluate(call.inputs, call.params, call.sizes), Error);
#ifdef CALOTYPE_HAS_LLVM
  const Kernel kernel = pipeline.compile(Schedule{}, Target::host());
  EXPECT_THROW(kernel.call(call.arguments(pipeline.graph())), Error);
#endif
}

// A raw image made of a photo of one colour is developed to that colour.
TEST(CameraPipe, UndoesTheCamera) {
  const Pipeline bayer = find_operator("bayer").pipeline(OperatorTypes::parse("image=u8,raw=u16"));
  const Pipeline camera = find_operator("camera_pipe").pipeline(OperatorTypes::parse("raw=u16,photo=u8"));
  const double rgb[3] = {180, 120, 90};
  Buffer photo(UInt(8), {12, 10, 3});
  for (std::int64_t i = 0; i < photo.elements(); ++i)
    photo.set_value({i % 12, i / 12 % 10, i / 120}, rgb[i / 120]);
  for (double temperature : {3200.0, 6000.0}) {
    const Buffer raw = bayer.evaluate({photo}, {{"temperature", temperature}}).outputs[0];
    const Buffer got =
        camera
            .evaluate({raw}, {{"temperature", temperature}, {"gamma", 2.2}, {"contrast", 0}, {"sharpen", 1}})
            .outputs[0];
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(got.value({5, 4, c}), rgb[c], 3) << temperature;
  }
}

class CameraPipeSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(CameraPipeSchedules, EqualTheReference) {
  const Pipeline pipeline = find_operator("camera_pipe").pipeline(OperatorTypes::parse("raw=u16,photo=u8"));
  check_call(GetParam(), pipeline, raw_call(pipeline, 141, 35, {}));
  check_call(GetParam(), pipeline, raw_call(pipeline, 64, 32, {{"temperature", 3000}}));
  check_call(GetParam(), pipeline, raw_call(pipeline, 2, 2, {}));
  check_call(GetParam(), pipeline, raw_call(pipeline, 5, 2, {{"sharpen", 4}}));
  if (!GetParam().gpu) check_layouts(GetParam(), {{"W", 37}, {"H", 9}});
}

INSTANTIATE_TEST_SUITE_P(Operators, CameraPipeSchedules, testing::ValuesIn(schedule_cases("camera_pipe")),
                         case_name);

class BayerSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(BayerSchedules, EqualTheReference) {
  check_images(GetParam(), {{"W", 67}, {"H", 37}});
  check_images(GetParam(), {{"W", 64}, {"H", 32}}, {{"temperature", 3000}});
  check_images(GetParam(), {{"W", 1}, {"H", 1}});
  if (!GetParam().gpu) check_layouts(GetParam(), {{"W", 37}, {"H", 9}});
}

INSTANTIATE_TEST_SUITE_P(Operators, BayerSchedules, testing::ValuesIn(schedule_cases("bayer")), case_name);

}  // namespace
}  // namespace calotype::test
