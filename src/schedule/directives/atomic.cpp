// atomic: iterations of an update that meet in one place take turns.
#include <fmt/format.h>

#include "schedule/associative.h"
#include "schedule/loops.h"

namespace calotype {

Stage& Stage::atomic() { return record("atomic", {}); }

namespace schedule {

/// Several values are updated under a lock, in any order.
static void check_tuple(const Application& a, const std::string& stage) {
  if (a.state.out.target.is_gpu())
    a.refuse(fmt::format("'{}' updates several values at once, and no operation of a GPU does", stage),
             a.func_def().type_text(),
             "a host target; Funcs of one value each; rfactor, which needs no atomic operations");
  const Associative proof = prove_associative(a.func_def(), a.stage_def());
  if (!proof.unproved.empty())
    a.refuse(fmt::format("the order of the updates of '{}' matters: {}", stage, proof.unproved),
             a.func_def().type_text(), "values that are each f(...) op a term that does not read f");
  if (!proof.commutative)
    a.refuse(fmt::format("of equal terms '{}' keeps the first, and iterations come in any order", stage),
             a.func_def().type_text(), "rfactor, by which the first stays the first");
}

static void apply(Application& a) {
  const lang::StageDef& def = a.stage_def();
  const std::string stage = a.state.stage_name(a.func, a.stage);
  if (a.stage == 0)
    a.refuse(fmt::format("'{}' is a pure definition, of which no two points meet", stage), "", "an update");
  if (a.func_def().is_tuple())
    check_tuple(a, stage);
  else if (!def.reduce_op)
    a.refuse(fmt::format("'{}' is not of the form {}(...) op term, with a term that does not depend on '{}'",
                         stage, a.func_def().name, a.func_def().name),
             ir::to_string(def.value), "updates by one of +, *, min, max, &, |, ^, && and ||");
  std::string& origin = a.loops().atomic_origin;
  if (!origin.empty()) a.refuse(fmt::format("'{}' is atomic already, by {}", stage, origin), "", "once");
  origin = a.origin();
}

DirectiveSpec atomic_spec() {
  return {
      .name = "atomic",
      .addresses = Addresses::Stage,
      .doc =
          "Lets the reduction loops of an update be `parallel`, `vectorize`d or bound to blocks and "
          "threads though their iterations meet in one place: the update is one operation that nothing "
          "interrupts, by an instruction of the machine where it has one and else by comparing and "
          "exchanging. Several values of a point, which no instruction updates together, are updated on a "
          "host "
          "under a lock: one of 256 in the program's own memory, found by the address of the element. "
          "Iterations come in any order. Loops that do not meet, and lanes that have partial "
          "results, do without. It does not matter where among the directives of the stage it stands. On a "
          "GPU the machine's sums of f32 in global memory take subnormal numbers as 0.",
      .args = {},
      .reorders = "if a reduction loop of floats is run by several threads",
      .refused = {"the definition is pure",
                  "the update is not f(...) op term with op one of +, *, min, max, &, |, ^, && and ||, "
                  "and a term that does not read f; of several values, one of them is not",
                  "several values on a GPU, or in the lanes of a vector",
                  "of equal terms the first is chosen, as by argmax",
                  "the Func is held in registers or local memory of the threads of a GPU that meet",
                  "it is atomic already"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
