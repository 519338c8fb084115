// Vectorisation: loops bound Vector become vector expressions.
//
// Requires: a constant extent or constant upper bound; no vector loop in another. Leaves: no Vector loop;
// accesses whose index varies are vector accesses, those under a varying condition carry it as a predicate,
// so that lanes past the end touch no memory.

#include <fmt/format.h>

#include "lower/passes.h"

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

/// Widens one loop's body to `lanes` lanes.
class Widener {
 public:
  Widener(const ir::LoopInfo& loop, const Expr& min, int lanes, const ir::Facts& facts)
      : loop_(loop), min_(min), lanes_(lanes), facts_(facts) {
    map_.emplace_back(loop.var, ir::make(ir::Op::Ramp, Int(64, lanes), {min, ir::index(1)}));
  }

  ir::Stmt run(const ir::Stmt& body, const Expr& mask) { return widen(body, mask); }

 private:
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
    bool any = false;
    for (const Expr& a : n->args) {
      args.push_back(go(a));
      any |= args.back()->type.is_vector();
    }
    if (!any) return n;
    if (ir::is(n, ir::Op::Load)) return wide_load(n, args[0], mask);
    for (Expr& a : args) a = broadcast(a);
    if (ir::is(n, ir::Op::LoadIf) && mask.defined())
      args[0] = ir::make(ir::Op::And, Bool(lanes_), {args[0], broadcast(mask)});
    return ir::make(n->op, n->type.with_lanes(lanes_), std::move(args), n->attr);
  }

  Expr wide_load(const Expr& n, const Expr& index, const Expr& mask) {
    const Type type = n->type.with_lanes(lanes_);
    if (!mask.defined()) return ir::make(ir::Op::Load, type, {index}, n->attr);
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
        return ir::note(s->text(), widen(s->body(), mask));
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
      default:
        refuse(loop_,
               fmt::format("vectorised loop '{}' has storage or synchronisation inside", loop_.var->name), {},
               "compute_at a loop outside the vectorised one");
    }
  }

  ir::Stmt widen_let(const ir::Stmt& s, const Expr& mask) {
    const Expr value = wide(s->exprs[0], mask);
    if (!value->type.is_vector()) return ir::let_stmt(s->symbol(), value, widen(s->body(), mask));
    ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Let, s->symbol()->name, value->type);
    map_.emplace_back(s->symbol(), ir::make_var(symbol));
    return ir::let_stmt(symbol, value, widen(s->body(), mask));
  }

  // A loop whose end varies between lanes runs as long as the longest and masks the others.
  ir::Stmt widen_for(const ir::Stmt& s, const Expr& mask) {
    const ir::LoopInfo& inner = s->loop();
    if (varies(s->exprs[0]) || inner.binding == ir::Binding::Vector)
      refuse(loop_,
             fmt::format("loop '{}' inside the vectorised loop '{}' {}", inner.var->name, loop_.var->name,
                         inner.binding == ir::Binding::Vector ? "is a vector too"
                                                              : "starts differently in each lane"),
             s->exprs[0], "vectorize another loop");
    if (!varies(s->exprs[1])) return ir::for_loop(inner, s->exprs[0], s->exprs[1], widen(s->body(), mask));
    ir::Scope lanes = ir::make_scope();
    lanes[loop_.var] = {min_, ir::simplify(min_ + ir::index(lanes_ - 1), facts_)};
    const Expr longest = ir::bounds_of(s->exprs[1], lanes, facts_).max;
    if (!longest.defined())
      refuse(loop_,
             fmt::format("the extent of loop '{}' varies between lanes without a bound", inner.var->name),
             s->exprs[1], "vectorize another loop");
    const Expr running = wide(ir::make_var(inner.var) - s->exprs[0] < s->exprs[1], {});
    return ir::for_loop(inner, s->exprs[0], longest, widen(s->body(), both(mask, running)));
  }

  ir::Stmt widen_if(const ir::Stmt& s, const Expr& mask) {
    const Expr condition = wide(s->exprs[0], mask);
    if (!condition->type.is_vector()) {
      std::vector<ir::Stmt> cases;
      for (const ir::Stmt& c : s->stmts) cases.push_back(widen(c, mask));
      return ir::make_stmt(ir::StmtKind::If, {condition}, std::move(cases), s->attr);
    }
    if (std::holds_alternative<std::string>(s->attr)) return branch_or_lanes(s, mask);
    std::vector<ir::Stmt> parts{some_lane(s->exprs[0], widen(s->stmts[0], both(mask, condition)))};
    if (s->stmts.size() > 1)
      parts.push_back(widen(s->stmts[1], both(mask, ir::make(ir::Op::Not, Bool(lanes_), {condition}))));
    return ir::block(std::move(parts));
  }

  Expr at_lane(const Expr& e, int lane) const {
    return ir::simplify(ir::substitute(e, {{loop_.var, min_ + ir::index(lane)}}), facts_);
  }

  /// Whether a true lane means that all lanes before it are true: a comparison whose left side grows.
  bool is_prefix(const Expr& condition) const {
    if (!ir::is(condition, ir::Op::Lt) && !ir::is(condition, ir::Op::Le)) return false;
    const std::optional<ir::LinearIn> line =
        ir::linear_in(ir::simplify(condition->args[1] - condition->args[0], facts_), loop_.var);
    return line && line->coefficient <= 0;
  }

  // Accesses that do not vary are not masked, so nothing runs where no lane does.
  ir::Stmt some_lane(const Expr& condition, const ir::Stmt& body) const {
    if (!is_prefix(condition) || map_.size() > 1) return body;
    const Expr first = at_lane(condition, 0);
    return ir::prove(first, facts_) ? body : ir::if_then(first, body);
  }

  // A guard: the whole vector if every lane runs, else the lanes one by one.
  ir::Stmt branch_or_lanes(const ir::Stmt& s, const Expr& mask) {
    if (mask.defined() || !is_prefix(s->exprs[0]) || map_.size() > 1)
      return some_lane(s->exprs[0], widen(s->stmts[0], both(mask, wide(s->exprs[0], mask))));
    ir::LoopInfo lane = loop_;
    lane.binding = ir::Binding::Serial;
    lane.var = ir::make_symbol(ir::SymbolKind::Loop, loop_.var->name);
    const ir::Stmt scalar = fresh_copy(
        ir::substitute(ir::if_then(s->exprs[0], s->stmts[0]), {{loop_.var, ir::make_var(lane.var)}}));
    return ir::if_then(at_lane(s->exprs[0], lanes_ - 1), widen(s->stmts[0], {}),
                       ir::for_loop(lane, min_, ir::index(lanes_), scalar));
  }

  ir::Stmt widen_store(const ir::Stmt& s, const Expr& mask) {
    Expr value = wide(s->exprs[0], mask), index = wide(s->exprs[2], mask);
    const bool unmasked = !s->exprs[1].defined() || ir::is_one(s->exprs[1]);
    Expr predicate = unmasked ? Expr() : wide(s->exprs[1], mask);
    if (!index->type.is_vector() && (mask.defined() || predicate.defined()))
      index = broadcast(index);  // of a region of one element: the mask leaves one lane, or none
    if (!index->type.is_vector()) {
      if (value->type.is_vector())
        refuse(loop_, fmt::format("every lane of '{}' would store to one place", loop_.var->name),
               s->exprs[2], "rfactor the reduction first");
      return s;
    }
    if (mask.defined()) predicate = predicate.defined() ? both(mask, predicate) : mask;
    if (predicate.defined()) predicate = broadcast(predicate);
    return ir::store(s->buffer(), broadcast(value), {index}, predicate);
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

  const ir::LoopInfo& loop_;
  Expr min_;
  int lanes_;
  const ir::Facts& facts_;
  ir::Substitution map_;  // the loop variable and names that vary, to their vectors
};

