// camera_pipe: from a raw image of a sensor with a mosaic GR / BG to a photo. Hot pixels are suppressed, the
// colours that the mosaic left out are filled in, colours are corrected for the light and the sensor, a curve
// brings linear light to 8 bits, and the result is sharpened. All but the curve is arithmetic of 16 bits.
#include <calotype/calotype.h>
#include <calotype/operator.h>

#include "../sensor.h"

namespace {

using namespace calotype;
using apps::kBlack, apps::kWhite;

constexpr int kRange = kWhite - kBlack;
constexpr int kMatrixBits = 8;  // fraction bits of the matrix

Expr average(const Expr& a, const Expr& b) { return rounding_halving_add(a, b); }

/// The sensor's samples by colour: in each square of four, from the top left, green beside red (0), red (1),
/// blue (2), green beside blue (3); at half the resolution. What lies outside is the nearest of that colour.
/// Black is 0. A sample that is brighter than its four nearest of its own colour is no light: it becomes the
/// brightest of those.
Func suppress_hot_pixels(const ImageParam& raw) {
  Var x("x"), y("y"), p("p");
  Func plane("plane"), samples("samples");
  auto inside = [](const Expr& at, const Expr& parity, const Expr& size) {
    return clamp(likely(2 * at + parity), parity, max(size - 1 - (size - 1 - parity) % 2, parity));
  };
  const Expr sample = raw(inside(x, p % 2, raw.width()), inside(y, p / 2, raw.height()));
  plane(x, y, p) = cast<int16_t>(min(saturating_sub(sample, cast<uint16_t>(kBlack)), cast<uint16_t>(kRange)));
  samples(x, y, p) = min(plane(x, y, p),
                         max(plane(x - 1, y, p), plane(x + 1, y, p), plane(x, y - 1, p), plane(x, y + 1, p)));
  return samples;
}

/// The mean of the pair of neighbours that differ less.
struct Pair {
  Expr a, b;
};
Expr smoother(const Pair& one, const Pair& two) {
  return select(absd(one.a, one.b) < absd(two.a, two.b), average(one.a, one.b), average(two.a, two.b));
}

/// Every colour at every point: coordinates x, y, c. Green at red and blue is taken along the direction in
/// which it changes less; red and blue elsewhere are those of the neighbours, with what green differs from
/// theirs.
Func demosaic(const Func& samples) {
  Var x("x"), y("y"), c("c");
  auto gr = [&](Expr i, Expr j) { return samples(i, j, 0); };
  auto r = [&](Expr i, Expr j) { return samples(i, j, 1); };
  auto b = [&](Expr i, Expr j) { return samples(i, j, 2); };
  auto gb = [&](Expr i, Expr j) { return samples(i, j, 3); };

  Func green_r("green_r"), green_b("green_b");
  green_r(x, y) = smoother({gr(x, y), gr(x + 1, y)}, {gb(x, y - 1), gb(x, y)});
  green_b(x, y) = smoother({gb(x - 1, y), gb(x, y)}, {gr(x, y), gr(x, y + 1)});
  // Of red and blue the difference from green is what changes slowly.
  Func red("red_minus"), blue("blue_minus");
  red(x, y) = r(x, y) - green_r(x, y);
  blue(x, y) = b(x, y) - green_b(x, y);

  const Expr red_at[4] = {
      gr(x, y) + average(red(x - 1, y), red(x, y)), r(x, y),
      green_b(x, y) + smoother({red(x, y), red(x - 1, y + 1)}, {red(x - 1, y), red(x, y + 1)}),
      gb(x, y) + average(red(x, y), red(x, y + 1))};
  const Expr green_at[4] = {gr(x, y), green_r(x, y), green_b(x, y), gb(x, y)};
  const Expr blue_at[4] = {
      gr(x, y) + average(blue(x, y - 1), blue(x, y)),
      green_r(x, y) + smoother({blue(x, y), blue(x + 1, y - 1)}, {blue(x + 1, y), blue(x, y - 1)}), b(x, y),
      gb(x, y) + average(blue(x, y), blue(x + 1, y))};

  Var p("p");
  Func quarters("quarters"), full("demosaiced");
  auto by_place = [&](const Expr* at) { return mux(p, {at[0], at[1], at[2], at[3]}); };
  quarters(x, y, p, c) = mux(c, {by_place(red_at), by_place(green_at), by_place(blue_at)});
  full(x, y, c) = quarters(x / 2, y / 2, x % 2 + 2 * (y % 2), c);
  return full;
}

/// The matrix from the sensor's colours to linear RGB, for the light's temperature.
Func color_matrix(const Param& temperature) {
  Var i("i"), c("c");
  Func matrix("matrix");
  auto row = [&](int channel) {
    auto entry = [&](int from) {
      const Expr value = apps::kUnleak[channel][from] * apps::white_balance(temperature, from);
      return cast<int16_t>(round(strict_float(value * float(1 << kMatrixBits))));
    };
    return mux(i, {entry(0), entry(1), entry(2)});
  };
  matrix(i, c) = mux(c, {row(0), row(1), row(2)});
  return matrix;
}

/// From linear light to 8 bits: the power 1 / gamma, then a curve through (1/2, 1/2) of two parabolas,
/// steeper there the higher the contrast. In f64, so that all targets round it alike.
Func tone_curve(const Param& gamma, const Param& contrast) {
  Var i("i");
  Func curve("curve");
  const Expr linear = cast<double>(cast<int>(i)) / double(kRange);
  const Expr v = pow(linear, 1.0 / cast<double>(gamma));
  const Expr slope = 2.0 - exp2(cast<double>(contrast) / 100.0), bend = 2.0 - 2.0 * slope, rest = 1.0 - v;
  const Expr curved = select(v > 0.5, 1.0 - (bend * rest * rest + slope * rest), bend * v * v + slope * v);
  curve(i) = cast<uint8_t>(round(clamp(curved * 255.0, 0.0, 255.0)));
  return curve;
}

Pipeline camera_pipe(const OperatorTypes&) {
  Dim W("W"), H("H");
  ImageParam raw(UInt(16), {W, H}, "raw");
  Param temperature(Float(32), "temperature", 5000.0), gamma(Float(32), "gamma", 2.2),
      contrast(Float(32), "contrast", 25.0), sharpen(Float(32), "sharpen", 1.0);
  Var x("x"), y("y"), c("c");

  const Func samples = suppress_hot_pixels(raw), mosaic = demosaic(samples);
  const Func matrix = color_matrix(temperature), curve = tone_curve(gamma, contrast);
  Func corrected("corrected"), toned("toned");
  auto part = [&](int i) { return widening_mul(mosaic(x, y, i), matrix(i, c)); };
  corrected(x, y, c) = cast<int16_t>(clamp((part(0) + part(1) + part(2)) >> kMatrixBits, 0, kRange));
  toned(x, y, c) = curve(clamp(corrected(x, y, c), 0, kRange));

  // What the blur [1 2 1] / 4 in both directions takes away is added again.
  Func soft_y("soft_y"), soft("soft"), photo("photo");
  auto soften = [](const Expr& a, const Expr& b, const Expr& d) { return average(average(a, d), b); };
  soft_y(x, y, c) = soften(toned(x, y - 1, c), toned(x, y, c), toned(x, y + 1, c));
  soft(x, y, c) = soften(soft_y(x - 1, y, c), soft_y(x, y, c), soft_y(x + 1, y, c));
  const Expr strength = cast<int16_t>(round(clamp(sharpen, 0.0f, 4.0f) * 32.0f));
  const Expr own = cast<int16_t>(toned(x, y, c)), detail = own - cast<int16_t>(soft(x, y, c));
  photo(x, y, c) = saturating_cast<uint8_t>(own + ((detail * strength) >> 5));
  return Pipeline("camera_pipe", {raw, temperature, gamma, contrast, sharpen},
                  {Output(photo, {W, H, Expr(3)})});
}

CALOTYPE_OPERATOR(camera_pipe)
    .describe(
        "a photo from a raw image (10 bits, mosaic GR / BG): colours filled in and corrected, toned, "
        "sharpened")
    .types({"raw=u16,photo=u8"})
    .algorithm(camera_pipe);

}  // namespace
