// stencil_chain: 32 stencils of 5 x 5 in a row. Each is the mean by the weights [1 4 6 4 1] x [1 4 6 4 1] /
// 256, so that together they are close to a Gaussian with a sigma of the root of 32. Between the stencils
// samples have 8 bits and all arithmetic 16, which hold every weighted sum of 25 samples. Those of a picture
// of 16 bits give their upper half.
#include <calotype/calotype.h>
#include <calotype/operator.h>

#include <map>
#include <string>

namespace {

using namespace calotype;

constexpr int kStencils = 32;

// Samples of one weight are added up first: 24 sums and a product for each of the six weights.
Expr stencil(const Func& of, const Expr& x, const Expr& y, const Expr& c) {
  const int weights[5] = {1, 4, 6, 4, 1};
  std::map<int, Expr> by_weight;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) {
      Expr& sum = by_weight[weights[i] * weights[j]];
      const Expr sample = of(x + i - 2, y + j - 2, c);
      sum = sum.defined() ? sum + sample : sample;
    }
  Expr total = cast<uint16_t>(128);
  for (const auto& [weight, sum] : by_weight) total = total + weight * sum;
  return total >> 8;
}

Pipeline stencil_chain(const OperatorTypes& types) {
  const Type type = types.all();
  const bool wide = type == UInt(16);
  Dim W("W"), H("H"), C("C");
  ImageParam image(type, {W, H, C}, "image");
  Var x("x"), y("y"), c("c");
  Func edged = boundary::repeat_edge(image, "edged", 2);
  Func last("stage0");
  last(x, y, c) = wide ? edged(x, y, c) >> 8 : cast<uint16_t>(edged(x, y, c));
  for (int i = 1; i <= kStencils; ++i) {
    Func next("stage" + std::to_string(i));
    next(x, y, c) = stencil(last, x, y, c);
    last = next;
  }
  Func out("out");
  out(x, y, c) = wide ? last(x, y, c) * 257 : cast<uint8_t>(last(x, y, c));
  return Pipeline("stencil_chain", {image}, {Output(out, {W, H, C})});
}

CALOTYPE_OPERATOR(stencil_chain)
    .describe("32 stencils of 5 x 5, one after the other: a wide blur")
    .types({"u16", "u8"})
    .algorithm(stencil_chain)
    .least_rank("image", 2);

}  // namespace
