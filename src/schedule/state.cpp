// Building up a Scheduled: Funcs, their loops, and the lookup of names.
#include "schedule/state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/spelling.h"

namespace calotype::schedule {

State::State(const lang::Graph& graph, const Schedule& schedule, const Target& target)
    : original(graph), schedule(schedule) {
  out.graph = graph;
  out.target = target;
  out.funcs.resize(graph.funcs.size());
  funcs.resize(graph.funcs.size());
  for (const lang::FuncDef& f : graph.funcs) {
    out.funcs[f.id.value].stages.resize(f.stages.size());
    funcs[f.id.value].stages.resize(f.stages.size());
    for (std::size_t i = 0; i < f.stages.size(); i++) define_loops(f.id, static_cast<int>(i));
  }
}

FuncId State::add_func(lang::FuncDef func) {
  const FuncId id{static_cast<int>(out.graph.funcs.size())};
  func.make_callees(id);
  const std::size_t stages = func.stages.size();
  out.graph.funcs.push_back(std::move(func));
  out.funcs.emplace_back().stages.resize(stages);
  funcs.emplace_back().stages.resize(stages);
  funcs.back().made = true;
  for (std::size_t i = 0; i < stages; i++) define_loops(id, static_cast<int>(i));
  return id;
}

LoopId State::add_loop(FuncId func, int stage, Loop loop, int directive) {
  loop.id = LoopId{static_cast<int>(out.loops.size())};
  out.loops.push_back(std::move(loop));
  loop_directives.push_back(directive);
  funcs[func.value].stages[stage].ever.push_back(out.loops.back().id);
  return out.loops.back().id;
}

void State::define_loops(FuncId func, int stage) {
  const lang::FuncDef& f = def(func);
  const lang::StageDef& s = f.stages[stage];
  StageSchedule& loops = loops_of(func, stage);
  loops = {};
  if (s.function()) {  // it runs over all of a box
    loops.dims.resize(static_cast<std::size_t>(f.rank()) + s.reduction.size());
    return;
  }
  std::vector<LoopId> pure, reduction;
  for (int d = 0; d < f.rank(); d++) {
    const bool plain = ir::is(s.lhs[d], ir::Op::Variable) && ir::symbol_of(s.lhs[d]) == f.args[d];
    loops.dims.push_back(plain ? add_loop(func, stage, {.name = f.args[d]->name}, -1) : LoopId{});
    if (plain) pure.push_back(loops.dims.back());
  }
  for (const lang::ReductionDim& r : s.reduction) {
    loops.dims.push_back(add_loop(func, stage, {.name = r.name, .reduction = true}, -1));
    reduction.push_back(loops.dims.back());
  }
  loops.loops = reduction;
  loops.loops.insert(loops.loops.end(), pure.begin(), pure.end());
}

std::string State::directive_text(int directive) const {
  return directive < 0 ? "" : text(schedule.directives()[directive], directive);
}

std::string State::func_named(const Directive& directive) {
  const Value* of = directive.stage.empty() ? find_arg(directive, "of") : nullptr;
  if (of && std::holds_alternative<std::string>(of->data)) return text_of(*of);
  return directive.stage.substr(0, directive.stage.rfind(".update("));
}

std::vector<std::string> State::loop_names(FuncId func, int stage) const {
  std::vector<std::string> names;
  for (LoopId id : loops_of(func, stage).loops) names.push_back(loop(id).name);
  return names;
}

std::string State::loops_text(FuncId func, int stage) const {
  const std::vector<std::string> names = loop_names(func, stage);
  return fmt::format("loops of {}: {}", stage_name(func, stage),
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

std::vector<std::string> State::stage_names() const {
  std::vector<std::string> names;
  for (const lang::FuncDef& f : out.graph.funcs)
    for (std::size_t i = 0; i < f.stages.size(); i++)
      names.push_back(lang::stage_name(f, static_cast<int>(i)));
  return names;
}

void State::refuse(FuncId func, int stage, int directive, std::string message, std::string value,
                   std::string legal) {
  Diagnostic d{.kind = ErrorKind::Schedule, .message = std::move(message)};
  if (func.valid()) d.func = def(func).name;
  if (func.valid() && stage >= 0) d.stage = stage_name(func, stage);
  d.directive = directive_text(directive);
  d.value = std::move(value);
  d.legal = std::move(legal);
  refusals.push_back({std::move(d), directive});
}

namespace {
const Directive default_directive{.name = "default"};
const DirectiveSpec default_spec{.name = "default", .addresses = Addresses::Stage};
}  // namespace

Application::Application(State& state, const Directive& directive, const DirectiveSpec& spec, int index)
    : state(state), directive(directive), spec(spec), index(index) {
  if (spec.addresses != Addresses::Graph) resolve_stage();
}

Application::Application(State& state, FuncId func, int stage)
    : state(state), directive(default_directive), spec(default_spec), index(-1), func(func), stage(stage) {}

void Application::resolve_stage() {
  for (const lang::FuncDef& f : state.out.graph.funcs) {
    if (spec.addresses == Addresses::Func) {
      if (f.name != directive.stage) continue;
      func = f.id;
      stage = -1;
      return;
    }
    for (std::size_t i = 0; i < f.stages.size(); i++) {
      if (lang::stage_name(f, static_cast<int>(i)) != directive.stage) continue;
      func = f.id;
      stage = static_cast<int>(i);
      return;
    }
  }
  for (const std::string& name : state.unmade_funcs)
    if (directive.stage.starts_with(name)) throw Skipped{};
  if (state.out.graph.find_input(directive.stage))
    refuse(fmt::format("'{}' is an input, which has no loops and no place of its own", directive.stage),
           directive.stage,
           fmt::format("a copy of it made by in({}), or one of: {}", directive.stage,
                       fmt::join(state.stage_names(), ", ")));
  const bool whole = spec.addresses == Addresses::Func;
  refuse(fmt::format("there is no {} '{}'", whole ? "Func" : "stage", directive.stage), directive.stage,
         name_choices(directive.stage, whole ? state.out.graph.func_names() : state.stage_names(),
                      whole ? "Funcs" : "stages"));
}

std::int64_t Application::integer(const std::string& arg) const {
  return number_of(*find_arg(directive, arg), state.schedule.knobs());
}

std::vector<std::int64_t> Application::integers(const std::string& arg) const {
  std::vector<std::int64_t> numbers;
  for (const Value& v : std::get<Value::List>(find_arg(directive, arg)->data))
    numbers.push_back(number_of(v, state.schedule.knobs()));
  return numbers;
}

const std::string& Application::name(const std::string& arg) const {
  return text_of(*find_arg(directive, arg));
}

std::vector<std::string> Application::names(const std::string& arg) const {
  std::vector<std::string> names;
  for (const Value& v : std::get<Value::List>(find_arg(directive, arg)->data)) names.push_back(text_of(v));
  return names;
}

int Application::choice(const std::string& arg) const {
  const std::vector<Option>& options = spec.argument(arg)->choices;
  auto it =
      std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.text == name(arg); });
  return static_cast<int>(it - options.begin());
}

Tail Application::tail() const { return has("tail") ? static_cast<Tail>(choice("tail")) : Tail::Auto; }
Memory Application::memory(const std::string& arg) const { return static_cast<Memory>(choice(arg)); }

ir::Partition Application::partition(const std::string& arg) const {
  return static_cast<ir::Partition>(choice(arg));
}

Copy Application::copy(const std::string& arg) const { return static_cast<Copy>(choice(arg)); }

LoopId Application::loop(const std::string& arg) const { return find_loop(name(arg)); }

std::vector<LoopId> Application::loop_list(const std::string& arg) const {
  std::vector<LoopId> ids;
  for (const std::string& n : names(arg)) ids.push_back(find_loop(n));
  return ids;
}

LoopId Application::find_loop(const std::string& name) const {
  if (const ir::Extern* function = stage_def().function())
    refuse(fmt::format("'{}' is computed by the function '{}', a box at a time, and has no loops",
                       func_def().name, function->function.name),
           name, "directives on its place and its memory");
  const StageState& own = state.funcs[func.value].stages[stage];
  for (LoopId id : state.loops_of(func, stage).loops)
    if (state.loop(id).name == name) return id;
  for (LoopId id : own.ever)
    if (state.loop(id).name == name)
      refuse(fmt::format("the loop '{}' is gone: {} stands in its place", name, state.loop(id).replaced_by),
             name, state.loops_text(func, stage));
  if (std::find(own.unmade.begin(), own.unmade.end(), name) != own.unmade.end()) throw Skipped{};
  const lang::FuncDef& f = state.def(func);
  for (int d = 0; d < f.rank(); d++)
    if (f.args[d]->name == name)
      refuse(fmt::format("the update has no loop '{}': it scatters over that dimension, writing at {}", name,
                         ir::to_string(f.stages[stage].lhs[d])),
             name, state.loops_text(func, stage));
  const std::vector<std::string> present = state.loop_names(func, stage);
  refuse(fmt::format("there is no loop '{}' in {}", name, state.stage_name(func, stage)), name,
         name_choices(name, present, "loops of " + state.stage_name(func, stage)));
}

void Application::refuse(std::string message, std::string value, std::string legal) const {
  Diagnostic d{.kind = ErrorKind::Schedule, .message = std::move(message)};
  if (func.valid()) {
    d.func = func_def().name;
    d.stage = stage < 0 ? "" : state.stage_name(func, stage);
  } else {
    d.func = State::func_named(directive);
    d.subject = state.out.graph.subject_of(d.func);
  }
  d.directive = origin();
  d.value = std::move(value);
  d.legal = std::move(legal);
  throw Refused{{std::move(d), index}};
}

}  // namespace calotype::schedule
