// Memory: the space, strides and address of every realised Func.
//
// Requires: storage boxes, shapes and layouts. Leaves: Storage::buffers for each, with constant strides where
// the shape is constant and offsets in the block's shared memory. Stands after tiles, whose layouts decide
// how many registers a thread needs, and before sync, which must know what is shared.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "lower/combine_threads.h"
#include "lower/partial_results.h"
#include "lower/passes.h"
#include "lower/storage_parts.h"
#include "schedule/gpu.h"

namespace calotype::lower {
namespace {

using ir::MemorySpace;

constexpr std::int64_t kStackBytes = 64 * 1024;     // larger host storage goes to the heap
constexpr std::int64_t kStackLimit = 1024 * 1024;   // of all Funcs: worker threads have few megabytes
constexpr std::int64_t kPrivateLimit = 512 * 1024;  // what CUDA gives a thread of local memory
constexpr std::int64_t kSharedAlign = 128;
constexpr std::int64_t kMostMoved = 256;  // elements that a scan holds, of which each iteration moves all

struct Surroundings {
  std::optional<StageRef> kernel;  // the root stage around, on a GPU
  bool in_threads = false;
  bool repeats = false;  // in a loop that a block runs more than once
};

class MemoryPass {
 public:
  explicit MemoryPass(LoopTree& tree) : tree_(tree), gpu_(tree.scheduled.target.is_gpu()) {}

  void run() { walk(tree_.root, {}); }

 private:
  void walk(const Node& node, Surroundings around) {
    if (node.kind == NodeKind::Realize) realize(node.func, around);
    if (node.kind == NodeKind::Reduce && around.kernel) make_slots(node.stage, around);
    if (node.kind == NodeKind::Loop && tree_.loop(node.loop).binding == ir::Binding::GpuThread)
      around.in_threads = true;
    if (node.kind == NodeKind::Loop) around.repeats |= runs_again(tree_, node.loop);
    for (const Node& child : node.children) {
      Surroundings inner = around;
      if (gpu_ && node.kind == NodeKind::Produce && !around.kernel) inner.kernel = child.stage;
      walk(child, inner);
    }
  }

  void realize(FuncId func, const Surroundings& around) {
    Storage& storage = tree_.storage.at(func);
    const lang::FuncDef& def = tree_.func(func);
    const MemorySpace space = choose_space(func, storage, around);
    require_shared(func, space);
    reserve_private(func, storage, space, around);
    if (storage.scan) storage.scan->shifts = moves_up(func, storage, space);
    for (int c = 0; c < def.components(); ++c) {
      ir::Buffer b{.name = def.is_tuple() ? fmt::format("{}.{}", def.name, c) : def.name,
                   .type = stored_type(def.types[c]),
                   .space = space,
                   .idempotent = tree_.scheduled.of(func).stages.front().computes_twice()};
      if (storage.layout) {
        refuse_strides(func);
        dealt_out(b, func, storage);
      } else if (c > 0) {
        const ir::Buffer& first = *storage.buffers[0];
        b.mins = first.mins;
        b.extents = first.extents;
        b.strides = first.strides;
        b.stream_loads = first.stream_loads;
        b.stream_stores = first.stream_stores;
      } else {
        dense(b, func, storage);
      }
      if (tree_.scheduled.of(func).storage.swizzle != 0) swizzle(func, b);
      if (around.kernel && space == MemorySpace::Shared) b.offset = reserve_shared(func, b, *around.kernel);
      storage.buffers.push_back(ir::make_buffer(std::move(b)));
    }
    if (around.kernel) make_ring(func, *around.kernel);
    if (storage.layout) publish(func, storage, around);
  }

  /// The barriers that count the Func's bulk copies.
  void make_ring(FuncId func, StageRef kernel_stage) {
    const auto of = tree_.ring_of.find(func);
    if (of == tree_.ring_of.end() || tree_.rings[of->second].ring) return;
    make_ring(func, tree_.rings[of->second], kernel_stage);
    if (const Channel* channel = tree_.channel_of(func))
      make_ring(func, tree_.rings[channel->empty], kernel_stage);
  }

