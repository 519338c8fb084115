// Vectorisation: loops bound Vector become vector expressions.
//
// Requires: a constant extent or constant upper bound; nothing stored inside. Leaves: no Vector loop;
// accesses whose index varies are vector accesses, those under a varying condition carry it as a predicate,
// so that lanes past the end touch no memory.
//
// A vector loop inside another one makes one vector of both: the lanes of the inner loop lie next to each
// other, once for each iteration of the outer one. What was computed for the outer one alone is computed anew
// for all lanes.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "ir/questions.h"
#include "lower/passes.h"
#include "schedule/lane_nest.h"

namespace calotype::lower {
namespace {

[[noreturn]] void refuse(const ir::LoopInfo& loop, std::string message, const Expr& value,
                         std::string legal) {
  throw Error({.kind = ErrorKind::Schedule,
               .message = std::move(message),
               .func = loop.func,
               .directive = loop.origin,
               .value = value.defined() ? ir::to_string(value) : "",
               .legal = std::move(legal)});
}

/// A vector loop.
struct Axis {
  ir::LoopInfo loop;
  Expr min;
  int lanes;
};

int product_of(const std::vector<Axis>& axes, std::size_t first, std::size_t last) {
  int lanes = 1;
  for (std::size_t i = first; i < last; ++i) lanes *= axes[i].lanes;
  return lanes;
}

/// The loop's lanes: its extent, or a constant that it does not pass.
int lanes_of(const ir::LoopInfo& loop, const Expr& extent, const ir::Facts& facts) {
  const std::optional<std::int64_t> exact = ir::as_int(extent);
  const std::optional<std::int64_t> lanes = exact ? exact : ir::constant_upper_bound(extent, facts);
  if (!lanes || *lanes > schedule::kMostLanes)
    refuse(loop,
           fmt::format("loop '{}' cannot be a vector: its extent {}", loop.var->name,
                       lanes ? fmt::format("is {}", *lanes) : "has no constant bound"),
           extent, "a constant extent of at most 256: vectorize by a factor, or split first");
  return static_cast<int>(std::max<std::int64_t>(*lanes, 1));
}

/// The body, for iterations that there are.
ir::Stmt within_extent(const ir::Stmt& loop) {
  if (ir::as_int(loop->exprs[1])) return loop->body();
  return ir::if_then(ir::make_var(loop->loop().var) - loop->exprs[0] < loop->exprs[1], loop->body());
}

/// Widens the body of a loop, or of several in each other, to lanes.
class Widener {
 public:
  /// Outermost first.
  Widener(std::vector<Axis> axes, const ir::Facts& facts)
      : axes_(std::move(axes)),
        loop_(axes_.front().loop),
        lanes_(product_of(axes_, 0, axes_.size())),
        facts_(facts) {
    for (std::size_t i = 0; i < axes_.size(); ++i)
      map_.emplace_back(axes_[i].loop.var, coordinate(axes_[i], product_of(axes_, 0, i),
                                                      product_of(axes_, i + 1, axes_.size())));
  }

  ir::Stmt run(const ir::Stmt& body) { return widen(body, {}); }

 private:
  /// The axis's variable: each value `repeated` times, and all of that `times` times.
  static Expr coordinate(const Axis& axis, int times, int repeated) {
    const auto spread = [](const Expr& e, int lanes) {
      return lanes == 1 ? e : ir::make(ir::Op::Broadcast, e->type.with_lanes(e->type.lanes * lanes), {e});
    };
    const Expr first = spread(axis.min, repeated), step = spread(ir::index(1), repeated);
    const Expr all =
        axis.lanes == 1 ? first : ir::make(ir::Op::Ramp, Int(64, axis.lanes * repeated), {first, step});
    return spread(all, times);
  }

  bool varies(const Expr& e) const {
    for (const auto& [symbol, value] : map_)
      if (ir::uses(e, symbol)) return true;
    return false;
  }