ir::Stmt vectorized(const ir::Stmt& s, const ir::Facts& facts) {
  const ir::LoopInfo& loop = s->loop();
  const Expr& extent = s->exprs[1];
  const std::optional<std::int64_t> exact = ir::as_int(extent);
  const std::optional<std::int64_t> lanes = exact ? exact : ir::constant_upper_bound(extent, facts);
  if (!lanes || *lanes > 256)
    refuse(loop,
           fmt::format("loop '{}' cannot be a vector: its extent {}", loop.var->name,
                       lanes ? fmt::format("is {}", *lanes) : "has no constant bound"),
           extent, "a constant extent of at most 256: vectorize by a factor, or split first");
  if (*lanes == 1 && exact) return ir::substitute(s->body(), {{loop.var, s->exprs[0]}});
  ir::Stmt body = s->body();
  if (!exact) body = ir::if_then(ir::make_var(loop.var) - s->exprs[0] < extent, body);
  return Widener(loop, s->exprs[0], static_cast<int>(*lanes), facts).run(body, {});
}

}  // namespace

ir::Stmt vectorize_loops(const ir::Stmt& s, const ir::Facts& facts) {
  return ir::rewrite(s, [&](const ir::Stmt& node) {
    return node->kind == ir::StmtKind::For && node->loop().binding == ir::Binding::Vector
               ? vectorized(node, facts)
               : node;
  });
}

}  // namespace calotype::lower
