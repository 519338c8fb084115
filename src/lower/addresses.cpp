// Where elements lie: coordinates as one index into a buffer.
#include "lower/addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "calotype/error.h"
#include "lower/holders.h"
#include "lower/storage_parts.h"
#include "schedule/gpu.h"
#include "schedule/lane_nest.h"

namespace calotype::lower {
namespace {

[[noreturn]] void refuse_cross(const LoopTree& tree, FuncId func, StageRef user, const char* place,
                               const Expr& holder) {
  const bool shared = tree.scheduled.of(func).memory == Memory::Shared;
  throw Error({.kind = ErrorKind::Schedule,
               .message = fmt::format("'{}' is held in {} of {} = {}, but another {} uses it here",
                                      tree.func(func).name, shared ? "shared memory" : "registers", place,
                                      ir::to_string(holder), shared ? "block" : "thread"),
               .func = tree.func(func).name,
               .stage = lang::stage_name(tree.func(user.func), user.stage),
               .directive = tree.scheduled.of(func).memory_origin,
               .value = shared ? "Shared" : "Register",
               .legal = std::string(shared ? "" : "store_in(Shared), or ") +
                        "split and bind the loops of both stages alike" +
                        (user.func != func && tree.reductions.count({user.func, user.stage + 1})
                             ? "; or a reduction that starts from its identity"
                             : "")});
}

/// Whether the first definition deals elements out along what the loop is bound to: of the threads along x
/// the lanes of a warp, its warps, or both.
bool deals_out(const LoopTree& tree, FuncId func, const layout::Layout& layout, const LoopInfo& loop) {
  const bool cluster = loop.binding == ir::Binding::GpuCluster;
  const layout::Axis axis = cluster ? layout::Axis::Rank : static_cast<layout::Axis>(loop.axis);
  if (!layout.uses(axis)) return false;
  const auto [by_lane, by_warp] = warp_parts(tree, func);
  if (axis != layout::Axis::ThreadX || by_lane == by_warp) return true;
  const std::optional<std::int64_t> extent = ir::as_int(loop.extent);
  const bool one_warp = extent && *extent <= schedule::warp_lanes;
  if (loop.part == ir::ThreadPart::Whole) return by_lane && one_warp;
  return by_lane == (loop.part == ir::ThreadPart::Lane);
}

/// How many threads, or blocks of a cluster, there are along what the loop is bound to: at least its
/// iterations.
std::int64_t positions_along(const LoopTree& tree, const LoopInfo& loop, const std::vector<LoopId>& open) {
  for (LoopId id : open) {
    const auto kernel = tree.kernels.find(tree.loop(id).owner);
    if (kernel == tree.kernels.end()) continue;
    const KernelInfo& info = kernel->second;
    if (loop.binding == ir::Binding::GpuCluster) return info.cluster;
    const std::int64_t threads = info.threads[static_cast<std::size_t>(loop.axis)];
    if (loop.part == ir::ThreadPart::Whole) return threads;
    return loop.part == ir::ThreadPart::Lane ? std::min<std::int64_t>(threads, schedule::warp_lanes)
                                             : (threads + schedule::warp_lanes - 1) / schedule::warp_lanes;
  }
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

Expr Addresses::of(FuncId func, const ir::BufferPtr& b, const std::vector<Expr>& coordinates, StageRef user,
                   const std::vector<LoopId>& open) const {
  auto it = tree_.storage.find(func);
  if (it == tree_.storage.end()) return strided(b, coordinates, {});
  const Storage& storage = it->second;
  if (storage.layout)
    return simple(in_registers(func, storage, coordinates, user, open) + start_of_copy(storage, b));
  // Where one coordinate is stored it is the box's first, however it is computed.
  std::vector<Expr> stored = coordinates;
  for (std::size_t d = 0; d < stored.size(); ++d)
    if (storage.shape[d] == 1) stored[d] = storage.box[d].min;
  if (storage.scan && storage.scan->shifts) {
    const auto d = static_cast<std::size_t>(storage.scan->dim);
    std::vector<std::int64_t> rings = storage.folds;
    rings[d] = 0;
    stored[d] = storage.box[d].min + slot_of(*storage.scan, coordinates, user, open);
    return simple(strided(b, stored, rings) + start_of_copy(storage, b));
  }
  if (const auto& parts = tree_.scheduled.of(func).storage.layout; !parts.empty())
    return simple(index_of_parts(parts, b, positions(storage, stored)) + start_of_copy(storage, b));
  return simple(strided(b, stored, storage.folds) + start_of_copy(storage, b));
}

Expr Addresses::slot_of(const FoldedScan& scan, const std::vector<Expr>& coordinates, StageRef user,
                        const std::vector<LoopId>& open) const {
  const bool own = user == scan.writer;
  const bool inside = std::all_of(scan.loops.begin(), scan.loops.end(), [&](LoopId id) {
    return std::find(open.begin(), open.end(), id) != open.end();
  });
  Expr newest = user.func == scan.writer.func ? scan.before : scan.last;
  if (own || (inside && user.func != scan.writer.func)) {
    newest = ir::substitute(tree_.def(scan.writer).lhs[static_cast<std::size_t>(scan.dim)],
                            tree_.coordinates_of(scan.writer));
    if (own || scan.earlier.count(user)) newest = newest - ir::index(scan.step);
  }
  const Expr c = cast(Int(64), coordinates[static_cast<std::size_t>(scan.dim)]);
  Expr age = simple(ir::index(scan.step) * (newest - c));
  if (!own) return age;
  const std::optional<std::int64_t> known = ir::as_int(age);
  if (!known)
    throw Error({.kind = ErrorKind::Internal,
                 .message = "a scan is at no constant distance from its own values",
                 .func = tree_.func(user.func).name,
                 .value = ir::to_string(age)});
  return ir::index(std::max<std::int64_t>(*known, 0));  // what is written becomes the newest
}

Expr Addresses::start_of_copy(const Storage& storage, const ir::BufferPtr& b) {
  return storage.copies == 1 ? ir::index(0) : storage.copy * b->strides.back();
}

/// Coordinates counted from the first that is stored, or places in the ring.
std::vector<Expr> Addresses::positions(const Storage& storage, const std::vector<Expr>& coordinates) const {
  std::vector<Expr> all;
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    const Expr c = cast(Int(64), coordinates[d]);
    const std::int64_t ring = storage.folds[d];
    all.push_back(simple(ring != 0 ? c % ir::index(ring) : c - storage.box[d].min));
  }
  return all;
}

Expr Addresses::strided(const ir::BufferPtr& b, const std::vector<Expr>& coordinates,
                        const std::vector<std::int64_t>& folds) const {
  Expr total = ir::index(0);
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    Expr c = cast(Int(64), coordinates[d]);
    const bool ring = d < folds.size() && folds[d] != 0;
    total = total + (ring ? c % ir::index(folds[d]) : c - b->mins[d]) * b->strides[d];
  }
  return simple(total);
}

/// A stage whose loop deals its elements out to threads updates no copies that other threads have of them.
void Addresses::require_dealt_out(FuncId func, const layout::Layout& layout, StageRef user,
                                  const std::vector<LoopId>& open) const {
  for (LoopId id : tree_.schedule_of(user).loops) {
    const LoopInfo& loop = tree_.loop(id);
    const bool cluster = loop.binding == ir::Binding::GpuCluster;
    if (!cluster && tree_.scheduled.of(func).memory == Memory::Shared) continue;  // of all threads
    if (!cluster && loop.binding != ir::Binding::GpuThread) continue;
    if (ir::is_one(simple(loop.extent)) && positions_along(tree_, loop, open) == 1) continue;
    if (!schedule::moves_place(tree_.scheduled, func, user.stage, id)) continue;
    if (deals_out(tree_, func, layout, loop)) continue;
    const char* who = loop.part == ir::ThreadPart::Warp ? "warp" : "thread";
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("every {} has all of '{}' in registers, and would update the part "
                                        "of its own iteration of '{}' alone",
                                        who, tree_.func(func).name, loop.name),
                 .func = tree_.func(func).name,
                 .stage = lang::stage_name(tree_.func(func), user.stage),
                 .directive = loop.origin,
                 .value = loop.name,
                 .legal = "loops of the first definition bound alike, or store_in(Shared)"});
  }
}

