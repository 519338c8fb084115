// Loop partitioning: a loop whose body clamps coordinates or tests for its end is cut into a prologue, a
// steady part where none of that happens, and an epilogue.
//
// Requires: scalar statements (vector and unrolled loops still loops). Leaves: the same computation; in the
// steady part every min, max and condition that the cut decides is replaced by its outcome. Stands before
// vectorisation, so that the steady part becomes dense unmasked accesses and constant extents.
//
// What is cut: conditions and clamps with one side linear in the loop variable and the other invariant, in
// innermost serial loops, and elsewhere those that shape a vector or unrolled loop inside. Of several loops
// that could decide the same thing the innermost does, so that the edge is as thin as can be; short innermost
// loops leave it to the loop around them and keep their constant extents. Prologue and epilogue are one copy
// of the body, run for two ranges. On a host loops inside an edge are cut once more, but not the edges of
// that. Loops that hold barriers or memory of a GPU block stay whole: the parts would reserve the memory once
// each.
//
// Blocks of a grid are no parts of a loop: those of a loop bound to blocks whose partition is Always choose
// between a body in which what their place decides is decided, and the body as it was.
//
// A loop whose partition is Never stays whole and leaves decisions to the loops around it; one whose
// partition is Always is cut for whatever it can decide, and where that is nothing the schedule is refused.

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

/// `node` becomes `outcome` while `difference` >= 0.
struct Decision {
  Expr node, outcome, difference;
};

constexpr std::int64_t kShortLoop = 16;
constexpr std::int64_t kEdgeLanes = 8;
constexpr int kRounds = 4;

bool expands(ir::Binding b) { return b == ir::Binding::Vector || b == ir::Binding::Unrolled; }
bool repeats(ir::Binding b) { return b == ir::Binding::Serial || b == ir::Binding::Parallel; }

/// The expressions of which `d` is the least: of a minimum, or of a sum or difference with one extreme in it.
std::vector<Expr> arms_of(const Expr& d, const ir::Facts& facts) {
  if (ir::is(d, ir::Op::Min)) return d->args;
  if (!ir::is(d, ir::Op::Add) && !ir::is(d, ir::Op::Sub)) return {};
  for (std::size_t side : {0, 1}) {
    const bool negated = side == 1 && ir::is(d, ir::Op::Sub);
    if (!ir::is(d->args[side], negated ? ir::Op::Max : ir::Op::Min)) continue;
    std::vector<Expr> arms;
    for (const Expr& arm : d->args[side]->args) {
      std::vector<Expr> args = d->args;
      args[side] = arm;
      arms.push_back(ir::simplify(ir::make(d->op, d->type, std::move(args)), facts));
    }
    return arms;
  }
  return {};
}

