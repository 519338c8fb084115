// What one thread does for all: loops of one iteration over the axes that are not bound.
#include "lower/first_thread.h"

#include <fmt/format.h>

#include <algorithm>

namespace calotype::lower {
namespace {

class FirstThread {
 public:
  FirstThread(const LoopTree& tree, FuncId func, const std::vector<LoopId>& open)
      : tree_(tree), func_(func), open_(open) {}

  template <class Condition>
  bool any_open(Condition condition) const {
    return std::any_of(open_.begin(), open_.end(), [&](LoopId id) { return condition(tree_.loop(id)); });
  }

  bool any_open(ir::ThreadPart part, int axis) const {
    return any_open([&](const LoopInfo& l) {
      return l.binding == ir::Binding::GpuThread && l.axis == axis && l.part == part;
    });
  }

  ir::Stmt alone(const std::string& name, ir::LoopInfo info, ir::Stmt s) const {
    info.var = ir::make_symbol(ir::SymbolKind::Loop, "first." + name);
    info.func = tree_.func(func_).name;
    return ir::for_loop(std::move(info), ir::index(0), ir::index(1), s);
  }

  ir::Stmt along(int axis, ir::Stmt s) const {
    if (any_open(ir::ThreadPart::Whole, axis)) return s;
    const bool lane = any_open(ir::ThreadPart::Lane, axis), warp = any_open(ir::ThreadPart::Warp, axis);
    ir::LoopInfo info{.binding = ir::Binding::GpuThread, .axis = axis, .origin = "one thread for the block"};
    if (!lane && !warp) return alone(std::string(1, "xyz"[axis]), info, s);
    if (lane && warp) return s;
    info.part = lane ? ir::ThreadPart::Warp : ir::ThreadPart::Lane;
    return alone(lane ? "warp" : "lane", info, s);
  }

 private:
  const LoopTree& tree_;
  FuncId func_;
  const std::vector<LoopId>& open_;
};

}  // namespace

/// Threads of a role that does not begin with the block's own first one.
static ir::Stmt by_first_of(const RoleInfo& role, const KernelInfo& kernel, const std::string& func,
                            const ir::Stmt& s) {
  const ir::LoopInfo all{.var = ir::make_symbol(ir::SymbolKind::Loop, "thread"),
                         .binding = ir::Binding::GpuThread,
                         .func = func,
                         .origin = "one thread for the role",
                         .partition = ir::Partition::Never};
  const Expr first = ir::make_var(all.var) == ir::index(role.first);
  return ir::for_loop(all, ir::index(0), ir::index(kernel.all_threads()), ir::if_then(first, s));
}

ir::Stmt by_first_thread(const LoopTree& tree, const KernelInfo& kernel, FuncId func,
                         const std::vector<LoopId>& open, ir::Stmt s, bool of_cluster) {
  for (const RoleInfo& role : kernel.roles)
    if (role.first > 0 && tree.scheduled.role_of(func) == role.role)
      return by_first_of(role, kernel, tree.func(func).name, s);
  const FirstThread first(tree, func, open);
  const bool in_block =
      first.any_open([](const LoopInfo& l) { return l.binding == ir::Binding::GpuCluster; });
  if (of_cluster && kernel.cluster > 1 && !in_block)
    s = first.alone("rank", {.binding = ir::Binding::GpuCluster, .origin = "one block for the cluster"}, s);
  for (int axis = 0; axis < 3; ++axis)
    if (kernel.threads[axis] > 1) s = first.along(axis, std::move(s));
  return s;
}

ir::LoopInfo all_threads(const LoopTree& tree, FuncId func, int axis, ir::ThreadPart part) {
  const char* name = part == ir::ThreadPart::Lane ? "lane" : part == ir::ThreadPart::Warp ? "warp" : nullptr;
  return {.var = ir::make_symbol(ir::SymbolKind::Loop, name ? name : fmt::format("thread.{}", "xyz"[axis])),
          .binding = ir::Binding::GpuThread,
          .axis = axis,
          .part = part,
          .func = tree.func(func).name,
          .origin = "all threads of the block"};
}

}  // namespace calotype::lower
