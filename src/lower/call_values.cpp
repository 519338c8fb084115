// The integers that a plan computes, and intervals in terms of them.

#include "lower/call_values.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace calotype::lower {
namespace {

using ir::Op;

bool wide_unsigned(Type t) { return t.is_uint() && t.bits == 64; }

/// Of one operation, whatever its operands are (driver/size_encoder.cpp has the code for it).
bool is_known_to_plans(const Expr& e) {
  if (e->type.is_vector()) return false;
  if (e->op == Op::Variable || e->op == Op::Const) return true;
  if (e->type.is_float() || e->args.empty()) return false;
  const Type operand = e->args[0]->type;
  switch (e->op) {
    case Op::Eq:
    case Op::Ne:
      return !operand.is_float();
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::TruncDiv:
    case Op::Mod:
    case Op::TruncMod:
    case Op::Min:
    case Op::Max:
    case Op::Lt:
    case Op::Le:
    case Op::And:
    case Op::Or:
      return !operand.is_float() && !wide_unsigned(operand);
    case Op::Shl:
    case Op::Shr: {
      const auto amount = ir::as_int(e->args[1]);
      return amount && *amount >= 0 && *amount <= 62 && !wide_unsigned(e->type);
    }
    case Op::Cast:
      if (!operand.is_float()) return true;
      return ir::is(e->args[0], Op::Variable) && operand.bits >= 32 && !e->type.is_bool() &&
             !wide_unsigned(e->type);
    case Op::Let:
    case Op::Likely:
    case Op::Strict:
    case Op::Not:
    case Op::Neg:
    case Op::Select:
      return true;
    default:
      return false;
  }
}

/// Puts symbols of known range in place of what plans do not compute.
class Widening {
 public:
  explicit Widening(const ir::Facts& facts) : facts_(facts) {}

  Expr operator()(const Expr& e) {
    if (const auto done = done_.find(e.node().get()); done != done_.end()) return done->second;
    Expr r = is_opaque(e) ? symbol_for(e) : ir::map_args(e, [&](const Expr& a) { return (*this)(a); });
    done_.emplace(e.node().get(), r);
    return r;
  }

  ir::Scope scope = ir::make_scope();  ///< the symbols

 private:
  /// An integer that is not computed, or not from integers.
  static bool is_opaque(const Expr& e) {
    if (e->type.is_float()) return false;  // a Param, or what stands in an opaque one
    return !is_known_to_plans(e) ||
           std::any_of(e->args.begin(), e->args.end(), [](const Expr& a) { return !computed(a); });
  }
  static bool computed(const Expr& operand) {
    return !operand->type.is_float() || is_known_to_plans(operand);
  }

  Expr symbol_for(const Expr& e) {
    const ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Let, "value", e->type);
    const auto end = [&](std::optional<std::int64_t> c) { return c ? ir::make_int(e->type, *c) : Expr(); };
    scope[symbol] = {end(ir::constant_lower_bound(e, facts_)), end(ir::constant_upper_bound(e, facts_))};
    return ir::make_var(symbol);
  }

  const ir::Facts& facts_;
  std::unordered_map<const ir::ExprNode*, Expr> done_;
};

}  // namespace

bool computed_by_calls(const Expr& e) {
  return !ir::any_of(e, [](const Expr& n) { return !is_known_to_plans(n); });
}

ir::Interval widened_for_calls(const ir::Interval& i, const ir::Facts& facts) {
  ir::Interval result = i;
  for (Expr* end : {&result.min, &result.max}) {
    if (!end->defined() || computed_by_calls(*end)) continue;
    Widening widening(facts);
    const Expr symbolic = widening(*end);
    const ir::Interval all = ir::bounds_of(symbolic, widening.scope, facts);
    const Expr& outer = end == &result.min ? all.min : all.max;
    if (outer.defined()) *end = outer;
  }
  return result;
}

}  // namespace calotype::lower