  void make_ring(FuncId func, RingUse& use, StageRef kernel_stage) {
    const std::int64_t offset = reserve_shared(func, use.slots * ir::kBarrierBytes, 0, kernel_stage);
    use.ring = std::make_shared<const ir::Ring>(ir::Ring{
        .name = use.name, .slots = use.slots, .offset = offset, .arrivals = use.arrivals, .open = use.open});
    tree_.kernels.at(kernel_stage).rings.push_back(use.ring);
  }

  /// What a thread, or a block of a cluster, holds of what a layout deals out.
  void dealt_out(ir::Buffer& b, FuncId func, const Storage& storage) const {
    std::vector<Expr> held_in = {ir::index(storage.layout->size(layout::Axis::Register))};
    align_slots(func, b.type, storage, held_in);
    const Expr held = held_in.front();
    b.mins = {ir::index(0)};
    b.extents = {held};
    b.strides = {ir::index(1)};
    if (storage.copies == 1) return;
    b.mins.push_back(ir::index(0));
    b.extents.push_back(ir::index(storage.copies));
    b.strides.push_back(held);
  }

  /// Room in shared memory for what other threads read there.
  void publish(FuncId func, Storage& storage, const Surroundings& around) {
    const bool read = std::any_of(tree_.conversions.begin(), tree_.conversions.end(), [&](const auto& entry) {
      return entry.first.second == func && entry.second == Conversion::Shared;
    });
    if (!read) return;
    for (const ir::BufferPtr& own : storage.buffers) {
      ir::Buffer b{.name = own->name + ".shared", .type = own->type, .space = MemorySpace::Shared};
      std::int64_t stride = 1;
      for (std::size_t d = 0; d < storage.box.size(); ++d) {
        const std::int64_t extent = storage.layout->extent(static_cast<int>(d));
        b.mins.push_back(storage.box[d].min);
        b.extents.push_back(ir::index(extent));
        b.strides.push_back(ir::index(stride));
        stride *= extent;
      }
      b.offset = reserve_shared(func, b, *around.kernel);
      storage.published.push_back(ir::make_buffer(std::move(b)));
    }
  }

  /// What only shared memory can have.
  void require_shared(FuncId func, MemorySpace space) {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func);
    if (space == MemorySpace::Shared) return;
    const std::string where =
        fmt::format("'{}' is in {} memory", tree_.func(func).name, ir::to_string(space));
    const std::string legal = "store_in(shared), and storage inside a block and outside its thread loops";
    if (sched.copy != Copy::Threads)
      refuse(func, where + ", and asynchronous copies go to shared memory", ir::to_string(space), legal,
             sched.copy_origin);
    if (sched.storage.swizzle != 0)
      refuse(func, where + ", which has no banks", ir::to_string(space), legal, sched.storage.swizzle_origin);
  }

  void swizzle(FuncId func, ir::Buffer& b) {
    const schedule::StorageSchedule& asked = tree_.scheduled.of(func).storage;
    const std::string& name = tree_.func(func).name;
    const std::int64_t bytes = b.type.bytes(), row = row_of(b) * bytes;
    if (row != asked.swizzle)
      refuse(
          func, fmt::format("rows of '{}' in memory take {} bytes", name, row), std::to_string(asked.swizzle),
          row == 32 || row == 64 || row == 128
              ? fmt::format("swizzle({})", row)
              : fmt::format("rows of {} bytes: by pad, or by a layout whose innermost part takes {} elements",
                            asked.swizzle, asked.swizzle / bytes),
          asked.swizzle_origin);
    b.swizzle = static_cast<int>(asked.swizzle);
  }

  /// Elements from one to the next of what has neighbours in memory.
  static std::int64_t row_of(const ir::Buffer& b) {
    for (std::size_t d = 0; d < b.strides.size(); ++d)
      if (ir::is_one(b.strides[d]) && !ir::is_one(b.extents[d])) return *ir::as_int(b.extents[d]);
    return 1;
  }

