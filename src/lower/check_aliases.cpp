// Work in place: the proof that an output may lie in the memory of an input.
//
// Requires: inlined definitions, with the Funcs that nothing reads left out. Leaves everything as it is, or
// refuses: each element of the input must be read for the one element of the output alone that takes its
// place, and not after that one is written. The first definition of the output reads an element for the point
// it stores, before it stores it, so it is enough that nothing else reads the input, that it reads it where
// it writes, and that no point is computed twice. Stands behind inlining, which brings the reads to their
// readers.

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

class AliasCheck {
 public:
  AliasCheck(const Scheduled& scheduled, const lang::Graph::Alias& alias)
      : scheduled_(scheduled),
        input_(scheduled.graph.inputs[alias.input.value]),
        output_(scheduled.graph.func(scheduled.graph.outputs[alias.output].func)) {}

  void run() const {
    for (const lang::FuncDef& func : scheduled_.graph.funcs) {
      if (scheduled_.of(func.id).compute.kind == schedule::Place::Kind::Inline) continue;
      for (std::size_t s = 0; s < func.stages.size(); ++s) check_reads(func, static_cast<int>(s));
    }
    if (scheduled_.of(output_.id).stages[0].computes_twice())
      refuse(output_, 0, "computes elements twice, the second time of what it has written itself",
             "Tail::ShiftInwards", "another tail");
  }

 private:
  void check_reads(const lang::FuncDef& func, int index) const {
    const lang::StageDef& stage = func.stages[index];
    const auto look = [&](const Expr& e) {
      if (!e.defined()) return;
      ir::visit(e, [&](const Expr& node) {
        if (!ir::is(node, ir::Op::Call)) return;
        const ir::Callee& callee = *ir::callee_of(node);
        if (callee.kind == ir::CalleeKind::Input && callee.index == input_.id.value)
          check_read(func, index, node);
      });
    };
    for (const Expr& value : stage.values()) look(value);
    for (const Expr& e : stage.lhs) look(e);
    look(stage.predicate);
    for (const lang::ReductionDim& r : stage.reduction) {
      look(r.min);
      look(r.extent);
    }
  }

  bool can_be_inlined(const lang::FuncDef& func) const {
    return func.stages.size() == 1 && !scheduled_.graph.is_output(func.id);
  }

  void check_read(const lang::FuncDef& func, int stage, const Expr& call) const {
    const std::string apart = "or the Pipeline without this alias";
    if (func.id != output_.id)
      refuse(func, stage, fmt::format("reads it, while '{}' overwrites it", output_.name), call.str(),
             can_be_inlined(func) ? fmt::format("compute_inline for '{}', {}", func.name, apart)
                                  : "the Pipeline without this alias");
    if (stage > 0)
      refuse(func, stage, "reads it when an earlier definition has overwritten it", call.str(),
             "a read of the output itself, " + apart);
    if (const ir::Extern* function = func.stages[0].function())
      refuse(func, stage,
             fmt::format("is computed by the function '{}', which may write before it reads",
                         function->function.name),
             call.str(), "a copy of the input by in(), " + apart);
    if (!ir::equal(call->args, func.stages[0].lhs))
      refuse(func, stage, "reads it at other coordinates than it writes", call.str(),
             "reads at the point that is written, " + apart);
  }

  [[noreturn]] void refuse(const lang::FuncDef& func, int stage, const std::string& what, std::string value,
                           std::string legal) const {
    throw Error(
        {.kind = ErrorKind::Schedule,
         .message = fmt::format("the output '{}' may lie in the memory of the input '{}', but '{}' {}",
                                output_.name, input_.name, lang::stage_name(func, stage), what),
         .func = func.name,
         .stage = lang::stage_name(func, stage),
         .value = std::move(value),
         .legal = std::move(legal)});
  }

  const Scheduled& scheduled_;
  const lang::InputDef& input_;
  const lang::FuncDef& output_;
};

}  // namespace

void check_aliases(const Scheduled& scheduled) {
  for (const lang::Graph::Alias& alias : scheduled.graph.aliases) AliasCheck(scheduled, alias).run();
}

}  // namespace calotype::lower
