// bilateral_grid: smooths an image and keeps its edges. Samples are gathered in a coarse grid over place and
// value, the grid is blurred, and the result is looked up in it at each sample's own place and value.
#include <calotype/calotype.h>
#include <calotype/operator.h>

#include <functional>

namespace {

using namespace calotype;

constexpr int kCell = 8;  // samples of the image along x and y for each cell

/// [1 4 6 4 1] of both values of a Func, `of` giving them at an offset.
Tuple blurred(const std::function<Tuple(int)>& of) {
  const Tuple a = of(-2), b = of(-1), c = of(0), d = of(1), e = of(2);
  auto sum = [&](int i) { return a[i] + e[i] + 4 * (b[i] + d[i]) + 6 * c[i]; };
  return {sum(0), sum(1)};
}

Expr mixed(const Expr& a, const Expr& b, const Expr& weight) { return a + weight * (b - a); }
Tuple mixed(const Tuple& a, const Tuple& b, const Expr& weight) {
  return {mixed(a[0], b[0], weight), mixed(a[1], b[1], weight)};
}

Pipeline bilateral_grid(const OperatorTypes&) {
  Dim W("W"), H("H"), C("C");
  ImageParam image(Float(32), {W, H, C}, "image");
  Param bins(Int(32), "bins", 10);
  Var x("x"), y("y"), z("z"), c("c");

  Func edged = boundary::repeat_edge(image, "edged", 2);
  Func height("height");  // of a sample above the grid's floor, in cells
  height(x, y, c) = clamp(edged(x, y, c), 0.0f, 1.0f) * cast<float>(max(bins, 1));

  // In each cell the sum of the samples nearest to it, and their number. Which cell is nearest jumps: strict.
  RDom r({{-kCell / 2, kCell}, {-kCell / 2, kCell}}, "r");
  Func grid("grid");
  const Expr sample = height(kCell * x + r.x(), kCell * y + r.y(), c);
  const Expr cell = clamp(cast<int>(strict_float(sample + 0.5f)), 0, max(bins, 1));
  grid(x, y, z, c) = Tuple(0.0f, 0.0f);
  grid(x, y, cell, c) = Tuple(grid(x, y, cell, c)[0] + sample, grid(x, y, cell, c)[1] + 1.0f);

  Func blur_z("blur_z"), blur_x("blur_x"), blur_y("blur_y");
  blur_z(x, y, z, c) = blurred([&](int i) { return Tuple(grid(x, y, z + i, c)); });
  blur_x(x, y, z, c) = blurred([&](int i) { return Tuple(blur_z(x + i, y, z, c)); });
  blur_y(x, y, z, c) = blurred([&](int i) { return Tuple(blur_x(x, y + i, z, c)); });

  // Looked up between the eight cells around a sample: first along y, then along x and z.
  Func row("row"), out("out");
  auto part = [](const Expr& at) { return cast<float>(at % kCell) * (1.0f / kCell); };
  row(x, y, z, c) = mixed(Tuple(blur_y(x, y / kCell, z, c)), Tuple(blur_y(x, y / kCell + 1, z, c)), part(y));
  const Expr own = clamp(image(x, y, c), 0.0f, 1.0f) * cast<float>(max(bins, 1));
  const Expr below = clamp(cast<int>(own), 0, max(bins, 1) - 1), above_by = own - cast<float>(below);
  auto column = [&](const Expr& at) {
    return mixed(Tuple(row(at, y, below, c)), Tuple(row(at, y, below + 1, c)), above_by);
  };
  const Tuple found = mixed(column(x / kCell), column(x / kCell + 1), part(x));
  out(x, y, c) = found[0] / (found[1] * cast<float>(max(bins, 1)));
  return Pipeline("bilateral_grid", {image, bins}, {Output(out, {W, H, C})});
}

CALOTYPE_OPERATOR(bilateral_grid)
    .describe("bilateral filter by a grid over place (cells of 8 x 8) and value (`bins` cells)")
    .types({"f32"})
    .algorithm(bilateral_grid)
    .least_rank("image", 2);

}  // namespace
