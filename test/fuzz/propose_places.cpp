// Random directives on where Funcs are computed and stored, and on the graph.
#include <fmt/format.h>

#include <tuple>

#include "fuzz/propose.h"
#include "fuzz/regions.h"
#include "schedule/places.h"
#include "schedule/readers.h"

namespace calotype::fuzz {

namespace {

/// Loops of the Funcs that read this one, and those around the places of these.
std::vector<schedule::Around> loops_of_readers(const Draft& d) {
  std::vector<schedule::Around> loops;
  const schedule::Readers readers(d.state().out.graph);
  for (const schedule::StageId& r : readers.of(d.func)) {
    const auto around = schedule::loops_around(d.state(), r.func, r.stage);
    loops.insert(loops.end(), around.begin(), around.end());
  }
  return loops;
}

bool computed_at_loop(const Draft& d) {
  return d.state().out.of(d.func).compute.kind == schedule::Place::Kind::At;
}

std::vector<std::string> read_funcs(const Draft& d) {
  const schedule::Readers readers(d.state().out.graph);
  std::vector<std::string> names;
  for (const lang::FuncDef& f : d.state().out.graph.funcs)
    if (!readers.of(f.id).empty()) names.push_back(f.name);
  return names;
}

/// What `in` may copy: Funcs and inputs that are read.
std::vector<std::string> sources(const Draft& d) {
  std::vector<std::string> names;
  for (const lang::InputDef& i : d.state().out.graph.inputs) names.push_back(i.name);
  for (const std::string& name : read_funcs(d)) names.push_back(name);
  return names;
}

std::vector<std::string> readers(const Draft& d, const std::string& source) {
  std::vector<std::string> names;
  for (const lang::FuncDef& f : d.state().out.graph.funcs) {
    bool reads = false;
    for (const lang::StageDef& s : f.stages)
      for (const ir::CalleePtr& c : lang::callees(s)) reads = reads || c->name == source;
    if (reads && f.name != source) names.push_back(f.name);
  }
  return names;
}

}  // namespace

std::string stage_text(const Draft& d, const schedule::Around& at) {
  const lang::FuncDef& f = d.state().def(at.func);
  if (at.stage == 0 && f.stages.size() > 1) return f.name + ".pure";
  return lang::stage_name(f, at.stage);
}

std::vector<std::optional<schedule::Around>> places_outside(const Draft& d, const schedule::Place& from) {
  const auto loops = schedule::loops_around(d.state(), from);
  std::vector<std::optional<schedule::Around>> places;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const ir::Binding binding = d.state().loop(loops[i].loop).binding;
    if (binding != ir::Binding::Serial && binding != ir::Binding::Unrolled) break;
    if (i + 1 < loops.size())
      places.emplace_back(loops[i + 1]);
    else
      places.emplace_back(std::nullopt);
  }
  return places;
}

void propose_compute_inline(Draft& d) {
  d.stage = 0;
  d.record_stage([](Stage& s) { s.compute_inline(); });
}

void propose_compute_root(Draft& d) {
  d.stage = 0;
  d.record_stage([](Stage& s) { s.compute_root(); });
}

namespace {

/// At a loop of blocks, mostly the innermost one, whose threads are then dealt what is computed, in registers
/// or in other memory; false if there is no such loop.
bool compute_in_block(Draft& d, const std::vector<schedule::Around>& loops) {
  std::vector<schedule::Around> blocks;
  for (const schedule::Around& at : loops)
    if (d.state().loop(at.loop).binding == ir::Binding::GpuBlock) blocks.push_back(at);
  if (blocks.empty()) return false;
  const schedule::Around& at = d.random.chance(80) ? blocks.front() : d.random.pick(blocks);
  d.record_stage([&](Stage& s) { s.compute_at(stage_text(d, at), d.state().loop(at.loop).name); });
  if (d.random.chance(60)) d.record_stage([](Stage& s) { s.store_in(Memory::Register); });
  return true;
}

}  // namespace

void propose_compute_at(Draft& d) {
  d.stage = 0;
  const auto loops = loops_of_readers(d);
  if (loops.empty()) return;
  if (d.target.is_gpu() && d.random.chance(40) && compute_in_block(d, loops)) return;
  const schedule::Around& at = d.random.pick(loops);
  d.record_stage([&](Stage& s) { s.compute_at(stage_text(d, at), d.state().loop(at.loop).name); });
}

void propose_store_root(Draft& d) {
  d.stage = 0;
  if (computed_at_loop(d)) d.record_stage([](Stage& s) { s.store_root(); });
}

