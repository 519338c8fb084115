// Shrinking: every kind of step gives the pairs that are one step smaller; the first that still fails in the
// same way is taken.
#include "fuzz/shrink.h"

#include <algorithm>
#include <functional>

#include "fuzz/child.h"
#include "fuzz/operations.h"
#include "fuzz/random_schedule.h"
#include "lang/graph.h"

namespace calotype::fuzz {

namespace {

using Take = std::function<bool(const Pair&)>;  ///< true: taken, so start again

bool drop_directives(const Pair& pair, const Take& take) {
  const std::size_t n = pair.schedule.directives().size();
  if (n > 1 && take({pair.program, with_directives(pair.schedule, {}), pair.target})) return true;
  for (std::size_t i = n; i-- > 0;)
    if (take({pair.program, without(pair.schedule, i), pair.target})) return true;
  // One that makes loops, and the next that uses them.
  for (std::size_t i = n; i-- > 1;)
    if (take({pair.program, without(without(pair.schedule, i), i - 1), pair.target})) return true;
  return false;
}

bool drop_knobs(const Pair& pair, const Take& take) {
  if (pair.schedule.knobs().empty()) return false;
  std::vector<schedule::Directive> all = pair.schedule.directives();
  const std::function<void(schedule::Value&)> fix = [&](schedule::Value& v) {
    if (const auto* k = std::get_if<schedule::KnobRef>(&v.data)) {
      for (const Knob& knob : pair.schedule.knobs())
        if (knob.name == k->name) {
          v = schedule::Value(knob.value);
          return;
        }
    } else if (auto* list = std::get_if<schedule::Value::List>(&v.data)) {
      for (schedule::Value& item : *list) fix(item);
    }
  };
  for (schedule::Directive& d : all)
    for (auto& [name, value] : d.args) fix(value);
  return take({pair.program, with_directives(Schedule(), all), pair.target});
}

bool drop_arguments(const Pair& pair, const Take& take) {
  const auto& directives = pair.schedule.directives();
  for (std::size_t i = 0; i < directives.size(); ++i)
    for (std::size_t j = 0; j < directives[i].args.size(); ++j) {
      if (directives[i].args[j].first != "tail") continue;
      std::vector<schedule::Directive> all = directives;
      all[i].args.erase(all[i].args.begin() + static_cast<std::ptrdiff_t>(j));
      if (take({pair.program, with_directives(pair.schedule, all), pair.target})) return true;
    }
  return false;
}

bool drop_outputs_and_runs(const Pair& pair, const Take& take) {
  for (std::size_t i = 0; pair.program.outputs.size() > 1 && i < pair.program.outputs.size(); ++i) {
    Pair next = pair;
    next.program.outputs.erase(next.program.outputs.begin() + static_cast<std::ptrdiff_t>(i));
    if (take(next)) return true;
  }
  for (std::size_t i = 0; pair.program.runs.size() > 1 && i < pair.program.runs.size(); ++i) {
    Pair next = pair;
    next.program.runs.erase(next.program.runs.begin() + static_cast<std::ptrdiff_t>(i));
    if (take(next)) return true;
  }
  return false;
}

bool names(const schedule::Value& v, const std::string& func) {
  if (const auto* list = std::get_if<schedule::Value::List>(&v.data))
    return std::any_of(list->begin(), list->end(), [&](const schedule::Value& i) { return names(i, func); });
  const auto* text = std::get_if<std::string>(&v.data);
  return text &&
         (*text == func || text->starts_with(func + ".") || text->find("(" + func) != std::string::npos);
}

/// The directives that do not name a Func.
Schedule without_func(const Schedule& s, const std::string& func) {
  std::vector<schedule::Directive> kept;
  for (const schedule::Directive& d : s.directives())
    if (!names(schedule::Value(d.stage), func) &&
        std::none_of(d.args.begin(), d.args.end(), [&](const auto& a) { return names(a.second, func); }))
      kept.push_back(d);
  return with_directives(s, kept);
}

using Types = std::map<std::string, std::vector<Type>>;

/// The component that a call takes: of "f.1" 1, of "f" 0.
std::size_t component_of(const std::string& head) {
  const std::string func = called(head);
  return func == head ? 0 : std::stoul(head.substr(func.size() + 1));
}

void replace_calls(Node& n, const std::string& func, const std::vector<Type>& types) {
  for (Node& item : n.items) replace_calls(item, func, types);
  if (!n.is_atom() && n.defined() && is_call(n.head()) && called(n.head()) == func)
    n = list("const", types.at(component_of(n.head())).str(), 1);
}

/// The element types of each Func; none where the program builds nothing.
Types types_of(const Program& program) {
  Types types;
  try {
    const Pipeline p = build(program);
    for (const lang::FuncDef& f : p.graph().funcs) types[f.name] = f.types;
  } catch (const std::exception&) {
    return {};
  }
  return types;
}

/// A Func's value becomes 1 wherever it is read.
bool drop_funcs(const Pair& pair, const Take& take) {
  Types types = types_of(pair.program);
  if (types.empty()) return false;
  for (std::size_t i = pair.program.funcs.size(); i-- > 0;) {
    const std::string name = pair.program.funcs[i].name;
    if (std::any_of(pair.program.outputs.begin(), pair.program.outputs.end(),
                    [&](const OutputSpec& o) { return o.func == name; }))
      continue;
    Pair next = pair;
    next.program.funcs.erase(next.program.funcs.begin() + static_cast<std::ptrdiff_t>(i));
    for (FuncSpec& f : next.program.funcs)
      for (Node* n : nodes_of(f)) replace_calls(*n, name, types[name]);
    next.schedule = without_func(pair.schedule, name);
    if (take(next)) return true;
  }
  return false;
}

Node substituted(const Node& n, const std::map<std::string, Node>& values) {
  if (n.is_atom()) return values.count(n.atom) ? values.at(n.atom) : n;
  Node result = n;
  for (std::size_t i = 1; i < n.size(); ++i) result.items[i] = substituted(n[i], values);
  return result;
}

void inline_calls(Node& n, const FuncSpec& f) {
  for (Node& item : n.items) inline_calls(item, f);
  if (n.is_atom() || !n.defined() || !is_call(n.head()) || called(n.head()) != f.name) return;
  std::map<std::string, Node> values;
  for (std::size_t d = 0; d < f.stages[0].lhs.size(); ++d) values[f.stages[0].lhs[d].atom] = n[d + 1];
  const Node& value = f.stages[0].value;
  n = substituted(is_tuple(value) ? value[component_of(n.head()) + 1] : value, values);
}

/// The value of a Func stands where it was read.
bool inline_funcs(const Pair& pair, const Take& take) {
  for (std::size_t i = pair.program.funcs.size(); i-- > 0;) {
    const FuncSpec f = pair.program.funcs[i];
    if (f.stages.size() != 1) continue;
    Pair next = pair;
    for (FuncSpec& other : next.program.funcs)
      for (Node* n : nodes_of(other)) inline_calls(*n, f);
    next.schedule = without_func(pair.schedule, f.name);
    prune(next.program);
    if (!next.program.func(f.name) && take(next)) return true;
  }
  return false;
}

/// A boundary condition is left out: its readers read its source.
bool drop_boundaries(const Pair& pair, const Take& take) {
  for (std::size_t i = 0; i < pair.program.funcs.size(); ++i) {
    const FuncSpec f = pair.program.funcs[i];
    if (f.boundary.empty() || pair.program.input(f.source)) continue;
    Pair next = pair;
    next.program.funcs.erase(next.program.funcs.begin() + static_cast<std::ptrdiff_t>(i));
    const std::function<void(Node&)> rename = [&](Node& n) {
      if (n.atom == f.name) n.atom = f.source;
      for (Node& item : n.items) rename(item);
    };
    for (FuncSpec& other : next.program.funcs)
      for (Node* n : nodes_of(other)) rename(*n);
    next.schedule = without_func(pair.schedule, f.name);
    if (take(next)) return true;
  }
  return false;
}

bool drop_updates(const Pair& pair, const Take& take) {
  for (std::size_t i = 0; i < pair.program.funcs.size(); ++i)
    for (std::size_t s = pair.program.funcs[i].stages.size(); s-- > 1;) {
      Pair next = pair;
      std::vector<DefinitionSpec>& stages = next.program.funcs[i].stages;
      if (stages[s].where.defined()) {
        stages[s].where = {};
        if (take(next)) return true;
      }
      stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(s));
      if (take(next)) return true;
    }
  return false;
}

/// Each place in a tree with each of what may stand there instead.
bool simpler(Node& n, const std::function<bool()>& take) {
  if (n.is_atom() || !n.defined()) return false;
  const Node before = n;
  for (std::size_t i = 1; i < before.size(); ++i) {
    if (before.head() == "const" || before.head() == "tuple") break;
    if (names_type(before.head()) && i == 1) continue;
    n = before[i];
    if (take()) return true;
  }
  n = before;
  if (is_function(n)) return false;  // it reads three neighbours of one source
  for (Node& item : n.items)
    if (simpler(item, take)) return true;
  return false;
}

bool simplify_expressions(const Pair& pair, const Take& take) {
  Pair next = pair;
  for (FuncSpec& f : next.program.funcs)
    for (Node* n : nodes_of(f))
      if (simpler(*n, [&] { return take(next); })) return true;
  return false;
}

Node ones(const std::vector<Type>& types) {
  Node all = list("tuple");
  for (const Type& t : types) all.items.push_back(list("const", t.str(), 1));
  return types.size() == 1 ? all[1] : all;
}

bool constant_values(const Pair& pair, const Take& take) {
  Types types = types_of(pair.program);
  if (types.empty()) return false;
  for (std::size_t i = 0; i < pair.program.funcs.size(); ++i)
    for (std::size_t s = 0; s < pair.program.funcs[i].stages.size(); ++s) {
      Node one = ones(types[pair.program.funcs[i].name]);
      if (pair.program.funcs[i].stages[s].value == one) continue;
      Pair next = pair;
      next.program.funcs[i].stages[s].value = one;
      if (take(next)) return true;
    }
  return false;
}

bool shrink_sizes(const Pair& pair, const Take& take) {
  for (std::size_t r = 0; r < pair.program.runs.size(); ++r)
    for (const auto& [name, value] : pair.program.runs[r])
      for (const std::int64_t smaller : {std::int64_t{1}, value / 2, value - 1}) {
        if (smaller < 1 || smaller >= value) continue;
        Pair next = pair;
        next.program.runs[r][name] = smaller;
        if (take(next)) return true;
      }
  return false;
}

bool shrink_numbers(const Pair& pair, const Take& take) {
  const auto& directives = pair.schedule.directives();
  for (std::size_t i = 0; i < directives.size(); ++i)
    for (std::size_t j = 0; j < directives[i].args.size(); ++j) {
      const auto* number = std::get_if<std::int64_t>(&directives[i].args[j].second.data);
      if (!number || *number <= 2) continue;
      std::vector<schedule::Directive> all = directives;
      all[i].args[j].second = schedule::Value(*number / 2);
      if (take({pair.program, with_directives(pair.schedule, all), pair.target})) return true;
    }
  return false;
}

}  // namespace

