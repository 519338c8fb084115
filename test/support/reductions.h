#pragma once
// What reductions are tested with: the operations that can be combined in parts, and the types of each.

#include <calotype/calotype.h>

#include <functional>
#include <vector>

namespace calotype::testing {

struct ReductionOperation {
  const char* name;
  std::function<Expr(Expr, Expr)> apply;
  bool bools = false, numbers = true, floats = true;
};

inline const std::vector<ReductionOperation>& reduction_operations() {
  static const std::vector<ReductionOperation> all = {
      {"sum", [](Expr a, Expr b) { return a + b; }},
      {"product", [](Expr a, Expr b) { return a * b; }},
      {"least", [](Expr a, Expr b) { return min(a, b); }},
      {"largest", [](Expr a, Expr b) { return max(a, b); }},
      {"bits_and", [](Expr a, Expr b) { return a & b; }, true, true, false},
      {"bits_or", [](Expr a, Expr b) { return a | b; }, true, true, false},
      {"bits_xor", [](Expr a, Expr b) { return a ^ b; }, false, true, false},
      {"all", [](Expr a, Expr b) { return a && b; }, true, false, false},
      {"any", [](Expr a, Expr b) { return a || b; }, true, false, false},
  };
  return all;
}

inline std::vector<Type> types_of(const ReductionOperation& op) {
  std::vector<Type> types;
  if (op.bools) types.push_back(Bool());
  if (op.numbers)
    for (int bits : {8, 16, 32, 64}) types.insert(types.end(), {Int(bits), UInt(bits)});
  if (op.floats) types.insert(types.end(), {Float(16), BFloat(16), Float(32), Float(64)});
  return types;
}

}  // namespace calotype::testing
