// Vector expressions: what is lane-wise is simplified as the scalar expression of one lane, in which a ramp
// is base + stride * lane with the lane a symbol from 0 to lanes - 1. What comes out free of the lane is a
// broadcast, what is linear in it a ramp; so every scalar rule and proof serves vectors too.
#include <algorithm>

#include "ir/simplify_rules.h"

namespace calotype::ir::algebra {

namespace {

bool is_lane_wise(const Expr& e) {
  if (info(e->op).group == OpGroup::vector || e->op == Op::Let || e->op == Op::Variable || e->op == Op::Const)
    return false;
  return std::all_of(e->args.begin(), e->args.end(),
                     [&](const Expr& a) { return a->type.lanes == e->type.lanes || a->type.is_scalar(); });
}

/// Symbols of the simplifier's own: they sort after all others and never leave it.
SymbolPtr internal_symbol(Type type, std::uint64_t number) {
  return std::make_shared<const Symbol>(Symbol{SymbolKind::Let, "lane", type, UINT64_MAX - number});
}

}  // namespace

/// One vector expression taken apart into lanes and put together again.
class Lanes {
 public:
  Lanes(Simplifier& simplifier, int lanes) : simplifier_(simplifier), lanes_(lanes) {}

  Expr to_scalar(const Expr& e) {
    if (e->type.is_scalar()) return e;
    if (auto it = scalars_.find(e); it != scalars_.end()) return it->second;
    Expr r = compute_scalar(e);
    scalars_.emplace(e, r);
    return r;
  }

  Expr to_vector(const Expr& e) {
    if (!varies(e)) return make(Op::Broadcast, e->type.with_lanes(lanes_), {e});
    if (auto it = vectors_.find(e); it != vectors_.end()) return it->second;
    Expr r = compute_vector(e);
    vectors_.emplace(e, r);
    return r;
  }

 private:
  Expr compute_scalar(const Expr& e) {
    const Type type = e->type.element();
    if (is_const(e)) return make(Op::Const, type, {}, e->attr);
    if (is(e, Op::Broadcast) && e->args[0]->type.is_scalar()) return e->args[0];
    if (is(e, Op::Ramp) && has_linear_form(type) && e->args[0]->type.is_scalar()) {
      Expr lane = lane_of(type);
      return make(Op::Add, type, {e->args[0], make(Op::Mul, type, {e->args[1], lane})});
    }
    if (is_lane_wise(e)) {
      std::vector<Expr> args;
      for (const Expr& a : e->args) args.push_back(to_scalar(a));
      return make(e->op, type, std::move(args), e->attr);
    }
    const Expr simple = simplifier_.with_simple_args(e);
    return opaque(is(simple, Op::Let) ? simplifier_.other(simple) : simple);
  }

  Expr lane_of(Type type) {
    for (const auto& [symbol, vector] : own_)
      if (!vector.defined() && symbol->type == type) return make_var(symbol);
    const std::uint64_t number =
        static_cast<std::uint64_t>(lanes_) * 256 + static_cast<std::uint64_t>(type.code) * 128 + type.bits;
    SymbolPtr s = simplifier_.lane_symbol(type, lanes_, number);
    own_.emplace_back(s, Expr());
    return make_var(s);
  }

  /// A scalar that stands for a vector which is not taken apart.
  Expr opaque(const Expr& e) {
    for (const auto& [symbol, vector] : own_)
      if (vector.defined() && equal(vector, e)) return make_var(symbol);
    own_.emplace_back(simplifier_.opaque_symbol(e), e);
    return make_var(own_.back().first);
  }

  const Expr* vector_of(const SymbolPtr& s) const {
    for (const auto& [symbol, vector] : own_)
      if (symbol == s) return &vector;
    return nullptr;
  }

