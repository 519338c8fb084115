// matmul: C = A @ B. A is M x K and B is K x N in NumPy's order; dimension 0 is the last NumPy axis.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline matmul(const OperatorTypes& types) {
  const Type type = types.all();
  Dim M("M"), N("N"), K("K");
  ImageParam A(type, {K, M}, "A"), B(type, {N, K}, "B");
  Var n("n"), m("m");
  RDom k(0, K, "k");

  Func acc("acc"), C("C");
  acc(n, m) += A(k, m) * B(n, k);
  C(n, m) = acc(n, m);
  return Pipeline("matmul", {A, B}, {Output(C, {N, M})});
}

CALOTYPE_OPERATOR(matmul).describe("matrix product C = A @ B").types({"f32"}).algorithm(matmul);

}  // namespace
