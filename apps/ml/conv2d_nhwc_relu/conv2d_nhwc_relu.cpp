// conv2d_nhwc_relu: out = max(0, bias + x convolved with weights), x as N x H x W x C in NumPy's order,
// without padding and with stride 1.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline conv2d_nhwc_relu(const OperatorTypes& types) {
  const Type type = types.all();
  Dim CI("CI"), W("W"), H("H"), N("N"), CO("CO"), KW("KW"), KH("KH");
  ImageParam x(type, {CI, W, H, N}, "x"), weights(type, {CO, CI, KW, KH}, "weights"),
      bias(type, {CO}, "bias");
  Var co("co"), i("i"), j("j"), n("n");
  RDom k({{0, CI}, {0, KW}, {0, KH}}, {"ci", "ki", "kj"});

  Func acc("acc"), out("out");
  acc(co, i, j, n) = bias(co);
  acc(co, i, j, n) += x(k[0], i + k[1], j + k[2], n) * weights(co, k[0], k[1], k[2]);
  out(co, i, j, n) = max(acc(co, i, j, n), 0.0f);
  return Pipeline("conv2d_nhwc_relu", {x, weights, bias}, {Output(out, {CO, W - KW + 1, H - KH + 1, N})});
}

CALOTYPE_OPERATOR(conv2d_nhwc_relu)
    .describe("convolution of N x H x W x C without padding, bias and ReLU; kernels of any size")
    .types({"f32"})
    .algorithm(conv2d_nhwc_relu);

}  // namespace
