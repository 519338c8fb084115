// pipeline: copies that run ahead of the iterations that read them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/loops.h"
#include "schedule/places.h"

namespace calotype {

Stage& Stage::pipeline(const LoopName& loop, Factor depth) {
  return record("pipeline", {{"loop", loop.name}, {"depth", depth}});
}

namespace schedule {

namespace {

void apply(Application& a) {
  const LoopId loop = a.loop("loop");
  for (const SoftwarePipeline& p : a.loops().pipelines)
    if (p.loop == loop)
      a.refuse(fmt::format("'{}' is a pipeline already, by {}", a.name("loop"), p.origin), a.name("loop"),
               "one pipeline a loop");
  a.loops().pipelines.push_back({loop, a.integer("depth"), a.origin()});
}

/// Whether the definition is a read of one element and nothing else.
bool is_plain_read(const lang::FuncDef& f) {
  return f.stages.size() == 1 && !f.is_tuple() && ir::is(f.stages[0].value, ir::Op::Call);
}

/// The loop as it is when all directives have been applied.
LoopId serial_loop(const Application& a) {
  const std::string& name = a.name("loop");
  for (const SoftwarePipeline& p : a.state.loops_of(a.func, a.stage).pipelines) {
    if (p.origin != a.origin()) continue;
    const Loop& loop = a.state.loop(p.loop);
    if (!loop.replaced_by.empty())
      a.refuse(fmt::format("the loop '{}' is gone: {} stands in its place", name, loop.replaced_by), name,
               a.state.loops_text(a.func, a.stage));
    if (loop.binding != ir::Binding::Serial)
      a.refuse(fmt::format("the loop '{}' is {}, so that no iteration comes before another", name,
                           ir::to_string(loop.binding)),
               name, "a serial loop");
    return p.loop;
  }
  throw Skipped{};
}

/// Where the memory of the ring is allocated: at the loop around.
Place place_of_ring(const Application& a, LoopId loop) {
  for (const SharedNest& nest : a.state.out.shared)
    for (const auto& [own, shared] : nest.loops)
      if (own == loop || shared == loop)
        a.refuse(fmt::format("the loop '{}' is shared by several stages, by {}", a.name("loop"), nest.origin),
                 a.name("loop"), "a loop of one stage alone");
  const std::vector<Around> around = loops_around(a.state, Place{Place::Kind::At, a.func, a.stage, loop});
  if (around.size() < 2)
    a.refuse(fmt::format("the loop '{}' is in no block, so nothing is copied to shared memory in it",
                         a.name("loop")),
             a.name("loop"), "a serial loop inside block loops");
  return {Place::Kind::At, around[1].func, around[1].stage, around[1].loop};
}

void make_ring(Application& a, FuncId id, const Place& place) {
  FuncSchedule& f = a.state.out.funcs[id.value];
  FuncState& own = a.state.funcs[id.value];
  const std::string& name = a.state.def(id).name;
  for (const auto& [directive, what] :
       {std::pair{own.store_directive, "stored"}, {own.hoist_directive, "allocated"}})
    if (directive >= 0)
      a.refuse(fmt::format("'{}' is {} elsewhere already, by {}, and the pipeline gives it a ring of its own",
                           name, what, a.state.directive_text(directive)),
               name, fmt::format("no store_at, store_root and hoist_storage on '{}'", name));
  if (!f.storage.copies_origin.empty())
    a.refuse(fmt::format("'{}' has a ring already, by {}", name, f.storage.copies_origin), name,
             fmt::format("no ring_buffer on '{}'", name));
  own.hoist_directive = a.index;
  f.hoist = place;
  f.hoist_origin = f.storage.copies_origin = f.storage.origin = a.origin();
  f.storage.copies = a.integer("depth");
}

void check(Application& a) {
  const LoopId loop = serial_loop(a);
  const Place place = place_of_ring(a, loop);
  std::vector<FuncId> copies;
  std::vector<std::string> others;
  for (const lang::FuncDef& f : a.state.out.graph.funcs) {
    const FuncSchedule& s = a.state.out.of(f.id);
    if (s.compute.kind != Place::Kind::At || s.compute.loop != loop) continue;
    if (s.copy != Copy::Threads) {
      copies.push_back(f.id);
    } else {
      others.push_back("'" + f.name + "'");
      if (is_plain_read(f))
        a.refuse(fmt::format("'{}' is copied at '{}' by the threads, in the iteration that reads it", f.name,
                             a.name("loop")),
                 f.name, fmt::format("copy(async) on '{}', or another place for it", f.name));
    }
  }
  if (copies.empty())
    a.refuse(fmt::format("nothing that is computed at '{}' is an asynchronous copy{}", a.name("loop"),
                         others.empty() ? "" : fmt::format(": {}", fmt::join(others, ", "))),
             a.name("loop"),
             fmt::format("copies made by in(), with compute_at({}, {}) and copy(async)",
                         a.state.stage_name(a.func, a.stage), a.name("loop")));
  for (FuncId id : copies) make_ring(a, id, place);
}

}  // namespace

DirectiveSpec pipeline_spec() {
  return {
      .name = "pipeline",
      .addresses = Addresses::Stage,
      .doc =
          "A software pipeline over the iterations of a serial loop inside a block: what is computed at the "
          "loop and has `copy(async)`, `copy(bulk)` or `copy(tma)` is copied `depth - 1` iterations before "
          "the one that "
          "reads it. Its "
          "memory becomes a ring of `depth` slots, allocated at the loop around. Before the loop the copies "
          "of the first iterations are started; each iteration waits for its own, meets the block's other "
          "threads, starts the copies of a later iteration where there is one, and computes. All copies of "
          "an iteration are one group, and one barrier counts those in bulk. Other stages computed at the "
          "loop run in their own iteration.",
      .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"},
               {.name = "depth", .kind = ArgKind::Integer, .doc = "slots of the ring", .low = 2, .high = 16}},
      .refused =
          {"the loop is a pipeline already, is not serial, is shared by compute_with, or is consumed by a "
           "later directive",
           "the loop is in no block", "nothing computed at the loop has copy(async) or copy(bulk)",
           "a plain copy computed at the loop has not: its threads would copy in the iteration that reads",
           "a copy reads, at its coordinates, what is computed in the loop",
           "store_at, store_root, hoist_storage or ring_buffer say where a copied Func is stored"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
