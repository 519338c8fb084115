// Groups of lanes: what makes one of the partial results that neighbouring lanes have becomes one operation
// on groups of lanes, where pairs of them were combined in memory.
//
// Requires: vector expressions. Leaves: reductions (ReduceAdd ...) with several results, lane j of which
// combines the j-th group of neighbours. Partial results of a single vector are no memory any more. Sums of
// products of narrow integers are added up in groups of 4 (8 bits) or 2 (16 bits) before they are kept, which
// machines have instructions for.
//
// Stands behind vectorisation, which makes the vectors, and before unrolling, so that each is looked at once.
// On hosts alone.

#include <algorithm>
#include <numeric>

#include "ir/narrow_product.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

/// The lanes of an index that is constant as it stands.
std::optional<std::vector<std::int64_t>> constant_lanes(const Expr& e) {
  const std::size_t lanes = e->type.lanes;
  if (const auto value = ir::as_int(e)) return std::vector<std::int64_t>(lanes, *value);
  std::vector<std::vector<std::int64_t>> args;
  for (const Expr& a : e->args) {
    auto arg = constant_lanes(a);
    if (!arg) return std::nullopt;
    args.push_back(std::move(*arg));
  }
  std::vector<std::int64_t> result(lanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto at = [&](std::size_t k) { return args[k][i % args[k].size()]; };
    switch (e->op) {
      case ir::Op::Broadcast:
        result[i] = at(0);
        break;
      case ir::Op::Ramp:
        result[i] = at(0) + at(1) * static_cast<std::int64_t>(i / args[0].size());
        break;
      case ir::Op::Add:
        result[i] = at(0) + at(1);
        break;
      case ir::Op::Mul:
        result[i] = at(0) * at(1);
        break;
      default:
        return std::nullopt;
    }
  }
  return result;
}

std::vector<std::int64_t> count_up(std::int64_t n) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::optional<ir::Op> reduction_by(ir::Op op) {
  switch (op) {
    case ir::Op::Add:
      return ir::Op::ReduceAdd;
    case ir::Op::Mul:
      return ir::Op::ReduceMul;
    case ir::Op::Min:
      return ir::Op::ReduceMin;
    case ir::Op::Max:
      return ir::Op::ReduceMax;
    default:
      return std::nullopt;
  }
}

bool is_load(const Expr& e, const ir::BufferPtr& buffer) {
  return ir::is(e, ir::Op::Load) && ir::buffer_of(e) == buffer;
}

bool loads(const Expr& e, const ir::BufferPtr& buffer) {
  return e.defined() && ir::any_of(e, [&](const Expr& n) { return is_load(n, buffer); });
}

bool is_store(const ir::Stmt& s, const ir::BufferPtr& buffer) {
  return s->kind == ir::StmtKind::Store && s->buffer() == buffer;
}

/// The statements of an allocation of partial results, by what they do.
class PartialLanes {
 public:
  PartialLanes(const ir::Stmt& s, const ir::Facts& facts) : facts_(facts), buffer_(s->buffer()) {
    lanes_ = ir::as_int(buffer_->extents.front()).value_or(0);
    const ir::Stmt& body = s->body();
    stmts_ = body->kind == ir::StmtKind::Block ? body->stmts : std::vector<ir::Stmt>{body};
  }

  /// The statements without what combines pairs of lanes; null if they have another form.
  ir::Stmt grouped() {
    if (lanes_ < 2 || !begins_with_identity() || !find_combination()) return nullptr;
    const std::int64_t results = lanes_ / group_;
    for (std::size_t i = finish_; i < stmts_.size(); ++i)
      if (!reads_results(stmts_[i], results)) return nullptr;
    const Expr value = value_of_one_vector();
    if (value.defined()) return finished(reduced(value, results));
    return kept(narrow_group(), results);
  }

 private:
  /// The lanes of an index, if they are constants.
  std::optional<std::vector<std::int64_t>> lanes_of(const Expr& index) const {
    const auto lanes = constant_lanes(index);
    return lanes ? lanes : constant_lanes(ir::simplify(index, facts_));
  }

  /// Whether an index is of all lanes in order.
  bool is_whole(const Expr& index) const {
    const auto all = lanes_of(index);
    return all && *all == count_up(lanes_);
  }

  bool begins_with_identity() {
    const ir::Stmt& s = stmts_.front();
    if (stmts_.size() < 4 || !is_store(s, buffer_) || !ir::is_one(s->exprs[1])) return false;
    if (!ir::is(s->exprs[0], ir::Op::Broadcast) && !ir::is_const(s->exprs[0])) return false;
    identity_ = s->exprs[0];
    return is_whole(s->exprs[2]);
  }

