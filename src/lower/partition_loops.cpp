// Loop partitioning: a loop whose body clamps coordinates or tests for its end is cut into a prologue, a steady part
// where none of that happens, and an epilogue.
//
// Requires: scalar statements (vector and unrolled loops still loops). Leaves: the same computation; in the steady
// part every min, max and condition that the cut decides is replaced by its outcome. Stands before vectorisation, so
// that the steady part becomes dense unmasked accesses and constant extents.
//
// What is cut: conditions and clamps with one side linear in the loop variable and the other invariant, in innermost
// serial loops, and elsewhere those that shape a vector or unrolled loop inside. Prologues and epilogues are not cut
// again.

#include <algorithm>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

/// `node` becomes `outcome` while `difference` >= 0.
struct Decision {
  Expr node, outcome, difference;
};

bool expands(ir::Binding b) { return b == ir::Binding::Vector || b == ir::Binding::Unrolled; }
bool repeats(ir::Binding b) { return b == ir::Binding::Serial || b == ir::Binding::Parallel; }

/// Decisions in the body of one loop.
class Collector {
 public:
  Collector(const ir::SymbolPtr& var, ir::Algebra& algebra)
      : var_(var), algebra_(algebra), inner_(ir::make_scope()) {}

  std::vector<Decision> decisions;

  void collect(const ir::Stmt& body) {
    innermost_ = true;
    ir::visit(body, [&](const ir::Stmt& s) {
      if (s->kind == ir::StmtKind::For && repeats(s->loop().binding)) innermost_ = false;
    });
    walk(body);
  }

 private:
  void walk(const ir::Stmt& s) {
    if (is_copy_out(s)) return;
    if (s->kind == ir::StmtKind::Let) {
      scan(s->exprs[0], false);
      lets_.emplace_back(s->symbol(), s->exprs[0]);
      walk(s->body());
      lets_.pop_back();
      return;
    }
    if (s->kind == ir::StmtKind::For) {
      const ir::LoopInfo& loop = s->loop();
      // The shape of a vector or unrolled loop often stands behind a named region bound.
      for (const Expr& e : s->exprs) expands(loop.binding) ? scan(expand(e), true) : scan(e, false);
      inner_[loop.var] = {expand(s->exprs[0]), algebra_.simplify(expand(s->exprs[0] + s->exprs[1] - ir::index(1)))};
      order_.push_back(loop.var);
      if (expands(loop.binding)) expanded_.push_back(loop.var);
      walk(s->body());
      return;
    }
    for (const Expr& e : s->exprs)
      if (e.defined()) scan(e, false);
    for (const ir::Stmt& child : s->stmts) walk(child);
  }

  /// The copy of a stored stage's element under the test that it lies in the caller's box: no reason to cut what the
  /// schedule asked for.
  static bool is_copy_out(const ir::Stmt& s) {
    return s->kind == ir::StmtKind::If && s->body()->kind == ir::StmtKind::Store && s->body()->buffer()->idempotent;
  }

  Expr expand(Expr e) const {
    for (auto let = lets_.rbegin(); let != lets_.rend(); ++let) e = ir::substitute(e, {{let->first, let->second}});
    return e;
  }

  void scan(const Expr& root, bool shapes_expanded_loop) {
    ir::visit(root, [&](const Expr& e) {
      if (ir::is(e, ir::Op::Min) || ir::is(e, ir::Op::Max)) {
        if (e->type == Int(64)) scan_clamp(e, shapes_expanded_loop);
      } else if (ir::is(e, ir::Op::Lt) || ir::is(e, ir::Op::Le)) {
        if (e->args[0]->type == Int(64)) scan_condition(e, shapes_expanded_loop);
      }
    });
  }

  void scan_clamp(const Expr& e, bool shapes) {
    const bool is_min = ir::is(e, ir::Op::Min);
    for (int side = 0; side < 2; ++side) {
      const Expr moving = expand(e->args[side]), other = expand(e->args[1 - side]);
      if (!ir::uses(moving, var_) || ir::uses(other, var_)) continue;
      add(e, e->args[side], is_min ? other - moving : moving - other, shapes);
    }
  }

  void scan_condition(const Expr& e, bool shapes) {
    const Expr a = expand(e->args[0]), b = expand(e->args[1]);
    if (!ir::uses(a, var_) && !ir::uses(b, var_)) return;
    add(e, ir::make_int(Bool(), 1), ir::is(e, ir::Op::Lt) ? b - a - ir::index(1) : b - a, shapes);
  }

  void add(const Expr& node, const Expr& outcome, const Expr& difference, bool shapes) {
    const bool in_vector = std::any_of(expanded_.begin(), expanded_.end(),
                                       [&](const ir::SymbolPtr& v) { return ir::uses(difference, v); });
    if (!innermost_ && !shapes && !in_vector) return;
    for (const Decision& d : decisions)
      if (ir::equal(d.node, node)) return;
    Expr least = algebra_.simplify(difference);
    for (auto v = order_.rbegin(); v != order_.rend() && least.defined(); ++v) {
      ir::Scope one = ir::make_scope();
      one[*v] = inner_[*v];
      least = algebra_.bounds_of(least, one).min;
    }
    if (least.defined()) decisions.push_back({node, outcome, algebra_.simplify(least)});
  }

  ir::SymbolPtr var_;
  ir::Algebra& algebra_;
  ir::Scope inner_;                       // ranges of the loops inside, by variable
  std::vector<ir::SymbolPtr> order_;      // outermost first
  std::vector<ir::SymbolPtr> expanded_;   // those that will be vectors or unrolled
  ir::Substitution lets_;
  bool innermost_ = true;
};

