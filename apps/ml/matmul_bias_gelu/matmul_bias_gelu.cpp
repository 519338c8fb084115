// matmul_bias_gelu: C = gelu(A @ B + bias), the bias along the columns, with GELU by the hyperbolic tangent.
// A is M x K and B is K x N in NumPy's order; in matmul_nt_bias_gelu B is given as N x K.
#include "../matrix_product.h"

namespace {

using namespace calotype;
using apps::Transposed;

/// z / 2 * (1 + tanh(sqrt(2 / pi) * (z + 0.044715 z^3))): Hendrycks and Gimpel, Gaussian Error Linear
/// Units, 2.
Expr gelu(const Expr& z) {
  const Expr half = z * 0.5f;
  return half + half * fast::tanh(z * (0.7978845608f + 0.0356774081f * (z * z)));
}

Pipeline product(const std::string& name, const OperatorTypes& types, Transposed t) {
  apps::SumOfProducts p(types, t);
  ImageParam bias(types.of("bias"), {p.N}, "bias");
  Func C("C");
  C(p.n, p.m) = cast(types.of("C"), gelu(p.acc(p.n, p.m) + cast<float>(bias(p.n))));
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