  Expr broadcast(const Expr& e) const {
    return e->type.is_vector() ? e : ir::make(ir::Op::Broadcast, e->type.with_lanes(lanes_), {e});
  }

  /// The vector of an expression's values over the lanes; scalars stay scalar where nothing varies. Loads
  /// under a mask touch only their lanes.
  Expr wide(const Expr& e, const Expr& mask) {
    std::map<const ir::ExprNode*, Expr> done;
    std::function<Expr(const Expr&)> go = [&](const Expr& n) -> Expr {
      auto it = done.find(n.node().get());
      if (it != done.end()) return it->second;
      Expr result = wide_node(n, mask, go);
      done.emplace(n.node().get(), result);
      return result;
    };
    return go(e);
  }

  Expr wide_node(const Expr& n, const Expr& mask, const std::function<Expr(const Expr&)>& go) {
    if (ir::is(n, ir::Op::Variable)) {
      for (const auto& [symbol, value] : map_)
        if (ir::symbol_of(n) == symbol) return value;
      return n;
    }
    std::vector<Expr> args;
    bool any = false, changed = false;
    for (const Expr& a : n->args) {
      args.push_back(go(a));
      any |= args.back()->type.is_vector();
      changed |= !args.back().same_as(a);
    }
    if (!any) return changed ? ir::make(n->op, n->type, std::move(args), n->attr) : n;
    if (ir::is(n, ir::Op::Load)) return wide_load(n, args[0], mask);
    if (ir::is(n, ir::Op::LoadIf) && !args[1]->type.is_vector()) return uniform_load(n, args[0], args[1]);
    for (Expr& a : args) a = broadcast(a);
    if (ir::is(n, ir::Op::LoadIf) && mask.defined())
      args[0] = ir::make(ir::Op::And, Bool(lanes_), {args[0], broadcast(mask)});
    return ir::make(n->op, n->type.with_lanes(lanes_), std::move(args), n->attr);
  }

  /// One load for all lanes, which have its address in common, if one of them is to have it.
  Expr uniform_load(const Expr& n, const Expr& condition, const Expr& index) const {
    const Expr any = is_prefix(n->args[0]) && !has_names() ? at_end(n->args[0], false)
                                                           : ir::make(ir::Op::ReduceMax, Bool(), {condition});
    return ir::make(ir::Op::LoadIf, n->type, {any, index}, n->attr);
  }

  Expr wide_load(const Expr& n, const Expr& index, const Expr& mask) {
    const Type type = n->type.with_lanes(lanes_);
    if (!mask.defined() || ir::buffer_of(n)->partial) return ir::make(ir::Op::Load, type, {index}, n->attr);
    return ir::make(ir::Op::LoadIf, type, {broadcast(mask), index}, n->attr);
  }

  Expr both(const Expr& mask, const Expr& condition) {
    const Expr c = broadcast(condition);
    return mask.defined() ? ir::make(ir::Op::And, Bool(lanes_), {mask, c}) : c;
  }

  ir::Stmt widen(const ir::Stmt& s, const Expr& mask) {
    switch (s->kind) {
      case ir::StmtKind::Block: {
        std::vector<ir::Stmt> stmts;
        for (const ir::Stmt& child : s->stmts) stmts.push_back(widen(child, mask));
        return ir::block(std::move(stmts));
      }
      case ir::StmtKind::Note:
        return ir::note(s->note(), widen(s->body(), mask));
      case ir::StmtKind::Meter:
        return ir::metered(s->meter(), widen(s->body(), mask));
      case ir::StmtKind::Let:
        return widen_let(s, mask);
      case ir::StmtKind::For:
        return widen_for(s, mask);
      case ir::StmtKind::If:
        return widen_if(s, mask);
      case ir::StmtKind::Store:
        return widen_store(s, mask);
      case ir::StmtKind::Check:
        return widen_check(s, mask);
      case ir::StmtKind::Print:
        return widen_print(s, mask);
      case ir::StmtKind::Locked:
        refuse(loop_,
               fmt::format("lanes of the vectorised loop '{}' would take locks one after the other",
                           loop_.var->name),
               {}, "a serial loop; or rfactor in place of atomic");
      default:
        refuse(loop_,
               fmt::format("vectorised loop '{}' has storage or synchronisation inside", loop_.var->name), {},
               "compute_at a loop outside the vectorised one");
    }
  }

