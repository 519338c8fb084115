// softmax_columns: softmax over the first NumPy axis of a matrix: out = exp(x - max) / sum(exp(x - max)) down
// each column.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline softmax_columns(const OperatorTypes& types) {
  const Type type = types.all();
  Dim N("N"), R("R");
  ImageParam x(type, {N, R}, "x");
  Var c("c"), r("r");
  RDom k(0, R, "k"), q(0, R, "q");

  Func value("value"), e("e"), total("total"), scale("scale"), out("out");
  value(c, r) = cast<float>(x(c, r));
  const Expr peak = maximum(value(c, k), "peak");
  // What is rounded to bf16 in the end needs no more than the machine's own exponentials.
  const bool rough = type == BFloat(16);
  const Expr distance = value(c, r) - peak;
  e(c, r) = rough ? fast::exp(distance) : exp(distance);
  total(c) += e(c, q);
  // One division a column: the elements are as many as those of x.
  scale(c) = 1.0f / total(c);
  out(c, r) = cast(type, e(c, r) * scale(c));
  return Pipeline("softmax_columns", {x}, {Output(out, {N, R})});
}

CALOTYPE_OPERATOR(softmax_columns)
    .describe("softmax over the first NumPy axis of a matrix; computed in f32")
    .types({"f32", "bf16"})
    .algorithm(softmax_columns);

}  // namespace
