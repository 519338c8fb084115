// rmsnorm_silu_mul: out = silu(x * rsqrt(mean(x^2) + 1e-6) * w) * up, the mean over the last NumPy axis.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline rmsnorm_silu_mul(const OperatorTypes& types) {
  const Type type = types.all();
  Dim N("N"), R("R");
  ImageParam x(type, {N, R}, "x"), w(type, {N}, "w"), up(type, {N, R}, "up");
  Var c("c"), r("r");
  RDom k(0, N, "k");

  Func value("value"), squares("squares"), scale("scale"), out("out");
  value(c, r) = cast<float>(x(c, r));
  squares(r) += value(k, r) * value(k, r);
  scale(r) = rsqrt(squares(r) / cast<float>(N) + 1e-6f);
  Expr z = value(c, r) * scale(r) * cast<float>(w(c));
  // What is rounded to bf16 in the end needs no more than the machine's own exponentials and reciprocals.
  Expr silu = type == BFloat(16) ? fast::divide(z, 1.0f + fast::exp(-z)) : z / (1.0f + exp(-z));
  out(c, r) = cast(type, silu * cast<float>(up(c, r)));
  return Pipeline("rmsnorm_silu_mul", {x, w, up}, {Output(out, {N, R})});
}

CALOTYPE_OPERATOR(rmsnorm_silu_mul)
    .describe("silu(x * rsqrt(mean(x^2) + 1e-6) * w) * up; computed in f32")
    .types({"f32", "bf16"})
    .algorithm(rmsnorm_silu_mul);

}  // namespace