  /// Where warps leave their partial results for each other.
  void make_slots(StageRef stage, const Surroundings& around) {
    ThreadReduction& reduction = tree_.reductions.at(stage);
    if (!reduction.exchanges()) return;
    const lang::FuncDef& def = tree_.func(stage.func);
    const std::int64_t results = PartialResults(tree_, stage).results();
    make_cluster_ring(stage, results, around);
    const std::int64_t slots = reduction.sent() * results * (reduction.ring ? reduction.ring->slots : 1);
    for (int c = 0; c < def.components(); ++c) {
      ir::Buffer b{.name = def.name + (def.is_tuple() ? fmt::format(".{}", c) : "") + ".slots",
                   .type = def.types[c],
                   .space = MemorySpace::Shared,
                   .mins = {ir::index(0)},
                   .extents = {ir::index(slots)},
                   .strides = {ir::index(1)}};
      b.offset = reserve_shared(stage.func, b, *around.kernel);
      reduction.slots.push_back(ir::make_buffer(std::move(b)));
    }
  }

  /// Blocks of a cluster send each other words of 4 or 8 bytes, which the receiver's ring counts: no barrier
  /// of the cluster has to wait for all that its threads have stored elsewhere. In a loop there are two
  /// slots: who sends to one again has been sent what the others send behind their reading of it.
  void make_cluster_ring(StageRef stage, std::int64_t results, const Surroundings& around) {
    ThreadReduction& reduction = tree_.reductions.at(stage);
    const lang::FuncDef& def = tree_.func(stage.func);
    if (!reduction.in_cluster()) return;
    const schedule::Associative proof = schedule::prove_associative(def, tree_.def(stage));
    std::int64_t bytes = 0;
    for (std::size_t c = 0; c < def.types.size(); ++c) {
      if (!combines(proof, c)) continue;
      if (def.types[c].bytes() < 4) return;
      bytes += def.types[c].bytes();
    }
    ir::Ring ring{.name = def.name + ".sent", .slots = around.repeats ? 2 : 1, .of_cluster = true};
    if (around.repeats) {
      ring.turn = ir::make_symbol(ir::SymbolKind::Thread, def.name + ".turn", Int(32));
      tree_.facts.set_range(ring.turn, ir::make_int(Int(32), 0), ir::make_int(Int(32), 1));
    }
    ring.offset = reserve_shared(stage.func, ring.slots * ir::kBarrierBytes, 0, *around.kernel);
    reduction.ring = std::make_shared<const ir::Ring>(std::move(ring));
    reduction.ring_bytes = reduction.arriving() * results * bytes;
    tree_.kernels.at(*around.kernel).rings.push_back(reduction.ring);
  }

  void dense(ir::Buffer& b, FuncId func, Storage& storage) {
    const schedule::StorageSchedule& asked = tree_.scheduled.of(func).storage;
    b.stream_loads = asked.stream_loads;
    b.stream_stores = asked.stream_stores;
    set_extents(b, func, storage);
    b.strides.resize(b.extents.size());
    Expr stride = ir::index(1);
    for (std::size_t i = 0; i < b.extents.size(); ++i) {
      const std::size_t d = asked.order.empty() ? i : static_cast<std::size_t>(asked.order[i]);
      b.strides[d] = stride;
      stride = ir::simplify(stride * b.extents[d], tree_.facts);
    }
    if (storage.copies == 1) return;
    b.mins.push_back(ir::index(0));
    b.extents.push_back(ir::index(storage.copies));
    b.strides.push_back(stride);
  }