void propose_store_at(Draft& d) {
  d.stage = 0;
  if (!computed_at_loop(d)) return;
  const schedule::Place& place = d.state().out.of(d.func).compute;
  auto loops = schedule::loops_around(d.state(), place);
  if (loops.empty()) return;
  if (d.random.chance(85)) {
    loops.clear();
    for (const auto& outside : places_outside(d, place))
      if (outside) loops.push_back(*outside);
    if (loops.empty()) return propose_store_root(d);
  }
  const schedule::Around& at = d.random.pick(loops);
  d.record_stage([&](Stage& s) { s.store_at(stage_text(d, at), d.state().loop(at.loop).name); });
}

/// What a Func inside a loop could have besides its default; at root there is mostly one kind of memory.
void propose_store_in(Draft& d) {
  d.stage = 0;
  static const std::vector<Memory> host = {Memory::Heap, Memory::Heap, Memory::Stack},
                                   host_root = {Memory::Auto, Memory::Heap, Memory::Stack},
                                   gpu = {Memory::Shared, Memory::Register, Memory::Local, Memory::Auto},
                                   gpu_root = {Memory::Auto, Memory::Global, Memory::Shared};
  const bool inside = computed_at_loop(d);
  if (!inside && d.random.chance(85)) return;
  const Memory memory =
      d.random.pick(d.target.is_gpu() ? (inside ? gpu : gpu_root) : (inside ? host : host_root));
  d.record_stage([&](Stage& s) { s.store_in(memory); });
}

/// What the first call covers: a promise that holds there, now and then not.
void propose_bound(Draft& d) {
  d.stage = 0;
  if (d.program.runs.size() > 1 && !d.random.chance(10)) return;
  const auto boxes = regions(d.program, d.program.runs[0]);
  const auto box = boxes.find(d.func_def().name);
  if (box == boxes.end()) return;
  const auto dim = static_cast<std::size_t>(d.random.below(d.func_def().rank()));
  const Interval i = box->second[dim];
  const std::int64_t more = d.random.chance(10) ? 1 : 0;
  d.record_stage([&](Stage& s) { s.bound(d.func_def().args[dim]->name, i.low, i.high - i.low + 1 + more); });
}

void propose_in(Draft& d) {
  const std::vector<std::string> names = sources(d);
  if (names.empty()) return;
  const std::string of = d.random.pick(names);
  std::vector<FuncName> chosen;
  if (d.random.chance(60))
    for (const std::string& r : readers(d, of))
      if (d.random.chance(50)) chosen.emplace_back(r);
  d.record([&](Schedule& s) { s.in(of, chosen); });
}

void propose_clone_in(Draft& d) {
  const std::vector<std::string> names = read_funcs(d);
  if (names.empty()) return;
  const std::string of = d.random.pick(names);
  std::vector<FuncName> chosen;
  if (d.random.chance(70))
    for (const std::string& r : readers(d, of))
      if (d.random.chance(50)) chosen.emplace_back(r);
  d.record([&](Schedule& s) { s.clone_in(of, chosen); });
}

void propose_eager_inline(Draft& d) {
  const lang::Graph& graph = d.state().out.graph;
  std::vector<std::string> names;
  for (const lang::FuncDef& f : graph.funcs)
    if (f.stages.size() == 1 && !graph.is_output(f.id)) names.push_back(f.name);
  if (names.empty()) return;
  const std::string of = d.random.pick(names);
  d.record([&](Schedule& s) { s.eager_inline(of); });
}

namespace {

/// A Func with an update that can be split up, and that update as `stage`; false if there is none.
bool address_reduction(Draft& d) {
  std::vector<std::pair<lang::FuncId, int>> found;
  for (const lang::FuncDef& f : d.state().out.graph.funcs)
    for (int i = 1; i < static_cast<int>(f.stages.size()); ++i)
      if (f.stages[i].reduce_op) found.emplace_back(f.id, i);
  if (found.empty()) return false;
  std::tie(d.func, d.stage) = d.random.pick(found);
  return true;
}

}  // namespace

void propose_rfactor(Draft& d) {
  if (!address_reduction(d)) return;
  std::vector<std::pair<LoopName, LoopName>> preserved;
  std::vector<std::string> loops;
  for (const schedule::LoopId id : d.state().loops_of(d.func, d.stage).loops)
    if (d.state().loop(id).reduction) loops.push_back(d.state().loop(id).name);
  if (loops.empty()) return;
  const std::string loop = d.random.pick(loops);
  if (d.random.chance(60)) {
    const std::string outer = d.fresh("ro"), inner = d.fresh("ri");
    const Factor by = d.factor(8);
    if (!d.record_stage([&](Stage& s) { s.split(loop, outer, inner, by); })) return;
    preserved.emplace_back(d.random.chance(50) ? outer : inner, d.fresh("q"));
  } else {
    preserved.emplace_back(loop, d.fresh("q"));
  }
  const std::string as = d.fresh(d.func_def().name + "_part");
  d.record_stage([&](Stage& s) { s.rfactor(preserved, as); });
}

}  // namespace calotype::fuzz
