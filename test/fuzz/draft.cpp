// A schedule while it is drawn.
#include "fuzz/draft.h"

#include <fmt/format.h>

#include "schedule/directive.h"
#include "schedule/places.h"
#include "schedule/races.h"
#include "schedule/shared.h"
#include "schedule/ways.h"

namespace calotype::fuzz {

namespace {

/// As schedule::apply does, up to the defaults.
void apply_all(schedule::State& state, const Schedule& schedule) {
  std::vector<schedule::Application> later;
  for (std::size_t i = 0; i < schedule.directives().size(); ++i) {
    const schedule::Directive& d = schedule.directives()[i];
    const schedule::DirectiveSpec& spec = *schedule::find_directive(d.name);
    if (schedule::stage_of_branch(d.stage) != d.stage)
      continue;  // drawn with the branch, checked with the whole
    try {
      schedule::Application a(state, d, spec, static_cast<int>(i));
      spec.apply(a);
      if (spec.check) later.push_back(a);
    } catch (const schedule::Refused& r) {
      state.refusals.push_back(r.refusal);
    } catch (const schedule::Skipped&) {
    }
  }
  schedule::resolve_shared(state);
  schedule::resolve_places(state);
  for (schedule::Application& a : later) try {
      a.spec.check(a);
    } catch (const schedule::Refused& r) {
      state.refusals.push_back(r.refusal);
    }
  schedule::check_races(state);
}

}  // namespace

Applied::Applied(const lang::Graph& graph, Schedule directives, const Target& target)
    : schedule(std::move(directives)), state(graph, schedule, target) {
  apply_all(state, schedule);
}

Draft::Draft(Random& random, const Program& program, const Pipeline& pipeline, const Target& target)
    : random(random),
      program(program),
      target(target),
      graph_(pipeline.graph()),
      applied_(std::make_unique<Applied>(graph_, Schedule(), target)) {}

bool Draft::accept(Schedule next) {
  for (const Knob& k : knobs_) next.knob(k.name, k.value);
  auto applied = std::make_unique<Applied>(graph_, std::move(next), target);
  knobs_.clear();
  if (applied->state.refusals.size() > state().refusals.size()) return false;
  applied_ = std::move(applied);
  return true;
}

void Draft::restart(calotype::Schedule directives) {
  applied_ = std::make_unique<Applied>(graph_, std::move(directives), target);
}

std::vector<std::string> Draft::free_loops(bool pure_only) const {
  std::vector<std::string> names;
  for (const schedule::LoopId id : state().loops_of(func, stage).loops) {
    const schedule::Loop& l = state().loop(id);
    if (l.binding == ir::Binding::Serial && !(pure_only && l.reduction)) names.push_back(l.name);
  }
  return names;
}

std::string Draft::fresh(const std::string& stem) { return fmt::format("{}{}", stem, ++names_); }

Factor Draft::factor(std::int64_t most) {
  static const std::vector<std::int64_t> factors = {1, 2, 2, 3, 4, 4, 5, 7, 8, 8, 16, 32};
  std::int64_t f = random.pick(factors);
  while (f > most) f /= 2;
  if (!random.chance(12)) return f;
  knobs_.push_back({fmt::format("K{}", ++names_), f});
  return knobs_.back();
}

Tail Draft::tail() {
  static const std::vector<Tail> tails = {Tail::Auto,           Tail::Guard,     Tail::ShiftInwards,
                                          Tail::RoundUp,        Tail::Predicate, Tail::PredicateLoads,
                                          Tail::PredicateStores};
  return tails[random.weighted({46, 14, 5, 9, 12, 7, 7})];
}

}  // namespace calotype::fuzz