  /// Extents of the coordinates, or of the parts of them that a layout names.
  void set_extents(ir::Buffer& b, FuncId func, Storage& storage) {
    const schedule::StorageSchedule& asked = tree_.scheduled.of(func).storage;
    std::vector<Expr> extents;
    for (std::size_t d = 0; d < storage.box.size(); ++d) {
      if (const std::int64_t known = constant_extent(func, storage, d); known >= 0) {
        extents.push_back(ir::index(known));
        continue;
      }
      const ir::Interval& i = storage.box[d];
      const Expr extent = storage.hoisted.empty() ? i.max - i.min + ir::index(1) : storage.hoisted[d];
      extents.push_back(at_least_none(ir::simplify(allocated(asked, d, extent), tree_.facts)));
    }
    if (asked.layout.empty()) {
      for (const ir::Interval& i : storage.box) b.mins.push_back(i.min);
    } else {
      b.mins.assign(asked.layout.size(), ir::index(0));
      std::vector<Expr> parts;
      for (const schedule::StoragePart& p : asked.layout)
        parts.push_back(ir::simplify(extent_of_part(p, extents[p.dim]), tree_.facts));
      extents = std::move(parts);
    }
    align_slots(func, b.type, storage, extents);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (b.space == MemorySpace::Heap && !ir::as_int(extents[i]))
        extents[i] = named(extents[i], fmt::format("{}.{}.stored", b.name, i), storage);
      b.extents.push_back(extents[i]);
    }
  }

