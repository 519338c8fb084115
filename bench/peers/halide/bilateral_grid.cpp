// bilateral_grid for Halide: cells of 8 x 8 samples and 10 values, two sums in each, f32.
#include <functional>

#include "halide_side.h"

namespace {

using namespace Halide;

constexpr int kCell = 8, kBins = 10;
using Pair = std::pair<Expr, Expr>;

Pair pair_of(const Tuple& t) { return {t[0], t[1]}; }
Tuple blurred(const std::function<Tuple(int)>& of) {
  Tuple a = of(-2), b = of(-1), c = of(0), d = of(1), e = of(2);
  auto sum = [&](int i) { return a[i] + e[i] + 4 * (b[i] + d[i]) + 6 * c[i]; };
  return Tuple(sum(0), sum(1));
}
Pair mixed(const Pair& a, const Pair& b, const Expr& weight) {
  return {a.first + weight * (b.first - a.first), a.second + weight * (b.second - a.second)};
}

peers::HalideOperator bilateral_grid(const peers::Job& job) {
  const int width = job.size("W"), height = job.size("H"), channels = job.size("C");
  ImageParam image(Float(32), 3, "image");
  Var x("x"), y("y"), z("z"), c("c"), yo("yo"), yi("yi"), xo("xo"), xi("xi");

  Func edged = BoundaryConditions::repeat_edge(image, {{0, image.width()}, {0, image.height()}});
  RDom r(-kCell / 2, kCell, -kCell / 2, kCell, "r");
  Func grid("grid"), blur_z("blur_z"), blur_x("blur_x"), blur_y("blur_y"), row("row"), out("out");
  Expr sample = clamp(edged(kCell * x + r.x, kCell * y + r.y, c), 0.0f, 1.0f) * float(kBins);
  Expr cell = clamp(cast<int>(sample + 0.5f), 0, kBins);
  grid(x, y, z, c) = Tuple(0.0f, 0.0f);
  grid(x, y, cell, c) = Tuple(grid(x, y, cell, c)[0] + sample, grid(x, y, cell, c)[1] + 1.0f);
  blur_z(x, y, z, c) = blurred([&](int i) { return Tuple(grid(x, y, z + i, c)); });
  blur_x(x, y, z, c) = blurred([&](int i) { return Tuple(blur_z(x + i, y, z, c)); });
  blur_y(x, y, z, c) = blurred([&](int i) { return Tuple(blur_x(x, y + i, z, c)); });
  auto part = [](const Expr& at) { return cast<float>(at % kCell) * (1.0f / kCell); };
  const Pair between =
      mixed(pair_of(blur_y(x, y / kCell, z, c)), pair_of(blur_y(x, y / kCell + 1, z, c)), part(y));
  row(x, y, z, c) = Tuple(between.first, between.second);
  Expr own = clamp(image(x, y, c), 0.0f, 1.0f) * float(kBins);
  Expr below = clamp(cast<int>(own), 0, kBins - 1), above_by = own - cast<float>(below);
  auto column = [&](const Expr& at) {
    return mixed(pair_of(row(at, y, below, c)), pair_of(row(at, y, below + 1, c)), above_by);
  };
  const Pair found = mixed(column(x / kCell), column(x / kCell + 1), part(x));
  out(x, y, c) = found.first / (found.second * float(kBins));

  const int lanes = job.knob("VECTOR", peers::machine().natural_vector_size<float>());
  if (job.schedule == "rows") {
    // A row of the grid is filled and blurred along z and x at once; each row of the result has its own grid.
    blur_x.compute_root().reorder(x, z, y, c).vectorize(x, lanes).parallel(c).parallel(y);
    blur_z.compute_at(blur_x, y).vectorize(x, lanes);
    grid.compute_at(blur_x, y).vectorize(x, lanes);
    grid.update().reorder(r.x, r.y, x, y, c);
    blur_y.compute_root().reorder(x, z, y, c).vectorize(x, lanes).parallel(c).parallel(y);
    out.split(y, yo, yi, 8)
        .split(x, xo, xi, job.knob("WIDTH", 1024))
        .reorder(xi, yi, xo, yo, c)
        .vectorize(xi, lanes)
        .parallel(c)
        .parallel(yo);
    row.compute_at(out, yi).reorder_storage(z, x, y, c).vectorize(x, lanes);
  } else if (job.schedule == "stages") {
    // The grid at root, blurs one after the other, every lookup between all eight cells.
    blur_z.compute_root().reorder(z, x, y, c).parallel(y).vectorize(x, lanes);
    grid.compute_at(blur_z, y);
    grid.update().reorder(r.x, r.y, x, y, c);
    blur_x.compute_root().reorder(x, y, z, c).parallel(z).vectorize(x, lanes);
    blur_y.compute_root().reorder(x, y, z, c).parallel(z).vectorize(x, lanes);
    out.parallel(y, 8).vectorize(x, lanes);
  } else {
    peers::no_schedule(job, "rows, stages");
  }
  out.bound(c, 0, channels);
  return {Pipeline(out), {image}, {{width, height, channels}}, Float(32), {width, height, channels}};
}

}  // namespace

int main(int argc, char** argv) {
  return peers::serve_or_fail([&] {
    const peers::Job job = peers::parse_job(argc, argv, 1);
    return peers::halide_side([job] { return bilateral_grid(job); }, job);
  });
}
