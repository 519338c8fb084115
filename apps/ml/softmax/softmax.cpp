// softmax over the last NumPy axis: out = exp(x - max) / sum(exp(x - max)). Up to three outer axes.
#include <calotype/calotype.h>
#include <calotype/operator.h>

#include <limits>

namespace {

using namespace calotype;

Pipeline softmax(const OperatorTypes& types) {
  const Type type = types.all();
  Dim N("N"), D1("D1"), D2("D2"), D3("D3");
  ImageParam x(type, {N, D1, D2, D3}, "x");
  Var n("n"), i("i"), j("j"), l("l");
  RDom k(0, N, "k");

  Func value("value"), peak("peak"), e("e"), total("total"), out("out");
  value(n, i, j, l) = cast<float>(x(n, i, j, l));
  peak(i, j, l) = -std::numeric_limits<float>::infinity();
  peak(i, j, l) = max(peak(i, j, l), value(k, i, j, l));
  // What is rounded to bf16 in the end needs no more than the machine's own exponentials and reciprocals.
  const bool rough = type == BFloat(16);
  const Expr distance = value(n, i, j, l) - peak(i, j, l);
  e(n, i, j, l) = rough ? fast::exp(distance) : exp(distance);
  total(i, j, l) += e(k, i, j, l);
  const Expr own = e(n, i, j, l), all = total(i, j, l);
  out(n, i, j, l) = cast(type, rough ? fast::divide(own, all) : own * (1.0f / all));
  return Pipeline("softmax", {x}, {Output(out, {N, D1, D2, D3})});
}

CALOTYPE_OPERATOR(softmax)
    .describe("softmax over the last NumPy axis, rank 1 to 4; computed in f32")
    .types({"f32", "bf16"})
    .algorithm(softmax)
    .least_rank("x", 1);

}  // namespace
