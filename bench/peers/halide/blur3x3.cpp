// blur3x3 for Halide: the mean of 3 x 3 neighbours, edges repeated, u8 or f32.
#include "halide_side.h"

namespace {

using namespace Halide;

peers::HalideOperator blur3x3(const peers::Job& job) {
  const Type type = peers::halide_type(job.type), wide = type.is_float() ? type : UInt(16);
  const int width = job.size("W"), height = job.size("H"), channels = job.size("C");
  ImageParam image(type, 3, "image");
  Var x("x"), y("y"), c("c"), yo("yo"), yi("yi"), row("row"), lane("lane"), strip("strip");

  Func edged = BoundaryConditions::repeat_edge(image, {{0, image.width()}, {0, image.height()}});
  Func blur_x("blur_x"), blur("blur");
  auto sample = [&](Expr at) { return cast(wide, edged(at, y, c)); };
  blur_x(x, y, c) = sample(x - 1) + sample(x) + sample(x + 1);
  Expr total = blur_x(x, y - 1, c) + blur_x(x, y, c) + blur_x(x, y + 1, c);
  blur(x, y, c) = type.is_float() ? total / 9 : cast(type, (total + 4) / 9);

  const int lanes = job.knob("VECTOR", peers::machine().natural_vector_size(wide));
  if (job.schedule == "strips") {
    // The horizontal sums slide down a strip of rows.
    blur.split(y, yo, yi, job.knob("ROWS", 32))
        .reorder(x, yi, yo, c)
        .vectorize(x, lanes)
        .fuse(yo, c, strip)
        .parallel(strip);
    blur_x.store_at(blur, strip).compute_at(blur, yi).vectorize(x, lanes);
  } else if (job.schedule == "blocks" || job.schedule == "staged") {
    // A few rows at a time, the horizontal sums of those and two more in registers.
    blur.split(y, yo, yi, job.knob("STRIP", 128))
        .split(yi, yi, row, job.knob("ROWS", 8))
        .split(x, x, lane, lanes)
        .reorder(lane, row, x, yi, yo, c)
        .vectorize(lane)
        .unroll(row)
        .fuse(yo, c, strip)
        .parallel(strip);
    blur_x.compute_at(blur, x).vectorize(x, lanes).unroll(y);
    // The rows with their edges first in a ring of rows of their own.
    if (job.schedule == "staged") edged.store_at(blur, strip).compute_at(blur, yi).vectorize(_0, lanes);
  } else if (job.schedule == "gpu_threads") {
    Var xo("xo"), xi("xi");
    blur.gpu_tile(x, y, xo, yo, xi, yi, job.knob("WIDTH", 32), job.knob("HEIGHT", 8));
  } else if (job.schedule == "gpu") {
    // A thread has 4 x 4 samples, the horizontal sums of those and of a row above and below in registers.
    Var xo("xo"), xi("xi");
    blur.split(x, x, lane, 4)
        .split(y, y, row, 4)
        .reorder(lane, row, x, y, c)
        .gpu_tile(x, y, xo, yo, xi, yi, 32, 8)
        .gpu_blocks(c)
        .vectorize(lane)
        .unroll(row);
    blur_x.compute_at(blur, xi).vectorize(x, 4).unroll(y);
  } else {
    peers::no_schedule(job, "strips, blocks, staged, gpu_threads, gpu");
  }
  blur.bound(c, 0, channels);
  return {Pipeline(blur), {image}, {{width, height, channels}}, type, {width, height, channels}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string(argv[1]) == "emit")
    return peers::emit(blur3x3(peers::parse_job(argc, argv, 4)), argv[2], argv[3]);
  return peers::serve_or_fail([&] {
    const peers::Job job = peers::parse_job(argc, argv, 1);
    return peers::halide_side([job] { return blur3x3(job); }, job);
  });
}
