// Random directives on loops that Funcs share and on what is kept from one iteration to the next.
#include <algorithm>
#include <tuple>
#include <utility>

#include "fuzz/propose.h"
#include "schedule/loops.h"
#include "schedule/readers.h"

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

/// Whether it would be inlined if nothing more were said.
bool has_no_loops(const Draft& d, const lang::FuncDef& f) {
  return f.stages.size() == 1 && !d.state().out.graph.is_output(f.id) &&
         d.state().funcs[f.id.value].compute_directive < 0;
}

/// Whether `reader` reads `func`, itself or through others.
bool depends(const Draft& d, schedule::FuncId reader, schedule::FuncId func) {
  return schedule::Readers(d.state().out.graph).reach(func, reader);
}

/// Loops for a Func that has none yet, where another one stands: at root, on a GPU with blocks.
void give_loops(Draft& d, schedule::FuncId func, schedule::FuncId beside) {
  const std::pair<schedule::FuncId, int> at_hand = {d.func, d.stage};
  const schedule::Place place = d.state().out.of(beside).compute;
  for (const schedule::Around& a : schedule::loops_around(d.state(), place))
    if (a.func == func) return;  // the other one is computed inside this one
  d.func = func;
  d.stage = 0;
  if (place.kind == schedule::Place::Kind::At) {
    const std::string stage = stage_text(d, {place.func, place.stage, place.loop});
    d.record_stage([&](Stage& s) { s.compute_at(stage, d.state().loop(place.loop).name); });
  } else {
    d.record_stage([](Stage& s) { s.compute_root(); });
    if (d.target.is_gpu()) propose_gpu_blocks(d);
  }
  std::tie(d.func, d.stage) = at_hand;
}

/// A coordinate of a stage of a consumer that the window of the Func at hand may move along, and how many of
/// the loops around the Func reach out to the last that was made of it.
struct Way {
  schedule::Around at;
  std::string dim;
  std::size_t loops = 0;
};

std::vector<Way> ways(const Draft& d) {
  std::vector<Way> all;
  const auto around = schedule::loops_around(d.state(), d.state().out.of(d.func).compute);
  for (std::size_t i = 0; i < around.size(); ++i) {
    const schedule::Around& a = around[i];
    const schedule::StageSchedule& stage = d.state().loops_of(a.func, a.stage);
    for (const int root : schedule::roots(stage, a.loop)) {
      const std::string dim = d.state().loop(stage.dims[static_cast<std::size_t>(root)]).name;
      const auto known = std::find_if(all.begin(), all.end(), [&](const Way& w) {
        return w.at.func == a.func && w.at.stage == a.stage && w.dim == dim;
      });
      if (known == all.end())
        all.push_back({a, dim, i + 1});
      else
        known->loops = i + 1;
    }
  }
  return all;
}

/// Stores the Func at hand outside so many of the loops that it is computed in, or further out.
bool store_outside(Draft& d, std::size_t loops) {
  if (d.state().funcs[d.func.value].store_directive >= 0) return true;
  const auto places = places_outside(d, d.state().out.of(d.func).compute);
  if (places.size() < loops) return false;
  const auto at = places[static_cast<std::size_t>(
      d.random.within(static_cast<std::int64_t>(loops), static_cast<std::int64_t>(places.size())) - 1)];
  if (!at) return d.record_stage([](Stage& s) { s.store_root(); });
  const std::string stage = stage_text(d, *at);
  return d.record_stage([&](Stage& s) { s.store_at(stage, d.state().loop(at->loop).name); });
}

}  // namespace

/// With a stage that is there already, or with one that is given loops for it; rather with one that neither
/// reads this one nor is read by it.
void propose_compute_with(Draft& d) {
  if (has_no_loops(d, d.func_def())) give_loops(d, d.func, d.func);
  std::vector<schedule::FuncId> beside, related;
  for (const lang::FuncDef& f : d.state().out.graph.funcs) {
    if (f.id == d.func || !(has_no_loops(d, f) || same_place(d, f.id))) continue;
    const bool alone = !depends(d, f.id, d.func) && !depends(d, d.func, f.id);
    (alone ? beside : related).push_back(f.id);
  }
  const bool from_beside = related.empty() || d.random.chance(80);
  const auto& others = from_beside && !beside.empty() ? beside : related;
  if (others.empty()) return;
  const schedule::FuncId other = d.random.pick(others);
  if (has_no_loops(d, d.state().def(other))) give_loops(d, other, d.func);
  if (!same_place(d, other)) return;

  d.stage = static_cast<int>(d.random.below(static_cast<std::int64_t>(d.func_def().stages.size())));
  std::vector<schedule::Around> loops;
  for (int s = 0; s < static_cast<int>(d.state().def(other).stages.size()); ++s) {
    const auto& theirs = d.state().loops_of(other, s).loops;
    for (std::size_t n = alike(d, other, s); n > 0; --n)
      loops.push_back({other, s, theirs[theirs.size() - n]});
  }
  if (loops.empty()) return;
  const schedule::Around& at = d.random.pick(loops);
  const std::string stage = stage_text(d, at);
  const std::string loop = d.state().loop(at.loop).name;
  d.record_stage([&](Stage& s) { s.compute_with(stage, loop); });
}

void propose_slide(Draft& d) {
  d.stage = 0;
  if (d.func_def().stages.size() > 1 || d.state().out.of(d.func).compute.kind != schedule::Place::Kind::At)
    return;
  const std::vector<Way> all = ways(d);
  if (all.empty()) return;
  const Way& way = d.random.pick(all);
  if (!store_outside(d, way.loops)) return;
  const std::string stage = stage_text(d, way.at);
  const std::int64_t depth = d.random.chance(60) ? 0 : d.random.within(1, 4);
  d.record_stage([&](Stage& s) { s.slide(stage, way.dim, depth); });
}

/// Copies take turns where the memory is allocated further out than it is stored.
void propose_ring_buffer(Draft& d) {
  d.stage = 0;
  if (d.state().out.of(d.func).compute.kind != schedule::Place::Kind::At) return;
  if (d.state().funcs[d.func.value].hoist_directive < 0)
    d.random.chance(50) ? propose_hoist_storage(d) : propose_hoist_storage_root(d);
  const std::int64_t copies = d.random.within(2, 5);
  d.record_stage([&](Stage& s) { s.ring_buffer(copies); });
}

}  // namespace calotype::fuzz
