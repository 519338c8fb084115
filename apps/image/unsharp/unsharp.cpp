// unsharp: sharpens an image by adding what a Gaussian blur takes away. The kernel is [1 4 6 4 1] / 16, first
// in x, then in y; the edge is repeated. Photos of 8 bits are in [0, 255], floats in [0, 1].
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Expr kernel(Expr a, Expr b, Expr c, Expr d, Expr e) { return (a + 4 * b + 6 * c + 4 * d + e) / 16; }

Pipeline unsharp(const OperatorTypes& types) {
  const Type type = types.all();
  Dim W("W"), H("H"), C("C");
  ImageParam image(type, {W, H, C}, "image");
  Param amount(Float(32), "amount", 1.5);
  Var x("x"), y("y"), c("c");

  Func edged = boundary::repeat_edge(image, "edged", 2);
  Func gauss_x("gauss_x"), gauss("gauss"), sharp("sharp");
  auto sample = [&](Expr at) { return cast<float>(edged(at, y, c)); };
  gauss_x(x, y, c) = kernel(sample(x - 2), sample(x - 1), sample(x), sample(x + 1), sample(x + 2));
  gauss(x, y, c) = kernel(gauss_x(x, y - 2, c), gauss_x(x, y - 1, c), gauss_x(x, y, c), gauss_x(x, y + 1, c),
                          gauss_x(x, y + 2, c));
  Expr original = cast<float>(image(x, y, c));
  Expr sharpened = original + amount * (original - gauss(x, y, c));
  if (type.is_float())
    sharp(x, y, c) = clamp(sharpened, 0.0f, 1.0f);
  else  // Rounding jumps: with strict arithmetic every schedule and target gives the same bits.
    sharp(x, y, c) = cast(type, round(clamp(strict_float(sharpened), 0.0f, 255.0f)));
  return Pipeline("unsharp", {image, amount}, {Output(sharp, {W, H, C})});
}

CALOTYPE_OPERATOR(unsharp)
    .describe("unsharp mask: image + amount * (image - gauss), clamped; u8 in [0, 255], f32 in [0, 1]")
    .types({"u8", "f32"})
    .algorithm(unsharp)
    .least_rank("image", 2);

}  // namespace
