// The traffic of a schedule's kernels.
#include <algorithm>

#include "analyze/traffic.h"
#include "lower/passes.h"
#include "schedule/unread.h"

namespace calotype::analyze {
namespace {

/// A root stage, by which its kernel is known.
using Root = std::pair<int, int>;

class Kernels {
 public:
  Kernels(const schedule::Scheduled& scheduled, const Constants& constants)
      : scheduled_(scheduled), footprint_(scheduled.graph, constants) {}

  std::vector<Work> run() {
    for (const FuncId id : scheduled_.order)
      if (computed(id) && at_root(id))
        for (std::size_t s = 0; s < stages(id); ++s) kernels_.emplace_back(Root(id.value, s), Kernel{});
    for (const FuncId id : scheduled_.order)
      if (computed(id))
        for (std::size_t s = 0; s < stages(id); ++s) add_stage(id, static_cast<int>(s));
    std::vector<Work> works;
    for (auto& [root, kernel] : kernels_) works.push_back(finish(root, kernel));
    return works;
  }

 private:
  struct Kernel {
    Work work;
    Boxes reads;
  };

  const schedule::Place& place(FuncId id) const { return scheduled_.of(id).compute; }
  bool at_root(FuncId id) const { return place(id).kind == schedule::Place::Kind::Root; }
  bool computed(FuncId id) const {
    return place(id).kind != schedule::Place::Kind::Inline && footprint_.needed(id);
  }
  std::size_t stages(FuncId id) const { return scheduled_.graph.func(id).stages.size(); }

  Root root_of(FuncId id, int stage) const {
    return at_root(id) ? Root(id.value, stage) : root_of(place(id).func, place(id).stage);
  }
  Kernel& kernel_of(FuncId id, int stage) {
    const Root root = root_of(id, stage);
    return std::find_if(kernels_.begin(), kernels_.end(), [&](const auto& k) { return k.first == root; })
        ->second;
  }

  void add_stage(FuncId id, int index) {
    const lang::FuncDef& func = scheduled_.graph.func(id);
    const lang::StageDef& stage = func.stages[index];
    Kernel& kernel = kernel_of(id, index);
    std::vector<std::string>& funcs = kernel.work.funcs;
    if (std::find(funcs.begin(), funcs.end(), func.name) == funcs.end()) funcs.push_back(func.name);
    kernel.work.operations += arithmetic(stage.value) * footprint_.points(id, index);
    const lang::Ranges loops = footprint_.loops(id, index);
    const auto read = [&](const Expr& node) {
      if (ir::is(node, ir::Op::Call) && comes_from_memory(node))
        footprint_.add_read(node, loops, kernel.reads);
    };
    ir::visit(stage.value, read);
    if (stage.predicate.defined()) ir::visit(stage.predicate, read);
    for (const Expr& e : stage.lhs) ir::visit(e, read);
  }

  /// Inputs, and Funcs that have a kernel of their own (an update's own Func among them).
  bool comes_from_memory(const Expr& call) const {
    const Source source = source_of(call);
    return source.kind == ir::CalleeKind::Input || at_root(FuncId{source.index});
  }

  Work finish(const Root& root, Kernel& kernel) const {
    const FuncId id{root.first};
    kernel.work.name = lang::stage_name(scheduled_.graph.func(id), root.second);
    kernel.work.read = footprint_.bytes(kernel.reads);
    kernel.work.written = footprint_.bytes(id);
    return kernel.work;
  }

  const schedule::Scheduled& scheduled_;
  Footprint footprint_;
  std::vector<std::pair<Root, Kernel>> kernels_;
};

}  // namespace

Work total(const std::vector<Work>& works) {
  Work sum;
  for (const Work& work : works) {
    sum.read += work.read;
    sum.written += work.written;
    sum.operations += work.operations;
  }
  return sum;
}

std::vector<Work> kernels(const schedule::Scheduled& scheduled, const Constants& constants) {
  schedule::Scheduled inlined = scheduled;
  lower::inline_funcs(inlined);
  schedule::leave_out_unread(inlined);
  return Kernels(inlined, constants).run();
}

}  // namespace calotype::analyze
