// Trailing zero bits of index expressions.

#include "codegen/cuda/alignment.h"

#include <algorithm>
#include <bit>

namespace calotype::cuda {
namespace {

using ir::Op;

constexpr int kMost = 4;  // bits: accesses are of 16 bytes at most

int zeros_of(std::int64_t value) {
  return value == 0 ? kMost : std::min(kMost, std::countr_zero(static_cast<std::uint64_t>(value)));
}

int zeros(const Expr& e, const ir::Facts& facts) {
  if (!e->type.is_integral() || !e->type.is_scalar()) return 0;
  if (const auto value = ir::as_int(e)) return zeros_of(*value);
  const auto part = [&](std::size_t i) { return zeros(e->args[i], facts); };
  switch (e->op) {
    case Op::Variable: {
      const ir::Facts::Known* known = facts.find(ir::symbol_of(e));
      if (!known) return 0;
      const int by_value = known->value.defined() ? zeros(known->value, facts) : 0;
      return std::max(by_value, zeros_of(std::max<std::int64_t>(known->multiple, 1)));
    }
    case Op::Add:
    case Op::Sub:
    case Op::Min:
    case Op::Max:
      return std::min(part(0), part(1));
    case Op::Mul:
      return std::min(kMost, part(0) + part(1));
    case Op::Select:
      return std::min(part(1), part(2));
    case Op::Neg:
    case Op::Likely:
      return part(0);
    case Op::Cast:
      return e->type.is_bool() ? 0 : part(0);
    case Op::BitAnd:
      return std::max(part(0), part(1));
    case Op::Mod:
    case Op::TruncMod:
      return ir::is_const(e->args[1]) ? std::min(part(0), part(1)) : 0;
    case Op::Div:
    case Op::TruncDiv: {
      const auto divisor = ir::as_int(e->args[1]);
      if (!divisor || *divisor <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(*divisor))) return 0;
      // What the cap cut off may be missing here, which errs on the safe side.
      return std::max(0, part(0) - std::countr_zero(static_cast<std::uint64_t>(*divisor)));
    }
    default:
      return 0;
  }
}

}  // namespace

int power_of_two_divisor(const Expr& e, const ir::Facts& facts) { return 1 << zeros(e, facts); }

}  // namespace calotype::cuda
