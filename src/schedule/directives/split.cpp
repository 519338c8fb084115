// split: one loop becomes two, the inner of a constant number of iterations.
#include "schedule/loops.h"

namespace calotype {

using schedule::Value;

Stage& Stage::split(const LoopName& loop, const LoopName& outer, const LoopName& inner, Factor factor,
                    Tail tail) {
  return record(
      "split",
      schedule::with_tail(
          {{"loop", loop.name}, {"into", Value::List{outer.name, inner.name}}, {"by", factor}}, tail));
}

Stage& Stage::split(const LoopName& loop, Factor factor, Tail tail) {
  return split(loop, loop.name + ".o", loop.name + ".i", factor, tail);
}

namespace schedule {

static void apply(Application& a) {
  const std::string& name = a.name("loop");
  std::vector<std::string> into = {name + ".o", name + ".i"};
  if (a.has("into")) into = a.names("into");
  split_loop(a, a.loop("loop"), into[0], into[1], a.integer("by"), a.tail());
}

DirectiveSpec split_spec() {
  return {.name = "split",
          .addresses = Addresses::Stage,
          .doc = "Splits a loop into an outer one and an inner one of `by` iterations.",
          .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"},
                   {.name = "into",
                    .kind = ArgKind::NewLoop,
                    .doc = "names of the outer and the inner loop; by default LOOP.o and LOOP.i",
                    .optional = true,
                    .list = true,
                    .least = 2,
                    .most = 2},
                   {.name = "by", .kind = ArgKind::Integer, .doc = "iterations of the inner loop"},
                   tail_argument()},
          .refused =
              {"the loop is bound already", "a new name is one that the stage has or had",
               "shift_inwards on a reduction loop or an update",
               "round_up on a reduction loop, an output or a copy of an input",
               "predicate_loads on a reduction loop, an output, a Func that is stored outside the loop where "
               "it is computed, or an update of a part of its Func or at places that are read; "
               "predicate_stores on a reduction loop or a copy of an input; "
               "either on a part of a coordinate that the factor does not divide, or where the inner "
               "loop is split or fused again"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
