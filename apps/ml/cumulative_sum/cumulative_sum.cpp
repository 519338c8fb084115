// cumulative_sum: out(n) = x(0) + ... + x(n) along the last NumPy axis, added in that order.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline cumulative_sum(const OperatorTypes& types) {
  const Type kept = types.of("x").is_float() ? Float(32) : Int(64);
  Dim N("N"), D1("D1"), D2("D2"), D3("D3");
  ImageParam x(types.of("x"), {N, D1, D2, D3}, "x");
  Var n("n"), i("i"), j("j"), l("l");
  RDom k(0, N, "k");

  Func value("value"), running("running"), out("out");
  value(n, i, j, l) = cast(kept, x(n, i, j, l));
  running(n, i, j, l) = undef(kept);
  const Expr before = select(k > 0, running(max(k - 1, 0), i, j, l), cast(kept, 0));
  running(k, i, j, l) = before + value(k, i, j, l);
  out(n, i, j, l) = cast(types.of("out"), running(n, i, j, l));
  return Pipeline("cumulative_sum", {x}, {Output(out, {N, D1, D2, D3})});
}

CALOTYPE_OPERATOR(cumulative_sum)
    .describe("running sums along the last NumPy axis, rank 1 to 4; floats in f32, integers in 64 bits")
    .types({"x=f32,out=f32", "x=bf16,out=bf16", "x=s32,out=s64", "x=u8,out=s64"})
    .algorithm(cumulative_sum)
    .least_rank("x", 1);

}  // namespace
