// depthwise_separable_conv: each channel convolved with a kernel of its own, then a product over the channels
// of each pixel, bias and ReLU6; x as N x H x W x C in NumPy's order, without padding and with stride 1.
#include <calotype/calotype.h>
#include <calotype/operator.h>

#include <string>
#include <vector>

namespace {

using namespace calotype;

Pipeline depthwise_separable_conv(const OperatorTypes& types) {
  const Type type = types.all();
  Dim CI("CI"), W("W"), H("H"), N("N"), CO("CO"), KW("KW"), KH("KH");
  ImageParam x(type, {CI, W, H, N}, "x"), depthwise(type, {CI, KW, KH}, "depthwise"),
      pointwise(type, {CO, CI}, "pointwise"), bias(type, {CO}, "bias");
  Var c("c"), co("co"), i("i"), j("j"), n("n");
  RDom k({{0, KW}, {0, KH}}, std::vector<std::string>{"ki", "kj"}), q(0, CI, "ci");

  Func filtered("filtered"), acc("acc"), out("out");
  filtered(c, i, j, n) += x(c, i + k[0], j + k[1], n) * depthwise(c, k[0], k[1]);
  acc(co, i, j, n) = bias(co);
  acc(co, i, j, n) += filtered(q, i, j, n) * pointwise(co, q);
  out(co, i, j, n) = clamp(acc(co, i, j, n), 0.0f, 6.0f);
  return Pipeline("depthwise_separable_conv", {x, depthwise, pointwise, bias},
                  {Output(out, {CO, W - KW + 1, H - KH + 1, N})});
}

CALOTYPE_OPERATOR(depthwise_separable_conv)
    .describe(
        "a convolution of each channel, a product over the channels, bias and ReLU6; N x H x W x C, no "
        "padding")
    .types({"f32"})
    .algorithm(depthwise_separable_conv);

}  // namespace
