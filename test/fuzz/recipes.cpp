// Whole kernels of a GPU.
#include "fuzz/recipes.h"

#include <algorithm>
#include <optional>

#include "fuzz/kernel_shape.h"
#include "schedule/readers.h"

namespace calotype::fuzz {

namespace {

using schedule::FuncId;
using schedule::StageId;

Copy some_copy(Random& random) {
  static const std::vector<Copy> all = {Copy::Async, Copy::Async, Copy::Bulk, Copy::Tma, Copy::Threads};
  return random.pick(all);
}

bool reads(const lang::StageDef& stage, const std::string& name) {
  const auto all = lang::callees(stage);
  return std::any_of(all.begin(), all.end(), [&](const ir::CalleePtr& c) { return c->name == name; });
}

/// Names of what the stage reads and no other stage of its Func, which it is none of.
std::vector<std::string> sources_of(const Draft& d, const StageId& stage) {
  std::vector<std::string> names;
  const lang::FuncDef& f = d.state().def(stage.func);
  for (const ir::CalleePtr& c : lang::callees(f.stages[static_cast<std::size_t>(stage.stage)])) {
    const bool func = c->kind == ir::CalleeKind::Func;
    if (func && (c->index == stage.func.value || d.state().def(FuncId{c->index}).is_tuple())) continue;
    const auto readers = std::count_if(f.stages.begin(), f.stages.end(),
                                       [&](const lang::StageDef& s) { return reads(s, c->name); });
    if (readers == 1 && std::find(names.begin(), names.end(), c->name) == names.end())
      names.push_back(c->name);
  }
  return names;
}

/// A stage with coordinates that reads something; nothing in programs without one.
std::optional<StageId> some_reader(const Draft& d) {
  std::vector<StageId> found;
  for (const lang::FuncDef& f : d.state().out.graph.funcs)
    for (int i = 0; i < static_cast<int>(f.stages.size()); ++i)
      if (f.rank() > 0 && !f.is_extern() && !sources_of(d, {f.id, i}).empty()) found.push_back({f.id, i});
  if (found.empty()) return std::nullopt;
  return d.random.pick(found);
}

/// A Func that is reduced, the stage that does so, and one that reads the result.
struct Reduction {
  FuncId func;
  int stage;
  StageId reader;
};

std::optional<Reduction> some_reduction(const Draft& d) {
  std::vector<Reduction> found;
  const schedule::Readers readers(d.state().out.graph);
  for (const lang::FuncDef& f : d.state().out.graph.funcs)
    for (int i = 1; i < static_cast<int>(f.stages.size()); ++i) {
      const lang::StageDef& stage = f.stages[static_cast<std::size_t>(i)];
      if (!stage.reduce_op || stage.reduction.empty()) continue;
      for (const StageId& reader : readers.of(f.id))
        if (reader.func != f.id && d.state().def(reader.func).rank() > 0) found.push_back({f.id, i, reader});
    }
  if (found.empty()) return std::nullopt;
  return d.random.pick(found);
}

/// The Func itself if `reader` is all that reads it, else a clone for it.
std::optional<FuncId> own_of_reader(Draft& d, FuncId func, FuncId reader) {
  const schedule::Readers readers(d.state().out.graph);
  bool others = d.state().out.graph.is_output(func);
  for (const StageId& r : readers.of(func)) others = others || (r.func != reader && r.func != func);
  if (!others) return func;
  const std::string of = d.state().def(func).name, by = d.state().def(reader).name;
  if (!d.record([&](Schedule& s) { s.clone_in(of, {by}); })) return std::nullopt;
  return d.state().out.graph.find_func(of + ".clone(" + by + ")")->id;
}

/// Memory of a block has a constant size: mostly one that follows from the sizes of the calls.
void assume_sizes(Draft& d) {
  if (d.random.chance(30)) return;
  for (const auto& [name, value] : d.program.runs[0]) {
    std::int64_t high = value;
    for (const Sizes& sizes : d.program.runs) high = std::max(high, sizes.at(name));
    d.record([&, of = name](Schedule& s) { s.assume(of, Assumption::range(1, high)); });
  }
}

void address(Draft& d, const StageId& stage) {
  d.func = stage.func;
  d.stage = stage.stage;
}

/// Copies at the loop become a pipeline, most often, if that is one of turns.
void run_ahead(Draft& d, const KernelShape& kernel, const std::string& loop, Copy how) {
  if (how == Copy::Threads || loop != kernel.turns || !d.random.chance(85)) return;
  address(d, {kernel.func, kernel.stage});
  d.record_stage([&](Stage& s) { s.pipeline(loop, d.random.within(2, 4)); });
}

/// A kernel whose reads are copied to shared memory, ahead of the iterations that read them or not.
bool staged(Draft& d, bool cluster) {
  const auto reader = some_reader(d);
  if (!reader) return false;
  assume_sizes(d);
  address(d, *reader);
  const Copy how = some_copy(d.random);
  const bool rows = d.random.chance(how == Copy::Bulk ? 70 : 25);
  KernelShape kernel(d, {.cluster = cluster, .turns = d.random.chance(75), .rows = rows});
  if (!kernel.cut()) return false;
  const std::string loop = !kernel.turns.empty()                            ? kernel.turns
                           : !kernel.cluster.empty() && d.random.chance(50) ? kernel.cluster
                                                                            : kernel.block;
  int copies = 0;
  for (const std::string& source : sources_of(d, *reader))
    if (copies == 0 || d.random.chance(50))
      copies += stage_a_copy(d, kernel, source, reader->func, loop, copies == 0 ? how : some_copy(d.random));
  if (copies == 0) return false;
  run_ahead(d, kernel, loop, how);
  return true;
}

bool staged_in_blocks(Draft& d) { return staged(d, false); }
bool staged_in_clusters(Draft& d) { return staged(d, true); }

/// A reduction in the registers of a block, by its threads; its reader's threads have the result. Now and
/// then what it reads comes through shared memory.
bool reduced(Draft& d, bool cluster) {
  const auto found = some_reduction(d);
  if (!found) return false;
  assume_sizes(d);
  address(d, found->reader);
  KernelShape kernel(d, {.cluster = cluster, .turns = d.random.chance(30), .rows = d.random.chance(30)});
  const auto func = own_of_reader(d, found->func, found->reader.func);
  if (!func || !kernel.cut()) return false;
  const std::string loop = kernel.outside_cluster();
  if (!kernel.compute_inside(*func, loop, Memory::Register)) return false;
  if (d.random.chance(35)) kernel.deal_out(*func, 0);
  if (!kernel.reduce(*func, found->stage)) return false;
  const auto sources = sources_of(d, {*func, found->stage});
  if (sources.empty() || d.random.chance(65)) return true;
  const Copy how = some_copy(d.random);
  stage_a_copy(d, kernel, d.random.pick(sources), *func, loop, how);
  run_ahead(d, kernel, loop, how);
  return true;
}

bool reduced_in_blocks(Draft& d) { return reduced(d, false); }
bool reduced_in_clusters(Draft& d) { return reduced(d, true); }

/// Partial results of a reduction, by rfactor, in the block that combines them.
bool reduced_in_two_steps(Draft& d) {
  const auto found = some_reduction(d);
  if (!found) return false;
  assume_sizes(d);
  address(d, {found->func, found->stage});
  std::vector<std::string> loops;
  for (const schedule::LoopId id : d.state().loops_of(d.func, d.stage).loops)
    if (d.state().loop(id).reduction) loops.push_back(d.state().loop(id).name);
  const std::string outer = d.fresh("ro"), inner = d.fresh("ri"), q = d.fresh("q");
  const std::string part = d.fresh(d.func_def().name + "_part"), kept = d.random.chance(50) ? outer : inner;
  const std::string loop = d.random.pick(loops);
  const std::int64_t by = d.random.within(2, 16);
  if (!d.record_stage([&](Stage& s) { s.split(loop, outer, inner, by); }) ||
      !d.record_stage([&](Stage& s) { s.rfactor({{kept, q}}, part); }))
    return false;
  address(d, {found->func, found->stage});
  KernelShape kernel(d, {.turns = d.random.chance(30)});
  if (!kernel.cut()) return false;
  const FuncId id = d.state().out.graph.find_func(part)->id;
  static const std::vector<Memory> memories = {Memory::Shared, Memory::Register, Memory::Auto};
  const std::string at = !kernel.turns.empty() && d.random.chance(50) ? kernel.turns : kernel.block;
  if (!kernel.compute_inside(id, at, d.random.pick(memories))) return false;
  kernel.deal_out(id, 0);
  d.random.chance(50) ? kernel.deal_out(id, 1) : static_cast<void>(kernel.reduce(id, 1));
  return true;
}

/// The memory of the Func at hand lies at a loop outside of where it is computed: copies in turn, or a
/// window.
bool keep(Draft& d, const KernelShape& kernel) {
  const std::string stage = kernel.stage_text();
  const std::string loop = kernel.outside_cluster() == kernel.turns ? kernel.block : kernel.cluster;
  if (d.random.chance(45))
    return d.record_stage([&](Stage& s) { s.hoist_storage(stage, loop); }) &&
           d.record_stage([&](Stage& s) { s.ring_buffer(d.random.within(2, 4)); });
  if (!d.record_stage([&](Stage& s) { s.store_at(stage, loop); })) return false;
  const std::int64_t depth = d.random.chance(60) ? 0 : d.random.within(1, 2);
  if (d.random.chance(75)) d.record_stage([&](Stage& s) { s.slide(stage, kernel.turns, depth); });
  if (d.random.chance(40)) propose_fold_storage(d);
  return true;
}

/// A Func in the memory of the block, its window or copies of it in turn from one iteration to the next.
bool kept_in_blocks(Draft& d) {
  const auto reader = some_reader(d);
  if (!reader) return false;
  std::vector<FuncId> read;
  for (const std::string& name : sources_of(d, *reader))
    if (const lang::FuncDef* f = d.state().out.graph.find_func(name); f && !f->is_extern())
      read.push_back(f->id);
  if (read.empty()) return false;
  assume_sizes(d);
  address(d, *reader);
  const bool whole = d.random.chance(60);
  KernelShape kernel(
      d,
      {.cluster = d.random.chance(20), .turns = true, .rows = !whole && d.random.chance(60), .whole = whole});
  const auto func = own_of_reader(d, d.random.pick(read), reader->func);
  if (!func || !kernel.cut()) return false;
  const Memory memory = d.random.chance(70) ? Memory::Shared : Memory::Register;
  if (!kernel.compute_inside(*func, kernel.turns, memory)) return false;
  for (std::size_t i = 0; i < d.state().def(*func).stages.size(); ++i)
    kernel.deal_out(*func, static_cast<int>(i));
  address(d, {*func, 0});
  return keep(d, kernel);
}

}  // namespace

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = {
      {"staged in blocks", 30, staged_in_blocks},         {"staged in clusters", 18, staged_in_clusters},
      {"reduced in blocks", 26, reduced_in_blocks},       {"reduced in clusters", 20, reduced_in_clusters},
      {"reduced in two steps", 20, reduced_in_two_steps}, {"kept in blocks", 22, kept_in_blocks},
  };
  return all;
}

}  // namespace calotype::fuzz
