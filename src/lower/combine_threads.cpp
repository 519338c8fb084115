// How threads combine partial results: neighbours in a warp by shuffles that exchange all of a group's values
// in log2 steps, so that each lane ends with the same; then one lane of each warp leaves its result in a slot
// of shared memory, and behind a barrier (placed by the sync pass between Send and Combine) every thread of
// the group combines what is in its group's slots.
//
// The order of the partial results is kept where it matters: of two lanes the lower one's comes first, and
// slots are combined from the first on.
#include "lower/combine_threads.h"

#include <algorithm>
#include <bit>

#include "lower/first_thread.h"
#include "lower/store_values.h"

namespace calotype::lower {
namespace {

constexpr std::int64_t kReadAll = 16;  // slots that every thread reads by itself

std::vector<Expr> components(const Expr& e) {
  return ir::is(e, ir::Op::Tuple) ? e->args : std::vector<Expr>{e};
}

/// Whether an operation computes both operands whatever their values are.
bool computes_both(ir::Op op) {
  return op == ir::Op::Add || op == ir::Op::Mul || op == ir::Op::Min || op == ir::Op::Max ||
         op == ir::Op::BitAnd || op == ir::Op::BitOr || op == ir::Op::BitXor;
}

}  // namespace

bool combines(const schedule::Associative& proof, std::size_t component) {
  return std::any_of(proof.combined.begin(), proof.combined.end(),
                     [&](const Expr& e) { return ir::uses(e, proof.right[component]); });
}

CombineThreads::CombineThreads(const LoopTree& tree, StageRef stage, const PartialResults& partial,
                               const std::vector<LoopId>& open)
    : tree_(tree), stage_(stage), reduction_(tree.reductions.at(stage)), partial_(partial), open_(open) {}

// ---- Positions

Expr CombineThreads::Positions::operator()(std::size_t digit) {
  if (of_.reduction_.extents[digit] == 1) return ir::index(0);
  if (digit == Digit::Lane || digit == Digit::Warp) return along_x(digit);
  if (digit == Digit::Rank) return rank();
  if (digit == Digit::Z) return along(2, of_.reduction_.extents[digit]);
  const std::int64_t lanes = of_.reduction_.extents[Digit::LaneY];
  if (lanes == 1) return along(1, of_.reduction_.extents[digit]);
  if (!along_y_.defined()) along_y_ = along(1, lanes * of_.reduction_.extents[Digit::Y]);
  return digit == Digit::LaneY ? along_y_ % ir::index(lanes) : along_y_ / ir::index(lanes);
}

Expr CombineThreads::Positions::along(int axis, std::int64_t extent) {
  for (LoopId id : of_.open_) {
    const LoopInfo& loop = of_.tree_.loop(id);
    if (loop.binding == ir::Binding::GpuThread && loop.axis == axis) return ir::make_var(loop.var) - loop.min;
  }
  return new_loop(axis, ir::ThreadPart::Whole, extent);
}

Expr CombineThreads::Positions::rank() {
  for (LoopId id : of_.open_) {
    const LoopInfo& loop = of_.tree_.loop(id);
    if (loop.binding == ir::Binding::GpuCluster) return ir::make_var(loop.var) - loop.min;
  }
  ir::LoopInfo info{.var = ir::make_symbol(ir::SymbolKind::Loop, "rank"),
                    .binding = ir::Binding::GpuCluster,
                    .func = of_.tree_.func(of_.stage_.func).name,
                    .origin = "all blocks of the cluster"};
  made_.emplace_back(info, of_.reduction_.extents[Digit::Rank]);
  return ir::make_var(info.var);
}

Expr CombineThreads::Positions::along_x(std::size_t digit) {
  const std::int64_t lanes = of_.reduction_.extents[Digit::Lane];
  const ir::ThreadPart part = digit == Digit::Lane ? ir::ThreadPart::Lane : ir::ThreadPart::Warp;
  bool by_parts = false;
  Expr whole = whole_x_;
  for (LoopId id : of_.open_) {
    const LoopInfo& loop = of_.tree_.loop(id);
    if (loop.binding != ir::Binding::GpuThread || loop.axis != 0) continue;
    const Expr at = ir::make_var(loop.var) - loop.min;
    if (loop.part == part) return at;
    by_parts |= loop.part != ir::ThreadPart::Whole;
    if (loop.part == ir::ThreadPart::Whole) whole = at;
  }
  if (by_parts) return new_loop(0, part, of_.reduction_.extents[digit]);
  if (!whole.defined())
    whole = whole_x_ = new_loop(0, ir::ThreadPart::Whole, lanes * of_.reduction_.extents[Digit::Warp]);
  if (lanes == 1) return whole;
  return digit == Digit::Lane ? whole % ir::index(lanes) : whole / ir::index(lanes);
}

Expr CombineThreads::Positions::new_loop(int axis, ir::ThreadPart part, std::int64_t extent) {
  const ir::LoopInfo info = all_threads(of_.tree_, of_.stage_.func, axis, part);
  made_.emplace_back(info, extent);
  return ir::make_var(info.var);
}

ir::Stmt CombineThreads::Positions::bound(ir::Stmt s) const {
  for (const auto& [info, extent] : made_) s = ir::for_loop(info, ir::index(0), ir::index(extent), s);
  return s;
}

// ---- Values

std::vector<Expr> CombineThreads::own() const {
  std::vector<Expr> values;
  for (const ir::BufferPtr& b : partial_.own())
    values.push_back(ir::make(ir::Op::Load, b->type, {place()}, b));
  return values;
}

ir::Stmt CombineThreads::of_each(ir::Stmt (CombineThreads::*step)() const) const {
  std::vector<ir::Stmt> stmts;
  CombineThreads one(*this);
  for (one.result_ = 0; one.result_ < partial_.results(); ++one.result_) stmts.push_back((one.*step)());
  return ir::block(std::move(stmts));
}

ir::Stmt CombineThreads::shuffle() const { return of_each(&CombineThreads::shuffle_result); }
ir::Stmt CombineThreads::send() const { return of_each(&CombineThreads::send_result); }
ir::Stmt CombineThreads::receive() const { return of_each(&CombineThreads::receive_result); }

std::vector<Expr> CombineThreads::slot(const Expr& index) const {
  std::vector<Expr> values;
  for (const ir::BufferPtr& b : reduction_.slots)
    values.push_back(ir::make(ir::Op::Load, b->type, {index}, b));
  return values;
}

ir::Stmt CombineThreads::store(const std::vector<Expr>& values) const {
  return store_values(partial_.own(), values, std::vector<Expr>(values.size(), place()));
}

ir::Stmt CombineThreads::combine_with(const std::vector<Expr>& others) const {
  return store(components(partial_.proof().combine(own(), others)));
}

ir::Stmt CombineThreads::start() const { return store(partial_.proof().identity); }

bool CombineThreads::is_combined(std::size_t component) const {
  return combines(partial_.proof(), component);
}

// ---- Lanes

ir::Stmt CombineThreads::shuffle_result() const { return shuffle_over(lanes()); }

/// Neighbours that are combined by shuffles.
std::int64_t CombineThreads::lanes() const {
  const Digit digit = reduction_.lane_digit();
  return reduction_.reduced[digit] ? reduction_.extents[digit] : 1;
}

ir::Stmt CombineThreads::shuffle_over(std::int64_t lanes) const {
  std::vector<ir::Stmt> steps;
  for (std::int64_t distance = 1; distance < lanes; distance *= 2) steps.push_back(shuffle_step(distance));
  // Far ones first, as is usual, where the order is free.
  if (partial_.proof().commutative) std::reverse(steps.begin(), steps.end());
  return ir::block(std::move(steps));
}

/// A shuffle must be reached by every lane, so none stands in what may not be computed.
ir::Stmt CombineThreads::shuffle_step(std::int64_t distance) const {
  const schedule::Associative& proof = partial_.proof();
  std::vector<Expr> others = own();
  const Expr away = ir::make_int(Int(32), distance * reduction_.lane_distance());
  for (Expr& e : others) e = ir::make(ir::Op::ShuffleXor, e->type, {e, away});
  if (others.size() == 1 && computes_both(proof.combined[0]->op)) return combine_with(others);
  std::vector<std::pair<ir::SymbolPtr, Expr>> named;
  for (std::size_t c = 0; c < others.size(); ++c) {
    if (!is_combined(c)) {
      others[c] = own()[c];
      continue;
    }
    named.emplace_back(
        ir::make_symbol(ir::SymbolKind::Let, partial_.own()[c]->name + ".other", others[c]->type), others[c]);
    others[c] = ir::make_var(named.back().first);
  }
  Positions positions(*this);
  ir::Stmt s = nullptr;
  if (proof.commutative) {
    s = combine_with(others);
  } else {
    const Expr lane = positions(reduction_.lane_digit());
    const Expr lower = simple(lane / ir::index(distance) % ir::index(2) == ir::index(0));
    std::vector<Expr> first, second;
    for (std::size_t c = 0; c < others.size(); ++c) {
      first.push_back(select(lower, own()[c], others[c]));
      second.push_back(select(lower, others[c], own()[c]));
    }
    s = store(components(proof.combine(first, second)));
  }
  for (auto let = named.rbegin(); let != named.rend(); ++let) s = ir::let_stmt(let->first, let->second, s);
  return positions.bound(s);
}

// ---- Slots

std::int64_t CombineThreads::stride(std::size_t digit) const {
  std::int64_t stride = partial_.results();
  for (std::size_t d = Digit::Lane; d < digit; ++d)
    if (!reduction_.by_shuffles(d)) stride *= reduction_.extents[d];
  return stride;
}

/// The thread's own slot, or the first one of its group. The results of a thread stand next to each other.
Expr CombineThreads::own_slot(Positions& positions, bool group) const {
  Expr index = ir::index(0);
  for (std::size_t d = Digit::Lane; d <= Digit::Rank; ++d)
    if (d == Digit::Rank ? reduction_.in_cluster() && !group
                         : !reduction_.reduced[d] || (!group && !reduction_.by_shuffles(d)))
      index = index + positions(d) * ir::index(stride(d));
  if (reduction_.ring && reduction_.ring->turn)
    index = index + cast(Int(64), ir::make_var(reduction_.ring->turn)) *
                        ir::index(reduction_.sent() * partial_.results());
  return simple(index + place());
}

ir::Stmt CombineThreads::send_result() const {
  Positions positions(*this);
  const Expr index = own_slot(positions, false);
  Expr sends = ir::make_one(Bool());
  // Where all lanes have the result, each sends it to another block.
  const std::int64_t blocks = reduction_.extents[Digit::Rank];
  const std::int64_t receivers = lanes() >= blocks && reduction_.in_cluster() ? blocks : 1;
  const auto lane = [&] { return positions(reduction_.lane_digit()); };
  if (lanes() > 1) sends = receivers == 1 ? lane() == ir::index(0) : lane() < ir::index(receivers);
  for (std::size_t d = Digit::Warp; d <= Digit::Rank; ++d)
    if (reduction_.reduced[d] && reduction_.used[d] < reduction_.extents[d])
      sends = sends && positions(d) < ir::index(reduction_.used[d]);
  for (int axis = 0; axis < 3; ++axis)
    if (reduction_.alike[axis] > 1)
      sends = sends && positions.along(axis, reduction_.alike[axis]) == ir::index(0);
  if (!reduction_.in_cluster()) return positions.bound(ir::if_then(simple(sends), stored_at(index, {})));
  if (blocks <= lanes()) return positions.bound(ir::if_then(simple(sends), stored_at(index, lane())));
  std::vector<ir::Stmt> stores;
  for (std::int64_t rank = 0; rank < blocks; ++rank) stores.push_back(stored_at(index, ir::index(rank)));
  return positions.bound(ir::if_then(simple(sends), ir::block(std::move(stores))));
}

/// The thread's result in the slot: its own block's, or that of the block of a rank.
ir::Stmt CombineThreads::stored_at(const Expr& index, const Expr& rank) const {
  std::vector<ir::Stmt> stores;
  for (std::size_t c = 0; c < reduction_.slots.size(); ++c)
    if (is_combined(c))
      stores.push_back(rank.defined()
                           ? ir::remote_store(reduction_.slots[c], own()[c], index, rank, reduction_.ring)
                           : ir::store(reduction_.slots[c], own()[c], {index}));
  return ir::block(std::move(stores));
}

/// Where the number-th partial result of a group stands, from the group's first.
Expr CombineThreads::offset_of(const Expr& number) const {
  Expr offset = ir::index(0);
  std::int64_t before = 1;
  const std::int64_t all = reduction_.received();
  for (std::size_t d = Digit::Warp; d <= Digit::Rank; ++d) {
    if (!reduction_.reduced[d] || reduction_.by_shuffles(d)) continue;
    Expr digit = before == 1 ? number : number / ir::index(before);
    if (before * reduction_.used[d] < all) digit = digit % ir::index(reduction_.used[d]);
    offset = offset + digit * ir::index(stride(d));
    before *= reduction_.used[d];
  }
  return simple(offset);
}

ir::Stmt CombineThreads::receive_result() const {
  Positions positions(*this);
  const Expr first = own_slot(positions, true);
  ir::Stmt s = reduction_.received() <= kReadAll ? read_all(first)
               : lanes() > 1                     ? read_by_lanes(positions, first)
                                                 : read_in_loops(first);
  return positions.bound(s);
}

ir::Stmt CombineThreads::read_all(const Expr& first) const {
  std::vector<ir::Stmt> steps;
  for (std::int64_t i = 0; i < reduction_.received(); ++i) {
    std::vector<Expr> values = slot(simple(first + offset_of(ir::index(i))));
    for (std::size_t c = 0; c < values.size(); ++c)
      if (!is_combined(c)) values[c] = own()[c];
    steps.push_back(i == 0 ? store(values) : combine_with(values));
  }
  return ir::block(std::move(steps));
}

ir::Stmt CombineThreads::read_in_loops(const Expr& first) const {
  ir::LoopInfo info{.var = ir::make_symbol(ir::SymbolKind::Loop, "slot")};
  std::vector<Expr> values = slot(simple(first + offset_of(ir::make_var(info.var))));
  for (std::size_t c = 0; c < values.size(); ++c)
    if (!is_combined(c)) values[c] = own()[c];
  return ir::block(
      {start(), ir::for_loop(info, ir::index(0), ir::index(reduction_.received()), combine_with(values))});
}

/// Each lane reads some, then lanes are combined.
ir::Stmt CombineThreads::read_by_lanes(Positions& positions, const Expr& first) const {
  const std::int64_t lanes = this->lanes(), all = reduction_.received();
  const std::int64_t turns = (all + lanes - 1) / lanes;
  ir::LoopInfo info{.var = ir::make_symbol(ir::SymbolKind::Loop, "slot")};
  // A stretch each, so that what lanes have is in order.
  const Expr number = positions(reduction_.lane_digit()) * ir::index(turns) + ir::make_var(info.var);
  std::vector<Expr> values = slot(simple(first + offset_of(number)));
  for (std::size_t c = 0; c < values.size(); ++c)
    if (!is_combined(c)) values[c] = own()[c];
  if (all == lanes)
    return ir::block({ir::substitute(store(values), {{info.var, ir::index(0)}}), shuffle_over(lanes)});
  const ir::Stmt read = ir::if_then(simple(number < ir::index(all)), combine_with(values));
  const std::int64_t reading = (all + turns - 1) / turns;
  const ir::Stmt exchange = shuffle_over(
      std::min(lanes, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(reading)))));
  return ir::block({start(), ir::for_loop(info, ir::index(0), ir::index(turns), read), exchange});
}

ir::Stmt CombineThreads::allocated(ir::Stmt s) const {
  for (const ir::BufferPtr& b : reduction_.slots) s = ir::allocate(b, s);
  return s;
}

}  // namespace calotype::lower
