// Random directives on loops that Funcs share and on what is kept from one iteration to the next.
#include <algorithm>

#include "fuzz/propose.h"

namespace calotype::fuzz {

namespace {

/// How many loops of the two stages, from the outermost in, are bound alike.
std::size_t alike(const Draft& d, schedule::FuncId func, int stage) {
  const auto& own = d.state().loops_of(d.func, d.stage).loops;
  const auto& others = d.state().loops_of(func, stage).loops;
  std::size_t n = 0;
  while (n < std::min(own.size(), others.size())) {
    const schedule::Loop& a = d.state().loop(own[own.size() - 1 - n]);
    const schedule::Loop& b = d.state().loop(others[others.size() - 1 - n]);
    if (a.binding != b.binding || a.axis != b.axis) break;
    ++n;
  }
  return n;
}

bool same_place(const Draft& d, schedule::FuncId func) {
  const schedule::Place &own = d.state().out.of(d.func).compute, &other = d.state().out.of(func).compute;
  const bool at = own.kind == schedule::Place::Kind::At;
  return at == (other.kind == schedule::Place::Kind::At) && (!at || own.loop == other.loop);
}

}  // namespace

void propose_compute_with(Draft& d) {
  d.stage = static_cast<int>(d.random.below(static_cast<std::int64_t>(d.func_def().stages.size())));
  std::vector<schedule::Around> loops;
  for (const lang::FuncDef& f : d.state().out.graph.funcs)
    for (int s = 0; s < static_cast<int>(f.stages.size()); ++s) {
      if (f.id == d.func || !same_place(d, f.id)) continue;
      const auto& others = d.state().loops_of(f.id, s).loops;
      for (std::size_t n = alike(d, f.id, s); n > 0; --n)
        loops.push_back({f.id, s, others[others.size() - n]});
    }
  if (loops.empty()) return;
  const schedule::Around& at = d.random.pick(loops);
  const std::string stage = stage_text(d, at);
  const std::string loop = d.state().loop(at.loop).name;
  d.record_stage([&](Stage& s) { s.compute_with(stage, loop); });
}

void propose_slide(Draft& d) {
  d.stage = 0;
  const schedule::Place& place = d.state().out.of(d.func).compute;
  if (place.kind != schedule::Place::Kind::At) return;
  std::vector<std::string> dims;
  for (const schedule::LoopId id : d.state().loops_of(place.func, place.stage).dims)
    if (id.valid()) dims.push_back(d.state().loop(id).name);
  if (dims.empty()) return;
  const std::string stage = stage_text(d, {place.func, place.stage, place.loop});
  const std::string dim = d.random.pick(dims);
  const std::int64_t depth = d.random.chance(60) ? 0 : d.random.within(1, 4);
  if (d.random.chance(70)) d.record_stage([](Stage& s) { s.store_root(); });
  d.record_stage([&](Stage& s) { s.slide(stage, dim, depth); });
}

void propose_ring_buffer(Draft& d) {
  d.stage = 0;
  if (d.state().out.of(d.func).compute.kind != schedule::Place::Kind::At) return;
  if (d.random.chance(70)) d.record_stage([](Stage& s) { s.hoist_storage_root(); });
  const std::int64_t copies = d.random.within(2, 5);
  d.record_stage([&](Stage& s) { s.ring_buffer(copies); });
}

}  // namespace calotype::fuzz
