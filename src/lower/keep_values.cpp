// Values that stay from one call to the next: what `memoize` asks for.
//
// Requires: inlined definitions and regions. Leaves: LoopTree::kept, with what the values of each such Func
// depend on: the sizes and Params in its definitions and in those of the Funcs that it reads, and the box
// that is computed. Stands before the search for what is unused, by which what the Func reads is not computed
// either where its values are there. The memory pass makes the memory the plan's, emission tests `present`
// around the production, and the plan has the key, by which a call finds values of an earlier one.

#include <algorithm>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

class Dependences {
 public:
  explicit Dependences(const LoopTree& tree) : tree_(tree) {}

  /// Every symbol of the call that values of the Func depend on.
  std::vector<ir::SymbolPtr> of(FuncId func) {
    visit(func);
    return symbols_;
  }

 private:
  void visit(FuncId id) {
    if (std::find(seen_.begin(), seen_.end(), id) != seen_.end()) return;
    seen_.push_back(id);
    for (const lang::StageDef& stage : tree_.func(id).stages) {
      look(stage.value);
      look(stage.predicate);
      for (const Expr& e : stage.lhs) look(e);
      for (const lang::ReductionDim& r : stage.reduction) {
        look(r.min);
        look(r.extent);
      }
    }
  }

  void look(const Expr& e) {
    if (!e.defined()) return;
    ir::visit(e, [&](const Expr& n) {
      if (ir::is(n, ir::Op::Call) && ir::callee_of(n)->kind == ir::CalleeKind::Func)
        visit(FuncId{ir::callee_of(n)->index});
    });
    for (const ir::SymbolPtr& s : ir::free_symbols(e)) {
      const bool of_the_call = s->kind == ir::SymbolKind::Dim || s->kind == ir::SymbolKind::Param ||
                               s->kind == ir::SymbolKind::MinCoord;
      if (of_the_call && std::find(symbols_.begin(), symbols_.end(), s) == symbols_.end())
        symbols_.push_back(s);
    }
  }

  const LoopTree& tree_;
  std::vector<FuncId> seen_;
  std::vector<ir::SymbolPtr> symbols_;
};

Kept kept(const LoopTree& tree, FuncId id) {
  Kept k{.func = id,
         .present = ir::make_symbol(ir::SymbolKind::Let, tree.func(id).name + ".present"),
         .key = {}};
  for (const ir::SymbolPtr& s : Dependences(tree).of(id)) k.key.push_back(ir::make_var(s));
  const auto add = [&](const Box& box) {
    for (const ir::Interval& i : box)
      for (const Expr& end : {i.min, i.max}) {
        const auto same = [&](const Expr& known) { return ir::equal(known, end); };
        if (end.defined() && !ir::as_int(end) && std::none_of(k.key.begin(), k.key.end(), same))
          k.key.push_back(end);
      }
  };
  add(tree.storage.at(id).box);
  // Tails fill memory beyond what a stage covers, and what lies there is no value of the Func.
  for (std::size_t s = 0; s < tree.func(id).stages.size(); ++s) {
    const StageInfo& stage = tree.stages.at({id, static_cast<int>(s)});
    add(stage.need);
    add(stage.read);
  }
  return k;
}

}  // namespace

void keep_values(LoopTree& tree) {
  for (const auto& [id, storage] : tree.storage)
    if (!tree.scheduled.of(id).memoize_origin.empty()) tree.kept.push_back(kept(tree, id));
}

}  // namespace calotype::lower
