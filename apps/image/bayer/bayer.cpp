// bayer: the raw image that a sensor behind a mosaic of colour filters would have made of a photo. Its rows
// are green red green red ... and blue green blue green ... in turn. A photo of 8 bits is taken for sRGB.
#include <calotype/calotype.h>
#include <calotype/operator.h>

#include "../sensor.h"

namespace {

using namespace calotype;

// Linear light of a sample, by the curve of IEC 61966-2-1.
Expr linear(const Expr& sample) {
  const Expr v = cast<double>(sample) / 255.0;
  return cast<float>(select(v <= 0.04045, v / 12.92, pow((v + 0.055) / 1.055, 2.4)));
}

Pipeline bayer(const OperatorTypes&) {
  Dim W("W"), H("H");
  ImageParam image(UInt(8), {W, H, Expr(3)}, "image");
  Param temperature(Float(32), "temperature", 5000.0);
  Var x("x"), y("y"), i("i"), c("c");

  Func light("light"), gain("gain"), raw("raw");
  light(i) = linear(i);
  gain(c) = 1.0f / mux(c, {apps::white_balance(temperature, 0), apps::white_balance(temperature, 1),
                           apps::white_balance(temperature, 2)});
  const Expr channel = select(x % 2 == y % 2, 1, select(y % 2 == 0, 0, 2));
  auto leak = [&](int from) {
    return mux(channel, {Expr(apps::kLeak[0][from]), Expr(apps::kLeak[1][from]), Expr(apps::kLeak[2][from])});
  };
  auto sample = [&](int from) { return light(cast<int>(image(x, y, from))); };
  const Expr mixed = strict_float(leak(0) * sample(0) + leak(1) * sample(1) + leak(2) * sample(2));
  const Expr level = strict_float(mixed * gain(channel) * float(apps::kWhite - apps::kBlack));
  raw(x, y) = cast<uint16_t>(round(min(level, float(apps::kWhite - apps::kBlack)))) + apps::kBlack;
  return Pipeline("bayer", {image, temperature}, {Output(raw, {W, H})});
}

CALOTYPE_OPERATOR(bayer)
    .describe("the raw image (10 bits, mosaic GR / BG) that a camera would have made of a photo")
    .types({"image=u8,raw=u16"})
    .algorithm(bayer);

}  // namespace
