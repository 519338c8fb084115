// compute_at: what one iteration of a consumer's loop needs, at the start of that iteration.
#include <fmt/format.h>

#include "schedule/places.h"

namespace calotype {

Stage& Stage::compute_at(const FuncName& consumer, const LoopName& loop) {
  return record("compute_at", {{"of", consumer.name}, {"loop", loop.name}});
}
Stage& Stage::compute_at(const Stage& consumer, const LoopName& loop) {
  return record("compute_at", {{"of", consumer.name()}, {"loop", loop.name}});
}

namespace schedule {

static void apply(Application& a) {
  if (a.state.out.graph.is_output(a.func))
    a.refuse(fmt::format("'{}' is an output, which is computed as a whole", a.func_def().name),
             a.func_def().name, "compute_root");
  claim_compute(a, Place::Kind::At);
  refer_to_loop(a, &FuncSchedule::compute);
}

DirectiveSpec compute_at_spec() {
  return {.name = "compute_at",
          .addresses = Addresses::Func,
          .doc =
              "Computes what one iteration of a loop of a consumer needs, at the start of that iteration. "
              "The loop is "
              "looked up after all directives have been applied.",
          .args = {{.name = "of", .kind = ArgKind::Stage, .doc = "the consumer, or one of its stages"},
                   {.name = "loop", .kind = ArgKind::FarLoop, .doc = "a loop of the consumer"}},
          .refused = {"the Func is an output", "the Func has a compute directive already",
                      "the Func named does not consume it, or is inlined",
                      "the loop does not enclose every consumer",
                      "the loop is found in several stages of the consumer and no stage is named",
                      "the loop is a vector loop or lies outside a block loop"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
