#pragma once
// What the facts say about integer expressions: ranges of constants, multiples, and proofs that a linear form
// is never negative. Integers are thought of without wrapping ("ideal") here; `view` only looks into narrower
// types where they provably do not wrap.

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/interval_range.h"
#include "ir/linear.h"
#include "ir/samples.h"
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

/// What holds of expressions whatever is assumed: by the intervals, multiples and values of their symbols
/// alone. Simplifiers of the same facts under different conditions share one.
class Ranges {
 public:
  explicit Ranges(const Facts& facts) : facts_(facts), samples_(*this) {}
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;

  const Facts& facts() const { return facts_; }
  Samples& samples() { return samples_; }
  /// What the facts say of a symbol, or null.
  const Facts::Known* known(const SymbolPtr& s);
  /// Whether anything here may rest on what the facts say of the symbol of that number.
  bool rests_on(std::uint64_t unique) const { return known_.count(unique) != 0; }
  /// An additional symbol with values 0 .. count - 1 (the lane of a vector).
  void define_lane(const SymbolPtr& symbol, int count) { lanes_.emplace(symbol->unique, count); }

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

  /// A Bloom filter of the symbols and opaque atoms in an expression and in the values of its names; `reach`:
  /// and of those that the facts of its symbols name.
  std::uint64_t mask(const Expr& e);
  std::uint64_t reach(const Expr& e, int depth = 0);
  static std::uint64_t mask_bit(std::uint64_t hash) {
    return std::uint64_t{1} << ((hash * 0x9e3779b97f4a7c15u) >> 58);
  }
  /// An end of the interval of a symbol, if there is one and it is no constant.
  Expr symbolic_end(const SymbolPtr& s, bool lower_end);
  /// How many symbols deep the ends of its interval are.
  int rank(const SymbolPtr& s);

 private:
  Range compute_range(const Expr& e);
  Range arithmetic_range(const Expr& e);
  Range product_range(const Expr& e);
  Range variable_range(const SymbolPtr& symbol, Type type);
  std::int64_t compute_multiple(const Expr& e);
  int compute_rank(const SymbolPtr& s, int depth);

  const Facts& facts_;
  std::unordered_map<std::uint64_t, const Facts::Known*> known_;  ///< of all symbols asked about
  std::unordered_map<std::uint64_t, int> lanes_, ranks_;
  ExprMap<Range> ranges_;
  ExprMap<std::int64_t> multiples_;
  ExprMap<std::uint64_t> masks_, reaches_;
  Samples samples_;
};

/// The same with conditions, which only the searches look at.
class Analysis {
 public:
  explicit Analysis(std::shared_ptr<Ranges> ranges) : ranges_(std::move(ranges)) {}

  const std::shared_ptr<Ranges>& ranges() const { return ranges_; }
  const Facts& facts() const { return ranges_->facts(); }
  void define_lane(const SymbolPtr& symbol, int count) { ranges_->define_lane(symbol, count); }
  struct Found {
    std::int64_t bound, goal;
  };
  /// Lower bounds of forms, and what they were to reach.
  using Findings = std::unordered_map<Linear, Found, LinearHash>;
  Findings take_findings() { return std::move(found_); }
  void add_findings(std::shared_ptr<const Findings> more) { found_before_.push_back(std::move(more)); }
  /// Search for what samples contradict, too.
  void search_everything() { samples_ = 0; }

  /// Take a Bool expression as true; comparisons become linear forms that are not negative.
  void assume(const Expr& condition);

  Range range(const Expr& e) { return ranges_->range(e); }
  Range range(const Linear& l) { return ranges_->range(l); }
  Linear view(const Expr& e) { return ranges_->view(e); }
  bool fits(const Linear& l, Type type) { return ranges_->fits(l, type); }
  bool keeps_value(const Expr& e, Type to) { return ranges_->keeps_value(e, to); }
  std::int64_t multiple(const Expr& e) { return ranges_->multiple(e); }
  std::int64_t multiple(const Linear& l) { return ranges_->multiple(l); }

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
  const Found* found(const Linear& l) const;
  Linear replaced(const Linear& l, std::size_t i, const Linear& by);
  std::shared_ptr<Ranges> ranges_;
  std::vector<Linear> conditions_;
  std::uint64_t condition_mask_ = 0;
  Samples::Set samples_ = Samples::kAll;  ///< those at which the conditions hold
  int effort_ = 40, steps_left_ = 0, steps_taken_ = 0, condition_depth_ = 0;
  Findings found_;
  std::vector<std::shared_ptr<const Findings>> found_before_;
};

}  // namespace calotype::ir::algebra
