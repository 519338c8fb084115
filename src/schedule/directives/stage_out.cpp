// stage_out: the values of an output in a Func of their own, and the output a copy of that.
#include <fmt/format.h>

#include "schedule/spelling.h"
#include "schedule/state.h"

namespace calotype {

static std::string staged_name(const std::string& of) { return of + ".staged"; }

Stage Schedule::stage_out(const FuncName& of) {
  append({.name = "stage_out", .args = {{"of", of.name}, {"as", staged_name(of.name)}}});
  return Stage(this, staged_name(of.name));
}

namespace schedule {

namespace {

FuncId find_output(const Application& a) {
  const std::string& name = a.name("of");
  const lang::FuncDef* found = a.state.out.graph.find_func(name);
  if (found && a.state.out.graph.is_output(found->id)) return found->id;
  std::vector<std::string> all;
  for (const lang::OutputDef& output : a.state.out.graph.outputs)
    all.push_back(a.state.def(output.func).name);
  a.refuse(fmt::format("'{}' is no output", name), name, name_choices(name, all, "outputs"));
}

void apply(Application& a) {
  State& state = a.state;
  const FuncId id = find_output(a);
  const std::string name = state.def(id).name, as = staged_name(name);
  if (a.has("as") && a.name("as") != as)
    a.refuse(fmt::format("the Func cannot be named '{}'", a.name("as")), a.name("as"),
             fmt::format("'{}'", as));
  if (state.out.graph.find_func(as))
    a.refuse(fmt::format("there is a Func '{}' already", as), as, "one stage_out an output");
  const lang::FuncDef& of = state.def(id);
  if (of.stages.size() > 1 || of.is_tuple() || of.stages.front().function() ||
      of.stages.front().predicate.defined())
    a.refuse(fmt::format("'{}' is not one definition of one value", name), name,
             "an output without updates, of one value at every point");
  lang::FuncDef staged;
  staged.name = as;
  staged.types = of.types;
  ir::Substitution arguments;
  std::vector<Expr> coordinates, own;
  for (const ir::SymbolPtr& arg : of.args) {
    staged.args.push_back(ir::make_symbol(ir::SymbolKind::Var, arg->name));
    own.push_back(ir::make_var(staged.args.back()));
    coordinates.push_back(ir::make_var(arg));
    arguments.emplace_back(arg, own.back());
  }
  staged.stages.push_back({.lhs = own, .value = ir::substitute(of.stages.front().value, arguments)});
  const FuncId made = state.add_func(std::move(staged));
  const ir::CalleePtr& callee = state.def(made).callees.front();
  state.out.graph.funcs[id.value].stages.front().value =
      ir::make(ir::Op::Call, callee->type, std::move(coordinates), callee);
}

std::string in_cpp(const Directive& d) {
  return fmt::format("s.stage_out(\"{}\");", text_of(*find_arg(d, "of")));
}

}  // namespace

DirectiveSpec stage_out_spec() {
  return {.name = "stage_out",
          .addresses = Addresses::Graph,
          .doc =
              "Puts the definition of an output into a Func of its own, `OF.staged`, of which the output "
              "becomes a plain copy. The Func is computed at root unless told otherwise: in shared memory "
              "of a block a tile is put together there, and goes to the caller's memory in one piece, as a "
              "box with `copy(tma)` on the output.",
          .args = {{.name = "of", .kind = ArgKind::Func, .doc = "the output"},
                   {.name = "as",
                    .kind = ArgKind::NewFunc,
                    .doc = "the name of the Func, which is always `OF.staged`",
                    .optional = true}},
          .refused = {"there is no output of that name", "it is staged already",
                      "it has updates, several values, a condition, or is computed by a function"},
          .apply = apply,
          .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
