// specialize: a branch of a stage's schedule for the calls that a condition holds of.
#include <fmt/format.h>

#include "schedule/state.h"
#include "schedule/ways.h"

namespace calotype {

Stage Stage::specialize(const Condition& condition) {
  record("specialize", {{"when", condition.text}});
  return Stage(schedule_, schedule::branch_name(name(), condition.text));
}

namespace schedule {

/// Which directives count where the condition holds is decided for the list as a whole: see ways.h.
static void apply(Application&) {}

DirectiveSpec specialize_spec() {
  return {
      .name = "specialize",
      .addresses = Addresses::Stage,
      .doc =
          "Makes a branch of the stage's schedule for calls that a condition holds of: a copy as it is "
          "here in the list, which the directives that address `STAGE[CONDITION]` go on with. The condition "
          "is on named sizes, Params, and strides and extents of arguments (`A.stride.0`, `A.extent.1`). "
          "Of several the first that holds is taken; directives on the stage after its first specialize "
          "are for calls that none holds of. A branch takes directives on loops, and may have branches of "
          "its own. Each combination of branches is a program of its own, made when a call first needs "
          "it, in which the conditions are known: tails that they rule out are gone, so are values that "
          "nothing chooses, with all that only they need.",
      .args = {{.name = "when", .kind = ArgKind::Condition, .doc = "as \"N%8 == 0 && A.stride.0 == 1\""}},
      .keeps_defaults = true,
      .refused = {"the condition names what is not known at the call",
                  "the stage has a branch for the same condition, or a specialize_fail",
                  "the conditions of the schedule make more than 64 programs",
                  "a branch would be illegal as a schedule"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
