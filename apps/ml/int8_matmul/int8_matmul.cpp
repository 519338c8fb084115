// int8_matmul: out = (A @ B) * scale_a * scale_b: 8-bit factors, sums in 32 bits, a scale for each row of A
// and for each column of B. A is M x K and B is K x N in NumPy's order.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline int8_matmul(const OperatorTypes& types) {
  const Type type = types.of("A");
  Dim M("M"), N("N"), K("K");
  ImageParam A(type, {K, M}, "A"), B(types.of("B"), {N, K}, "B"), scale_a(Float(32), {M}, "scale_a"),
      scale_b(Float(32), {N}, "scale_b");
  Var n("n"), m("m");
  RDom k(0, K, "k");

  Func acc("acc"), out("out");
  acc(n, m) += cast<std::int32_t>(widening_mul(A(k, m), B(n, k)));
  out(n, m) = cast(types.of("out"), cast<float>(acc(n, m)) * (scale_a(m) * scale_b(n)));
  return Pipeline("int8_matmul", {A, B, scale_a, scale_b}, {Output(out, {N, M})});
}

CALOTYPE_OPERATOR(int8_matmul)
    .describe(
        "(A @ B) * scale_a * scale_b: 8-bit factors, sums in 32 bits, scales by row of A and column of B")
    .types({"A=s8,B=s8,out=f32", "A=s8,B=s8,out=bf16"})
    .algorithm(int8_matmul);

}  // namespace
