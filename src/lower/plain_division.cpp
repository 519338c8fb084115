// Division: floor divisions and remainders of a number that is not negative by a positive one, as the machine
// has them.
//
// Requires: finished statements of a kernel. Leaves: the same values; TruncDiv and TruncMod, which are an
// instruction sequence without tests for signs and zeros. Stands behind all simplification, which reasons
// about floor division.

#include <bit>

#include "lower/passes.h"

namespace calotype::lower {

/// Such a divisor is a shift or a mask, whatever the sign.
static bool is_power_of_two(const Expr& e) {
  const std::optional<std::int64_t> value = ir::as_int(e);
  return value && *value > 0 && std::has_single_bit(static_cast<std::uint64_t>(*value));
}

ir::Stmt plain_division(const ir::Stmt& s, const ir::Facts& facts) {
  const ir::Facts known = with_loops(facts, s);
  return ir::rewrite_exprs(s, [&](const Expr& root) {
    return ir::rewrite(root, [&](const Expr& e) -> Expr {
      const bool quotient = ir::is(e, ir::Op::Div);
      if ((!quotient && !ir::is(e, ir::Op::Mod)) || e->type != Int(64) || is_power_of_two(e->args[1]))
        return e;
      if (!ir::prove(e->args[0] >= ir::index(0), known) || !ir::prove(e->args[1] > ir::index(0), known))
        return e;
      return ir::make(quotient ? ir::Op::TruncDiv : ir::Op::TruncMod, e->type, e->args);
    });
  });
}

}  // namespace calotype::lower
