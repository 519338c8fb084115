// stencil_chain for Halide: 32 stencils of 5 x 5 on samples of 8 bits, in arithmetic of 16.
#include <map>
#include <string>

#include "halide_side.h"

namespace {

using namespace Halide;

constexpr int kStencils = 32;
Var x("x"), y("y"), c("c"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

Expr stencil(Func of) {
  const int weights[5] = {1, 4, 6, 4, 1};
  std::map<int, Expr> by_weight;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) {
      Expr& sum = by_weight[weights[i] * weights[j]];
      Expr sample = of(x + i - 2, y + j - 2, c);
      sum = sum.defined() ? sum + sample : sample;
    }
  Expr total = cast<uint16_t>(128);
  for (const auto& [weight, sum] : by_weight) total = total + cast<uint16_t>(weight) * sum;
  return total >> 8;
}

peers::HalideOperator stencil_chain(const peers::Job& job) {
  const int width = job.size("W"), height = job.size("H"), channels = job.size("C");
  ImageParam image(UInt(16), 3, "image");
  Func edged = BoundaryConditions::repeat_edge(image, {{0, image.width()}, {0, image.height()}});
  std::vector<Func> stages{Func("stage0")};
  stages[0](x, y, c) = edged(x, y, c) >> 8;
  for (int i = 1; i <= kStencils; ++i) {
    Func next("stage" + std::to_string(i));
    next(x, y, c) = stencil(stages.back());
    stages.push_back(next);
  }
  Func out("out");
  out(x, y, c) = stages.back()(x, y, c) * cast<uint16_t>(257);

  const int lanes = job.knob("VECTOR", peers::machine().natural_vector_size<uint16_t>());
  const int tile_width = job.knob("WIDTH", 512), tile_height = job.knob("HEIGHT", 512);
  out.compute_root()
      .tile(x, y, xo, yo, xi, yi, tile_width, tile_height)
      .vectorize(xi, lanes)
      .parallel(c)
      .parallel(yo);
  for (int i = 0; i < kStencils; ++i) {
    if (job.schedule == "windows")  // The stencils' windows slide down a tile together.
      stages[i].store_at(out, xo).compute_at(out, yi).vectorize(x, lanes);
    else if (job.schedule == "tiles")  // A tile of one stencil after the other.
      stages[i].compute_at(out, xo).vectorize(x, lanes);
    else
      peers::no_schedule(job, "windows, tiles");
  }
  out.bound(c, 0, channels);
  return {Pipeline(out), {image}, {{width, height, channels}}, UInt(16), {width, height, channels}};
}

}  // namespace

int main(int argc, char** argv) {
  return peers::serve_or_fail([&] {
    const peers::Job job = peers::parse_job(argc, argv, 1);
    return peers::halide_side([job] { return stencil_chain(job); }, job);
  });
}
