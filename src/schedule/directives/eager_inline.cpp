// eager_inline: a definition put in place of each use as soon as the directive is met, so that those after it
// see the expressions that result.
#include <fmt/format.h>

#include <algorithm>

#include "lang/build_graph.h"
#include "schedule/callees.h"
#include "schedule/functions.h"

namespace calotype {

Schedule& Schedule::eager_inline(const FuncName& of) {
  append({.name = "eager_inline", .args = {{"of", of.name}}});
  return *this;
}

namespace schedule {

namespace {

/// The Func that is to go; refused where its values need memory, or something has been said of it already.
FuncId find_func(const Application& a) {
  const ir::CalleePtr callee = find_callee(a, "of");
  if (callee->kind == ir::CalleeKind::Input)
    a.refuse(fmt::format("'{}' is an input, which has no definition", callee->name), callee->name, "a Func");
  const FuncId id{callee->index};
  const lang::FuncDef& f = a.state.def(id);
  if (f.stages.size() > 1)
    a.refuse(fmt::format("'{}' has updates, which need memory to work on", f.name), f.name,
             "a Func of one definition");
  if (a.state.out.graph.is_output(id))
    a.refuse(fmt::format("'{}' is an output, which must be stored", f.name), f.name,
             "a Func that is no output");
  refuse_function(a, id, "a Func that an expression defines");
  refuse_function_reading(a, id, "in() for what reads it, first");
  const FuncState& own = a.state.funcs[id.value];
  const int earlier = std::max(own.compute_directive, own.first_directive);
  if (earlier >= 0)
    a.refuse(fmt::format("'{}' is scheduled already, by {}", f.name, a.state.directive_text(earlier)), f.name,
             "eager_inline alone");
  return id;
}

/// The expression with the Func's definition in place of its uses.
Expr expanded(const Expr& e, const lang::FuncDef& f) {
  if (!e.defined()) return e;
  const std::vector<Expr> values = f.stages[0].values();
  return ir::rewrite(e, [&](const Expr& n) {
    if (!f.is_read(n)) return n;
    ir::Substitution map;
    for (int i = 0; i < f.rank(); i++) map.emplace_back(f.args[i], n->args[i]);
    return ir::substitute(values[ir::callee_of(n)->component], map);
  });
}

bool expand(const lang::FuncDef& consumer, lang::StageDef& s, const lang::FuncDef& f) {
  bool read = false;
  for (const ir::CalleePtr& c : lang::callees(s)) read = read || ir::same_source(*c, *f.callee());
  if (!read) return false;
  for (Expr& e : s.lhs) e = expanded(e, f);
  s.value = expanded(s.value, f);
  s.predicate = expanded(s.predicate, f);
  s.reduce_op.reset();
  s.reduce_term = {};
  lang::recognise_reduction(consumer, s);
  return true;
}

void apply(Application& a) {
  const FuncId id = find_func(a);
  const lang::FuncDef f = a.state.def(id);
  bool read = false;
  for (lang::FuncDef& consumer : a.state.out.graph.funcs)
    for (lang::StageDef& s : consumer.stages) read = expand(consumer, s, f) || read;
  if (!read) a.refuse(fmt::format("nothing consumes '{}'", f.name), f.name, "a Func that is read");
  a.state.funcs[id.value].compute_directive = a.index;
  a.state.out.funcs[id.value].compute.kind = Place::Kind::Inline;
  a.state.out.funcs[id.value].compute_origin = a.origin();
}

std::string in_cpp(const Directive& d) {
  return fmt::format("s.eager_inline(\"{}\");", text_of(*find_arg(d, "of")));
}

}  // namespace

DirectiveSpec eager_inline_spec() {
  return {.name = "eager_inline",
          .addresses = Addresses::Graph,
          .doc =
              "Puts the definition of a Func in the place of each use, where it stands in the list: the "
              "directives after it (rfactor, in, clone_in) see the expressions that result, with what those "
              "read. `compute_inline` gives the same code, but only once all directives "
              "have been applied.",
          .args = {{.name = "of", .kind = ArgKind::Source, .doc = "the Func"}},
          .refused = {"the Func has updates, is an output or is no Func",
                      "a function computes the Func, or reads it", "nothing reads the Func",
                      "an earlier directive addresses the Func; a later one as well"},
          .apply = apply,
          .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