  /// Follows the last stores, which combine lanes, by the range of the lanes that each place has combined.
  bool find_combination() {
    finish_ = stmts_.size();
    while (finish_ > 0 && !is_store(stmts_[finish_ - 1], buffer_)) --finish_;
    combine_ = finish_;
    while (combine_ > 1 && is_store(stmts_[combine_ - 1], buffer_) && is_combination(stmts_[combine_ - 1]))
      --combine_;
    if (combine_ == finish_ || combine_ < 2 || finish_ == stmts_.size()) return false;
    for (std::int64_t i = 0; i < lanes_; ++i) ranges_.push_back({i, i + 1});
    for (std::size_t i = combine_; i < finish_; ++i)
      if (!combine(*stmts_[i])) return false;
    group_ = ranges_.front().end;
    const bool any_order = !buffer_->type.is_float() || (group_ & (group_ - 1)) == 0;
    return group_ > 1 && lanes_ % group_ == 0 && any_order;
  }

  bool is_combination(const ir::Stmt& s) {
    const Expr& value = s->exprs[0];
    if (!ir::is_one(s->exprs[1])) return false;
    if (is_load(value, buffer_)) return true;
    const auto reduction = value->args.size() == 2 ? reduction_by(value->op) : std::nullopt;
    if (!reduction || !is_load(value->args[0], buffer_) || !is_load(value->args[1], buffer_)) return false;
    if (reduction_ && reduction_ != reduction) return false;
    reduction_ = reduction;
    return true;
  }

  bool combine(const ir::StmtNode& s) {
    const bool moves = is_load(s.exprs[0], buffer_);
    const auto to = lanes_of(s.exprs[2]),
               x = lanes_of(moves ? s.exprs[0]->args[0] : s.exprs[0]->args[0]->args[0]),
               y = moves ? x : lanes_of(s.exprs[0]->args[1]->args[0]);
    if (!to || !x || !y) return false;
    std::vector<Range> next = ranges_;
    for (std::size_t i = 0; i < to->size(); ++i) {
      const Range a = ranges_[(*x)[i]], b = ranges_[(*y)[i]];
      if (!moves && a.end != b.begin && b.end != a.begin) return false;
      next[(*to)[i]] = moves ? a : Range{std::min(a.begin, b.begin), std::max(a.end, b.end)};
    }
    ranges_ = std::move(next);
    return true;
  }

  /// Whether all that a statement at the end reads of the buffer is each group's result, in order.
  bool reads_results(const ir::Stmt& s, std::int64_t results) const {
    bool good = true;
    ir::visit_exprs(s, [&](const Expr& e) {
      if (!e.defined()) return;
      ir::visit(e, [&](const Expr& n) {
        if (!is_load(n, buffer_)) return;
        const auto at = lanes_of(n->args[0]);
        if (!at || static_cast<std::int64_t>(at->size()) != results) return void(good = false);
        for (std::int64_t i = 0; i < results; ++i) {
          const Range r = ranges_[(*at)[i]];
          good &= r.begin == i * group_ && r.end == (i + 1) * group_;
        }
      });
    });
    return good;
  }

  /// What the lanes hold where one store gives it to them; undefined if loops add to it.
  Expr value_of_one_vector() const {
    const ir::Stmt& s = stmts_[1];
    if (combine_ != 2 || !is_store(s, buffer_) || !is_whole(s->exprs[2])) return {};
    if (!ir::is_one(s->exprs[1])) return {};
    return ir::rewrite(s->exprs[0], [&](const Expr& n) {
      if (!is_load(n, buffer_)) return n;
      return n->type.lanes == identity_->type.lanes
                 ? identity_
                 : ir::make(ir::Op::Broadcast, n->type, {scalar_identity()});
    });
  }

  Expr scalar_identity() const {
    return ir::is(identity_, ir::Op::Broadcast) ? identity_->args[0] : identity_;
  }

  Expr reduced(const Expr& value, std::int64_t results) const {
    return ir::make(*reduction_, buffer_->type.with_lanes(static_cast<int>(results)), {value});
  }

  /// The statements at the end, with the results given: in place where one store reads them.
  ir::Stmt finished(const Expr& results) const {
    const ir::Stmt last = ir::block({stmts_.begin() + static_cast<std::ptrdiff_t>(finish_), stmts_.end()});
    ir::Stmt only = last;
    while (only->kind == ir::StmtKind::If && only->stmts.size() == 1) only = only->body();
    const bool once = only->kind == ir::StmtKind::Store;
    const ir::SymbolPtr name = ir::make_symbol(ir::SymbolKind::Let, buffer_->name, results->type);
    const Expr value = once ? results : ir::make_var(name);
    ir::Stmt s = ir::rewrite_exprs(last, [&](const Expr& e) {
      return ir::rewrite(e, [&](const Expr& n) { return is_load(n, buffer_) ? value : n; });
    });
    return once ? s : ir::let_stmt(name, results, s);
  }

