// conv2d_nhwc_relu for Halide: bias, convolution without padding and ReLU, channels innermost, f32.
#include "halide_side.h"

namespace {

using namespace Halide;

peers::HalideOperator conv2d_nhwc_relu(const peers::Job& job) {
  const Type type = peers::halide_type(job.type);
  const int channels = job.size("CI"), filters = job.size("CO"), kernel_width = job.size("KW"),
            kernel_height = job.size("KH"), width = job.size("W"), height = job.size("H"),
            images = job.size("N");
  ImageParam x(type, 4, "x"), weights(type, 4, "weights"), bias(type, 1, "bias");
  Var co("co"), i("i"), j("j"), n("n"), cb("cb"), ib("ib"), cr("cr"), ir("ir"), row("row");
  RDom k(0, x.dim(0).extent(), 0, weights.dim(2).extent(), 0, weights.dim(3).extent(), "k");

  Func acc("acc"), out("out");
  acc(co, i, j, n) = bias(co);
  acc(co, i, j, n) += x(k.x, i + k.y, j + k.z, n) * weights(co, k.x, k.y, k.z);
  out(co, i, j, n) = max(acc(co, i, j, n), 0.0f);

  const int lanes = job.knob("VECTOR", peers::machine().natural_vector_size<float>());
  const bool wide = job.schedule == "wide";
  if (job.schedule != "tiles" && !wide) peers::no_schedule(job, "tiles, wide");
  // Tiles of pixels and channels in registers, as ours: 2 vectors of channels, or 4 of fewer pixels.
  const int tile_channels = job.knob("TC", (wide ? 4 : 2) * lanes),
            tile_pixels = job.knob("TX", wide ? 5 : 10);
  out.tile(co, i, cb, ib, cr, ir, tile_channels, tile_pixels)
      .reorder(cr, ir, ib, cb, j, n)
      .vectorize(cr, lanes)
      .unroll(cr)
      .unroll(ir)
      .fuse(j, n, row)
      .parallel(row);
  acc.compute_at(out, ib).vectorize(co, lanes).unroll(co).unroll(i);
  acc.update().reorder(co, i, k.x, k.y, k.z, j, n).vectorize(co, lanes).unroll(co).unroll(i);
  return {Pipeline(out),
          {x, weights, bias},
          {{channels, width, height, images}, {filters, channels, kernel_width, kernel_height}, {filters}},
          type,
          {filters, width - kernel_width + 1, height - kernel_height + 1, images}};
}

}  // namespace

int main(int argc, char** argv) {
  return peers::serve_or_fail([&] {
    const peers::Job job = peers::parse_job(argc, argv, 1);
    return peers::halide_side([job] { return conv2d_nhwc_relu(job); }, job);
  });
}