/// Restrict [low, high] to where d >= 0 holds; false if d is not understood.
bool restrict_range(const Expr& d, const ir::SymbolPtr& var, const ir::Facts& facts, std::vector<Expr>& lows,
                    std::vector<Expr>& highs) {
  if (const std::vector<Expr> arms = arms_of(d, facts); !arms.empty())
    return std::all_of(arms.begin(), arms.end(), [&](const Expr& arm) {
      return ir::uses(arm, var) ? restrict_range(arm, var, facts, lows, highs)
                                : ir::prove(arm >= ir::index(0), facts);
    });
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

bool is_innermost(const ir::Stmt& body) {
  bool found = false;
  ir::visit(body,
            [&](const ir::Stmt& s) { found |= s->kind == ir::StmtKind::For && repeats(s->loop().binding); });
  return !found;
}

bool is_short_innermost(const ir::Stmt& loop, const ir::Facts& facts) {
  if (!is_innermost(loop->body())) return false;
  const std::optional<std::int64_t> most = ir::constant_upper_bound(loop->exprs[1], facts);
  return most && *most <= kShortLoop;
}

bool belongs_to_block(const ir::Stmt& loop) {
  bool found = false;
  ir::visit(loop, [&](const ir::Stmt& s) {
    found |= s->kind == ir::StmtKind::Barrier ||
             (s->kind == ir::StmtKind::Allocate && s->buffer()->space == ir::MemorySpace::Shared);
  });
  // All lanes of a warp reach a shuffle together.
  ir::visit_exprs(loop, [&](const Expr& e) {
    found |= e.defined() && ir::any_of(e, [](const Expr& n) {
               return ir::is(n, ir::Op::Shuffle) || ir::is(n, ir::Op::ShuffleXor);
             });
  });
  return found;
}

/// Decisions in the body of one loop.
class Collector {
 public:
  Collector(const ir::LoopInfo& loop, const ir::Facts& facts, ir::Algebra& algebra)
      : var_(loop.var),
        always_(loop.partition == ir::Partition::Always),
        facts_(facts),
        algebra_(algebra),
        inner_(ir::make_scope()) {}

  std::vector<Decision> decisions;

  void collect(const ir::Stmt& body) {
    innermost_ = is_innermost(body);
    ir::visit(body, [&](const ir::Stmt& s) {
      if (s->kind == ir::StmtKind::Store) written_.insert(s->buffer().get());
    });
    walk(body);
  }

 private:
  /// A loop inside.
  struct Inner {
    ir::SymbolPtr var;
    bool can_be_cut, innermost;
    std::size_t expanded_around;  // how many of `expanded_` are not inside it
  };

  void walk(const ir::Stmt& s) {
    // Nor are the boxes of functions.
    if (is_copy_out(s) || s->kind == ir::StmtKind::Prefetch || s->kind == ir::StmtKind::Extern) return;
    if (s->kind == ir::StmtKind::Let) {
      scan(s->exprs[0], false);
      lets_[s->symbol().get()] = expand(s->exprs[0]);
      return walk(s->body());
    }
    if (s->kind == ir::StmtKind::For) {
      const ir::LoopInfo& loop = s->loop();
      // The shape of a vector or unrolled loop often stands behind a named region bound.
      for (const Expr& e : s->exprs) expands(loop.binding) ? scan(expand(e), true) : scan(e, false);
      enter(s);
      const bool was_in_vector = in_vector_;
      in_vector_ |= loop.binding == ir::Binding::Vector;
      walk(s->body());
      in_vector_ = was_in_vector;
      return;
    }
    for (const Expr& e : s->exprs)
      if (e.defined()) scan(e, false);
    for (const ir::Stmt& child : s->stmts) walk(child);
  }

  void enter(const ir::Stmt& s) {
    const ir::LoopInfo& loop = s->loop();
    inner_[loop.var] = {expand(s->exprs[0]),
                        algebra_.simplify(expand(s->exprs[0] + s->exprs[1] - ir::index(1)))};
    if (expands(loop.binding)) expanded_.push_back(loop.var);
    const bool innermost = is_innermost(s->body());
    const bool is_short = innermost && ir::as_int(s->exprs[1]).value_or(kShortLoop + 1) <= kShortLoop;
    const bool can_be_cut =
        repeats(loop.binding) && !in_vector_ && !is_short && loop.partition != ir::Partition::Never;
    order_.push_back({loop.var, can_be_cut, innermost, expanded_.size()});
  }

  /// The copy of a stored stage's element under the test that it lies in the caller's box: no reason to cut
  /// what the schedule asked for.
  static bool is_copy_out(const ir::Stmt& s) {
    return s->kind == ir::StmtKind::If && s->body()->kind == ir::StmtKind::Store &&
           s->body()->buffer()->stored_copy;
  }

  /// With what names stand for in their places.
  Expr expand(const Expr& e) const {
    return ir::rewrite(e, [&](const Expr& node) {
      if (!ir::is(node, ir::Op::Variable)) return node;
      const auto let = lets_.find(ir::symbol_of(node).get());
      return let == lets_.end() ? node : let->second;
    });
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

  /// Whether it loads what iterations of the loop store: no fixed end of anything.
  bool reads_what_changes(const Expr& e) const {
    return ir::any_of(e, [&](const Expr& n) {
      return (ir::is(n, ir::Op::Load) || ir::is(n, ir::Op::LoadIf)) &&
             written_.contains(ir::buffer_of(n).get());
    });
  }

  void scan_clamp(const Expr& e, bool shapes) {
    const bool is_min = ir::is(e, ir::Op::Min);
    if (reads_what_changes(e)) return;
    for (int side = 0; side < 2; ++side) {
      const Expr moving = expand(e->args[side]), other = expand(e->args[1 - side]);
      if (!ir::uses(moving, var_) || ir::uses(other, var_)) continue;
      add(e, e->args[side], is_min ? other - moving : moving - other, shapes);
    }
  }

  void scan_condition(const Expr& e, bool shapes) {
    const Expr a = expand(e->args[0]), b = expand(e->args[1]);
    if (!ir::uses(a, var_) && !ir::uses(b, var_)) return;
    if (reads_what_changes(a) || reads_what_changes(b)) return;
    add(e, ir::make_int(Bool(), 1), ir::is(e, ir::Op::Lt) ? b - a - ir::index(1) : b - a, shapes);
  }

  /// Whether a loop cuts for this: it is innermost, or a vector or unrolled loop inside depends on it.
  bool matters(const Expr& difference, bool innermost, bool shapes, std::size_t expanded_around) const {
    return innermost || shapes ||
           std::any_of(expanded_.begin() + static_cast<std::ptrdiff_t>(expanded_around), expanded_.end(),
                       [&](const ir::SymbolPtr& v) { return ir::uses(difference, v); });
  }

  void add(const Expr& node, const Expr& outcome, const Expr& difference, bool shapes) {
    if (!always_ && !matters(difference, innermost_, shapes, 0)) return;
    for (const Decision& d : decisions)
      if (ir::equal(d.node, node)) return;
    Expr least = algebra_.simplify(difference);
    for (auto loop = order_.rbegin(); loop != order_.rend() && least.defined(); ++loop) {
      if (!ir::uses(least, loop->var)) continue;
      std::vector<Expr> ends;
      if (!always_ && loop->can_be_cut &&
          matters(difference, loop->innermost, shapes, loop->expanded_around) &&
          restrict_range(algebra_.simplify(least), loop->var, facts_, ends, ends))
        return;  // that loop decides it
      ir::Scope one = ir::make_scope();
      one[loop->var] = inner_[loop->var];
      least = algebra_.bounds_of(least, one).min;
    }
    if (least.defined()) decisions.push_back({node, outcome, algebra_.simplify(least)});
  }

  ir::SymbolPtr var_;
  bool always_;
  const ir::Facts& facts_;
  ir::Algebra& algebra_;
  ir::Scope inner_;                                   // ranges of the loops inside, by variable
  std::vector<Inner> order_;                          // outermost first
  std::vector<ir::SymbolPtr> expanded_;               // those that will be vectors or unrolled
  std::unordered_map<const ir::Symbol*, Expr> lets_;  // names met so far; their values name no others
  std::unordered_set<const ir::Buffer*> written_;     // in the body
  bool innermost_ = true, in_vector_ = false;
};

class Partitioner {
 public:
  Partitioner(const ir::Facts& facts, bool gpu) : facts_(facts), algebra_(facts), gpu_(gpu) {}

  /// All of a function or kernel.
  ir::Stmt run_all(const ir::Stmt& s) {
    const ir::Stmt result = run(s);
    ir::visit(s, [&](const ir::Stmt& loop) {
      if (loop->kind == ir::StmtKind::For && loop->loop().partition == ir::Partition::Always &&
          !cut_.count(loop->loop().partition_origin))
        refuse(loop->loop(), belongs_to_block(loop));
    });
    return result;
  }

 private:
  [[noreturn]] static void refuse(const ir::LoopInfo& loop, bool belongs_to_block) {
    throw Error(
        {.kind = ErrorKind::Schedule,
         .message = belongs_to_block
                        ? "the loop '" + loop.var->name + "' holds barriers, shuffles or memory of a block"
                        : "nothing in the loop '" + loop.var->name + "' is decided by where it stands",
         .func = loop.func,
         .directive = loop.partition_origin,
         .value = loop.var->name,
         .legal = "auto; a loop of which some iterations clamp or test what the others need not"});
  }

  ir::Stmt run(const ir::Stmt& s) {
    if (is_block_loop(s)) return grid(s, {});
    if (s->kind == ir::StmtKind::For && repeats(s->loop().binding) && !belongs_to_block(s)) {
      const ir::Partition how = s->loop().partition;
      if (how == ir::Partition::Never) return whole(s);
      return in_edge_ && how == ir::Partition::Auto && is_short_innermost(s, facts_) ? s : cut(s);
    }
    // Inside a vector loop a cut would lie elsewhere in each lane.
    if (s->kind == ir::StmtKind::For && s->loop().binding == ir::Binding::Vector) return s;
    return ir::map_children(
        s, [](const Expr& e) { return e; }, [&](const ir::Stmt& child) { return run(child); });
  }

  static bool is_block_loop(const ir::Stmt& s) {
    return s->kind == ir::StmtKind::For && s->loop().binding == ir::Binding::GpuBlock;
  }

  static bool holds_block_loop(const ir::Stmt& s) {
    bool found = false;
    ir::visit(s, [&](const ir::Stmt& inner) { found |= is_block_loop(inner); });
    return found;
  }

  /// The loops over blocks, of which `cut` ask for two bodies, and the body in the innermost.
  ir::Stmt grid(const ir::Stmt& s, std::vector<ir::Stmt> cut) {
    if (s->kind == ir::StmtKind::Let)
      return ir::let_stmt(s->symbol(), s->exprs[0], grid(s->body(), std::move(cut)));
    // Guards of the loops around stand between them.
    const bool guard = s->kind == ir::StmtKind::If && s->stmts.size() == 1;
    if (guard && holds_block_loop(s)) return ir::if_then(s->exprs[0], grid(s->body(), std::move(cut)));
    if (!is_block_loop(s)) return cut.empty() ? run(s) : two_bodies(s, cut);
    if (s->loop().partition == ir::Partition::Always) cut.push_back(s);
    return ir::for_loop(s->loop(), s->exprs[0], s->exprs[1], grid(s->body(), std::move(cut)));
  }

  ir::Stmt two_bodies(const ir::Stmt& body, const std::vector<ir::Stmt>& loops) {
    if (belongs_to_block(body)) return run(body);  // refused at the end
    ir::Stmt steady = body;
    Expr inside = ir::make_one(Bool());
    bool any = false, more = true;
    // What is decided may shape the loops by which the next is.
    for (int round = 0; round < kRounds && more; ++round) {
      more = false;
      for (const ir::Stmt& loop : loops) {
        const Cut found = decided_by(loop->loop(), steady);
        if (found.made.empty()) continue;
        any = more = true;
        cut_.insert(loop->loop().partition_origin);
        const Expr place = ir::make_var(loop->loop().var);
        for (const Expr& low : found.lows) inside = inside && place >= low;
        for (const Expr& high : found.highs) inside = inside && place <= high;
        steady = simplify_stmt(decided(steady, found.made), facts_);
      }
    }
    if (!any) return run(body);
    return ir::if_then(algebra_.simplify(inside), fresh_copy(run(steady)), run(body));
  }

  ir::Stmt whole(const ir::Stmt& loop) {
    return ir::for_loop(loop->loop(), loop->exprs[0], loop->exprs[1], run(loop->body()));
  }

  /// What is decided in a loop's body while the variable is at least all of `lows` and at most all of
  /// `highs`.
  struct Cut {
    std::vector<Decision> made;
    std::vector<Expr> lows, highs;
  };

  Cut decided_by(const ir::LoopInfo& loop, const ir::Stmt& body) {
    Collector collector(loop, facts_, algebra_);
    collector.collect(body);
    Cut cut;
    for (const Decision& d : collector.decisions) {
      std::vector<Expr> low, high;
      if (!restrict_range(d.difference, loop.var, facts_, low, high)) continue;
      cut.lows.insert(cut.lows.end(), low.begin(), low.end());
      cut.highs.insert(cut.highs.end(), high.begin(), high.end());
      cut.made.push_back(d);
    }
    return cut;
  }

  ir::Stmt cut(const ir::Stmt& loop) {
    const Cut found = decided_by(loop->loop(), loop->body());
    if (found.made.empty()) return whole(loop);
    cut_.insert(loop->loop().partition_origin);
    return assemble(loop, found);
  }

  ir::Stmt assemble(const ir::Stmt& loop, const Cut& found) {
    const auto& [made, lows, highs] = found;
    const std::string& name = loop->loop().var->name;
    const Expr first = loop->exprs[0], end = first + loop->exprs[1];
    const ir::SymbolPtr from = ir::make_symbol(ir::SymbolKind::Let, name + ".steady"),
                        to = ir::make_symbol(ir::SymbolKind::Let, name + ".rest");
    Expr low = first, high = end;
    for (const Expr& e : lows) low = max(low, e);
    for (const Expr& e : highs) high = min(high, e + ir::index(1));
    if (!lows.empty()) low = min(low, end);
    const Expr v_from = lows.empty() ? first : ir::make_var(from),
               v_to = highs.empty() ? end : ir::make_var(to);
    if (!highs.empty()) high = max(high, v_from);

    const ir::Stmt steady = part(loop, v_from, v_to, run(decided(loop->body(), made)));
    const ir::Stmt edge = edge_body(loop->body());
    ir::Stmt s;
    if (lows.empty())
      s = ir::block({steady, part(loop, v_to, end, edge)});
    else if (highs.empty())
      s = ir::block({part(loop, first, v_from, edge), steady});
    else
      s = both_edges(loop, {first, v_from}, {v_to, end}, edge, steady);
    if (!highs.empty()) s = ir::let_stmt(to, algebra_.simplify(high), s);
    if (!lows.empty()) s = ir::let_stmt(from, algebra_.simplify(low), s);
    return s;
  }

  /// Prologue, steady part and epilogue in order, with one copy of the edges' body.
  static ir::Stmt both_edges(const ir::Stmt& loop, const ir::Interval& before, const ir::Interval& after,
                             const ir::Stmt& edge, const ir::Stmt& steady) {
    ir::LoopInfo sides{.var = ir::make_symbol(ir::SymbolKind::Loop, loop->loop().var->name + ".side")};
    const Expr at_start = ir::make_var(sides.var) < ir::index(1);
    const ir::SymbolPtr from = ir::make_symbol(ir::SymbolKind::Let, sides.var->name + ".min"),
                        to = ir::make_symbol(ir::SymbolKind::Let, sides.var->name + ".end");
    ir::Stmt body =
        ir::block({part(loop, ir::make_var(from), ir::make_var(to), edge), ir::if_then(at_start, steady)});
    body = ir::let_stmt(to, select(at_start, before.max, after.max), body);
    body = ir::let_stmt(from, select(at_start, before.min, after.min), body);
    return ir::for_loop(sides, ir::index(0), ir::index(2), body);
  }

  ir::Stmt edge_body(const ir::Stmt& body) {
    // Registers of a thread have no addresses: what indexes them stays unrolled.
    if (gpu_) return body;
    if (in_edge_) return compact(body);
    in_edge_ = true;
    const ir::Stmt s = compact(run(body));
    in_edge_ = false;
    return s;
  }

  /// Less code for what runs rarely: loops that would be unrolled into tests stay loops, and so do the lanes
  /// of vectors that are clamped, which would be masked gathers. Of a wide vector most lanes are not at the
  /// edge: it becomes short vectors, of which only those at the edge go lane by lane.
  ir::Stmt compact(const ir::Stmt& edge) {
    return ir::rewrite(edge, [&](const ir::Stmt& s) {
      if (s->kind != ir::StmtKind::For || !expands(s->loop().binding)) return s;
      if (s->loop().binding == ir::Binding::Unrolled) return unrolls_into_tests(s) ? serial(s) : s;
      if (!clamps_lanes(s)) return s;
      const std::int64_t lanes = ir::as_int(s->exprs[1]).value_or(0);
      if (lanes <= kEdgeLanes || lanes % kEdgeLanes != 0) return serial(s);
      return cut(in_short_vectors(s, lanes / kEdgeLanes));
    });
  }

  static bool unrolls_into_tests(const ir::Stmt& loop) {
    bool found = !ir::as_int(loop->exprs[1]);
    ir::visit(loop->body(), [&](const ir::Stmt& s) {
      for (const Expr& e : s->exprs)
        found |= e.defined() && s->kind != ir::StmtKind::Let && ir::any_of(e, [&](const Expr& n) {
                   return (ir::info(n->op).group == ir::OpGroup::compare || ir::is(n, ir::Op::Min) ||
                           ir::is(n, ir::Op::Max)) &&
                          n->args[0]->type == Int(64);
                 });
    });
    return found;
  }

  static ir::Stmt serial(const ir::Stmt& loop) {
    ir::LoopInfo info = loop->loop();
    info.binding = ir::Binding::Serial;
    return ir::for_loop(info, loop->exprs[0], loop->exprs[1], loop->body());
  }

  static ir::Stmt in_short_vectors(const ir::Stmt& loop, std::int64_t count) {
    ir::LoopInfo inner = loop->loop(), outer = inner;
    outer.binding = ir::Binding::Serial;
    outer.var = ir::make_symbol(ir::SymbolKind::Loop, inner.var->name + ".o");
    inner.var = ir::make_symbol(ir::SymbolKind::Loop, inner.var->name + ".i");
    const Expr lane =
        loop->exprs[0] + ir::make_var(outer.var) * ir::index(kEdgeLanes) + ir::make_var(inner.var);
    const ir::Stmt body = ir::substitute(loop->body(), {{loop->loop().var, lane}});
    return ir::for_loop(outer, ir::index(0), ir::index(count),
                        ir::for_loop(inner, ir::index(0), ir::index(kEdgeLanes), body));
  }

  static bool clamps_lanes(const ir::Stmt& loop) {
    bool found = false;
    ir::visit_exprs(loop->body(), [&](const Expr& root) {
      ir::visit(root, [&](const Expr& e) {
        if (!ir::is(e, ir::Op::Load) && !ir::is(e, ir::Op::LoadIf)) return;
        found |= ir::any_of(e->args.back(), [&](const Expr& n) {
          return (ir::is(n, ir::Op::Min) || ir::is(n, ir::Op::Max)) && ir::uses(n, loop->loop().var);
        });
      });
    });
    return found;
  }

  /// One part of a cut loop, with variables of its own so that what is known of one part is not taken for
  /// another.
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

  const ir::Facts& facts_;
  ir::Algebra algebra_;
  bool gpu_, in_edge_ = false;
  std::set<std::string> cut_;  ///< what the partition of loops that were cut comes from
};

}  // namespace

ir::Stmt partition_loops(const ir::Stmt& s, const ir::Facts& facts, bool gpu) {
  return Partitioner(facts, gpu).run_all(s);
}

}  // namespace calotype::lower
