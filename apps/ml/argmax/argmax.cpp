// argmax: where the largest value of each row stands, over the last NumPy axis, and that value; of equal ones
// the first.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

Pipeline argmax_of_rows(const OperatorTypes& types) {
  Dim N("N"), D1("D1"), D2("D2"), D3("D3");
  ImageParam x(types.all(), {N, D1, D2, D3}, "x");
  Var i("i"), j("j"), l("l");
  RDom k(0, N, "k"), q(0, N, "q");

  // The place is a reduction of its own: the least of those that have the largest value. Its terms, unlike
  // those of one pass that carries the value and its place together, may be taken in any order, and so in
  // vectors. The second reading of a row comes from the cache.
  Func out("out");
  const Expr peak = maximum(x(k, i, j, l), "peak");
  const Expr end = cast<std::int32_t>(N);
  const Expr place = minimum(select(x(q, i, j, l) == peak, cast<std::int32_t>(q), end), "place");
  // A row of NaNs has no largest value.
  out(i, j, l) = Tuple(select(place == end, 0, place), peak);
  return Pipeline("argmax", {x}, {Output(out, {D1, D2, D3})});
}

CALOTYPE_OPERATOR(argmax)
    .describe(
        "place and value of the largest element over the last NumPy axis, rank 1 to 4; the first of equal "
        "ones")
    .types({"f32", "bf16", "s32", "u8"})
    .algorithm(argmax_of_rows)
    .least_rank("x", 1);

}  // namespace