  ir::Stmt widen_let(const ir::Stmt& s, const Expr& mask) {
    if (ir::is(s->exprs[0], ir::Op::Shuffle) && lanes_ > 1 && varies_by_axes_alone(s->exprs[0]))
      return widen_shuffle(s, mask);
    const Expr value = wide(s->exprs[0], mask);
    if (!value->type.is_vector()) return ir::let_stmt(s->symbol(), value, widen(s->body(), mask));
    ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Let, s->symbol()->name, value->type);
    map_.emplace_back(s->symbol(), ir::make_var(symbol));
    around_.push_back({s->symbol(), s->exprs[0]});
    const ir::Stmt body = widen(s->body(), mask);
    around_.pop_back();
    return ir::let_stmt(symbol, value, body);
  }

  bool varies_by_axes_alone(const Expr& e) const {
    for (std::size_t i = axes_.size(); i < map_.size(); ++i)
      if (ir::uses(e, map_[i].first)) return false;
    return varies(e);
  }

  /// What lanes of the warp give each other is shuffled for one lane of the vector after the other, of which
  /// many may ask for what their own thread has.
  ir::Stmt widen_shuffle(const ir::Stmt& s, const Expr& mask) {
    const Type type = s->symbol()->type;
    const ir::BufferPtr found = ir::make_buffer({.name = s->symbol()->name,
                                                 .type = type,
                                                 .space = ir::MemorySpace::Register,
                                                 .mins = {ir::index(0)},
                                                 .extents = {ir::index(lanes_)},
                                                 .strides = {ir::index(1)}});
    std::vector<ir::Stmt> stmts;
    for (int lane = 0; lane < lanes_; ++lane) {
      ir::Substitution values;
      for (std::size_t i = 0; i < axes_.size(); ++i)
        values.emplace_back(
            axes_[i].loop.var,
            axes_[i].min + ir::index(lane / product_of(axes_, i + 1, axes_.size()) % axes_[i].lanes));
      const Expr value = ir::simplify(ir::substitute(s->exprs[0], values), facts_);
      stmts.push_back(ir::store(found, value, {ir::index(lane)}));
    }
    const Expr all = ir::make(ir::Op::Ramp, Int(64, lanes_), {ir::index(0), ir::index(1)});
    map_.emplace_back(s->symbol(), ir::make(ir::Op::Load, type.with_lanes(lanes_), {all}, found));
    stmts.push_back(widen(s->body(), mask));
    return ir::allocate(found, ir::block(std::move(stmts)));
  }

  // A loop whose end varies between lanes runs as long as the longest and masks the others.
  ir::Stmt widen_for(const ir::Stmt& s, const Expr& mask) {
    const ir::LoopInfo& inner = s->loop();
    if (varies(s->exprs[0]))
      refuse(loop_,
             fmt::format("loop '{}' inside the vectorised loop '{}' starts differently in each lane",
                         inner.var->name, loop_.var->name),
             s->exprs[0], "vectorize another loop");
    if (inner.binding == ir::Binding::Vector) return widen_vector(s);
    if (!varies(s->exprs[1])) return ir::for_loop(inner, s->exprs[0], s->exprs[1], widen(s->body(), mask));
    const Expr running = ir::make_var(inner.var) - s->exprs[0] < s->exprs[1];
    return ir::for_loop(inner, s->exprs[0], longest_of(s),
                        widen_under(running, s->body(), both(mask, wide(running, {}))));
  }

