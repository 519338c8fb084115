// sum: all elements of x. sum_rows: those of each row, over the last NumPy axis.
#include <calotype/calotype.h>
#include <calotype/operator.h>

namespace {

using namespace calotype;

// What sums are kept in: f32 for floats; 64 bits for integers, so that no sum of an array in memory wraps.
Type sum_type(const OperatorTypes& types) { return types.of("x").is_float() ? Float(32) : Int(64); }

Pipeline sum_all(const OperatorTypes& types) {
  Dim N("N"), D1("D1"), D2("D2"), D3("D3");
  ImageParam x(types.of("x"), {N, D1, D2, D3}, "x");
  Var n("n"), i("i"), j("j"), l("l");
  RDom k({{0, N}, {0, D1}, {0, D2}, {0, D3}}, "k");

  Func value("value"), total("total"), out("out");
  value(n, i, j, l) = cast(sum_type(types), x(n, i, j, l));
  total() += value(k[0], k[1], k[2], k[3]);
  out() = cast(types.of("out"), total());
  return Pipeline("sum", {x}, {Output(out, {})});
}

Pipeline sum_rows(const OperatorTypes& types) {
  Dim N("N"), D1("D1"), D2("D2"), D3("D3");
  ImageParam x(types.of("x"), {N, D1, D2, D3}, "x");
  Var n("n"), i("i"), j("j"), l("l");
  RDom k(0, N, "k");

  Func value("value"), total("total"), out("out");
  value(n, i, j, l) = cast(sum_type(types), x(n, i, j, l));
  total(i, j, l) += value(k, i, j, l);
  out(i, j, l) = cast(types.of("out"), total(i, j, l));
  return Pipeline("sum_rows", {x}, {Output(out, {D1, D2, D3})});
}

const std::vector<std::string> kTypes = {"x=f32,out=f32", "x=bf16,out=f32", "x=u8,out=s64", "x=s32,out=s64"};

CALOTYPE_OPERATOR(sum)
    .describe("the sum of all elements, rank 1 to 4; floats in f32, integers in 64 bits")
    .types(kTypes)
    .algorithm(sum_all)
    .least_rank("x", 1);

CALOTYPE_OPERATOR(sum_rows)
    .describe("sums over the last NumPy axis, rank 1 to 4; floats in f32, integers in 64 bits")
    .types(kTypes)
    .algorithm(sum_rows)
    .least_rank("x", 1);

}  // namespace
