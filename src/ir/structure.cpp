// Equality and order of expressions by structure.

#include <bit>
#include <set>
#include <tuple>

#include "ir/expr_node.h"

namespace calotype::ir {

namespace {

template <class T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// The order of attributes: constants by value, symbols and buffers by creation, callees by name. Addresses
/// decide only between distinct objects that agree in all of that.
struct CompareAttr {
  int operator()(std::monostate, std::monostate) const { return 0; }
  int operator()(std::int64_t a, std::int64_t b) const { return three_way(a, b); }
  int operator()(double a, double b) const {
    if (const int order = three_way(a, b)) return order;
    return three_way(std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b));  // -0 and NaN
  }
  int operator()(const SymbolPtr& a, const SymbolPtr& b) const { return three_way(a->unique, b->unique); }
  int operator()(const CalleePtr& a, const CalleePtr& b) const {
    return three_way(std::tie(a->kind, a->name, a->index, a), std::tie(b->kind, b->name, b->index, b));
  }
  int operator()(const BufferPtr& a, const BufferPtr& b) const {
    return three_way(std::tie(a->unique, a->name, a), std::tie(b->unique, b->name, b));
  }
  int operator()(const TextPtr& a, const TextPtr& b) const { return a->compare(*b); }
  int operator()(const ExternPtr& a, const ExternPtr& b) const {
    return three_way(std::tie(a->function.name, a), std::tie(b->function.name, b));
  }
  template <class A, class B>
  int operator()(const A&, const B&) const {
    return 0;  // unreachable: the alternatives are compared first
  }
};

int compare_attr(const Attr& a, const Attr& b) {
  if (const int order = three_way(a.index(), b.index())) return order;
  return std::visit(CompareAttr{}, a, b);
}

/// One comparison of two trees. Pairs of shared nodes once found equal are not walked again, so that two
/// separately built graphs of the same shape compare in the time of their nodes, not of their paths.
class Comparison {
 public:
  int operator()(const Expr& a, const Expr& b) {
    if (a.same_as(b)) return 0;
    if (!a.defined() || !b.defined()) return a.defined() ? 1 : -1;
    if (const int order = compare_head(*a, *b)) return order;
    const bool shared = a.node().use_count() > 1 && b.node().use_count() > 1 && !a->args.empty();
    const std::pair pair{a.node().get(), b.node().get()};
    if (shared && equal_.contains(pair)) return 0;
    for (std::size_t i = 0; i < a->args.size(); ++i) {
      if (const int order = (*this)(a->args[i], b->args[i])) return order;
    }
    if (shared) equal_.insert(pair);
    return 0;
  }

 private:
  static int compare_head(const ExprNode& a, const ExprNode& b) {
    if (const int order = three_way(a.op, b.op)) return order;
    const auto type = [](const Type& t) { return std::tuple(t.code, t.bits, t.lanes); };
    if (const int order = three_way(type(a.type), type(b.type))) return order;
    if (const int order = three_way(a.args.size(), b.args.size())) return order;
    return compare_attr(a.attr, b.attr);
  }

  std::set<std::pair<const ExprNode*, const ExprNode*>> equal_;  // asked for membership only
};

}  // namespace

int compare(const Expr& a, const Expr& b) { return Comparison{}(a, b); }

bool equal(const Expr& a, const Expr& b) {
  if (a.same_as(b)) return true;
  if (!a.defined() || !b.defined() || a->hash != b->hash) return false;
  return compare(a, b) == 0;
}

bool equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!equal(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace calotype::ir
