// What the directives that copy a Func or input have in common: names, consumers, and reads that go
// elsewhere.
#include "schedule/copies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/spelling.h"

namespace calotype::schedule {

std::string copy_name(const std::string& of, const std::string& what,
                      const std::vector<std::string>& consumers) {
  return consumers.empty() ? of + "." + what : fmt::format("{}.{}({})", of, what, fmt::join(consumers, ","));
}

Directive copy_directive(const std::string& name, const std::string& what, const FuncName& of,
                         const std::vector<FuncName>& consumers) {
  std::vector<std::string> names;
  Value::List list;
  for (const FuncName& c : consumers) {
    names.push_back(c.name);
    list.emplace_back(c.name);
  }
  Directive d{.name = name, .args = {{"of", of.name}}};
  if (!list.empty()) d.args.emplace_back("for", std::move(list));
  d.args.emplace_back("as", copy_name(of.name, what, names));
  return d;
}

std::vector<ArgSpec> copy_arguments(const std::string& name_doc) {
  return {{.name = "of", .kind = ArgKind::Source, .doc = "what is copied"},
          {.name = "for",
           .kind = ArgKind::Func,
           .doc = "the consumers; all if left out",
           .optional = true,
           .list = true},
          {.name = "as",
           .kind = ArgKind::NewFunc,
           .doc = "the name of the copy, which is always " + name_doc,
           .optional = true}};
}

std::string copy_cpp(const Directive& d) {
  const Value* consumers = find_arg(d, "for");
  return fmt::format("s.{}(\"{}\"{});", d.name, text_of(*find_arg(d, "of")),
                     consumers ? ", " + cpp_list(*consumers) : "");
}

std::string new_copy(const Application& a, const std::string& what) {
  const std::string as =
      copy_name(a.name("of"), what, a.has("for") ? a.names("for") : std::vector<std::string>{});
  if (a.has("as") && a.name("as") != as)
    a.refuse(fmt::format("the copy cannot be named '{}'", a.name("as")), a.name("as"),
             fmt::format("'{}'", as));
  if (a.state.out.graph.find_func(as))
    a.refuse(fmt::format("there is a copy '{}' already", as), as,
             fmt::format("{}({}) to make a copy of the copy, or other consumers", a.spec.name, as));
  return as;
}

static bool calls(const lang::FuncDef& f, const ir::Callee& source) {
  for (const lang::StageDef& s : f.stages)
    for (const ir::CalleePtr& c : lang::callees(s))
      if (ir::same_source(*c, source)) return true;
  return false;
}

std::vector<FuncId> find_consumers(const Application& a, const ir::Callee& source) {
  std::vector<FuncId> all, chosen;
  std::vector<std::string> names;
  for (const lang::FuncDef& f : a.state.out.graph.funcs) {
    const bool itself = source.kind == ir::CalleeKind::Func && source.index == f.id.value;
    if (itself || !calls(f, source)) continue;
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

void redirect(lang::FuncDef& f, const ir::Callee& from, const std::vector<ir::CalleePtr>& to) {
  const auto change = [&](Expr& e) {
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

}  // namespace calotype::schedule
