// Names of indices: from the indices back through what is bound to the names in them.

#include "sim/index_uses.h"

#include <unordered_map>
#include <vector>

namespace calotype::sim {
namespace {

using ir::Op;

class Uses {
 public:
  std::unordered_set<std::uint64_t> run(const ir::Stmt& body) {
    ir::visit(body, [&](const ir::Stmt& s) { look(s); });
    ir::visit_exprs(body, [&](const Expr& e) { look(e); });
    while (!open_.empty()) {
      const Expr e = open_.back();
      open_.pop_back();
      follow(e);
    }
    return std::move(found_);
  }

 private:
  void look(const ir::Stmt& s) {
    switch (s->kind) {
      case ir::StmtKind::Let:
        values_.emplace(s->symbol()->unique, s->exprs[0]);
        break;
      case ir::StmtKind::For:
        open_.insert(open_.end(), s->exprs.begin(), s->exprs.end());
        break;
      case ir::StmtKind::Store:
        open_.insert(open_.end(), s->exprs.begin() + 2, s->exprs.end());
        break;
      default:
        break;
    }
  }

  /// Loads, and names bound in expressions, wherever they are.
  void look(const Expr& e) {
    ir::visit(e, [&](const Expr& part) {
      if (part->op == Op::Load || part->op == Op::LoadIf) open_.push_back(part->args.back());
      if (part->op == Op::Let) values_.emplace(ir::symbol_of(part)->unique, part->args[0]);
    });
  }

  void follow(const Expr& e) {
    if (!seen_.insert(e.node().get()).second) return;
    if (e->op == Op::Variable) {
      const std::uint64_t name = ir::symbol_of(e)->unique;
      if (!found_.insert(name).second) return;
      if (const auto value = values_.find(name); value != values_.end()) open_.push_back(value->second);
      return;
    }
    // What memory holds is no matter of the index that it is read at.
    if (e->op == Op::Load || e->op == Op::LoadIf) return;
    open_.insert(open_.end(), e->args.begin(), e->args.end());
  }

  std::vector<Expr> open_;
  std::unordered_map<std::uint64_t, Expr> values_;
  std::unordered_set<std::uint64_t> found_;
  std::unordered_set<const ir::ExprNode*> seen_;
};

}  // namespace

std::unordered_set<std::uint64_t> index_uses(const ir::Stmt& body) { return Uses().run(body); }

}  // namespace calotype::sim
