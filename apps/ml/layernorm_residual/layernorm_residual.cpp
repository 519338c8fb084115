// layernorm_residual: h = x + residual; out = (h - mean(h)) / sqrt(var(h) + eps) * gamma + beta, mean and
// variance over the last NumPy axis. The outputs are h and out, from one pass over the rows.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline layernorm_residual(const OperatorTypes& types) {
  const Type type = types.all();
  Dim N("N"), R("R");
  ImageParam x(type, {N, R}, "x"), residual(type, {N, R}, "residual"), gamma(type, {N}, "gamma"),
      beta(type, {N}, "beta");
  Param eps(Float(32), "eps", 1e-5);
  Var c("c"), r("r");
  RDom k(0, N, "k");

  Func h("h"), total("total"), squares("squares"), scale("scale"), out("out");
  h(c, r) = cast<float>(x(c, r)) + cast<float>(residual(c, r));
  total(r) += h(k, r);
  const Expr mean = total(r) / cast<float>(N);
  // The variance from distances to the mean, in a pass of its own: no digits cancel.
  squares(r) += (h(k, r) - mean) * (h(k, r) - mean);
  scale(r) = 1.0f / sqrt(squares(r) / cast<float>(N) + eps);
  const Expr normal = (h(c, r) - mean) * scale(r);
  out(c, r) = Tuple(cast(type, h(c, r)), cast(type, normal * cast<float>(gamma(c)) + cast<float>(beta(c))));
  return Pipeline("layernorm_residual", {x, residual, gamma, beta, eps}, {Output(out, {N, R})});
}

CALOTYPE_OPERATOR(layernorm_residual)
    .describe(
        "h = x + residual, and h normalised over the last NumPy axis, times gamma plus beta; computed in f32")
    .types({"f32", "bf16"})
    .algorithm(layernorm_residual);

}  // namespace
