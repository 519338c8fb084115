// Random directives on regions, on memory and its order, and on sizes.
#include <algorithm>

#include "fuzz/propose.h"
#include "fuzz/regions.h"
#include "schedule/forms.h"
#include "schedule/parts.h"
#include "schedule/places.h"
#include "schedule/scan.h"

namespace calotype::fuzz {

namespace {

/// A coordinate of the Func at hand; empty where it has none.
std::string some_dim(Draft& d) {
  d.stage = 0;
  if (d.func_def().rank() == 0) return "";
  return d.func_def().args[static_cast<std::size_t>(d.random.below(d.func_def().rank()))]->name;
}

/// What the first call covers of a coordinate of the Func at hand.
std::optional<Interval> covered(const Draft& d, const std::string& dim) {
  const auto boxes = regions(d.program, d.program.runs[0]);
  const auto box = boxes.find(d.func_def().name);
  if (box == boxes.end()) return std::nullopt;
  for (std::size_t i = 0; i < box->second.size(); ++i)
    if (d.func_def().args[i]->name == dim) return box->second[i];
  return std::nullopt;
}

/// Promises on sizes hold for every call only where there is one.
bool promises_hold(Draft& d) { return d.program.runs.size() == 1 || d.random.chance(10); }

template <class F>
void on_some_dim(Draft& d, F directive) {
  const std::string dim = some_dim(d);
  if (!dim.empty()) d.record_stage([&](Stage& s) { directive(s, dim); });
}

/// Where the Func at hand, which is computed inside a loop, is stored.
const schedule::Place& place_of_memory(const Draft& d) {
  const auto& placed = d.state().out.of(d.func);
  return d.state().funcs[d.func.value].store_directive < 0 ? placed.compute : placed.store;
}

std::vector<std::string> source_names(const Draft& d) {
  std::vector<std::string> names = d.state().out.graph.func_names();
  for (const lang::InputDef& i : d.state().out.graph.inputs) names.push_back(i.name);
  return names;
}

/// Whether the values of a Func depend on an input.
bool reads_input(const lang::Graph& graph, lang::FuncId func) {
  for (const lang::StageDef& stage : graph.func(func).stages)
    for (const ir::CalleePtr& callee : lang::callees(stage)) {
      if (callee->kind == ir::CalleeKind::Input) return true;
      if (callee->index != func.value && reads_input(graph, lang::FuncId{callee->index})) return true;
    }
  return false;
}

}  // namespace

void propose_bound_extent(Draft& d) {
  const std::string dim = some_dim(d);
  if (dim.empty() || !promises_hold(d)) return;
  const auto range = covered(d, dim);
  if (range) d.record_stage([&](Stage& s) { s.bound_extent(dim, range->high - range->low + 1); });
}

void propose_align_bounds(Draft& d) {
  const Factor modulus = d.factor(8);
  const std::int64_t remainder = d.random.chance(50) ? 0 : d.random.within(-3, 3);
  on_some_dim(d, [&](Stage& s, const std::string& dim) { s.align_bounds(dim, modulus, remainder); });
}

void propose_align_extent(Draft& d) {
  const Factor modulus = d.factor(8);
  on_some_dim(d, [&](Stage& s, const std::string& dim) { s.align_extent(dim, modulus); });
}

void propose_reorder_storage(Draft& d) {
  d.stage = 0;
  std::vector<LoopName> dims;
  for (const ir::SymbolPtr& arg : d.func_def().args) dims.emplace_back(arg->name);
  if (dims.size() < 2) return;
  std::rotate(dims.begin(), dims.begin() + d.random.within(1, static_cast<std::int64_t>(dims.size()) - 1),
              dims.end());
  d.record_stage([&](Stage& s) { s.reorder_storage(dims); });
}

/// Each coordinate whole or in two or three parts, all in random order.
void propose_layout(Draft& d) {
  d.stage = 0;
  std::vector<std::string> parts;
  for (const ir::SymbolPtr& arg : d.func_def().args) {
    const std::int64_t inner = d.random.within(2, 9), outer = d.random.within(2, 4);
    const auto part = [&](std::int64_t divide, std::int64_t modulo) {
      parts.push_back(
          schedule::part_text({0, divide, modulo == 0 ? std::nullopt : std::optional(modulo)}, arg->name));
    };
    const std::int64_t count = d.random.within(1, 3);
    if (count > 1) part(1, inner);
    if (count > 2) part(inner, outer);
    part(count == 1 ? 1 : count == 2 ? inner : inner * outer, 0);
  }
  for (std::size_t i = parts.size(); i > 1; --i)
    std::swap(parts[i - 1], parts[static_cast<std::size_t>(d.random.below(static_cast<std::int64_t>(i)))]);
  if (!parts.empty() && parts.size() <= 16) d.record_stage([&](Stage& s) { s.layout(parts); });
}

void propose_align_storage(Draft& d) {
  const Factor multiple = d.factor(16);
  on_some_dim(d, [&](Stage& s, const std::string& dim) { s.align_storage(dim, multiple); });
}

void propose_pad(Draft& d) {
  const Factor elements = d.factor(5);
  on_some_dim(d, [&](Stage& s, const std::string& dim) { s.pad(dim, elements); });
}

void propose_bound_storage(Draft& d) {
  const std::string dim = some_dim(d);
  if (dim.empty()) return;
  const auto range = covered(d, dim);
  const std::int64_t whole = range ? range->high - range->low + 1 : 1;
  const Factor extent = promises_hold(d) ? Factor(whole + d.random.within(0, 2)) : Factor(64);
  d.record_stage([&](Stage& s) { s.bound_storage(dim, extent); });
}

/// A ring is of a Func that is stored further out than it is computed, or of a scan.
void propose_fold_storage(Draft& d) {
  d.stage = 0;
  if (const auto scan = schedule::scan_form(d.func_def()); scan && d.random.chance(70)) {
    const std::string& dim = d.func_def().args[static_cast<std::size_t>(scan->dim)]->name;
    const std::int64_t extent = scan->reach + d.random.below(3);
    d.record_stage([&](Stage& s) { s.fold_storage(dim, extent); });
    return;
  }
  const auto& placed = d.state().out.of(d.func);
  if (placed.compute.kind != schedule::Place::Kind::At) return;
  if (d.state().funcs[d.func.value].store_directive < 0)
    d.random.chance(50) ? propose_store_root(d) : propose_store_at(d);
  static const std::vector<std::int64_t> extents = {3, 4, 5, 6, 8, 12, 16, 32, 50, 64};
  const Factor extent = d.random.chance(20) ? d.factor(8) : Factor(d.random.pick(extents));
  on_some_dim(d, [&](Stage& s, const std::string& dim) { s.fold_storage(dim, extent); });
}

void propose_hoist_storage(Draft& d) {
  d.stage = 0;
  if (d.state().out.of(d.func).compute.kind != schedule::Place::Kind::At) return;
  auto loops = schedule::loops_around(d.state(), d.state().out.of(d.func).compute);
  if (loops.empty()) return;
  if (d.random.chance(85)) {
    loops.clear();
    for (const auto& outside : places_outside(d, place_of_memory(d)))
      if (outside) loops.push_back(*outside);
    if (loops.empty()) return propose_hoist_storage_root(d);
  }
  const schedule::Around& at = d.random.pick(loops);
  const std::string stage = stage_text(d, at);
  d.record_stage([&](Stage& s) { s.hoist_storage(stage, d.state().loop(at.loop).name); });
}

void propose_hoist_storage_root(Draft& d) {
  d.stage = 0;
  if (d.state().out.of(d.func).compute.kind == schedule::Place::Kind::At)
    d.record_stage([](Stage& s) { s.hoist_storage_root(); });
}

void propose_set_estimate(Draft& d) {
  const std::int64_t min = d.random.within(-2, 2);
  const Factor extent = d.factor(100);
  on_some_dim(d, [&](Stage& s, const std::string& dim) { s.set_estimate(dim, min, extent); });
}

/// Where the Func at hand reads an input, one that does not, if there is any.
void propose_memoize(Draft& d) {
  d.stage = 0;
  std::vector<lang::FuncId> tables;
  for (const lang::FuncDef& f : d.state().out.graph.funcs)
    if (!reads_input(d.state().out.graph, f.id) && !d.state().out.graph.is_output(f.id))
      tables.push_back(f.id);
  if (tables.empty()) return;
  if (std::find(tables.begin(), tables.end(), d.func) == tables.end()) d.func = d.random.pick(tables);
  const bool placed = d.state().funcs[d.func.value].compute_directive >= 0;
  if (placed && d.state().out.of(d.func).compute.kind != schedule::Place::Kind::Root) return;
  d.record_stage([&](Stage& s) {
    if (!placed) s.compute_root();
    s.memoize();
  });
}

void propose_stream_stores(Draft& d) {
  d.stage = 0;
  d.record_stage([](Stage& s) { s.stream_stores(); });
}

void propose_stream_loads(Draft& d) {
  const std::string of = d.random.pick(source_names(d));
  d.record([&](Schedule& s) { s.stream_loads(of); });
}

void propose_stage_out(Draft& d) {
  const std::string of = d.random.pick(d.state().out.graph.func_names());
  d.record([&](Schedule& s) { s.stage_out(of); });
}

/// One of the block's roles: the others are drawn seldom, and without them it is refused.
void propose_role(Draft& d) {
  const std::string name = d.fresh("role");
  d.record([&](Schedule& s) { s.role(name, {d.func_def().name}, {.warps = d.random.chance(50) ? 1 : 4}); });
}

void propose_trace(Draft& d) {
  if (d.target.kind == Target::Kind::Cuda) return;  // a device prints to standard output by itself
  const std::string of = d.random.pick(source_names(d));
  std::vector<Trace> what;
  for (const Trace t : {Trace::Loads, Trace::Stores, Trace::Productions})
    if (d.random.chance(50)) what.push_back(t);
  if (!what.empty()) d.record([&](Schedule& s) { s.trace(of, what); });
}

void propose_estimate_size(Draft& d) {
  if (d.program.runs[0].empty()) return;
  const std::string size = d.program.runs[0].begin()->first;
  const Factor value = d.factor(100);
  d.record([&](Schedule& s) { s.estimate_size(size, value); });
}

/// What holds of all calls, or of most.
void propose_assume(Draft& d) {
  std::vector<std::string> names;
  for (const auto& [name, value] : d.program.runs[0]) names.push_back(name);
  if (names.empty()) return;
  const std::string size = d.random.pick(names);
  std::int64_t low = INT64_MAX, high = 0;
  for (const Sizes& sizes : d.program.runs) {
    low = std::min(low, sizes.at(size));
    high = std::max(high, sizes.at(size));
  }
  const Assumption what = low == high && d.random.chance(50) ? Assumption::exact(low)
                          : d.random.chance(50)              ? Assumption::range(low, high)
                                                             : Assumption::at_least(low);
  d.record([&](Schedule& s) { s.assume(size, what); });
}

/// What holds of about half of the buffers that calls are made with: they are dense as often as not.
void propose_assume_buffer(Draft& d) {
  const lang::Graph& graph = d.state().out.graph;
  const std::string name = d.random.pick(schedule::argument_names(graph));
  const schedule::ArgumentRef argument = *schedule::find_argument(graph, name);
  const std::int64_t bytes = schedule::type_of(graph, argument).bytes();
  static const std::vector<std::int64_t> steps = {1, 1, 2, 4};
  BufferForm form{.buffer = name, .dense = d.random.chance(75)};
  if (schedule::extents_of(graph, argument).size() > 1 && d.random.chance(40))
    form.pitch_multiple = bytes * d.random.pick(steps);
  if (d.random.chance(30)) form.base_align = bytes * d.random.pick(steps);
  d.record([&](Schedule& s) { s.assume_buffer(form); });
}

void propose_prefetch(Draft& d) {
  const auto loops = d.free_loops();
  if (loops.empty()) return;
  const std::string of = d.random.pick(source_names(d)), at = d.random.pick(loops),
                    from = d.random.pick(loops);
  const std::int64_t offset = d.random.within(0, 4);
  static const std::vector<PrefetchBounds> all = {PrefetchBounds::NonFaulting, PrefetchBounds::Clamp,
                                                  PrefetchBounds::Guard};
  const PrefetchBounds bounds = d.random.pick(all);
  d.record_stage([&](Stage& s) { s.prefetch(of, at, from, offset, bounds); });
}

void propose_partition(Draft& d) {
  const auto loops = d.free_loops();
  if (loops.empty()) return;
  const std::string loop = d.random.pick(loops);
  static const std::vector<Partition> all = {Partition::Auto, Partition::Never, Partition::Always};
  const Partition how = d.random.pick(all);
  d.record_stage([&](Stage& s) { s.partition(loop, how); });
}

void propose_rename(Draft& d) {
  const auto loops = d.free_loops();
  if (loops.empty()) return;
  const std::string loop = d.random.pick(loops), name = d.fresh("n");
  d.record_stage([&](Stage& s) { s.rename(loop, name); });
}

}  // namespace calotype::fuzz