/// The slot of an element in its holder's registers or shared memory; refused if the holder is not the thread
/// (or block of the cluster) that runs this.
Expr Addresses::in_registers(FuncId func, const Storage& storage, const std::vector<Expr>& coordinates,
                             StageRef user, const std::vector<LoopId>& open) const {
  if (const Expr own = tree_.own_slot(user, func, coordinates); own.defined()) return own;
  std::vector<Expr> local = within_storage(storage, coordinates, tree_.facts);
  // Threads past the only element there is are no holders of it, and do nothing.
  for (const layout::Digit& digit : storage.layout->digits())
    if (const auto d = static_cast<std::size_t>(digit.dim);
        user.func == func && digit.axis != layout::Axis::Register && storage.shape[d] == 1)
      local[d] = simple(cast(Int(64), coordinates[d]) - storage.box[d].min);
  if (user.func == func) require_dealt_out(func, *storage.layout, user, open);
  for (const HolderPlace& place : holder_places(tree_, func, open)) {
    if (!storage.layout->uses(place.axis)) continue;
    const Expr holder = storage.layout->position(place.axis, local, tree_.facts, place.from, place.below);
    if (!place.own.defined() || !ir::prove_equal(holder, simple(place.own), tree_.facts))
      refuse_cross(tree_, func, user, place.name, holder);
  }
  return storage.layout->position(layout::Axis::Register, local, tree_.facts);
}

Box box_of(const ir::Buffer& buffer) {
  Box box;
  for (std::size_t d = 0; d < buffer.mins.size(); ++d)
    box.push_back({buffer.mins[d], buffer.mins[d] + buffer.extents[d] - ir::index(1)});
  return box;
}

Expr is_inside(const std::vector<Expr>& coordinates, const Box& box) {
  Expr inside = ir::make_one(Bool());
  for (std::size_t d = 0; d < coordinates.size(); ++d)
    inside = inside && coordinates[d] >= box[d].min && coordinates[d] <= box[d].max;
  return inside;
}

}  // namespace calotype::lower