  /// The extent of a loop in the lane where it is largest.
  Expr longest_of(const ir::Stmt& s) const {
    ir::Scope lanes = ir::make_scope();
    for (const Axis& axis : axes_)
      lanes[axis.loop.var] = {axis.min, ir::simplify(axis.min + ir::index(axis.lanes - 1), facts_)};
    const Expr longest = ir::bounds_of(s->exprs[1], lanes, facts_).max;
    if (!longest.defined())
      refuse(loop_,
             fmt::format("the extent of loop '{}' varies between lanes without a bound", s->loop().var->name),
             s->exprs[1], "vectorize another loop");
    return longest;
  }

  /// A body under a condition, whose lanes are in `mask`.
  ir::Stmt widen_under(const Expr& condition, const ir::Stmt& body, const Expr& mask) {
    around_.push_back({nullptr, condition, decided_by_first(condition)});
    ir::Stmt s = widen(body, mask);
    around_.pop_back();
    return s;
  }

  /// A vector loop inside: all lanes of both, from the names and conditions that stand around it.
  ir::Stmt widen_vector(const ir::Stmt& s) {
    const ir::LoopInfo& inner = s->loop();
    std::vector<Axis> axes = axes_;
    axes.push_back(
        {inner, s->exprs[0], lanes_of(inner, varies(s->exprs[1]) ? longest_of(s) : s->exprs[1], facts_)});
    if (const int lanes = product_of(axes, 0, axes.size()); lanes > schedule::kMostLanes)
      refuse(inner,
             fmt::format("the vector loops '{}' and '{}' have {} lanes together", loop_.var->name,
                         inner.var->name, lanes),
             {}, fmt::format("at most {} in all", schedule::kMostLanes));
    ir::Stmt body = within_extent(s);
    for (auto outer = around_.rbegin(); outer != around_.rend(); ++outer) {
      if (outer->name && ir::reads_memory(outer->value))
        refuse(
            inner,
            fmt::format("'{}' inside '{}' uses what was read outside it", inner.var->name, loop_.var->name),
            outer->value, "vectorize one of the loops");
      body = outer->name ? ir::let_stmt(outer->name, outer->value, body) : ir::if_then(outer->value, body);
    }
    return Widener(std::move(axes), facts_).run(body);
  }

  ir::Stmt widen_if(const ir::Stmt& s, const Expr& mask) {
    const Expr condition = wide(s->exprs[0], mask);
    if (!condition->type.is_vector()) {
      std::vector<ir::Stmt> cases;
      for (const ir::Stmt& c : s->stmts) cases.push_back(widen(c, mask));
      return ir::make_stmt(ir::StmtKind::If, {condition}, std::move(cases), s->attr);
    }
    if (std::holds_alternative<std::string>(s->attr)) return branch_or_lanes(s, mask);
    std::vector<ir::Stmt> parts{masked(s->exprs[0], s->stmts[0], mask)};
    if (s->stmts.size() > 1) {
      const Expr otherwise = !s->exprs[0];
      parts.push_back(masked(otherwise, s->stmts[1], mask));
    }
    return ir::block(std::move(parts));
  }

  ir::Stmt masked(const Expr& condition, const ir::Stmt& body, const Expr& mask) {
    const Expr lanes = both(mask, wide(condition, mask));
    return some_lane(condition, lanes, body, widen_under(condition, body, lanes));
  }

  /// Whether names vary between lanes, beside the loops' variables.
  bool has_names() const { return map_.size() > axes_.size(); }

  /// The value in the first lane, or in the last one.
  Expr at_end(const Expr& e, bool last) const {
    ir::Substitution lane;
    for (const Axis& axis : axes_)
      lane.emplace_back(axis.loop.var, last ? axis.min + ir::index(axis.lanes - 1) : axis.min);
    return ir::simplify(ir::substitute(e, lane), facts_);
  }

