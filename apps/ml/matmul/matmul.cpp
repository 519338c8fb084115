// matmul: C = A @ B. A is M x K and B is K x N in NumPy's order; dimension 0 is the last NumPy axis. In
// matmul_nt B is given as N x K, in matmul_tn A as K x M, in matmul_tt both.
#include "../matrix_product.h"

namespace {

using namespace calotype;
using apps::matrix_product;

Pipeline matmul(const OperatorTypes& types) { return matrix_product("matmul", types, {}); }
Pipeline matmul_nt(const OperatorTypes& types) { return matrix_product("matmul_nt", types, {.b = true}); }
Pipeline matmul_tn(const OperatorTypes& types) { return matrix_product("matmul_tn", types, {.a = true}); }
Pipeline matmul_tt(const OperatorTypes& types) {
  return matrix_product("matmul_tt", types, {.a = true, .b = true});
}

CALOTYPE_OPERATOR(matmul)
    .describe("matrix product C = A @ B")
    .types({"f32", "bf16", "f16"})
    .algorithm(matmul);
CALOTYPE_OPERATOR(matmul_nt)
    .describe("C = A @ B^T: the rows of B are what is summed over")
    .types({"bf16", "f16", "A=s8,B=s8,C=s32"})
    .algorithm(matmul_nt);
CALOTYPE_OPERATOR(matmul_tn)
    .describe("C = A^T @ B: the columns of A are what is summed over")
    .types({"bf16", "f16"})
    .algorithm(matmul_tn);
CALOTYPE_OPERATOR(matmul_tt).describe("C = A^T @ B^T").types({"bf16", "f16"}).algorithm(matmul_tt);

}  // namespace
