// Productions that some calls have no use for: every value of the Func that is read is read in an arm of a
// selection, or in a definition, that a condition on sizes and Params rules out.
//
// Requires: inlined definitions, with promised sizes put in (after bounds). Leaves: LoopTree::used_when, by
// which the emit pass stands an if around the production. What reads the Func stays as it is: its memory is
// there, and what is read of it in vain is not chosen. So a read counts as a use wherever more hangs on its
// value: in an index, in what `require` tests, in what is printed. Stands between bounds and emission, since
// bounds are those of every call; branches of `specialize` make them smaller.

#include <map>
#include <set>
#include <utility>

#include "ir/questions.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

// Conditions of more nodes are not worth testing.
constexpr std::size_t kMostNodes = 40;
// Of a definition with more selections the rest are taken as if both arms were used.
constexpr int kMostSelections = 64;

class Uses {
 public:
  explicit Uses(LoopTree& tree) : tree_(tree) {}

  void run(const Options& options) {
    const Expr always = ir::make_one(Bool()), never = ir::make_zero(Bool());
    for (const lang::FuncDef& f : tree_.scheduled.graph.funcs) used_.emplace(f.id, never);
    for (const lang::OutputDef& o : tree_.scheduled.graph.outputs) used_[o.func] = always;
    for (FuncId id : options.stored_stages) used_[id] = always;
    const std::vector<FuncId>& order = tree_.scheduled.order;
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      if (tree_.inlined(*id)) continue;
      Expr when = ir::simplify(used_.at(*id), tree_.facts);
      // A nest that several Funcs share runs whole.
      if (ir::size_up_to(when, kMostNodes) > kMostNodes || sharing(tree_.scheduled, *id).size() > 1)
        when = always;
      // Values that stay are all computed, unless they are there.
      if (const Kept* kept = tree_.find_kept(*id)) when = ir::make_var(kept->present) == ir::index(0);
      used_[*id] = when;
      if (!ir::is_one(when)) tree_.used_when[*id] = when;
      for (const lang::StageDef& s : tree_.func(*id).stages) stage(*id, s, when);
    }
  }

 private:
  void stage(FuncId reader, const lang::StageDef& s, const Expr& when) {
    reader_ = reader;
    seen_.clear();
    selections_ = 0;
    Expr inside = when;
    if (s.predicate.defined()) {
      look(s.predicate, when);
      if (uniform(s.predicate)) inside = inside && s.predicate;
    }
    for (const Expr& e : s.lhs) look(e, inside);
    look(s.value, inside);
  }

  /// Whether the value is the same for a whole call. Nodes are shared by many, so each is asked once.
  bool uniform(const Expr& e) {
    const auto known = uniform_.find(e.node());
    if (known != uniform_.end()) return known->second;
    bool all = !ir::varies_in_a_call(e);
    for (const Expr& a : e->args) all = all && uniform(a);
    uniform_.emplace(e.node(), all);
    return all;
  }

  void look(const Expr& e, const Expr& when) {
    if (!seen_.emplace(e.node(), when.node()).second) return;
    if (ir::is(e, ir::Op::Select) && uniform(e->args[0]) && ++selections_ <= kMostSelections) {
      look(e->args[1], when && e->args[0]);
      look(e->args[2], when && !e->args[0]);
      return;
    }
    const bool needs_values =
        ir::is(e, ir::Op::Call) || ir::is(e, ir::Op::Require) || ir::is(e, ir::Op::Print);
    if (ir::is(e, ir::Op::Call) && ir::callee_of(e)->kind == ir::CalleeKind::Func)
      use(ir::callee_of(e), when);
    for (const Expr& a : e->args) look(a, needs_values ? used_.at(reader_) : when);
  }

  void use(const ir::CalleePtr& callee, const Expr& when) {
    if (callee->index == reader_.value) return;
    Expr& so_far = used_.at(FuncId{callee->index});
    if (!ir::is_one(so_far)) so_far = ir::simplify(so_far || when, tree_.facts);
  }

  LoopTree& tree_;
  FuncId reader_;
  int selections_ = 0;
  std::map<FuncId, Expr> used_;
  std::map<ir::ExprPtr, bool> uniform_;
  std::set<std::pair<ir::ExprPtr, ir::ExprPtr>>
      seen_;  ///< nodes of the definition at hand, and when they count
};

}  // namespace

void find_unused(LoopTree& tree, const Options& options) { Uses(tree).run(options); }

}  // namespace calotype::lower
