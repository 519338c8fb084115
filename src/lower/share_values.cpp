// Sharing: values that one statement computes more than once get a name.
//
// Requires: expanded statements. Leaves: the same values; printed code that a person can read and whose size
// is that of the shared expression, not of its tree. Only values used within one statement are named, so
// memory cannot change between the definition and its uses.

#include <fmt/format.h>

#include <unordered_map>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

bool costs(const Expr& e) {
  return ir::any_of(
      e, [](const Expr& n) { return ir::is(n, ir::Op::Load) || ir::info(n->op).group == ir::OpGroup::math; });
}

bool worth_naming(const Expr& e) {
  if (e->args.empty()) return false;
  // A thread's partial result has a name already.
  if (ir::is(e, ir::Op::Load) && ir::buffer_of(e)->partial && ir::is_const(e->args[0])) return false;
  // Masks and indices of a vector say which accesses are dense and whole: a name would hide that from the
  // printer.
  if (e->type.is_vector() && e->type.element().is_integral()) return costs(e);
  switch (e->op) {
    case ir::Op::Broadcast:
    case ir::Op::Ramp:
      return costs(e);
    case ir::Op::Cast:
      return costs(e) || (e->args[0]->type.is_float() && !e->type.is_float());
    default:
      return true;
  }
}

/// A value that all lanes of a vector have and that is more than a name: it is computed once, not in each
/// lane. Coordinates are left alone, since masks and indices are made of them.
bool is_lifted(const Expr& e) {
  if (!ir::is(e, ir::Op::Broadcast) || e->args[0]->type.is_vector()) return false;
  const Expr& value = e->args[0];
  const bool data = value->type.is_float() || value->type.is_uint();
  const bool renamed = ir::is(value, ir::Op::Cast) && value->args[0]->type.is_integral();
  return data && !value->args.empty() && !renamed && !ir::any_of(value, [](const Expr& n) {
           return ir::is(n, ir::Op::Load) || ir::is(n, ir::Op::LoadIf);
         });
}

class Sharer {
 public:
  ir::Stmt run(const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::Store) return share(s);
    return ir::map_children(
        s, [](const Expr& e) { return e; }, [&](const ir::Stmt& child) { return run(child); });
  }

  /// Pairs of symbol and value, in order of definition, for what the expressions compute more than once; they
  /// are rewritten to use these.
  ir::Substitution share(std::vector<Expr>& exprs) {
    uses_.clear();
    order_.clear();
    for (const Expr& e : exprs)
      if (e.defined()) count(e);
    ir::Substitution named;
    Replaced replaced;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Use& use = *find(order_[i]);
      if (use.count < 2 || !worth_naming(use.expr)) continue;
      const Expr value = with_names(use.expr, replaced);
      const ir::SymbolPtr symbol =
          ir::make_symbol(ir::SymbolKind::Let, fmt::format("v{}", next_++), use.expr->type);
      named.emplace_back(symbol, value);
      replaced[use.expr->hash].emplace_back(use.expr, ir::make_var(symbol));
    }
    for (Expr& e : exprs)
      if (e.defined()) e = with_names(e, replaced);
    return named;
  }

 private:
  struct Use {
    Expr expr;
    int count = 0;
  };

  /// By hash: expressions that have a name, and the name.
  using Replaced = std::unordered_map<std::uint64_t, std::vector<std::pair<Expr, Expr>>>;

  ir::Stmt share(const ir::Stmt& s) {
    std::vector<Expr> exprs = s->exprs;
    const ir::Substitution named = share(exprs);
    if (named.empty()) return s;
    ir::Stmt result = ir::make_stmt(s->kind, std::move(exprs), s->stmts, s->attr);
    for (auto it = named.rbegin(); it != named.rend(); ++it)
      result = ir::let_stmt(it->first, it->second, result);
    return result;
  }

  Use* find(const Expr& e) {
    for (Use& u : uses_[e->hash])
      if (ir::equal(u.expr, e)) return &u;
    return nullptr;
  }

  // Operands before users, so that names are defined in order. A node inside one that is counted already is
  // not counted again: it is computed there only.
  void count(const Expr& e) {
    if (Use* known = find(e)) {
      ++known->count;
      return;
    }
    for (const Expr& a : e->args) count(a);
    if (is_lifted(e)) ++find(e->args[0])->count;
    uses_[e->hash].push_back({e, 1});
    order_.push_back(e);
  }

  static Expr with_names(const Expr& root, const Replaced& replaced) {
    std::unordered_map<const ir::ExprNode*, Expr> done;
    std::function<Expr(const Expr&)> go = [&](const Expr& e) -> Expr {
      if (const auto alike = replaced.find(e->hash); alike != replaced.end())
        for (const auto& [from, to] : alike->second)
          if (ir::equal(from, e)) return to;
      if (e->args.empty()) return e;
      if (const auto known = done.find(e.node().get()); known != done.end()) return known->second;
      Expr result = ir::map_args(e, go);
      done.emplace(e.node().get(), result);
      return result;
    };
    return go(root);
  }

  std::unordered_map<std::uint64_t, std::vector<Use>> uses_;
  std::vector<Expr> order_;
  int next_ = 0;
};

}  // namespace

ir::Stmt share_values(const ir::Stmt& s) { return Sharer().run(s); }

ir::Substitution share_values(Expr& e) {
  std::vector<Expr> exprs{e};
  ir::Substitution named = Sharer().share(exprs);
  e = exprs.front();
  return named;
}

}  // namespace calotype::lower
