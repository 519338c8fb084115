// Schedules of matmul and its transposed forms on tensor cores, a step further each.
#include "../matrix_product.h"

namespace {

using namespace calotype;
using apps::ProductStep;
using apps::TensorProduct;
using apps::thread_a_sum;
using apps::Transposed;

/// Tensor cores multiply no f32.
auto at(ProductStep step, Transposed t) {
  return [=](const OperatorTypes& types) {
    return types.of("A") == Float(32) ? thread_a_sum() : TensorProduct(types, t).schedule(step);
  };
}

void add_steps(OperatorRegistration registration, Transposed t) {
  const auto add = [&](const char* name, const char* description, ProductStep step) {
    registration.schedule(name, Target::Kind::Cuda, description, at(step, t));
  };
  add("tensor_cores", "tiles by tensor cores from boxes of A and B", ProductStep::TensorCores);
  add("tensor_pipelined", "the same, boxes copied ahead of their use", ProductStep::Pipelined);
  add("tensor_roles", "the same, by warps of their own", ProductStep::Roles);
  add("tensor_staged", "the same, tiles of C sent as boxes", ProductStep::Staged);
  add("tensor", "the same, one tile after the other in each block", ProductStep::Persistent);
  add("tensor_above", "the same, pairs of blocks with the same columns of B", ProductStep::Above);
  add("tensor_beside", "the same, pairs of blocks with the same rows of A", ProductStep::Beside);
}

[[maybe_unused]] const bool added = [] {
  add_steps(register_schedules("matmul"), {});
  for (const auto& [name, t] : {std::pair("matmul_nt", Transposed{.b = true}),
                                {"matmul_tn", Transposed{.a = true}},
                                {"matmul_tt", Transposed{.a = true, .b = true}}}) {
    register_schedules(name).schedule("gpu", Target::Kind::Cuda, "a thread a sum",
                                      [](const OperatorTypes&) { return thread_a_sum(); });
    add_steps(register_schedules(name), t);
  }
  return true;
}();

}  // namespace
