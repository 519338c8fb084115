#pragma once
// What the facts say about integer expressions: ranges of constants, multiples, and proofs that a linear form
// is never negative. Integers are thought of without wrapping ("ideal") here; `view` only looks into narrower
// types where they provably do not wrap.

#include <unordered_map>

#include "ir/interval_range.h"
#include "ir/linear.h"
#include "ir/simplify.h"

namespace calotype::ir::algebra {

struct ExprHash {
  std::size_t operator()(const Expr& e) const { return e->hash; }
};
struct ExprEqual {
  bool operator()(const Expr& a, const Expr& b) const { return a.same_as(b) || equal(a, b); }
};
template <class T>
using ExprMap = std::unordered_map<Expr, T, ExprHash, ExprEqual>;

struct LinearHash {
  std::size_t operator()(const Linear& l) const { return l.hash(); }
};

class Analysis {
 public:
  explicit Analysis(const Facts& facts) : facts_(facts) {}

  const Facts& facts() const { return facts_; }
  /// An additional symbol with values 0 .. count - 1 (the lane of a vector).
  void define_lane(const SymbolPtr& symbol, int count) { lanes_.emplace_back(symbol, count); }
  /// Take a Bool expression as true; comparisons become linear forms that are not negative.
  void assume(const Expr& condition);

  /// Bounds by interval arithmetic, fast.
  Range range(const Expr& e);
  Range range(const Linear& l);
  /// The ideal value of an integer expression as a linear form.
  Linear view(const Expr& e);
  /// True if the ideal value of a form fits in the type, so that arithmetic in the type does not wrap.
  bool fits(const Linear& l, Type type);
  /// True if a cast of an integer to that type keeps its value.
  bool keeps_value(const Expr& e, Type to);
  std::int64_t multiple(const Expr& e);
  std::int64_t multiple(const Linear& l);

  /// How many steps one search may take.
  void set_effort(int steps) { effort_ = steps; }
  /// Whether searches have taken so many steps that they are given few now; a new question starts at none.
  bool is_weary() const;
  void rest() { steps_taken_ = 0; }
  bool nonnegative(const Linear& l);
  bool positive(const Linear& l) { return nonnegative(shifted(l, -1)); }
  /// Bounds by search, correlated terms cancelled.
  Range bounds(const Linear& l);

 private:
  struct Found {
    std::int64_t bound, goal;
  };

  Range compute_range(const Expr& e);
  Range arithmetic_range(const Expr& e);
  Range product_range(const Expr& e);
  Range variable_range(const SymbolPtr& symbol, Type type);
  std::int64_t compute_multiple(const Expr& e);

  /// A lower bound of `l`: the best found, or the first found that reaches the goal.
  std::int64_t lower(const Linear& l, std::int64_t goal);
  std::int64_t search(const Linear& l, std::int64_t goal, std::int64_t best);
  bool hopeless(const Linear& l);

  // The steps of a search; each adds what it can to `best`. True: no other step can do better.
  bool open_transparent(const Linear& l, std::int64_t goal, std::int64_t& best);
  bool split_all(const Linear& l, std::int64_t goal, std::int64_t& best);
  bool use_conditions(const Linear& l, std::int64_t goal, std::int64_t& best);
  bool bound_variables(const Linear& l, std::int64_t goal, std::int64_t& best, bool isolated_only);
  bool split_any(const Linear& l, std::int64_t goal, std::int64_t& best);
  bool open_divisions(const Linear& l, std::int64_t goal, std::int64_t& best);
  bool bound_products(const Linear& l, std::int64_t goal, std::int64_t& best);
  bool open_lets(const Linear& l, std::int64_t goal, std::int64_t& best);

  int steps_allowed() const;
  Linear replaced(const Linear& l, std::size_t i, const Linear& by);
  Expr symbolic_end(const SymbolPtr& s, bool lower_end) const;
  int rank(const SymbolPtr& s, int depth = 0);

  /// A Bloom filter of the symbols and opaque atoms in an expression and in the values of its names; `reach`:
  /// and of those that the facts of its symbols name.
  std::uint64_t mask(const Expr& e);
  std::uint64_t reach(const Expr& e, int depth = 0);

  const Facts& facts_;
  std::vector<std::pair<SymbolPtr, int>> lanes_;
  std::vector<Linear> conditions_;
  std::uint64_t condition_mask_ = 0;
  int effort_ = 40, steps_left_ = 0, steps_taken_ = 0, condition_depth_ = 0;
  ExprMap<Range> ranges_;
  ExprMap<std::int64_t> multiples_;
  ExprMap<std::uint64_t> masks_, reaches_;
  std::unordered_map<Linear, Found, LinearHash> found_;
};

}  // namespace calotype::ir::algebra
