// unsharp for Halide: image + 1.5 * (image - gauss), gauss separable [1 4 6 4 1] / 16, edges repeated; u8 or
// f32.
#include "halide_side.h"

namespace {

using namespace Halide;

Expr kernel(Expr a, Expr b, Expr c, Expr d, Expr e) { return (a + 4 * b + 6 * c + 4 * d + e) / 16; }

peers::HalideOperator unsharp(const peers::Job& job) {
  const Type type = peers::halide_type(job.type);
  const int width = job.size("W"), height = job.size("H"), channels = job.size("C");
  ImageParam image(type, 3, "image");
  Param<float> amount("amount", 1.5f);
  Var x("x"), y("y"), c("c"), yo("yo"), yi("yi"), row("row"), lane("lane"), strip("strip");

  Func edged = BoundaryConditions::repeat_edge(image, {{0, image.width()}, {0, image.height()}});
  Func gauss_x("gauss_x"), gauss("gauss"), sharp("sharp");
  auto sample = [&](Expr at) { return cast<float>(edged(at, y, c)); };
  gauss_x(x, y, c) = kernel(sample(x - 2), sample(x - 1), sample(x), sample(x + 1), sample(x + 2));
  gauss(x, y, c) = kernel(gauss_x(x, y - 2, c), gauss_x(x, y - 1, c), gauss_x(x, y, c), gauss_x(x, y + 1, c),
                          gauss_x(x, y + 2, c));
  Expr original = cast<float>(image(x, y, c));
  Expr sharpened = original + amount * (original - gauss(x, y, c));
  if (type.is_float())
    sharp(x, y, c) = clamp(sharpened, 0.0f, 1.0f);
  else
    sharp(x, y, c) = cast(type, round(clamp(sharpened, 0.0f, 255.0f)));

  const int lanes = job.knob("VECTOR", peers::machine().natural_vector_size<float>());
  if (job.schedule == "strips") {
    // The horizontal blur slides down a strip of rows.
    sharp.split(y, yo, yi, job.knob("ROWS", 64))
        .reorder(x, yi, yo, c)
        .vectorize(x, lanes)
        .fuse(yo, c, strip)
        .parallel(strip);
    gauss_x.store_at(sharp, strip).compute_at(sharp, yi).vectorize(x, lanes);
  } else if (job.schedule == "blocks" || job.schedule == "staged") {
    // A few rows at a time, the horizontal blur of those and of four more in registers.
    sharp.split(y, yo, yi, job.knob("STRIP", 128))
        .split(yi, yi, row, job.knob("ROWS", type.is_float() ? 8 : 4))
        .split(x, x, lane, lanes)
        .reorder(lane, row, x, yi, yo, c)
        .vectorize(lane)
        .unroll(row)
        .fuse(yo, c, strip)
        .parallel(strip);
    gauss_x.compute_at(sharp, x).vectorize(x, lanes).unroll(y);
    // The rows with their edges first in a ring of rows of their own.
    if (job.schedule == "staged") edged.store_at(sharp, strip).compute_at(sharp, yi).vectorize(_0, lanes);
  } else {
    peers::no_schedule(job, "strips, blocks, staged");
  }
  sharp.bound(c, 0, channels);
  return {Pipeline(sharp), {image}, {{width, height, channels}}, type, {width, height, channels}};
}

}  // namespace

int main(int argc, char** argv) {
  return peers::serve_or_fail([&] {
    const peers::Job job = peers::parse_job(argc, argv, 1);
    return peers::halide_side([job] { return unsharp(job); }, job);
  });
}
