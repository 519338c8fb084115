#pragma once
// A runtime plan for one kernel whose buffers are the call's arguments, in order, all of rank 1 or 2.

#include <cstring>
#include <vector>

#include "lower/program.h"
#include "runtime/plan.h"

namespace calotype_test {

/// Where a scalar of the kernel comes from.
struct ScalarFrom {
  calotype_scalar_kind kind;
  int argument, dim;
};

class HandPlan {
 public:
  HandPlan(const calotype::lower::Function& f, const std::vector<ScalarFrom>& scalars, std::int64_t blocks,
           std::int64_t threads, int rank = 1, bool updates = false) {
    for (const std::int64_t n : {blocks, threads, std::int64_t{1}}) ops_.push_back({CALOTYPE_OP_CONST, n});
    for (const auto& b : f.buffers) {
      const auto code =
          static_cast<std::uint8_t>(b->type.code == calotype::TypeCode::Int     ? CALOTYPE_INT
                                    : b->type.code == calotype::TypeCode::UInt  ? CALOTYPE_UINT
                                    : b->type.code == calotype::TypeCode::Float ? CALOTYPE_FLOAT
                                                                                : CALOTYPE_BFLOAT);
      buffer_refs_.push_back(static_cast<std::int32_t>(arguments_.size()));
      arguments_.push_back({b->name.c_str(),
                            {code, b->type.bits},
                            rank,
                            0,
                            static_cast<std::uint8_t>(!b->read_only),
                            static_cast<std::uint8_t>(updates && !b->read_only)});
    }
    for (const ScalarFrom& s : scalars) {
      slot_refs_.push_back(static_cast<std::uint32_t>(scalars_.size()));
      scalars_.push_back({"scalar", s.kind, s.argument, s.dim, {}});
    }
    function_.name = f.name.c_str();
    function_.gpu = 1;
    function_.scalar_count = static_cast<std::uint32_t>(scalars_.size());
    function_.buffer_count = static_cast<std::uint32_t>(buffer_refs_.size());
    for (int axis = 0; axis < 3; ++axis) {
      function_.grid[axis] = {axis == 0 ? 0u : 2u, 1};
      function_.block[axis] = {axis == 0 ? 1u : 2u, 1};
    }
    plan_.name = function_.name;
    plan_.ops = ops_.data();
    plan_.arguments = arguments_.data();
    plan_.scalars = scalars_.data();
    plan_.functions = &function_;
    plan_.slot_refs = slot_refs_.data();
    plan_.buffer_refs = buffer_refs_.data();
    plan_.steps = &step_;
    plan_.argument_count = static_cast<std::uint32_t>(arguments_.size());
    plan_.scalar_count = static_cast<std::uint32_t>(scalars_.size());
    plan_.function_count = plan_.step_count = plan_.stack_size = 1;
  }
  HandPlan(const HandPlan&) = delete;
  HandPlan& operator=(const HandPlan&) = delete;
  const calotype_plan& plan() const { return plan_; }

 private:
  std::vector<calotype_op> ops_;
  std::vector<calotype_plan_argument> arguments_;
  std::vector<calotype_plan_scalar> scalars_;
  std::vector<std::uint32_t> slot_refs_;
  std::vector<std::int32_t> buffer_refs_;
  calotype_plan_function function_{};
  std::uint32_t step_ = 0;
  calotype_plan plan_{};
};

/// A dense host buffer of rank 1 or 2 over the caller's memory.
inline calotype_buffer dense(calotype::Type type, void* data, std::int64_t extent, std::int64_t rows = 0,
                             std::int64_t pitch = 0) {
  calotype_buffer b{};
  b.data = data;
  const int code = type.code == calotype::TypeCode::Int     ? CALOTYPE_INT
                   : type.code == calotype::TypeCode::UInt  ? CALOTYPE_UINT
                   : type.code == calotype::TypeCode::Float ? CALOTYPE_FLOAT
                                                            : CALOTYPE_BFLOAT;
  b.type = {static_cast<std::uint8_t>(code), type.bits};
  b.rank = rows > 0 ? 2 : 1;
  b.dims[0] = {0, extent, 1};
  if (rows > 0) b.dims[1] = {0, rows, pitch};
  return b;
}

}  // namespace calotype_test
