// slide: a window that moves along a coordinate of a consumer.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/dims.h"
#include "schedule/places.h"

namespace calotype {

Stage& Stage::slide(const FuncName& consumer, const LoopName& dim, Factor depth) {
  return record("slide", {{"of", consumer.name}, {"dim", dim.name}, {"depth", depth}});
}
Stage& Stage::slide(const Stage& consumer, const LoopName& dim, Factor depth) {
  return record("slide", {{"of", consumer.name()}, {"dim", dim.name}, {"depth", depth}});
}

namespace schedule {

static void apply(Application& a) {
  own_memory(a);
  std::optional<Slide>& slide = a.state.out.funcs[a.func.value].slide;
  if (slide)
    a.refuse(fmt::format("the window of '{}' moves already, by {}", a.func_def().name, slide->origin),
             a.name("dim"), "one slide a Func");
  if (a.func_def().stages.size() > 1)
    a.refuse(fmt::format("'{}' has updates, which may change what earlier iterations have completed",
                         a.func_def().name),
             a.func_def().name, "a Func of one definition");
  slide.emplace();
  slide->depth = a.has("depth") ? a.integer("depth") : 0;
  slide->origin = a.origin();
}

/// Definition loops of that name, of the stages that the text may mean.
static std::vector<Slide> found(const Application& a) {
  std::vector<Slide> all;
  for (const lang::FuncDef& f : a.state.out.graph.funcs)
    for (int i = 0; i < static_cast<int>(f.stages.size()); i++) {
      const std::string stage = lang::stage_name(f, i), &text = a.name("of");
      if (text != stage && text != f.name && !(i == 0 && text == f.name + ".pure")) continue;
      for (LoopId id : a.state.loops_of(f.id, i).dims)
        if (id.valid() && a.state.loop(id).name == a.name("dim")) all.push_back({f.id, i, id, 0, {}});
    }
  return all;
}

static void check(Application& a) {
  const std::vector<Slide> all = found(a);
  if (all.empty())
    a.refuse(fmt::format("'{}' has no coordinate '{}'", a.name("of"), a.name("dim")), a.name("dim"),
             "a coordinate of a consumer, by the name of its loop");
  if (all.size() > 1)
    a.refuse(fmt::format("'{}' is a coordinate of several stages of {}", a.name("dim"), a.name("of")),
             a.name("dim"), "the name of one stage, as f.pure or f.update(0)");
  if (a.state.funcs[a.func.value].store_directive < 0)
    a.refuse(fmt::format("'{}' is stored where it is computed, so nothing is kept", a.func_def().name),
             a.name("dim"), "store_at a loop further out, or store_root");
  Slide& slide = *a.state.out.funcs[a.func.value].slide;
  slide = {all[0].func, all[0].stage, all[0].dim, slide.depth, slide.origin};
}

DirectiveSpec slide_spec() {
  return {
      .name = "slide",
      .addresses = Addresses::Func,
      .doc =
          "Moves the Func's window along a coordinate of a consumer, through all the loops that this was "
          "split into: each iteration computes what none before it has, and `depth` iterations of the "
          "innermost of those loops ahead of what is needed. The Func is stored outside these loops and "
          "computed inside; where what is kept is bounded its memory is a ring. Without the directive a "
          "window moves along single loops, where it can.",
      .args = {{.name = "of", .kind = ArgKind::Stage, .doc = "the consumer, or one of its stages"},
               {.name = "dim", .kind = ArgKind::FarLoop, .doc = "the coordinate, by its loop's first name"},
               {.name = "depth",
                .kind = ArgKind::Integer,
                .doc = "iterations ahead; 0 if left out",
                .optional = true,
                .low = 0,
                .high = 1024}},
      .refused = {"the Func is an output, has updates or a slide already",
                  "the Func is stored where it is computed", "the consumer has no such coordinate",
                  "the coordinate was fused, or no loop of it is around the place where the Func is computed",
                  "one of its loops is outside the place where the Func is stored, or not serial or unrolled",
                  "it is not proved that the region needed moves along one coordinate of the Func and never "
                  "backwards, by those loops alone"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