  // ---- Partial results that are kept over loops

  /// How many neighbours can be added up before they are kept; 1: none.
  std::int64_t narrow_group() const {
    if (reduction_ != ir::Op::ReduceAdd) return 1;
    std::int64_t group = 4;
    bool good = true;
    for (std::size_t i = 1; i < combine_; ++i)
      ir::visit(stmts_[i], [&](const ir::Stmt& n) {
        if (is_store(n, buffer_)) {
          const auto term = term_of(n);
          const auto product = term ? ir::narrow_product(*term) : std::nullopt;
          good &= product.has_value();
          if (product && product->bits() == 16) group = 2;
        } else {
          for (const Expr& e : n->exprs) good &= !loads(e, buffer_);
        }
      });
    return good && group_ % group == 0 ? group : 1;
  }

  /// Of a store that adds a vector of terms to all lanes: these, 0 where there are none.
  std::optional<Expr> term_of(const ir::Stmt& s) const {
    if (!ir::is_one(s->exprs[1]) || !is_whole(s->exprs[2])) return std::nullopt;
    const Expr& value = s->exprs[0];
    if (ir::is(value, ir::Op::Select)) {
      if (!is_load(value->args[2], buffer_) || loads(value->args[0], buffer_)) return std::nullopt;
      const auto term = added(value->args[1]);
      if (!term) return std::nullopt;
      return ir::make(ir::Op::Select, value->type, {value->args[0], *term, ir::make_zero(value->type)});
    }
    return added(value);
  }

  std::optional<Expr> added(const Expr& sum) const {
    if (!ir::is(sum, ir::Op::Add)) return std::nullopt;
    for (int own : {0, 1}) {
      const Expr &load = sum->args[own], &term = sum->args[1 - own];
      if (is_load(load, buffer_) && is_whole(load->args[0]) && !loads(term, buffer_)) return term;
    }
    return std::nullopt;
  }

  /// The allocation, with `narrow` lanes in one.
  ir::Stmt kept(std::int64_t narrow, std::int64_t results) const {
    const int lanes = static_cast<int>(lanes_ / narrow);
    ir::Buffer smaller = *buffer_;
    smaller.extents = {ir::index(lanes)};
    const ir::BufferPtr own = narrow == 1 ? buffer_ : ir::make_buffer(smaller);
    const Type type = buffer_->type.with_lanes(lanes);
    const Expr index =
        lanes == 1 ? ir::index(0) : ir::make(ir::Op::Ramp, Int(64, lanes), {ir::index(0), ir::index(1)});
    const Expr value = ir::make(ir::Op::Load, type, {index}, own);
    std::vector<ir::Stmt> stmts;
    stmts.push_back(ir::store(
        own, lanes == 1 ? scalar_identity() : ir::make(ir::Op::Broadcast, type, {scalar_identity()}),
        {index}));
    for (std::size_t i = 1; i < combine_; ++i)
      stmts.push_back(narrow == 1 ? stmts_[i] : with_groups(stmts_[i], own, value, index));
    stmts.push_back(finished(lanes == results ? value : reduced(value, results)));
    return ir::allocate(own, ir::block(std::move(stmts)));
  }

  ir::Stmt with_groups(const ir::Stmt& s, const ir::BufferPtr& own, const Expr& value,
                       const Expr& index) const {
    if (is_store(s, buffer_)) {
      const Expr sums = ir::make(ir::Op::ReduceAdd, value->type, {*term_of(s)});
      return ir::store(own, ir::make(ir::Op::Add, value->type, {value, sums}), {index});
    }
    return ir::map_children(
        s, [](const Expr& e) { return e; },
        [&](const ir::Stmt& child) { return with_groups(child, own, value, index); });
  }

  /// Lanes from `begin` to before `end`.
  struct Range {
    std::int64_t begin, end;
  };

  const ir::Facts& facts_;
  const ir::BufferPtr buffer_;
  std::int64_t lanes_ = 0, group_ = 1;
  std::vector<ir::Stmt> stmts_;
  std::size_t combine_ = 0, finish_ = 0;  ///< where statements that combine, and that read results, begin
  std::vector<Range> ranges_;
  std::optional<ir::Op> reduction_;
  Expr identity_;
};

}  // namespace

ir::Stmt group_lanes(const ir::Stmt& s, const ir::Facts& facts) {
  ir::Stmt inner = ir::map_children(
      s, [](const Expr& e) { return e; }, [&](const ir::Stmt& child) { return group_lanes(child, facts); });
  if (inner->kind != ir::StmtKind::Allocate || !inner->buffer()->partial) return inner;
  const ir::Stmt grouped = PartialLanes(inner, facts).grouped();
  return grouped ? grouped : inner;
}

}  // namespace calotype::lower
