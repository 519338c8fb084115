// Memory: the space, strides and address of every realised Func.
//
// Requires: storage boxes, shapes and layouts. Leaves: Storage::buffer for each, with constant strides where
// the shape is constant and offsets in the block's shared memory. Stands after tiles, whose layouts decide
// how many registers a thread needs, and before sync, which must know what is shared.

#include <fmt/format.h>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

using ir::MemorySpace;

constexpr std::int64_t kStackBytes = 64 * 1024;    // larger host storage goes to the heap
constexpr std::int64_t kSharedLimit = 227 * 1024;  // what a block may have on the largest target
constexpr std::int64_t kSharedAlign = 128;

struct Surroundings {
  const Node* kernel = nullptr;  // nest of the root stage around, on a GPU
  bool in_threads = false;
};

class MemoryPass {
 public:
  explicit MemoryPass(LoopTree& tree) : tree_(tree), gpu_(tree.scheduled.target.is_gpu()) {}

  void run() { walk(tree_.root, {}); }

 private:
  void walk(const Node& node, Surroundings around) {
    if (node.kind == NodeKind::Realize) realize(node.func, around);
    if (node.kind == NodeKind::Loop && tree_.loop(node.loop).binding == ir::Binding::GpuThread)
      around.in_threads = true;
    for (const Node& child : node.children) {
      Surroundings inner = around;
      if (gpu_ && node.kind == NodeKind::Produce && !around.kernel) inner.kernel = &child;
      walk(child, inner);
    }
  }

  void realize(FuncId func, const Surroundings& around) {
    Storage& storage = tree_.storage.at(func);
    ir::Buffer b{.name = tree_.func(func).name, .type = tree_.func(func).type};
    b.space = choose_space(func, storage, around);
    if (storage.layout) {
      b.mins = {ir::index(0)};
      b.extents = {ir::index(storage.layout->size(layout::Axis::Register))};
      b.strides = {ir::index(1)};
    } else {
      dense(b, storage);
    }
    if (around.kernel && b.space == MemorySpace::Shared) b.offset = reserve_shared(func, b, *around.kernel);
    storage.buffer = ir::make_buffer(std::move(b));
  }

  void dense(ir::Buffer& b, Storage& storage) {
    Expr stride = ir::index(1);
    for (std::size_t d = 0; d < storage.box.size(); ++d) {
      const ir::Interval& i = storage.box[d];
      Expr extent = ir::simplify(i.max - i.min + ir::index(1), tree_.facts);
      if (storage.folds[d])
        extent = ir::index(storage.folds[d]);
      else if (storage.shape[d] >= 0)
        extent = ir::index(storage.shape[d]);
      else
        extent = at_least_none(extent);
      if (b.space == MemorySpace::Heap && !storage.folds[d] && storage.shape[d] < 0)
        extent = named(extent, fmt::format("{}.{}.stored", b.name, d), storage);
      b.mins.push_back(i.min);
      b.extents.push_back(extent);
      b.strides.push_back(stride);
      stride = ir::simplify(stride * extent, tree_.facts);
    }
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

  /// Elements if the storage has a constant upper bound, else -1.
  static std::int64_t constant_elements(const Storage& storage) {
    if (storage.layout) return storage.layout->size(layout::Axis::Register);
    std::int64_t total = 1;
    for (std::size_t d = 0; d < storage.shape.size(); ++d) {
      const std::int64_t extent = storage.folds[d] ? storage.folds[d] : storage.shape[d];
      if (extent < 0) return -1;
      total *= extent;
    }
    return total;
  }

  MemorySpace choose_space(FuncId func, const Storage& storage, const Surroundings& around) {
    const Memory asked = tree_.scheduled.of(func).memory;
    const std::int64_t elements = constant_elements(storage);
    const bool fits = elements >= 0 && elements * tree_.func(func).type.bytes() <= kStackBytes;
    if (!gpu_) {
      if (asked == Memory::Stack || asked == Memory::Register || asked == Memory::Local)
        need_constant(func, storage);
      if (asked == Memory::Auto) return fits ? MemorySpace::Stack : MemorySpace::Heap;
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
    if (constant_elements(storage) >= 0) return;
    for (std::size_t d = 0; d < storage.shape.size(); ++d)
      if (storage.shape[d] < 0 && !storage.folds[d])
        refuse(
            func,
            fmt::format("storage of this kind needs a constant size, and dimension {} has no constant bound",
                        d),
            ir::to_string(ir::simplify(storage.box[d].max - storage.box[d].min + ir::index(1), tree_.facts)),
            fmt::format("bound('{}', ...) on the output it follows from, or a constant tile around it",
                        tree_.func(func).args[d]->name));
  }

  [[noreturn]] void refuse(FuncId func, std::string message, std::string value, std::string legal) {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func);
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = tree_.func(func).name,
                 .directive = sched.memory_origin.empty() ? sched.compute_origin : sched.memory_origin,
                 .value = std::move(value),
                 .legal = std::move(legal)});
  }

  std::int64_t reserve_shared(FuncId func, const ir::Buffer& b, const Node& kernel_node) {
    std::int64_t bytes = b.type.bytes();
    for (const Expr& e : b.extents) bytes *= *ir::as_int(e);
    KernelInfo& kernel = tree_.kernels.at(kernel_node.stage);
    const std::int64_t offset = kernel.shared_bytes;
    kernel.shared_bytes = (offset + bytes + kSharedAlign - 1) / kSharedAlign * kSharedAlign;
    if (kernel.shared_bytes > kSharedLimit)
      refuse(func, fmt::format("the block would need {} bytes of shared memory", kernel.shared_bytes),
             std::to_string(kernel.shared_bytes), fmt::format("at most {} bytes", kSharedLimit));
    return offset;
  }

  LoopTree& tree_;
  bool gpu_;
};

}  // namespace

void assign_memory(LoopTree& tree) { MemoryPass(tree).run(); }

}  // namespace calotype::lower