Outcome try_in_child(const Pair& pair) {
  Outcome outcome;
  const Ending ending = in_child(
      [&](const Say& say) {
        allow_seconds(60);
        const Outcome o = try_pair(pair);
        say(std::to_string(static_cast<int>(o.verdict)));
        say(o.what);
        say(o.detail);
      },
      [&, at = 0](const std::string& message) mutable {
        if (at == 0) outcome.verdict = static_cast<Verdict>(std::stoi(message));
        if (at == 1) outcome.what = message;
        if (at == 2) outcome.detail = message;
        ++at;
      });
  if (ending.finished) return outcome;
  return {Verdict::Failed, ending.how, ""};
}

Pair shrunk(const Pair& pair, const Outcome& outcome, int most_tries) {
  Pair best = pair;
  const Take take = [&](const Pair& candidate) {
    if (most_tries-- <= 0) return false;
    Pair next = candidate;
    prune(next.program);
    const Outcome o = try_in_child(next);
    if (o.verdict != outcome.verdict || o.what != outcome.what) return false;
    best = next;
    return true;
  };
  using Step = bool (*)(const Pair&, const Take&);
  const std::vector<Step> steps = {
      drop_directives, drop_outputs_and_runs, drop_funcs,   inline_funcs, drop_updates,   constant_values,
      drop_boundaries, simplify_expressions,  shrink_sizes, drop_knobs,   drop_arguments, shrink_numbers};
  for (std::size_t i = 0; i < steps.size() && most_tries > 0;) {
    const Pair from = best;
    i = steps[i](from, take) ? 0 : i + 1;
  }
  return best;
}

}  // namespace calotype::fuzz
