// in: a copy of a Func or input between it and some of its consumers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/callees.h"
#include "schedule/places.h"
#include "schedule/spelling.h"

namespace calotype {

using schedule::Value;

/// "A.in(acc,C)", or "A.in" for all consumers.
static std::string copy_name(const std::string& of, const std::vector<std::string>& consumers) {
  return consumers.empty() ? of + ".in" : fmt::format("{}.in({})", of, fmt::join(consumers, ","));
}

Stage Schedule::in(const FuncName& of, const std::vector<FuncName>& consumers) {
  std::vector<std::string> names;
  Value::List list;
  for (const FuncName& c : consumers) {
    names.push_back(c.name);
    list.emplace_back(c.name);
  }
  const std::string as = copy_name(of.name, names);
  schedule::Directive d{.name = "in", .args = {{"of", of.name}}};
  if (!list.empty()) d.args.emplace_back("for", std::move(list));
  d.args.emplace_back("as", as);
  append(std::move(d));
  return Stage(this, as);
}

namespace schedule {

namespace {

/// What is copied.
struct Source {
  std::vector<ir::CalleePtr> callees;  ///< by component
  FuncId func;                         ///< invalid: an input
  std::vector<std::string> coordinates;
};

Source find_source(const Application& a) {
  const lang::Graph& graph = a.state.out.graph;
  Source s;
  const ir::CalleePtr callee = find_callee(a, "of");
  if (callee->kind == ir::CalleeKind::Func) {
    s.func = FuncId{callee->index};
    s.callees = graph.func(s.func).callees;
    for (const ir::SymbolPtr& arg : graph.func(s.func).args) s.coordinates.push_back(arg->name);
  } else {
    s.callees = {callee};
    for (int d = 0; d < callee->rank; d++) s.coordinates.push_back(fmt::format("d{}", d));
  }
  return s;
}

bool calls(const lang::FuncDef& f, const ir::Callee& source) {
  for (const lang::StageDef& s : f.stages)
    for (const ir::CalleePtr& c : lang::callees(s))
      if (ir::same_source(*c, source)) return true;
  return false;
}

/// The Funcs whose reads go to the copy.
std::vector<FuncId> find_consumers(const Application& a, const Source& source) {
  const lang::Graph& graph = a.state.out.graph;
  std::vector<FuncId> all, chosen;
  std::vector<std::string> names;
  for (const lang::FuncDef& f : graph.funcs)
    if (f.id != source.func && calls(f, *source.callees.front())) {
      all.push_back(f.id);
      names.push_back(f.name);
    }
  if (!a.has("for")) {
    if (all.empty())
      a.refuse(fmt::format("nothing consumes '{}'", a.name("of")), a.name("of"), "a Func that is read");
    return all;
  }
  for (const std::string& name : a.names("for")) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end())
      a.refuse(fmt::format("'{}' does not consume '{}'", name, a.name("of")), name,
               name_choices(name, names, "consumers of " + a.name("of")));
    chosen.push_back(all[at - names.begin()]);
  }
  return chosen;
}

/// Reads of one callee become reads of another, component by component.
void redirect(lang::FuncDef& f, const ir::Callee& from, const std::vector<ir::CalleePtr>& to) {
  auto change = [&](Expr& e) {
    if (!e.defined()) return;
    e = ir::rewrite(e, [&](const Expr& n) {
      return ir::is(n, ir::Op::Call) && ir::same_source(*ir::callee_of(n), from)
                 ? ir::make(ir::Op::Call, n.type(), n->args, to[ir::callee_of(n)->component])
                 : n;
    });
  };
  for (lang::StageDef& s : f.stages) {
    for (Expr& e : s.lhs) change(e);
    change(s.value);
    change(s.predicate);
    change(s.reduce_term);
  }
}

void apply(Application& a) {
  State& state = a.state;
  const Source source = find_source(a);
  const std::string as = copy_name(a.name("of"), a.has("for") ? a.names("for") : std::vector<std::string>{});
  if (a.has("as") && a.name("as") != as)
    a.refuse(fmt::format("the copy cannot be named '{}'", a.name("as")), a.name("as"),
             fmt::format("'{}'", as));
  if (state.out.graph.find_func(as))
    a.refuse(fmt::format("there is a copy '{}' already", as), as,
             fmt::format("in({}) to make a copy of the copy, or other consumers", as));
  const std::vector<FuncId> consumers = find_consumers(a, source);

  lang::FuncDef copy;
  copy.name = as;
  for (const ir::CalleePtr& c : source.callees) copy.types.push_back(c->type);
  std::vector<Expr> coordinates, values;
  for (const std::string& name : source.coordinates) {
    copy.args.push_back(ir::make_symbol(ir::SymbolKind::Var, name));
    coordinates.push_back(ir::make_var(copy.args.back()));
  }
  for (const ir::CalleePtr& c : source.callees)
    values.push_back(ir::make(ir::Op::Call, c->type, coordinates, c));
  copy.stages.push_back({.lhs = coordinates, .value = ir::joined(values)});
  const FuncId id = state.add_func(std::move(copy));
  state.funcs[id.value].copies_input = !source.func.valid();
  const std::vector<ir::CalleePtr> to = state.def(id).callees;
  for (FuncId consumer : consumers)
    redirect(state.out.graph.funcs[consumer.value], *source.callees.front(), to);
}

std::string in_cpp(const Directive& d) {
  const Value* consumers = find_arg(d, "for");
  return fmt::format("s.in(\"{}\"{});", text_of(*find_arg(d, "of")),
                     consumers ? ", " + cpp_list(*consumers) : "");
}

}  // namespace

DirectiveSpec in_spec() {
  return {.name = "in",
          .addresses = Addresses::Graph,
          .doc =
              "Makes a copy of a Func or input, a Func of its own, that the consumers named read instead "
              "(all of them if "
              "none is named). It is computed at root unless told otherwise. Its loops have the names of the "
              "Func's "
              "coordinates, or d0, d1 and on for an input.",
          .args = {{.name = "of", .kind = ArgKind::Source, .doc = "what is copied"},
                   {.name = "for",
                    .kind = ArgKind::Func,
                    .doc = "the consumers; all if left out",
                    .optional = true,
                    .list = true},
                   {.name = "as",
                    .kind = ArgKind::NewFunc,
                    .doc = "the name of the copy, which is always OF.in(FOR) or OF.in",
                    .optional = true}},
          .refused = {"a Func named does not read it", "there is such a copy already"},
          .apply = apply,
          .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