  /// Boxes go to places that are multiples of 128 bytes, or of eight rows that are swizzled, and have rows of
  /// whole 16 bytes: what is innermost in memory takes so many, and what is outermost makes up the rest of a
  /// slot.
  void align_slots(FuncId func, Type type, const Storage& storage, std::vector<Expr>& extents) const {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func);
    if (sched.copy != Copy::Tma) return;
    const std::vector<int>& order = sched.storage.order;
    Expr& innermost = extents[order.empty() ? 0 : static_cast<std::size_t>(order.front())];
    Expr& outermost = order.empty() ? extents.back() : extents[static_cast<std::size_t>(order.back())];
    if (sched.storage.layout.empty() && !storage.layout)
      innermost = ir::index(rounded(*ir::as_int(innermost), instr::kBulkBytes / type.bytes()));
    if (storage.copies == 1) return;
    const std::int64_t slot = instr::box_place_bytes(sched.storage.swizzle) / type.bytes();
    std::int64_t others = 1;
    for (const Expr& e : extents)
      if (&e != &outermost) others *= *ir::as_int(e);
    outermost = ir::index(rounded(*ir::as_int(outermost), slot / std::gcd(slot, others)));
  }

  static std::int64_t rounded(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
  }

  /// What is allocated where `extent` is used.
  static Expr allocated(const schedule::StorageSchedule& asked, std::size_t d, Expr extent) {
    const int dim = static_cast<int>(d);
    if (const auto* pad = asked.find(asked.pads, dim)) extent = extent + ir::index(pad->value);
    const auto* multiple = asked.find(asked.multiples, dim);
    if (!multiple) return extent;
    const Expr m = ir::index(multiple->value);
    return (extent + m - ir::index(1)) / m * m;
  }

  /// What is allocated along a dimension where that is a constant, else -1.
  std::int64_t constant_extent(FuncId func, const Storage& storage, std::size_t d) const {
    const std::int64_t used = storage.folds[d] ? storage.folds[d] : storage.shape[d];
    if (used < 0) return -1;
    return *ir::as_int(ir::simplify(allocated(tree_.scheduled.of(func).storage, d, ir::index(used))));
  }

  /// Where a condition leaves nothing of a region its ends may have passed each other.
  Expr at_least_none(const Expr& extent) const {
    if (ir::prove(extent >= ir::index(0), tree_.facts)) return extent;
    return ir::simplify(max(extent, ir::index(0)), tree_.facts);
  }

  static Expr named(const Expr& extent, const std::string& name, Storage& storage) {
    const ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Let, name);
    storage.lets.push_back({symbol, extent});
    return ir::make_var(symbol);
  }

  /// Whether a scan's last values are in slots that move, with indices that are constant from one iteration
  /// to the next: in registers, and in other memory of a thread as long as not too many have to move, since
  /// it becomes registers then. Else they are a ring.
  bool moves_up(FuncId func, const Storage& storage, MemorySpace space) const {
    if (!tree_.scheduled.of(func).storage.layout.empty()) return false;
    const bool own = space == MemorySpace::Local || space == MemorySpace::Stack;
    return space == MemorySpace::Register || (own && constant_elements(func, storage) <= kMostMoved);
  }

  /// Elements if the storage has a constant upper bound, else -1.
  std::int64_t constant_elements(FuncId func, const Storage& storage) const {
    if (storage.layout) return product(storage.layout->size(layout::Axis::Register), storage.copies);
    std::vector<std::int64_t> extents;
    for (std::size_t d = 0; d < storage.shape.size(); ++d) {
      extents.push_back(constant_extent(func, storage, d));
      if (extents.back() < 0) return -1;
    }
    if (const auto& parts = tree_.scheduled.of(func).storage.layout; !parts.empty()) {
      std::vector<std::int64_t> of_parts;
      for (const schedule::StoragePart& p : parts)
        of_parts.push_back(*ir::as_int(ir::simplify(extent_of_part(p, ir::index(extents[p.dim])))));
      extents = std::move(of_parts);
    }
    return std::accumulate(extents.begin(), extents.end(), storage.copies, product);
  }

  /// Of two numbers that are not negative; more than any memory has where it would not fit.
  static std::int64_t product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() / 2 : result;
  }

  std::int64_t bytes_of_point(FuncId func) const {
    std::int64_t bytes = 0;
    for (const Type& type : tree_.func(func).types) bytes += type.bytes();
    return bytes;
  }

  /// What is dealt out lies in the order of its loops.
  void refuse_strides(FuncId func) {
    const schedule::StorageSchedule& asked = tree_.scheduled.of(func).storage;
    const bool ring = asked.copies > 1 && tree_.scheduled.of(func).memory == Memory::Shared;
    if (asked.origin.empty() || (ring && asked.origin == asked.copies_origin)) return;
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("'{}' is dealt out to {}, which have no order and no strides",
                                        tree_.func(func).name,
                                        tree_.scheduled.of(func).memory == Memory::Shared
                                            ? "the blocks of a cluster"
                                            : "the registers of a block's threads"),
                 .func = tree_.func(func).name,
                 .directive = asked.origin,
                 .value = tree_.func(func).name,
                 .legal = "store_in(Shared) without a cluster loop, or storage inside the thread loops"});
  }

  MemorySpace choose_space(FuncId func, const Storage& storage, const Surroundings& around) {
    if (tree_.find_kept(func)) return MemorySpace::Global;
    const Memory asked = tree_.scheduled.of(func).memory;
    const std::int64_t elements = constant_elements(func, storage);
    const bool fits = elements >= 0 && product(elements, bytes_of_point(func)) <= kStackBytes;
    if (!gpu_) {
      if (asked == Memory::Stack || asked == Memory::Register || asked == Memory::Local)
        need_constant(func, storage);
      if (asked == Memory::Auto)
        return fits && private_bytes_[{}] < kStackLimit / 2 ? MemorySpace::Stack : MemorySpace::Heap;
      return asked == Memory::Heap ? MemorySpace::Heap : MemorySpace::Stack;
    }
    if (!around.kernel) return MemorySpace::Global;
    if (asked == Memory::Shared && around.in_threads)
      refuse(func, "shared memory belongs to the block, but the Func is stored inside a thread loop",
             "Shared",
             "store_in(Local) or store_in(Register), or store it at a loop outside the thread loops");
    if (asked == Memory::Local && !around.in_threads)
      refuse(func, "local memory belongs to a thread, but the Func is stored outside the thread loops",
             "Local", "store_in(Shared), store_in(Register), or store it inside a thread loop");
    need_constant(func, storage);
    if (asked == Memory::Shared) return MemorySpace::Shared;
    if (asked == Memory::Register) return MemorySpace::Register;
    if (asked == Memory::Local) return MemorySpace::Local;
    return around.in_threads ? MemorySpace::Local : MemorySpace::Shared;
  }

  void need_constant(FuncId func, const Storage& storage) {
    if (constant_elements(func, storage) >= 0) return;
    for (std::size_t d = 0; d < storage.shape.size(); ++d)
      if (storage.shape[d] < 0 && !storage.folds[d])
        refuse(
            func,
            fmt::format(
                "storage of this kind needs a constant size, and dimension {} has no constant bound{}", d,
                storage.unfolded.empty() ? "" : "; " + storage.unfolded),
            ir::to_string(ir::simplify(storage.box[d].max - storage.box[d].min + ir::index(1), tree_.facts)),
            fmt::format(
                "bound('{0}', ...) on the output it follows from, bound_storage('{0}', ...), or a constant "
                "tile around it",
                tree_.func(func).args[d]->name));
  }

  [[noreturn]] void refuse(FuncId func, std::string message, std::string value, std::string legal,
                           std::string directive = {}) {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func);
    if (directive.empty())
      directive = sched.memory_origin.empty() ? sched.compute_origin : sched.memory_origin;
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = tree_.func(func).name,
                 .directive = std::move(directive),
                 .value = std::move(value),
                 .legal = std::move(legal)});
  }

  /// Memory of a thread alone, which has an end: all that Funcs have in a function or kernel together.
  void reserve_private(FuncId func, const Storage& storage, MemorySpace space, const Surroundings& around) {
    const bool on_stack = space == MemorySpace::Stack;
    if (!on_stack && space != MemorySpace::Local && space != MemorySpace::Register) return;
    std::int64_t& total = private_bytes_[around.kernel.value_or(StageRef{})];
    const std::int64_t bytes = product(constant_elements(func, storage), bytes_of_point(func));
    const std::int64_t most = on_stack ? kStackLimit : kPrivateLimit;
    if (bytes > most - total)
      refuse(func,
             on_stack
                 ? fmt::format("'{}' does not fit on the stack of a thread", tree_.func(func).name)
                 : fmt::format("'{}' does not fit into the memory of a GPU thread", tree_.func(func).name),
             fmt::format("{} bytes", bytes),
             total ? fmt::format("at most {} bytes of all Funcs together, {} of which are taken", most, total)
                   : fmt::format("at most {} bytes", most));
    total += bytes;
  }

  std::int64_t reserve_shared(FuncId func, const ir::Buffer& b, StageRef kernel_stage) {
    std::int64_t bytes = b.type.bytes();
    for (const Expr& e : b.extents) bytes = product(bytes, *ir::as_int(e));
    return reserve_shared(func, bytes, b.swizzle, kernel_stage);
  }

  std::int64_t reserve_shared(FuncId func, std::int64_t bytes, int swizzle, StageRef kernel_stage) {
    KernelInfo& kernel = tree_.kernels.at(kernel_stage);
    // Swizzles of an address and of a place in the Func are the same from a multiple of 8 rows on.
    const std::int64_t align = std::max<std::int64_t>(kSharedAlign, 8 * swizzle);
    const std::int64_t offset = (kernel.shared_bytes + align - 1) / align * align;
    kernel.shared_bytes = (offset + bytes + kSharedAlign - 1) / kSharedAlign * kSharedAlign;
    const std::int64_t most = schedule::most_shared_kb(tree_.scheduled.target) * 1024;
    if (kernel.shared_bytes > most)
      refuse(func, fmt::format("the block would need {} bytes of shared memory", kernel.shared_bytes),
             std::to_string(kernel.shared_bytes),
             fmt::format("at most {} bytes on {}", most, tree_.scheduled.target.str()));
    return offset;
  }

  LoopTree& tree_;
  bool gpu_;
  std::map<StageRef, std::int64_t> private_bytes_;  ///< by kernel; of a host's function that of no stage
};

}  // namespace

void assign_memory(LoopTree& tree) { MemoryPass(tree).run(); }

}  // namespace calotype::lower
