// histogram_equalize: spreads the intensities of a photo so that each is about as frequent as any other.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline histogram_equalize(const OperatorTypes&) {
  Dim W("W"), H("H");
  ImageParam image(UInt(8), {W, H, Expr(3)}, "image");
  Var x("x"), y("y"), c("c"), i("i");

  // Intensity in 8 bits: the weights are of 256 parts.
  Func gray("gray"), count("count"), up_to("up_to"), fewest("fewest"), curve("curve"), out("out");
  auto part = [&](int channel) { return cast<uint16_t>(image(x, y, channel)); };
  gray(x, y) = cast<uint8_t>((77 * part(0) + 150 * part(1) + 29 * part(2) + 128) >> 8);
  // How many points have each intensity, and how many have it or a lower one.
  RDom r({{0, W}, {0, H}}, "r"), k(1, 255, "k"), every(0, 256, "every");
  count(i) = cast<uint32_t>(0);
  count(cast<int>(gray(r.x(), r.y()))) += cast<uint32_t>(1);
  up_to(i) = count(i);
  up_to(k) = up_to(k - 1) + count(k);
  // The lowest intensity that there is becomes 0, the highest 255.
  fewest() = up_to(255);
  fewest() = select(up_to(every) > 0, min(fewest(), up_to(every)), fewest());
  const Expr below = cast<int64_t>(up_to(i)) - cast<int64_t>(fewest());
  const Expr range = cast<int64_t>(up_to(255)) - cast<int64_t>(fewest());
  curve(i) = cast<int16_t>(select(range > 0, (2 * 255 * below + range) / (2 * range), cast<int64_t>(i)));
  // Every channel is moved by what the intensity is moved.
  const Expr own = cast<int16_t>(gray(x, y));
  out(x, y, c) = saturating_cast<uint8_t>(cast<int16_t>(image(x, y, c)) + curve(cast<int>(gray(x, y))) - own);
  return Pipeline("histogram_equalize", {image}, {Output(out, {W, H, Expr(3)})});
}

CALOTYPE_OPERATOR(histogram_equalize)
    .describe("histogram equalisation of the intensity of a photo")
    .types({"u8"})
    .algorithm(histogram_equalize);

}  // namespace
