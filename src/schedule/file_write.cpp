// Writing schedule files: canonical order, one directive a line.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "calotype/pipeline.h"
#include "schedule/defaults.h"
#include "schedule/directive.h"
#include "schedule/file.h"
#include "schedule/json_tree.h"
#include "schedule/scheduled.h"

namespace calotype {

namespace schedule {

namespace {

void bind_func(const lang::Graph& graph, FuncId id, std::vector<bool>& seen, Binding& binding) {
  if (seen[id.value]) return;
  seen[id.value] = true;
  const lang::FuncDef& f = graph.func(id);
  Binding::Func bound{f.name, {}};
  for (const ir::SymbolPtr& arg : f.args) bound.loops.push_back(arg->name);
  for (const lang::StageDef& s : f.stages) {
    for (const lang::ReductionDim& r : s.reduction)
      if (std::find(bound.loops.begin(), bound.loops.end(), r.name) == bound.loops.end())
        bound.loops.push_back(r.name);
    for (const ir::CalleePtr& c : lang::callees(s)) {
      if (c->kind == ir::CalleeKind::Func) {
        bind_func(graph, FuncId{c->index}, seen, binding);
      } else if (std::find(binding.inputs.begin(), binding.inputs.end(), c->name) == binding.inputs.end()) {
        binding.inputs.push_back(c->name);
      }
    }
  }
  binding.funcs.push_back(std::move(bound));
}

std::string value_text(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value.data)) return std::to_string(*n);
  if (const auto* k = std::get_if<KnobRef>(&value.data)) return quoted(k->name);
  if (const auto* s = std::get_if<std::string>(&value.data)) return quoted(*s);
  std::vector<std::string> parts;
  for (const Value& v : std::get<Value::List>(value.data)) parts.push_back(value_text(v));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string name_list(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& n : names) parts.push_back(quoted(n));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

std::string object(const std::vector<std::string>& members) {
  return members.empty() ? "{}" : fmt::format("{{ {} }}", fmt::join(members, ", "));
}

std::string variant_text(const lang::Graph& graph) {
  const Binding binding = bind_names(graph);
  std::vector<std::string> funcs;
  for (const Binding::Func& f : binding.funcs) funcs.push_back(quoted(f.name) + ": " + name_list(f.loops));
  return fmt::format("{{ \"structure\": {}, \"inputs\": {}, \"funcs\": {} }}", quoted(graph.fingerprint),
                     name_list(binding.inputs), object(funcs));
}

/// The element types of the inputs, each once, as "u8" or "bf16_f32"; "none" without inputs.
std::string default_variant(const lang::Graph& graph) {
  std::vector<std::string> types;
  for (const lang::InputDef& input : graph.inputs)
    if (std::find(types.begin(), types.end(), input.type.str()) == types.end())
      types.push_back(input.type.str());
  return types.empty() ? "none" : fmt::format("{}", fmt::join(types, "_"));
}

/// What the schedule asks of a device: threads a block, where they are constants.
std::string needs_text(const Scheduled& s) {
  std::int64_t most = 0;
  for (const FuncSchedule& f : s.funcs)
    for (const StageSchedule& stage : f.stages) {
      std::int64_t threads = 1;
      bool any = false;
      for (LoopId id : stage.loops) {
        if (s.loop(id).binding != ir::Binding::GpuThread) continue;
        for (const Transform& t : stage.transforms)
          if (t.kind == Transform::Kind::Split && t.inner == id) {
            threads *= t.factor;
            any = true;
          }
      }
      if (any) most = std::max(most, threads);
    }
  return most == 0 ? "{}" : fmt::format("{{ \"threads\": {} }}", most);
}

std::string numerics_text(const Numerics& n) {
  return fmt::format("{{ \"reassociates\": {}, \"contract\": {} }}", name_list(n.reassociates), n.contract);
}

std::string or_default(const std::string& text, const std::string& fallback) {
  return text.empty() ? fallback : text;
}

std::string case_text(const Schedule& schedule, const std::string& variant, const std::string& name) {
  std::vector<std::string> knobs;
  for (const Knob& k : schedule.knobs()) knobs.push_back(fmt::format("{}: {}", quoted(k.name), k.value));
  const std::string& measured = schedule.notes().measured;
  return fmt::format("{{ \"variant\": {}, \"when\": {{}}, \"template\": {}, \"knobs\": {}{} }}",
                     quoted(variant), quoted(name), object(knobs),
                     measured.empty() ? "" : ", \"measured\": " + measured);
}

void fail_to_write(const std::string& path, const std::string& why) {
  throw Error({.kind = ErrorKind::Usage,
               .message = fmt::format("cannot write '{}': {}", path, why),
               .value = path,
               .legal = "a path in a folder that exists and may be written"});
}

/// Written beside the file and renamed, so that nobody reads half of it.
void write_atomically(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    std::ofstream out(temporary, std::ios::binary);
    if (!out) fail_to_write(path, "the folder cannot be written");
    out << text;
    out.close();
    if (!out) {
      std::remove(temporary.c_str());
      fail_to_write(path, "the disk is full, or the like");
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) {
    std::remove(temporary.c_str());
    fail_to_write(path, error.message());
  }
}

}  // namespace

Binding bind_names(const lang::Graph& graph) {
  Binding binding;
  std::vector<bool> seen(graph.funcs.size(), false);
  for (const lang::OutputDef& o : graph.outputs) bind_func(graph, o.func, seen, binding);
  return binding;
}

std::string json_line(const Directive& directive) {
  std::vector<std::string> members;
  if (!directive.stage.empty()) members.push_back("\"stage\": " + quoted(directive.stage));
  members.push_back("\"do\": " + quoted(directive.name));
  for (const auto& [name, value] : directive.args) members.push_back(quoted(name) + ": " + value_text(value));
  return object(members);
}

}  // namespace schedule

std::string Schedule::to_json(const Pipeline& pipeline, const Target& target) const {
  using namespace schedule;
  const lang::Graph& graph = pipeline.graph();
  const Scheduled applied = apply_or_throw(graph, *this, target);
  const std::string variant = or_default(notes_.variant, default_variant(graph));
  const std::string name = or_default(notes_.template_name, "main");
  const std::string provenance = or_default(
      notes_.provenance, fmt::format("{{ \"calotype\": \"{}\", \"by\": \"hand\" }}", library_version));
  std::vector<std::string> lines;
  for (const Directive& d : directives_) lines.push_back("\n      " + json_line(d));
  std::string out;
  out += fmt::format("{{ \"calotype_schedule\": {}, \"defaults\": {}, \"operator\": {}, \"target\": {},\n",
                     file_version, defaults_version, quoted(graph.name), quoted(target.str()));
  out += fmt::format("  \"variants\": {{\n    {}: {} }},\n", quoted(variant), variant_text(graph));
  out += fmt::format("  \"templates\": {{\n    {}: {{ \"requires\": [], \"needs\": {}, \"do\": [{}] }} }},\n",
                     quoted(name), needs_text(applied), fmt::join(lines, ","));
  out += fmt::format("  \"cases\": [\n    {} ],\n", case_text(*this, variant, name));
  out += fmt::format("  \"numerics\": {},\n", numerics_text(applied.numerics));
  out += fmt::format("  \"provenance\": {} }}\n", provenance);
  return out;
}

void Schedule::save(const std::string& path, const Pipeline& pipeline, const Target& target) const {
  schedule::write_atomically(path, to_json(pipeline, target));
}

}  // namespace calotype
