// transpose: out = x with its last two NumPy axes exchanged, for each matrix of a batch.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline transposed(const OperatorTypes& types) {
  const Type type = types.all();
  Dim N("N"), M("M"), B("B");
  ImageParam x(type, {N, M, B}, "x");
  Var m("m"), n("n"), b("b");

  Func out("out");
  out(m, n, b) = x(n, m, b);
  return Pipeline("transpose", {x}, {Output(out, {M, N, B})});
}

CALOTYPE_OPERATOR(transpose)
    .describe("exchanges the last two NumPy axes, of a matrix or of each in a batch")
    .types({"f32", "bf16", "u8"})
    .algorithm(transposed)
    .least_rank("x", 2);

}  // namespace