  /// Whether a true lane means that all lanes before it on any axis are true: a comparison whose left side
  /// grows.
  bool is_prefix(const Expr& condition) const {
    if (!ir::is(condition, ir::Op::Lt) && !ir::is(condition, ir::Op::Le)) return false;
    const Expr room = ir::simplify(condition->args[1] - condition->args[0], facts_);
    return std::all_of(axes_.begin(), axes_.end(), [&](const Axis& axis) {
      const std::optional<ir::LinearIn> line = ir::linear_in(room, axis.loop.var);
      return line && line->coefficient <= 0;
    });
  }

  /// Whether some lane runs if the first one does, and none else.
  bool decided_by_first(const Expr& condition) const { return is_prefix(condition) && !has_names(); }

  /// Accesses that do not vary are not masked, so nothing runs where no lane does: `body`, which is `wide`
  /// for the lanes of the mask.
  ir::Stmt some_lane(const Expr& condition, const Expr& mask, const ir::Stmt& body,
                     const ir::Stmt& wide) const {
    const bool by_first = decided_by_first(condition);
    const bool all_by_first = by_first && std::all_of(around_.begin(), around_.end(), [](const Around& a) {
                                return a.name || a.decided_by_first;
                              });
    if (!all_by_first && reads_once_for_all(body))
      return ir::if_then(ir::make(ir::Op::ReduceMax, Bool(), {mask}), wide);
    if (!by_first) return wide;
    const Expr first = at_end(condition, false);
    return ir::prove(first, facts_) ? wide : ir::if_then(first, wide);
  }

  /// Whether all lanes load an element that they have in common.
  bool reads_once_for_all(const ir::Stmt& body) const {
    bool found = false;
    ir::visit_exprs(body, [&](const Expr& e) {
      found = found || (e.defined() && ir::any_of(e, [&](const Expr& n) {
                          return ir::is(n, ir::Op::Load) && !varies(n->args[0]);
                        }));
    });
    return found;
  }

  /// A guard: the whole vector if every lane runs, else the lanes one by one. Partial results stay vectors.
  ir::Stmt branch_or_lanes(const ir::Stmt& s, const Expr& mask) {
    if (mask.defined() || !is_prefix(s->exprs[0]) || has_names() || has_partial_results(s))
      return masked(s->exprs[0], s->stmts[0], mask);
    ir::Stmt scalar = ir::if_then(s->exprs[0], s->stmts[0]);
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
      ir::LoopInfo lane = axis->loop;
      lane.binding = ir::Binding::Serial;
      scalar = ir::for_loop(lane, axis->min, ir::index(axis->lanes), scalar);
    }
    return ir::if_then(at_end(s->exprs[0], true), widen(s->stmts[0], {}),
                       vectorize_loops(fresh_copy(scalar), facts_));
  }

  static bool has_partial_results(const ir::Stmt& s) {
    bool found = false;
    ir::visit(s, [&](const ir::Stmt& n) { found |= n->kind == ir::StmtKind::Store && n->buffer()->partial; });
    ir::visit_exprs(s, [&](const Expr& e) {
      found |= e.defined() && ir::any_of(e, [](const Expr& n) {
                 return ir::is(n, ir::Op::Load) && ir::buffer_of(n)->partial;
               });
    });
    return found;
  }

  ir::Stmt widen_store(const ir::Stmt& s, const Expr& mask) {
    Expr value = wide(s->exprs[0], mask), index = wide(s->exprs[2], mask);
    const bool unmasked = !s->exprs[1].defined() || ir::is_one(s->exprs[1]);
    Expr predicate = unmasked ? Expr() : wide(s->exprs[1], mask);
    // Of a region of one element the mask leaves one lane, or none; an atomic update is one for each lane.
    if (!index->type.is_vector() && (mask.defined() || predicate.defined() || s->atomic()))
      index = broadcast(index);
    if (!index->type.is_vector()) {
      if (value->type.is_vector())
        refuse(loop_, fmt::format("every lane of '{}' would store to one place", loop_.var->name),
               s->exprs[2], "rfactor the reduction first");
      return s;
    }
    if (mask.defined()) predicate = predicate.defined() ? both(mask, predicate) : mask;
    if (predicate.defined()) predicate = broadcast(predicate);
    if (predicate.defined() && s->buffer()->partial) {
      const Expr own = ir::make(ir::Op::Load, value->type.with_lanes(lanes_), {index}, s->buffer());
      value = ir::make(ir::Op::Select, own->type, {predicate, broadcast(value), own});
      predicate = {};
    }
    return ir::store_like(s, broadcast(value), {index}, predicate);
  }