/// Restrict [low, high] to where d >= 0 holds; false if d is not understood.
bool restrict_range(const Expr& d, const ir::SymbolPtr& var, std::vector<Expr>& lows, std::vector<Expr>& highs) {
  if (ir::is(d, ir::Op::Min))
    return restrict_range(d->args[0], var, lows, highs) && restrict_range(d->args[1], var, lows, highs);
  if (!ir::uses(d, var)) return false;
  const std::optional<ir::LinearIn> line = ir::linear_in(d, var);
  if (!line || line->coefficient == 0) return false;
  const std::int64_t k = line->coefficient;
  // k * v + rest >= 0; floor division makes both ends exact.
  if (k > 0)
    lows.push_back((ir::index(k - 1) - line->rest) / ir::index(k));
  else
    highs.push_back(line->rest / ir::index(-k));
  return true;
}

class Partitioner {
 public:
  explicit Partitioner(const ir::Facts& facts) : algebra_(facts) {}

  ir::Stmt run(const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::For && repeats(s->loop().binding)) return cut(s);
    // Inside a vector loop a cut would lie elsewhere in each lane.
    if (s->kind == ir::StmtKind::For && s->loop().binding == ir::Binding::Vector) return s;
    return ir::map_children(
        s, [](const Expr& e) { return e; }, [&](const ir::Stmt& child) { return run(child); });
  }

 private:
  ir::Stmt cut(const ir::Stmt& loop) {
    Collector collector(loop->loop().var, algebra_);
    collector.collect(loop->body());
    std::vector<Expr> lows, highs;
    std::vector<Decision> made;
    for (const Decision& d : collector.decisions) {
      std::vector<Expr> low, high;
      if (!restrict_range(d.difference, loop->loop().var, low, high)) continue;
      lows.insert(lows.end(), low.begin(), low.end());
      highs.insert(highs.end(), high.begin(), high.end());
      made.push_back(d);
    }
    if (made.empty()) return ir::for_loop(loop->loop(), loop->exprs[0], loop->exprs[1], run(loop->body()));
    return assemble(loop, made, lows, highs);
  }

  ir::Stmt assemble(const ir::Stmt& loop, const std::vector<Decision>& made, const std::vector<Expr>& lows,
                    const std::vector<Expr>& highs) {
    const std::string& name = loop->loop().var->name;
    const Expr first = loop->exprs[0], end = first + loop->exprs[1];
    const ir::SymbolPtr from = ir::make_symbol(ir::SymbolKind::Let, name + ".steady"),
                        to = ir::make_symbol(ir::SymbolKind::Let, name + ".rest");
    Expr low = first, high = end;
    for (const Expr& e : lows) low = max(low, e);
    for (const Expr& e : highs) high = min(high, e + ir::index(1));
    if (!lows.empty()) low = min(low, end);
    const Expr v_from = lows.empty() ? first : ir::make_var(from), v_to = highs.empty() ? end : ir::make_var(to);
    if (!highs.empty()) high = max(high, v_from);

    std::vector<ir::Stmt> parts;
    const ir::Stmt edge = with_scalar_edges(loop->body());
    if (!lows.empty()) parts.push_back(part(loop, first, v_from, edge));
    parts.push_back(part(loop, v_from, v_to, run(decided(loop->body(), made))));
    if (!highs.empty()) parts.push_back(part(loop, v_to, end, edge));
    ir::Stmt s = ir::block(std::move(parts));
    if (!highs.empty()) s = ir::let_stmt(to, algebra_.simplify(high), s);
    if (!lows.empty()) s = ir::let_stmt(from, algebra_.simplify(low), s);
    return s;
  }

  /// Vector loops whose accesses are clamped lane by lane become serial: as vectors they would be masked gathers, far
  /// more code than the few iterations of an edge are worth.
  static ir::Stmt with_scalar_edges(const ir::Stmt& body) {
    return ir::rewrite(body, [](const ir::Stmt& s) {
      if (s->kind != ir::StmtKind::For || s->loop().binding != ir::Binding::Vector || !clamps_lanes(s)) return s;
      ir::LoopInfo info = s->loop();
      info.binding = ir::Binding::Serial;
      return ir::for_loop(info, s->exprs[0], s->exprs[1], s->body());
    });
  }

  static bool clamps_lanes(const ir::Stmt& loop) {
    bool found = false;
    ir::visit_exprs(loop->body(), [&](const Expr& root) {
      ir::visit(root, [&](const Expr& e) {
        if (!ir::is(e, ir::Op::Load)) return;
        found |= ir::any_of(e->args[0], [&](const Expr& n) {
          return (ir::is(n, ir::Op::Min) || ir::is(n, ir::Op::Max)) && ir::uses(n, loop->loop().var);
        });
      });
    });
    return found;
  }

  /// One part of a cut loop, with variables of its own so that what is known of one part is not taken for another.
  static ir::Stmt part(const ir::Stmt& loop, const Expr& from, const Expr& to, const ir::Stmt& body) {
    return fresh_copy(ir::for_loop(loop->loop(), from, ir::simplify(to - from), body));
  }

  static ir::Stmt decided(const ir::Stmt& body, const std::vector<Decision>& made) {
    return ir::rewrite_exprs(body, [&](const Expr& root) {
      return ir::rewrite(root, [&](const Expr& e) {
        for (const Decision& d : made)
          if (e->hash == d.node->hash && ir::equal(e, d.node)) return d.outcome;
        return e;
      });
    });
  }

  ir::Algebra algebra_;
};

}  // namespace

ir::Stmt partition_loops(const ir::Stmt& s, const ir::Facts& facts) { return Partitioner(facts).run(s); }

}  // namespace calotype::lower
