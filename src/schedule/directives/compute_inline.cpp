// compute_inline: the definition is put in place of each use.
#include <fmt/format.h>

#include "schedule/functions.h"
#include "schedule/places.h"

namespace calotype {

Stage& Stage::compute_inline() { return record("compute_inline", {}); }

namespace schedule {

static void apply(Application& a) {
  const lang::FuncDef& f = a.func_def();
  if (f.stages.size() > 1)
    a.refuse(fmt::format("'{}' has updates, which need memory to work on", f.name), f.name,
             "compute_root, compute_at");
  if (a.state.out.graph.is_output(f.id))
    a.refuse(fmt::format("'{}' is an output, which must be stored", f.name), f.name, "compute_root");
  refuse_function(a, f.id, "compute_root, compute_at");
  claim_compute(a, Place::Kind::Inline);
}

/// Later directives may have put a copy between.
static void check(Application& a) { refuse_function_reading(a, a.func, "compute_root, compute_at, or in()"); }

DirectiveSpec compute_inline_spec() {
  return {.name = "compute_inline",
          .addresses = Addresses::Func,
          .doc =
              "Computes the Func anew wherever it is used; it has no loops and no storage. Points that are "
              "used several times in one definition are computed once there.",
          .args = {},
          .refused = {"the Func has updates", "the Func is an output",
                      "a function computes the Func, or reads it",
                      "another directive addresses its loops, its storage or its place",
                      "a definition would have more than 100000 operations with what is inlined into it"},
          .apply = apply,
          .check = check};
}

}  // namespace schedule
}  // namespace calotype