  bool varies(const Expr& e) {
    if (is_const(e)) return false;
    if (is(e, Op::Variable)) return vector_of(symbol_of(e)) != nullptr;
    if (auto it = varying_.find(e); it != varying_.end()) return it->second;
    const bool v = std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return varies(a); });
    varying_.emplace(e, v);
    return v;
  }

  Expr compute_vector(const Expr& e) {
    const Type type = e->type.with_lanes(lanes_);
    if (is(e, Op::Variable)) {
      const Expr& vector = *vector_of(symbol_of(e));
      return vector.defined() ? vector : make(Op::Ramp, type, {make_zero(e->type), make_one(e->type)});
    }
    const bool arithmetic = is(e, Op::Add) || is(e, Op::Sub) || is(e, Op::Mul) || is(e, Op::Neg);
    if (arithmetic && has_linear_form(e->type)) return linear_vector(linear_of(e), e);
    return lane_wise(e);
  }

  Expr lane_wise(const Expr& e) {
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(to_vector(a));
    return make(e->op, e->type.with_lanes(lanes_), std::move(args), e->attr);
  }

  /// base + stride * lane as a ramp, the terms that vary in other ways added to it.
  Expr linear_vector(const Linear& l, const Expr& e) {
    const Type type = e->type;
    const Expr lane = lane_of(type);
    Linear base = Linear::of_constant(l.constant), stride, others;
    for (const Term& t : l.terms) {
      if (!varies(t.atom)) {
        base.terms.push_back(t);
        continue;
      }
      auto rest = remove_factors(factors_of(t.atom), {lane});
      if (rest && std::none_of(rest->begin(), rest->end(), [&](const Expr& f) { return varies(f); })) {
        stride = add(stride, rest->empty() ? Linear::of_constant(t.coefficient)
                                           : Linear::of_atom(product_of(*rest, type), t.coefficient));
      } else {
        others.terms.push_back(t);
      }
    }
    const Type vector = type.with_lanes(lanes_);
    if (stride.is_zero()) return lane_wise(e);
    Expr ramp = make(Op::Ramp, vector, {to_expr(base, type), to_expr(stride, type)});
    return others.is_zero() ? ramp : make(Op::Add, vector, {to_vector(to_expr(others, type)), ramp});
  }

  Simplifier& simplifier_;
  int lanes_;
  std::vector<std::pair<SymbolPtr, Expr>> own_;  ///< lanes (no vector) and what stands for opaque vectors
  ExprMap<Expr> scalars_, vectors_;
  ExprMap<bool> varying_;
};

SymbolPtr Simplifier::lane_symbol(Type type, int lanes, std::uint64_t number) {
  for (const SymbolPtr& s : lanes_)
    if (s->unique == UINT64_MAX - number) return s;
  lanes_.push_back(internal_symbol(type, number));
  analysis_.define_lane(lanes_.back(), lanes);
  return lanes_.back();
}

SymbolPtr Simplifier::opaque_symbol(const Expr& vector) {
  auto [it, fresh] = opaque_.try_emplace(vector, nullptr);
  if (fresh) it->second = internal_symbol(vector->type.element(), (std::uint64_t{1} << 32) + opaque_.size());
  return it->second;
}

Expr Simplifier::vector(const Expr& e) {
  Lanes lanes(*this, e->type.lanes);
  return lanes.to_vector(run(lanes.to_scalar(e)));
}

Expr Simplifier::from_vector(const Expr& e) {
  const Expr& v = e->args[0];
  if (is(v, Op::Broadcast) && v->args[0]->type.is_scalar()) {
    const Expr& x = v->args[0];
    if (e->op != Op::ReduceAdd) return x;
    if (has_linear_form(e->type)) return run(make(Op::Mul, e->type, {x, make_int(e->type, v->type.lanes)}));
  }
  if (e->op == Op::Lane && is(v, Op::Ramp) && v->args[0]->type.is_scalar() && e->args[1]->type == Int(64))
    if (auto i = as_int(e->args[1])) {
      const Type type = e->type;
      return run(make(Op::Add, type, {v->args[0], make(Op::Mul, type, {v->args[1], make_int(type, *i)})}));
    }
  return e;
}

}  // namespace calotype::ir::algebra
