// Proof that an update is an associative reduction.

#include "schedule/associative.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/limits.h"
#include "lang/build_graph.h"

namespace calotype::schedule {

namespace {

using ir::Op;

Expr identity_of(Op op, Type type) {
  switch (op) {
    case Op::Mul:
    case Op::And:
      return ir::make_one(type);
    case Op::Min:
      return ir::highest(type);
    case Op::Max:
      return ir::lowest(type);
    case Op::BitAnd:
      return ir::make_int(type, -1);
    default:
      return ir::make_zero(type);
  }
}

class Prover {
 public:
  Prover(const lang::FuncDef& func, const lang::StageDef& stage)
      : func_(func), stage_(stage), values_(stage.values()), proved_(values_.size()) {}

  Associative operator()() {
    if (reads_self(stage_.predicate) ||
        std::any_of(stage_.lhs.begin(), stage_.lhs.end(), [&](const Expr& e) { return reads_self(e); })) {
      result_.unproved = "where it writes depends on its own values";
      return std::move(result_);
    }
    for (int c = 0; c < func_.components(); ++c) {
      const Type type = func_.types[c];
      result_.left.push_back(ir::make_symbol(ir::SymbolKind::Let, fmt::format("left.{}", c), type));
      result_.right.push_back(ir::make_symbol(ir::SymbolKind::Let, fmt::format("right.{}", c), type));
    }
    result_.terms.resize(values_.size());
    result_.identity.resize(values_.size());
    result_.combined.resize(values_.size());
    for (int c = 0; c < func_.components(); ++c)
      if (!keep(c)) reduce(c);
    for (int c = 0; c < func_.components(); ++c)
      if (!proved_[c]) choose(c);
    for (int c = 0; c < func_.components(); ++c) {
      if (proved_[c]) continue;
      result_.unproved = fmt::format(
          "{} is no reduction of terms that do not depend on '{}'",
          func_.is_tuple() ? fmt::format("component {}, {},", c, values_[c].str()) : values_[c].str(),
          func_.name);
      break;
    }
    return std::move(result_);
  }

 private:
  Expr left(int c) const { return ir::make_var(result_.left[c]); }
  Expr right(int c) const { return ir::make_var(result_.right[c]); }

  bool reads_self(const Expr& e) const {
    return ir::any_of(e, [&](const Expr& node) { return func_.is_read(node); });
  }

  /// The component's own value at the point that is written.
  bool is_own(const Expr& e, int c) const {
    return func_.is_read(e) && ir::callee_of(e)->component == c && ir::equal(e->args, stage_.lhs);
  }

  void prove(int c, const Expr& term, const Expr& identity, const Expr& combined) {
    result_.terms[c] = term;
    result_.identity[c] = identity;
    result_.combined[c] = combined;
    proved_[c] = true;
  }

  bool keep(int c) {
    if (!is_own(values_[c], c)) return false;
    const Expr zero = ir::make_zero(func_.types[c]);
    prove(c, zero, zero, left(c));
    return true;
  }

  /// A value that is f op term.
  struct Step {
    Op op;
    Expr term;
  };

  std::optional<Step> step_of(const Expr& value, int c) const {
    if (ir::is(value, Op::Select)) return step_under_condition(value, c);
    if (!lang::is_reduction_op(value->op)) return std::nullopt;
    for (int side = 0; side < 2; ++side) {
      const Expr& term = value->args[1 - side];
      if (is_own(value->args[side], c) && !reads_self(term)) return Step{value->op, term};
    }
    return std::nullopt;
  }

  /// select(c, f op term, f) is f op select(c, term, identity), since f op identity is f; where both arms are
  /// steps of one operation the condition chooses between the terms.
  std::optional<Step> step_under_condition(const Expr& value, int c) const {
    const Expr& condition = value->args[0];
    if (reads_self(condition)) return std::nullopt;
    std::optional<Step> arms[2];
    for (int side : {0, 1})
      if (!is_own(value->args[side + 1], c)) {
        arms[side] = step_of(value->args[side + 1], c);
        if (!arms[side]) return std::nullopt;
      }
    if (!arms[0] && !arms[1]) return std::nullopt;
    const Op op = arms[0] ? arms[0]->op : arms[1]->op;
    if (arms[0] && arms[1] && arms[0]->op != arms[1]->op) return std::nullopt;
    const Expr identity = identity_of(op, func_.types[c]);
    return Step{op,
                select(condition, arms[0] ? arms[0]->term : identity, arms[1] ? arms[1]->term : identity)};
  }

  void reduce(int c) {
    const std::optional<Step> step = step_of(values_[c], c);
    if (!step) return;
    const Type type = func_.types[c];
    prove(c, step->term, identity_of(step->op, type), ir::make(step->op, type, {left(c), right(c)}));
    result_.regroups_floats |= type.is_float();
  }

  /// select(term_k beats f[k], term, f): the first of the best terms is chosen, so earlier results must be
  /// combined before later ones.
  void choose(int c) {
    const Expr& value = values_[c];
    if (!ir::is(value, Op::Select) || !is_own(value->args[2], c) || reads_self(value->args[1])) return;
    const Expr& condition = value->args[0];
    if (!ir::is(condition, Op::Lt)) return;
    for (int side = 0; side < 2; ++side) {
      const Expr &own = condition->args[side], &term = condition->args[1 - side];
      if (!func_.is_read(own) || reads_self(term)) continue;
      const int key = ir::callee_of(own)->component;
      if (!is_own(own, key) || !is_key(key, condition, term, side == 0)) continue;
      const Type type = func_.types[c];
      const Expr better = side == 0 ? ir::make(Op::Lt, Bool(), {left(key), right(key)})
                                    : ir::make(Op::Lt, Bool(), {right(key), left(key)});
      // Nothing beats its like: a partial result that nothing was chosen for loses against any other.
      const Expr identity = c != key ? ir::make_zero(type) : side == 0 ? ir::lowest(type) : ir::highest(type);
      prove(c, value->args[1], identity, ir::make(Op::Select, type, {better, right(c), left(c)}));
      result_.commutative = false;
      return;
    }
  }

  /// Whether the component compared is itself the term where that is better.
  bool is_key(int key, const Expr& condition, const Expr& term, bool largest) const {
    const Expr& value = values_[key];
    if (ir::is(value, Op::Select))
      return ir::equal(value->args[0], condition) && ir::equal(value->args[1], term) &&
             is_own(value->args[2], key);
    if (!ir::is(value, largest ? Op::Max : Op::Min)) return false;
    return (is_own(value->args[0], key) && ir::equal(value->args[1], term)) ||
           (is_own(value->args[1], key) && ir::equal(value->args[0], term));
  }

  const lang::FuncDef& func_;
  const lang::StageDef& stage_;
  const std::vector<Expr> values_;
  std::vector<bool> proved_;
  Associative result_;
};

}  // namespace

Expr Associative::combine(const std::vector<Expr>& earlier, const std::vector<Expr>& later) const {
  ir::Substitution map;
  for (std::size_t c = 0; c < combined.size(); ++c) {
    map.emplace_back(left[c], earlier[c]);
    map.emplace_back(right[c], later[c]);
  }
  std::vector<Expr> values;
  for (const Expr& e : combined) values.push_back(ir::substitute(e, map));
  return ir::joined(values);
}

Associative prove_associative(const lang::FuncDef& func, const lang::StageDef& stage) {
  return Prover(func, stage)();
}

}  // namespace calotype::schedule
