// Schedules of matmul_bias_gelu and matmul_nt_bias_gelu: those of products, whose sums become results where
// they lie.
#include "../product_schedules.h"

namespace {

using namespace calotype;

[[maybe_unused]] const bool added = [] {
  apps::add_product_schedules("matmul_bias_gelu", {}, true);
  apps::add_product_schedules("matmul_nt_bias_gelu", {.b = true}, true);
  return true;
}();

}  // namespace
