// matmul_bias_gelu: C = gelu(A @ B + bias), the bias along the columns, gelu(z) = z / 2 * (1 + erf(z /
// sqrt(2))). A is M x K and B is K x N in NumPy's order; in matmul_nt_bias_gelu B is given as N x K.
#include "../gelu.h"
#include "../matrix_product.h"

namespace {

using namespace calotype;
using apps::Transposed;

Pipeline product(const std::string& name, const OperatorTypes& types, Transposed t) {
  apps::SumOfProducts p(types, t);
  ImageParam bias(types.of("bias"), {p.N}, "bias");
  Func C("C");
  C(p.n, p.m) = cast(types.of("C"), apps::rough_gelu(p.acc(p.n, p.m) + cast<float>(bias(p.n))));
  return Pipeline(name, {p.A, p.B, bias}, {Output(C, {p.N, p.M})});
}

Pipeline matmul_bias_gelu(const OperatorTypes& types) { return product("matmul_bias_gelu", types, {}); }
Pipeline matmul_nt_bias_gelu(const OperatorTypes& types) {
  return product("matmul_nt_bias_gelu", types, {.b = true});
}

CALOTYPE_OPERATOR(matmul_bias_gelu)
    .describe("gelu(A @ B + bias)")
    .types({"bf16", "f16"})
    .algorithm(matmul_bias_gelu);
CALOTYPE_OPERATOR(matmul_nt_bias_gelu)
    .describe("gelu(A @ B^T + bias): the rows of B are what is summed over")
    .types({"bf16", "f16"})
    .algorithm(matmul_nt_bias_gelu);

}  // namespace
