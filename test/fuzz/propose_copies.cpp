// Random directives on copies to shared memory: who carries them, pipelines, swizzles.
#include <algorithm>

#include "fuzz/propose.h"
#include "schedule/parts.h"
#include "schedule/places.h"

namespace calotype::fuzz {

namespace {

/// Whether the Func at hand only copies, inside a loop.
bool copies_at_a_loop(const Draft& d) {
  const lang::FuncDef& f = d.func_def();
  return f.stages.size() == 1 && !f.is_tuple() && ir::is(f.stages[0].value, ir::Op::Call) &&
         d.state().out.of(d.func).compute.kind == schedule::Place::Kind::At;
}

void in_shared_memory(Draft& d) {
  if (d.state().funcs[d.func.value].memory_directive < 0 && d.random.chance(70))
    d.record_stage([](Stage& s) { s.store_in(Memory::Shared); });
}

}  // namespace

void propose_copy(Draft& d) {
  d.stage = 0;
  const Copy counted = d.random.chance(50) ? Copy::Bulk : Copy::Tma;
  const Copy later = d.random.chance(50) ? counted : Copy::Async;
  const Copy how = copies_at_a_loop(d) ? later : Copy::Threads;
  if (how == Copy::Threads && d.random.chance(80)) return;
  if (how != Copy::Threads) in_shared_memory(d);
  d.record_stage([&](Stage& s) { s.copy(how); });
  if (how == Copy::Tma && d.random.chance(20)) propose_swizzle(d);
}

/// Over the loop that the Func at hand is copied at.
void propose_pipeline(Draft& d) {
  d.stage = 0;
  if (!copies_at_a_loop(d)) return;
  if (d.state().out.of(d.func).copy_origin.empty()) propose_copy(d);
  const schedule::Place place = d.state().out.of(d.func).compute;
  const std::pair<schedule::FuncId, int> at_hand = {d.func, d.stage};
  const std::int64_t depth = d.random.within(2, 5);
  d.func = place.func;
  d.stage = place.stage;
  d.record_stage([&](Stage& s) { s.pipeline(d.state().loop(place.loop).name, depth); });
  std::tie(d.func, d.stage) = at_hand;
}

/// Of rows that are as long as that, more often than not.
void propose_swizzle(Draft& d) {
  d.stage = 0;
  const lang::FuncDef& f = d.func_def();
  if (f.rank() == 0 || d.state().out.of(d.func).compute.kind != schedule::Place::Kind::At) return;
  static const std::vector<std::int64_t> rows = {32, 64, 128};
  const std::int64_t bytes = d.random.pick(rows), elements = bytes / f.types[0].bytes();
  const std::string first = f.args[0]->name;
  std::vector<std::string> parts = {schedule::part_text({0, 1, elements}, first)};
  for (std::size_t i = 1; i < f.args.size(); ++i) parts.push_back(f.args[i]->name);
  parts.push_back(schedule::part_text({0, elements, std::nullopt}, first));
  in_shared_memory(d);  // what is recorded replaces the Funcs looked at above
  if (d.random.chance(80)) d.record_stage([&](Stage& s) { s.layout(parts); });
  d.record_stage([&](Stage& s) { s.swizzle(bytes); });
}

/// A serial loop of a copy: mostly of none by a role.
void propose_multicast(Draft& d) {
  d.stage = 0;
  const std::vector<std::string> loops = d.free_loops();
  if (!copies_at_a_loop(d) || loops.empty()) return;
  const std::string loop = d.random.pick(loops);
  d.record_stage([&](Stage& s) { s.multicast(loop); });
}

/// The innermost loops of a sum, whatever is summed: mostly no product that tensor cores have.
void propose_tensor_core(Draft& d) {
  if (d.stage == 0) return;
  std::vector<std::string> pure = d.free_loops(true), summed;
  for (const std::string& loop : d.free_loops())
    if (std::find(pure.begin(), pure.end(), loop) == pure.end()) summed.push_back(loop);
  if (pure.size() < 2 || summed.empty()) return;
  d.record_stage([&](Stage& s) { s.tensor_core({pure[1]}, {pure[0]}, {summed[0]}); });
}

}  // namespace calotype::fuzz
