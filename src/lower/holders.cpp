// Who holds an element in registers that are dealt out to the threads of a block.
//
// A thread is numbered as the machine numbers it: x + X * (y + Y * z) among X * Y * Z of the block, 32 in a
// warp. Whether the holder is a lane of the reader's warp is a question to the algebra, asked under what the
// reader's loops and guards say: outside of them nothing is needed.
#include "lower/holders.h"

#include <algorithm>
#include <limits>

#include "lower/domain_condition.h"
#include "lower/first_thread.h"
#include "lower/one_sided_masks.h"
#include "schedule/gpu.h"

namespace calotype::lower {
namespace {

constexpr std::int64_t kLanes = schedule::warp_lanes;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

bool is_thread_loop(const LoopInfo& loop) { return loop.binding == ir::Binding::GpuThread; }

/// The loop among `open` that is bound to all of this axis of the block's threads; null if none is.
const LoopInfo* thread_loop(const LoopTree& tree, int axis, const std::vector<LoopId>& open) {
  for (LoopId id : open) {
    const LoopInfo& loop = tree.loop(id);
    if (is_thread_loop(loop) && loop.axis == axis && loop.part == ir::ThreadPart::Whole) return &loop;
  }
  return nullptr;
}

/// The one that is bound to lanes, or to warps.
const LoopInfo* part_loop(const LoopTree& tree, ir::ThreadPart part, const std::vector<LoopId>& open) {
  for (LoopId id : open)
    if (tree.loop(id).part == part) return &tree.loop(id);
  return nullptr;
}

Expr own_position(const LoopInfo* loop) { return loop ? ir::make_var(loop->var) - loop->min : Expr(); }

/// The last value of a loop's variable with which its stage has something to do.
Expr last_needed(const LoopInfo& loop) {
  return loop.min + (loop.needed.defined() ? loop.needed : loop.extent) - ir::index(1);
}

}  // namespace

WarpParts warp_parts(const LoopTree& tree, FuncId func) {
  WarpParts parts;
  for (LoopId id : tree.scheduled.of(func).stages[0].loops) {
    parts.lanes |= tree.loop(id).part == ir::ThreadPart::Lane;
    parts.warps |= tree.loop(id).part == ir::ThreadPart::Warp;
  }
  return parts;
}

std::vector<HolderPlace> holder_places(const LoopTree& tree, FuncId func, const std::vector<LoopId>& open) {
  std::vector<HolderPlace> places;
  const Expr x = own_position(thread_loop(tree, 0, open)),
             lane = own_position(part_loop(tree, ir::ThreadPart::Lane, open)),
             warp = own_position(part_loop(tree, ir::ThreadPart::Warp, open)), lanes = ir::index(kLanes);
  const auto [by_lane, by_warp] = warp_parts(tree, func);
  if (!by_lane && !by_warp) {
    const bool both = lane.defined() && warp.defined();
    places.push_back({layout::Axis::ThreadX, "thread.x", 0, kMost, both ? warp * lanes + lane : x});
  }
  if (by_lane)
    places.push_back(
        {layout::Axis::ThreadX, "lane", 0, kLanes, lane.defined() || !x.defined() ? lane : x % lanes});
  if (by_warp)
    places.push_back({layout::Axis::ThreadX, "thread.x", kLanes, kMost,
                      warp.defined() ? warp * lanes
                      : x.defined()  ? x / lanes * lanes
                                     : x});
  places.push_back({layout::Axis::ThreadY, "thread.y", 0, kMost, own_position(thread_loop(tree, 1, open))});
  places.push_back({layout::Axis::ThreadZ, "thread.z", 0, kMost, own_position(thread_loop(tree, 2, open))});
  for (LoopId id : open)
    if (tree.loop(id).binding == ir::Binding::GpuCluster)
      places.push_back({layout::Axis::Rank, "cluster rank", 0, kMost, own_position(&tree.loop(id))});
  if (places.back().axis != layout::Axis::Rank)
    places.push_back({layout::Axis::Rank, "cluster rank", 0, kMost, Expr()});
  return places;
}

std::vector<Expr> within_storage(const Storage& storage, const std::vector<Expr>& coordinates,
                                 const ir::Facts& facts) {
  std::vector<Expr> local;
  for (std::size_t d = 0; d < coordinates.size(); ++d)
    // Where one coordinate is stored it is the box's first, however it is computed.
    local.push_back(storage.shape[d] == 1
                        ? ir::index(0)
                        : ir::simplify(cast(Int(64), coordinates[d]) - storage.box[d].min, facts));
  return local;
}

Holders::Holders(const LoopTree& tree, const KernelInfo& kernel, StageRef user,
                 const std::vector<LoopId>& open)
    : tree_(tree), kernel_(kernel), user_(user), open_(open), facts_(tree.facts) {
  for (LoopId id : open_) {
    const LoopInfo& loop = tree_.loop(id);
    if (loop.needed.defined()) facts_.set_range(loop.var, loop.min, simple(last_needed(loop)));
  }
  const StageInfo& info = tree_.stages.at(user_);
  needed_ = ir::make_one(Bool());
  for (const Guard& g : info.guards)
    if (g.tail != Tail::PredicateStores) needed_ = needed_ && g.condition;
  if (const Expr plain = parts_of(tree_.def(user_).predicate).plain; plain.defined()) {
    needed_ = needed_ && ir::substitute(plain, tree_.coordinates_of(user_));
  }
  needed_ = ir::simplify(needed_, tree_.facts);  // loops run beyond what is needed
  if (!ir::is_const(needed_)) facts_.assume(needed_);
}

// ---- Positions

Expr Holders::new_loop(int axis, ir::ThreadPart part, std::int64_t extent) {
  for (const auto& [info, known] : made_)
    if (info.axis == axis && info.part == part) return ir::make_var(info.var);
  const ir::LoopInfo info = all_threads(tree_, user_.func, axis, part);
  made_.emplace_back(info, extent);
  facts_.set_range(info.var, ir::index(0), ir::index(extent - 1));
  return ir::make_var(info.var);
}

ir::Stmt Holders::bound(ir::Stmt s) const {
  for (const auto& [info, extent] : made_) s = ir::for_loop(info, ir::index(0), ir::index(extent), s);
  return s;
}

Expr Holders::own_part(ir::ThreadPart part) {
  const std::int64_t x = kernel_.threads[0];
  if (const LoopInfo* loop = part_loop(tree_, part, open_)) return own_position(loop);
  const bool lane = part == ir::ThreadPart::Lane;
  const std::int64_t extent = lane ? std::min(x, kLanes) : (x + kLanes - 1) / kLanes;
  if (extent == 1) return ir::index(0);
  if (const LoopInfo* whole = thread_loop(tree_, 0, open_)) {
    if (x <= kLanes) return own_position(whole);
    return lane ? own_position(whole) % ir::index(kLanes) : own_position(whole) / ir::index(kLanes);
  }
  return new_loop(0, part, extent);
}

Expr Holders::own_x() {
  if (const LoopInfo* whole = thread_loop(tree_, 0, open_)) return own_position(whole);
  if (part_loop(tree_, ir::ThreadPart::Lane, open_) || part_loop(tree_, ir::ThreadPart::Warp, open_))
    return own_part(ir::ThreadPart::Warp) * ir::index(kLanes) + own_part(ir::ThreadPart::Lane);
  return kernel_.threads[0] == 1 ? ir::index(0) : new_loop(0, ir::ThreadPart::Whole, kernel_.threads[0]);
}

Expr Holders::own_along(int axis) {
  if (axis == 0) return own_x();
  if (kernel_.threads[axis] == 1) return ir::index(0);
  if (const LoopInfo* loop = thread_loop(tree_, axis, open_)) return own_position(loop);
  return new_loop(axis, ir::ThreadPart::Whole, kernel_.threads[axis]);
}

/// Of the holder where the layout tells it; of the thread itself where each has all.
Expr Holders::along_x(const std::vector<HolderPlace>& places, const layout::Layout& layout,
                      const std::vector<Expr>& local) {
  if (!layout.uses(layout::Axis::ThreadX)) return own_x();
  Expr x = ir::index(0);
  bool lanes = false, warps = false;
  for (const HolderPlace& p : places) {
    if (p.axis != layout::Axis::ThreadX) continue;
    x = x + layout.position(p.axis, local, facts_, p.from, p.below);
    lanes |= p.from == 0;
    warps |= p.below == kMost;
  }
  if (!lanes) x = x + own_part(ir::ThreadPart::Lane);
  if (!warps) x = x + own_part(ir::ThreadPart::Warp) * ir::index(kLanes);
  return x;
}

// ---- Elements

Held Holders::of(FuncId func, const std::vector<Expr>& coordinates) {
  const Storage& storage = tree_.storage.at(func);
  const layout::Layout& layout = *storage.layout;
  const std::vector<Expr> local = within_storage(storage, coordinates, facts_);
  const std::vector<HolderPlace> places = holder_places(tree_, func, open_);
  Held held{.slot = layout.position(layout::Axis::Register, local, facts_)};
  std::array<bool, 3> differs{};
  for (const HolderPlace& p : places) {
    if (!layout.uses(p.axis)) continue;
    const Expr holder = layout.position(p.axis, local, facts_, p.from, p.below);
    if (p.own.defined() && ir::prove_equal(holder, simple(p.own), facts_)) continue;
    held.own = false;
    if (p.axis == layout::Axis::Rank)
      held.in_block = held.in_warp = false;
    else
      differs[static_cast<std::size_t>(p.axis)] = true;
  }
  if (held.own || !held.in_block) return held;
  const auto& n = kernel_.threads;
  const Expr lanes = ir::index(kLanes), hx = along_x(places, layout, local);
  const auto along = [&](int axis) {
    const auto a = static_cast<layout::Axis>(axis);
    return layout.uses(a) ? layout.position(a, local, facts_) : own_along(axis);
  };
  if (n[0] * n[1] * n[2] <= kLanes) {
    held.lane = simple(hx + ir::index(n[0]) * (along(1) + ir::index(n[1]) * along(2)));
    return held;
  }
  if (n[0] % kLanes == 0 || (n[1] == 1 && n[2] == 1)) {  // a warp lies along x
    held.lane = simple(hx % lanes);
    held.in_warp = !differs[1] && !differs[2] &&
                   (!differs[0] || ir::prove_equal(simple(hx / lanes), simple(own_x() / lanes), facts_));
    return held;
  }
  const Expr thread = hx + ir::index(n[0]) * (along(1) + ir::index(n[1]) * along(2));
  const Expr own = own_x() + ir::index(n[0]) * (own_along(1) + ir::index(n[1]) * own_along(2));
  held.lane = simple(thread % lanes);
  held.in_warp = ir::prove_equal(simple(thread / lanes), simple(own / lanes), facts_);
  return held;
}

std::vector<Expr> Holders::slots_of(const Expr& slot, std::int64_t most) const {
  ir::Interval range = ir::Interval::point(slot);
  std::vector<ir::SymbolPtr> apart;  // symbols that lanes of a warp may have different values of
  const auto varies = [&](const Expr& e) {
    return std::any_of(apart.begin(), apart.end(), [&](const ir::SymbolPtr& s) { return ir::uses(e, s); });
  };
  std::vector<const LoopInfo*> loops;
  for (const auto& [info, extent] : made_) apart.push_back(info.var);
  for (LoopId id : open_) {
    const LoopInfo& loop = tree_.loop(id);
    if (!is_thread_loop(loop) && !varies(loop.min)) continue;
    apart.push_back(loop.var);
    loops.push_back(&loop);
  }
  for (LoopId id : open_)
    for (const Binding& let : tree_.loop(id).lets)
      if (varies(let.value)) apart.push_back(let.symbol);
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    ir::Scope scope = ir::make_scope();
    scope[(*loop)->var] = {(*loop)->min, last_needed(**loop)};
    range = ir::bounds_of(range, scope, facts_);
    if (!range.bounded()) return {};
  }
  if (varies(range.min) || varies(range.max)) return {};
  const auto beyond = ir::constant_upper_bound(range.max - range.min, facts_);
  if (!beyond || *beyond >= most) return {};
  std::vector<Expr> slots;
  for (std::int64_t i = 0; i <= std::max<std::int64_t>(*beyond, 0); ++i)
    slots.push_back(simple(range.min + ir::index(i)));
  return slots;
}

}  // namespace calotype::lower
