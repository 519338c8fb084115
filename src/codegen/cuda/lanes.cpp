// Vector expressions seen lane by lane.

#include <algorithm>

#include "codegen/cuda/kernel_printer.h"

namespace calotype::cuda {

using ir::Op;

namespace {

using LaneOfVariable = std::function<Expr(const Expr&, const Expr&)>;

/// The number of a lane in a vector that is repeated, or of the repetition.
Expr part_of(Op op, const Expr& lane, int lanes) {
  const Expr size = ir::make_int(lane->type, lanes);
  return ir::is_const(lane) ? ir::fold(op, lane->type, {lane, size}) : ir::make(op, lane->type, {lane, size});
}

/// base + i * stride in lane i; of a vector base of m lanes, in each group i of m lanes.
Expr ramp_lane(const Expr& ramp, const Expr& lane, const LaneOfVariable& lane_of_variable) {
  const int group = ramp->args[0]->type.lanes;
  const Expr within = group == 1 ? lane : part_of(Op::TruncMod, lane, group);
  const Expr number = group == 1 ? lane : part_of(Op::TruncDiv, lane, group);
  const Expr base = lane_of(ramp->args[0], within, lane_of_variable),
             stride = lane_of(ramp->args[1], within, lane_of_variable);
  const Expr step = ir::make(Op::Cast, base->type, {number});
  Expr offset = ir::is_one(stride) ? step : ir::make(Op::Mul, base->type, {step, stride});
  if (ir::is_zero(base)) return offset;
  return ir::make(Op::Add, base->type, {base, offset});
}

/// How the lanes of an integer vector run: 0 all equal, 1 not falling, -1 not rising, 2 unknown.
int direction(const Expr& e) {
  switch (e->op) {
    case Op::Broadcast:
      return e->args[0]->type.is_vector() ? 2 : 0;
    case Op::Const:
      return 0;
    case Op::Ramp: {
      const std::optional<std::int64_t> stride = ir::as_int(e->args[1]);
      if (!stride || e->args[0]->type.is_vector()) return 2;
      return *stride > 0 ? 1 : *stride < 0 ? -1 : 0;
    }
    case Op::Add:
    case Op::Min:
    case Op::Max: {
      const int a = direction(e->args[0]), b = direction(e->args[1]);
      if (a == 0 || a == b) return b;
      return b == 0 ? a : 2;
    }
    case Op::Sub: {
      const int a = direction(e->args[0]), b = direction(e->args[1]);
      if (a == 2 || b == 2) return 2;
      if (b == 0 || a == -b) return a;
      return a == 0 ? -b : 2;
    }
    default:
      return 2;
  }
}

Expr end_lane(const Expr& e, bool largest, int dir) {
  const int lane = (dir == 1) == largest ? e->type.lanes - 1 : 0;
  return lane_of(e, ir::make_int(Int(32), dir == 0 ? 0 : lane), nullptr);
}

}  // namespace

Expr lane_of(const Expr& e, const Expr& lane, const LaneOfVariable& lane_of_variable) {
  if (!e->type.is_vector()) return e;
  const auto part = [&](const Expr& operand, const Expr& of) {
    return lane_of(operand, of, lane_of_variable);
  };
  switch (e->op) {
    case Op::Ramp:
      return ramp_lane(e, lane, lane_of_variable);
    case Op::Broadcast:
      if (e->args[0]->type.is_vector())
        return part(e->args[0], part_of(Op::TruncMod, lane, e->args[0]->type.lanes));
      return e->args[0];
    case Op::Variable:
      return lane_of_variable(e, lane);
    case Op::Const:
      return e->type.is_float() ? ir::make_float(e->type.element(), std::get<double>(e->attr))
                                : ir::make_int(e->type.element(), std::get<std::int64_t>(e->attr));
    default: {
      std::vector<Expr> args;
      for (const Expr& a : e->args) args.push_back(part(a, lane));
      return ir::make(e->op, e->type.element(), std::move(args), e->attr);
    }
  }
}

Expr all_lanes(const Expr& predicate) {
  switch (predicate->op) {
    case Op::Broadcast:
      return predicate->args[0];
    case Op::Likely:
      return all_lanes(predicate->args[0]);
    case Op::And: {
      const Expr a = all_lanes(predicate->args[0]), b = all_lanes(predicate->args[1]);
      return a.defined() && b.defined() ? ir::make(Op::And, Bool(), {a, b}) : Expr();
    }
    case Op::Lt:
    case Op::Le: {
      const Expr &a = predicate->args[0], &b = predicate->args[1];
      const int rising_a = direction(a), rising_b = direction(b);
      if (!a->type.is_integral() || rising_a == 2 || rising_b == 2) return {};
      if (rising_a != 0 && rising_b != 0) return {};
      return ir::make(predicate->op, Bool(), {end_lane(a, true, rising_a), end_lane(b, false, rising_b)});
    }
    default:
      return {};
  }
}

std::vector<Expr> conjuncts(const Expr& predicate) {
  if (!predicate.defined() || ir::is_one(predicate)) return {};
  if (!ir::is(predicate, Op::And)) return {predicate};
  std::vector<Expr> all = conjuncts(predicate->args[0]);
  for (Expr& e : conjuncts(predicate->args[1])) all.push_back(std::move(e));
  return all;
}

bool uniform(const std::vector<Expr>& conditions) {
  return std::all_of(conditions.begin(), conditions.end(),
                     [](const Expr& e) { return ir::is(e, Op::Broadcast); });
}

}  // namespace calotype::cuda
