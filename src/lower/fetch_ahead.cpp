// What a prefetch becomes: hints, one for each line of cache, within what the memory holds if that is asked
// for.
#include "lower/fetch_ahead.h"

namespace calotype::lower {
namespace {

constexpr std::int64_t kLineBytes = 64;  // of a cache

class Fetch {
 public:
  Fetch(const LoopTree& tree, const Addresses& addresses, const PrefetchRegion& region)
      : tree_(tree), addresses_(addresses), region_(region) {}

  ir::Stmt run() const {
    const int index = region_.of->index;
    if (region_.of->kind == ir::CalleeKind::Input) return fetch(tree_.inputs[index], nullptr);
    const FuncId func{index};
    const auto output = tree_.output_of.find(func);
    const Storage* storage = output == tree_.output_of.end() ? &tree_.storage.at(func) : nullptr;
    std::vector<ir::Stmt> components;
    for (const ir::BufferPtr& b : storage ? storage->buffers : output->second)
      components.push_back(fetch(b, storage));
    return ir::block(std::move(components));
  }

 private:
  Expr simple(const Expr& e) const { return ir::simplify(e, tree_.facts); }

  /// The coordinates that the memory holds.
  static ir::Interval held(const ir::BufferPtr& b, const Storage* storage, std::size_t d) {
    if (storage) return storage->box[d];
    return {b->mins[d], b->mins[d] + b->extents[d] - ir::index(1)};
  }

  ir::Stmt fetch(const ir::BufferPtr& b, const Storage* storage) const {
    if (region_.bounds == PrefetchBounds::NonFaulting) return lines(b, storage, region_.box, true);
    Box box;
    Expr any = ir::make_one(Bool());
    for (std::size_t d = 0; d < region_.box.size(); ++d) {
      const ir::Interval &i = region_.box[d], all = held(b, storage, d);
      if (region_.bounds == PrefetchBounds::Clamp)
        box.push_back({clamp(i.min, all.min, all.max), clamp(i.max, all.min, all.max)});
      else
        box.push_back({max(i.min, all.min), min(i.max, all.max)});
      any = any && box.back().min <= box.back().max;
    }
    // The last line of a row by its last element: a step further would be beyond it.
    std::vector<ir::Stmt> hints{lines(b, storage, box, false)};
    if (!box.empty() && ir::is_one(b->strides[0])) {
      box[0].min = box[0].max;
      hints.push_back(lines(b, storage, box, false));
    }
    any = simple(any);
    const ir::Stmt both = ir::block(std::move(hints));
    return ir::is_one(any) ? both : ir::if_then(any, both);
  }

  /// Elements of the box a line apart; with `beyond` as many as it may touch wherever it begins in a line.
  ir::Stmt lines(const ir::BufferPtr& b, const Storage* storage, const Box& box, bool beyond) const {
    std::vector<Expr> first;
    std::vector<std::pair<Expr, Expr>> counts_and_steps;
    for (std::size_t d = 0; d < box.size(); ++d) {
      const Expr line = ir::index(ir::is_one(b->strides[d]) ? kLineBytes / b->type.bytes() : 1);
      const Expr reach = box[d].max - box[d].min + (beyond ? line - ir::index(1) : ir::index(0));
      first.push_back(simple(box[d].min));
      counts_and_steps.emplace_back(simple(reach / line + ir::index(1)), simple(line * b->strides[d]));
    }
    // In a ring the box starts at its slot; what wraps around is in the caches already.
    Expr index = addresses_.strided(b, first, storage ? storage->folds : std::vector<std::int64_t>{});
    if (storage) index = simple(index + Addresses::start_of_copy(*storage, b));
    return ir::prefetch(b, index, counts_and_steps);
  }

  const LoopTree& tree_;
  const Addresses& addresses_;
  const PrefetchRegion& region_;
};

}  // namespace

ir::Stmt fetch_ahead(const LoopTree& tree, const Addresses& addresses, const LoopInfo& loop, ir::Stmt body) {
  std::vector<ir::Stmt> all;
  for (const PrefetchRegion& region : loop.prefetches) all.push_back(Fetch(tree, addresses, region).run());
  all.push_back(std::move(body));
  return ir::block(std::move(all));
}

}  // namespace calotype::lower