  // One check of all lanes that run; which one fails is not said, so there are no values.
  ir::Stmt widen_check(const ir::Stmt& s, const Expr& mask) {
    Expr holds = wide(s->exprs[0], mask);
    if (!holds->type.is_vector() && !mask.defined()) return s;
    holds = broadcast(holds);
    if (mask.defined())
      holds = ir::make(ir::Op::Or, Bool(lanes_), {ir::make(ir::Op::Not, Bool(lanes_), {mask}), holds});
    return ir::check(ir::make(ir::Op::ReduceMin, Bool(), {holds}), s->text());
  }

  // A line for each lane, in their order: the vectors get names, of which each line reads its lane.
  ir::Stmt widen_print(const ir::Stmt& s, const Expr& mask) {
    std::vector<Expr> wides;
    for (const Expr& e : s->exprs) wides.push_back(wide(e, mask));
    if (mask.defined()) wides[0] = both(mask, wides[0]);
    std::vector<std::pair<ir::SymbolPtr, Expr>> named;
    for (Expr& e : wides) {
      if (!e->type.is_vector()) continue;
      named.emplace_back(ir::make_symbol(ir::SymbolKind::Let, "printed", e->type), e);
      e = ir::make_var(named.back().first);
    }
    std::vector<ir::Stmt> lines;
    for (int lane = 0; lane < lanes_; ++lane) {
      std::vector<Expr> values;
      for (const Expr& e : wides)
        values.push_back(e->type.is_vector() ? ir::make(ir::Op::Lane, e->type.element(), {e, ir::index(lane)})
                                             : e);
      const Expr condition = values.front();
      values.erase(values.begin());
      lines.push_back(ir::print_line(condition, s->text(), std::move(values)));
    }
    ir::Stmt all = ir::block(std::move(lines));
    for (auto let = named.rbegin(); let != named.rend(); ++let)
      all = ir::let_stmt(let->first, let->second, all);
    return all;
  }

  /// A name or a condition (no symbol) around the statement at hand that varies, as it was before widening.
  struct Around {
    ir::SymbolPtr name;
    Expr value;
    bool decided_by_first = false;  ///< of a condition
  };

  const std::vector<Axis> axes_;
  const ir::LoopInfo& loop_;  ///< the outermost, by which all are called in messages
  const int lanes_;
  const ir::Facts& facts_;
  ir::Substitution map_;  ///< the loops' variables, then names that vary, to their vectors
  std::vector<Around> around_;
};

ir::Stmt vectorized(const ir::Stmt& s, const ir::Facts& facts) {
  const int lanes = lanes_of(s->loop(), s->exprs[1], facts);
  if (lanes == 1 && ir::is_one(s->exprs[1]))
    return vectorize_loops(ir::substitute(s->body(), {{s->loop().var, s->exprs[0]}}), facts);
  return Widener({{s->loop(), s->exprs[0], lanes}}, facts).run(within_extent(s));
}

}  // namespace

ir::Stmt vectorize_loops(const ir::Stmt& s, const ir::Facts& facts) {
  if (s->kind == ir::StmtKind::For && s->loop().binding == ir::Binding::Vector) return vectorized(s, facts);
  return ir::map_children(
      s, [](const Expr& e) { return e; },
      [&](const ir::Stmt& child) { return vectorize_loops(child, facts); });
}

}  // namespace calotype::lower
