// harris: how much of a corner each point of an image is.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline harris(const OperatorTypes&) {
  Dim W("W"), H("H");
  ImageParam image(Float(32), {W, H, Expr(3)}, "image");
  Param k(Float(32), "k", 0.04);
  Var x("x"), y("y");

  Func edged = boundary::repeat_edge(image, "edged", 2);
  Func gray("gray"), dx("dx"), dy("dy"), corners("corners");
  gray(x, y) = 0.299f * edged(x, y, 0) + 0.587f * edged(x, y, 1) + 0.114f * edged(x, y, 2);
  // Sobel's derivatives.
  auto g = [&](int i, int j) { return gray(x + i, y + j); };
  dx(x, y) = (g(1, -1) - g(-1, -1) + 2 * (g(1, 0) - g(-1, 0)) + (g(1, 1) - g(-1, 1))) * (1.0f / 8);
  dy(x, y) = (g(-1, 1) - g(-1, -1) + 2 * (g(0, 1) - g(0, -1)) + (g(1, 1) - g(1, -1))) * (1.0f / 8);

  // The sums of their products over 3 x 3 points.
  auto around = [&](const Func& a, const Func& b) {
    Expr sum = a(x - 1, y - 1) * b(x - 1, y - 1);
    for (int i = 1; i < 9; ++i) sum = sum + a(x + i % 3 - 1, y + i / 3 - 1) * b(x + i % 3 - 1, y + i / 3 - 1);
    return sum;
  };
  Func xx("xx"), xy("xy"), yy("yy");
  xx(x, y) = around(dx, dx);
  xy(x, y) = around(dx, dy);
  yy(x, y) = around(dy, dy);
  const Expr trace = xx(x, y) + yy(x, y);
  corners(x, y) = xx(x, y) * yy(x, y) - xy(x, y) * xy(x, y) - k * trace * trace;
  return Pipeline("harris", {image, k}, {Output(corners, {W, H})});
}

CALOTYPE_OPERATOR(harris)
    .describe("the corner response of Harris and Stephens, from Sobel derivatives summed over 3 x 3")
    .types({"f32"})
    .algorithm(harris);

}  // namespace
