// prefetch: what a later iteration reads, fetched into the caches.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/callees.h"
#include "schedule/loops.h"

namespace calotype {

namespace {

const std::vector<schedule::Option>& bounds_options() {
  static const std::vector<schedule::Option> options = {{"non_faulting", "PrefetchBounds::NonFaulting"},
                                                        {"clamp", "PrefetchBounds::Clamp"},
                                                        {"guard", "PrefetchBounds::Guard"}};
  return options;
}

}  // namespace

Stage& Stage::prefetch(const FuncName& of, const LoopName& at, const LoopName& from, Factor offset,
                       PrefetchBounds bounds) {
  std::vector<std::pair<std::string, schedule::Value>> args = {
      {"of", of.name}, {"at", at.name}, {"from", from.name}, {"offset", offset}};
  if (bounds != PrefetchBounds::NonFaulting)
    args.emplace_back("bounds", bounds_options()[static_cast<std::size_t>(bounds)].text);
  return record("prefetch", std::move(args));
}

namespace schedule {

static void apply(Application& a) {
  if (a.state.out.target.is_gpu())
    a.refuse("kernels have no prefetch", a.state.out.target.str(),
             "a host target; a copy made by in() in "
             "shared memory");
  const auto bounds =
      a.has("bounds") ? static_cast<PrefetchBounds>(a.choice("bounds")) : PrefetchBounds::NonFaulting;
  a.loops().prefetches.push_back(
      {find_callee(a, "of"), a.loop("at"), a.loop("from"), a.integer("offset"), bounds, a.origin()});
}

static void check(Application& a) {
  const StageSchedule& stage = a.state.loops_of(a.func, a.stage);
  const auto place = [&](LoopId id) {
    const Loop& loop = a.state.loop(id);
    if (!loop.replaced_by.empty())
      a.refuse(fmt::format("the loop '{}' is gone: {} stands in its place", loop.name, loop.replaced_by),
               loop.name, "prefetch after that, of the loops that are left");
    return std::find(stage.loops.begin(), stage.loops.end(), id) - stage.loops.begin();
  };
  for (const Prefetch& p : stage.prefetches) {
    if (p.origin != a.origin()) continue;
    const auto at = place(p.at), from = place(p.from);
    if (from < at)
      a.refuse(fmt::format("the loop '{}' runs inside '{}'", a.name("from"), a.name("at")), a.name("from"),
               fmt::format("'{}', or a loop around it", a.name("at")));
    for (std::size_t i = static_cast<std::size_t>(at); i < stage.loops.size(); i++)
      if (a.state.loop(stage.loops[i]).binding == ir::Binding::Vector)
        a.refuse(fmt::format("the vector loop '{}' has no place for a prefetch",
                             a.state.loop(stage.loops[i]).name),
                 a.name("at"), "a loop outside it");
  }
}

DirectiveSpec prefetch_spec() {
  return {
      .name = "prefetch",
      .addresses = Addresses::Stage,
      .doc =
          "At the start of each iteration of loop `at`, fetches into the caches what the code inside will "
          "read of a Func or input when loop `from` has advanced by `offset` iterations. A hint: values "
          "and errors stay the same, also where that lies beyond what its memory holds. There "
          "`non_faulting`, which is what is done if nothing is said, fetches all the same, since a hint "
          "never faults and no test costs less; `clamp` fetches the nearest that there is; `guard` fetches "
          "only what there is, so that a last iteration brings nothing into the caches that nobody reads.",
      .args = {{.name = "of", .kind = ArgKind::Source, .doc = "what is read"},
               {.name = "at", .kind = ArgKind::Loop, .doc = "where it is fetched"},
               {.name = "from",
                .kind = ArgKind::FarLoop,
                .doc = "the loop that is looked ahead of: `at` "
                       "or one around it"},
               {.name = "offset", .kind = ArgKind::Integer, .doc = "iterations", .low = 0},
               {.name = "bounds",
                .kind = ArgKind::Choice,
                .doc = "what happens beyond what the memory holds",
                .optional = true,
                .choices = bounds_options()}},
      .refused = {"the target is a GPU", "`from` runs inside `at`", "a loop around is vectorised",
                  "a later directive consumes a loop", "nothing inside `at` reads it",
                  "it is computed inside `at`"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
