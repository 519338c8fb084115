// trace: lines that tell what happens to a Func or input as the program runs.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/callees.h"

namespace calotype {

namespace {

const std::vector<schedule::Option>& trace_options() {
  static const std::vector<schedule::Option> options = {
      {"loads", "Trace::Loads"}, {"stores", "Trace::Stores"}, {"productions", "Trace::Productions"}};
  return options;
}

}  // namespace

void Schedule::trace(const FuncName& of, const std::vector<Trace>& what) {
  schedule::Value::List list;
  for (const Trace t : what) list.emplace_back(trace_options()[static_cast<std::size_t>(t)].text);
  append({.name = "trace", .args = {{"of", of.name}, {"what", std::move(list)}}});
}

namespace schedule {

namespace {

void apply(Application& a) {
  const ir::CalleePtr of = find_callee(a, "of");
  for (const Traced& other : a.state.out.traced)
    if (other.of == of->name)
      a.refuse(fmt::format("'{}' is traced already, by {}", of->name, other.origin), of->name,
               "one trace a Func or input, with all that it reports");
  const std::vector<std::string> what = a.names("what");
  const auto asks = [&](const char* t) { return std::find(what.begin(), what.end(), t) != what.end(); };
  Traced traced{.of = of->name,
                .loads = asks("loads"),
                .stores = asks("stores"),
                .productions = asks("productions"),
                .origin = a.origin()};
  if (of->kind == ir::CalleeKind::Input && (traced.stores || traced.productions))
    a.refuse(fmt::format("'{}' is an input, which is read and nothing else", of->name),
             traced.stores ? "stores" : "productions", "loads");
  if (of->kind == ir::CalleeKind::Func) {
    const ir::Extern* function = a.state.def(FuncId{of->index}).stages.front().function();
    if (function && traced.stores)
      a.refuse(fmt::format("the function '{}' stores the values of '{}', unseen", function->function.name,
                           of->name),
               "stores", "loads, productions");
    FuncState& f = a.state.funcs[of->index];
    if (f.first_directive < 0) f.first_directive = a.index;
  }
  a.state.out.traced.push_back(std::move(traced));
}

std::string in_cpp(const Directive& d) {
  std::string what;
  for (const Value& v : std::get<Value::List>(find_arg(d, "what")->data))
    for (const Option& o : trace_options())
      if (o.text == text_of(v)) what += (what.empty() ? "" : ", ") + o.cpp;
  return fmt::format("s.trace(\"{}\", {{{}}});", text_of(*find_arg(d, "of")), what);
}

}  // namespace

DirectiveSpec trace_spec() {
  return {.name = "trace",
          .addresses = Addresses::Graph,
          .doc =
              "Prints a line for each load, store or production of a Func or input, where print() of the "
              "algorithm prints: `load g(2, 4) = 1`, `store f(3, 4) = 7`, `produce f [0, 8) x [0, 4)`. For "
              "looking: values stay as they are, and the program becomes slow. What a function reads and "
              "writes of its boxes is not seen. See [debugging](debugging.md#what-happens-in-memory).",
          .args = {{.name = "of", .kind = ArgKind::Source, .doc = "the Func or input"},
                   {.name = "what",
                    .kind = ArgKind::Choice,
                    .doc = "what is reported",
                    .list = true,
                    .most = 3,
                    .choices = trace_options()}},
          .refused = {"it is traced already", "stores or productions of an input",
                      "stores of a Func that a function computes, or whose updates are atomic",
                      "the Func is computed inline"},
          .apply = apply,
          .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
