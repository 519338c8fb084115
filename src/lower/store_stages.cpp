// Stored stages: the values of a Func, written to a buffer of the caller's as well, so that they can be
// looked at and compared with the reference. Does nothing in an ordinary compile.
//
// Every Func of Options::stored_stages gives the program one more output argument, over a box that the caller
// chooses. Elements outside the box are dropped; elements that the schedule never computes stay as they were.
// What a Func of one definition computes is copied element by element as it is stored, since its storage may
// be a ring. A Func with updates, or that a function computes, gets one more definition instead, f(x, y) =
// f(x, y) with the loops of its first one, or of the coordinates where a function computes it: the copy. It
// runs when the updates are done, so no partial result is seen, on the points that consumers need, where all
// updates are; and with the first definition's loops each thread of a block reads what it may. A scan of
// which memory holds the last values alone is copied as each of its stages stores. The emit pass makes the
// stores. A memoized Func is computed anew.
//
// `add_copies` stands before placement, which makes loops of the copies as of any definition;
// `declare_stored` after bounds, which numbers the other arguments.

#include <fmt/format.h>

#include <map>

#include "lower/passes.h"
#include "schedule/scan.h"

namespace calotype::lower {
namespace {

using schedule::Transform;

/// The loops of a stage once more, under ids of their own.
class LoopCopier {
 public:
  LoopCopier(Scheduled& scheduled, const schedule::StageSchedule& from)
      : scheduled_(scheduled), from_(from) {}

  schedule::StageSchedule run() {
    schedule::StageSchedule to = from_;
    for (LoopId& id : to.dims) id = twin(id);
    for (LoopId& id : to.loops) id = twin(id);
    for (Transform& t : to.transforms) {
      for (LoopId* id : {&t.old, &t.outer, &t.inner, &t.fused}) *id = twin(*id);
      // Tails that compute more would ask for a larger region, which the copy must not change.
      if (t.kind == Transform::Kind::Split) t.tail = Tail::Predicate;
    }
    return to;
  }

 private:
  LoopId twin(LoopId id) {
    if (!id.valid()) return id;
    LoopId& made = twins_[id];
    if (!made.valid()) {
      made = LoopId{static_cast<int>(scheduled_.loops.size())};
      schedule::Loop loop = scheduled_.loop(id);
      loop.id = made;
      scheduled_.loops.push_back(std::move(loop));
    }
    return made;
  }

  Scheduled& scheduled_;
  const schedule::StageSchedule& from_;
  std::map<LoopId, LoopId> twins_;
};

/// A loop for each coordinate.
schedule::StageSchedule plain_loops(Scheduled& scheduled, const lang::FuncDef& func) {
  schedule::StageSchedule stage;
  for (const ir::SymbolPtr& arg : func.args) {
    stage.dims.push_back(LoopId{static_cast<int>(scheduled.loops.size())});
    scheduled.loops.push_back({.id = stage.dims.back(), .name = arg->name});
  }
  stage.loops = stage.dims;
  return stage;
}

bool needs_copy(const lang::FuncDef& func) { return func.stages.size() > 1 || func.is_extern(); }

void add_copy(Scheduled& scheduled, FuncId id) {
  lang::FuncDef& func = scheduled.graph.funcs[id.value];
  lang::StageDef copy;
  for (const ir::SymbolPtr& arg : func.args) copy.lhs.push_back(ir::make_var(arg));
  copy.value = func.read(copy.lhs);
  func.stages.push_back(std::move(copy));
  std::vector<schedule::StageSchedule>& stages = scheduled.funcs[id.value].stages;
  stages.push_back(func.is_extern() ? plain_loops(scheduled, func)
                                    : LoopCopier(scheduled, stages.front()).run());
}

}  // namespace

void add_copies(Scheduled& scheduled, const Options& options) {
  // What an earlier call left would not be copied.
  for (schedule::FuncSchedule& f : scheduled.funcs) f.memoize_origin.clear();
  for (FuncId id : options.stored_stages)
    if (needs_copy(scheduled.graph.func(id)) && !schedule::folded_scan(scheduled, id))
      add_copy(scheduled, id);
}

namespace {

/// Over a box of the caller's, with the extents and first coordinates of `like` if there is one.
ir::BufferPtr stored_buffer(LoopTree& tree, const lang::FuncDef& func, int component, int position,
                            std::int64_t unit, const ir::BufferPtr& like) {
  ir::Buffer b{.name = func.name + (func.is_tuple() ? fmt::format(".{}.stored", component) : ".stored"),
               .type = stored_type(func.types[component]),
               .space = ir::MemorySpace::Argument,
               .argument = position,
               .idempotent = true,
               .stored_copy = true};
  for (int d = 0; d < func.rank(); ++d) {
    auto symbol = [&](ir::SymbolKind kind, const char* what) {
      return ir::make_symbol(kind, fmt::format("{}.{}.{}", b.name, what, d));
    };
    const ir::SymbolPtr extent = symbol(ir::SymbolKind::Dim, "extent");
    tree.facts.set_range(extent, ir::index(1), {});  // with an empty output a call does nothing
    b.mins.push_back(like ? like->mins[d] : ir::make_var(symbol(ir::SymbolKind::MinCoord, "min")));
    b.extents.push_back(like ? like->extents[d] : ir::make_var(extent));
    b.strides.push_back(d == 0 && unit != 0 ? ir::index(unit)
                                            : ir::make_var(symbol(ir::SymbolKind::Stride, "stride")));
  }
  return ir::make_buffer(std::move(b));
}

}  // namespace

void declare_stored(LoopTree& tree, const Options& options) {
  const lang::Graph& graph = tree.scheduled.graph;
  std::size_t buffers = tree.inputs.size() + tree.outputs.size();
  int position = static_cast<int>(graph.arguments.size() + graph.outputs.size());
  for (FuncId id : options.stored_stages) {
    const lang::FuncDef& func = tree.func(id);
    std::vector<ir::BufferPtr>& components = tree.stored_of[id];
    for (int c = 0; c < func.components(); ++c, ++buffers, ++position) {
      const std::int64_t unit = options.unit_strides.empty() ? 1 : options.unit_strides[buffers];
      components.push_back(
          stored_buffer(tree, func, c, position, unit, c > 0 ? components[0] : ir::BufferPtr{}));
      tree.stored.push_back(components.back());
    }
  }
}

}  // namespace calotype::lower
