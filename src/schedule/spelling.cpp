// The spellings of a directive for people: in a message, and as a line of C++.
#include "schedule/spelling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schedule/json_tree.h"
#include "schedule/ways.h"

namespace calotype::schedule {

namespace {

void flatten(const Value& value, std::vector<const Value*>& out) {
  if (const auto* list = std::get_if<Value::List>(&value.data)) {
    for (const Value& v : *list) flatten(v, out);
  } else {
    out.push_back(&value);
  }
}

std::string plain(const Value& value) {
  if (const auto* n = std::get_if<std::int64_t>(&value.data)) return std::to_string(*n);
  if (const auto* k = std::get_if<KnobRef>(&value.data)) return k->name;
  return text_of(value);
}

std::string cpp_value(const ArgSpec* arg, const Value& value) {
  if (!std::holds_alternative<std::string>(value.data)) return plain(value);
  if (arg)
    for (const Option& option : arg->choices)
      if (option.text == text_of(value)) return option.cpp;
  return quoted(text_of(value));
}

}  // namespace

std::string text(const Directive& directive) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : directive.args) {
    std::vector<const Value*> flat;
    flatten(value, flat);
    for (const Value* v : flat) parts.push_back(plain(*v));
  }
  return fmt::format("{}({})", directive.name, fmt::join(parts, ", "));
}

std::string text(const Directive& directive, int index) {
  return fmt::format("#{} {}", index + 1, text(directive));
}

std::vector<std::string> cpp_arguments(const DirectiveSpec& spec, const Directive& directive) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : directive.args) {
    std::vector<const Value*> flat;
    flatten(value, flat);
    for (const Value* v : flat) parts.push_back(cpp_value(spec.argument(name), *v));
  }
  return parts;
}

std::string cpp_list(const Value& list) {
  std::vector<const Value*> flat;
  flatten(list, flat);
  std::vector<std::string> parts;
  for (const Value* v : flat) parts.push_back(cpp_value(nullptr, *v));
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

std::string cpp_stage(const std::string& stage) {
  // Texts of updates are written by Stage::name alone, so this only turns its spelling around.
  const std::size_t at = stage.rfind(".update(");
  if (at == std::string::npos || stage.back() != ')') return fmt::format("s[\"{}\"]", stage);
  return fmt::format("s[\"{}\"]{}", stage.substr(0, at), stage.substr(at));
}

std::string cpp(const Directive& directive) {
  const DirectiveSpec* spec = find_directive(directive.name);
  if (!spec) return fmt::format("// {}: no such directive", text(directive));
  if (spec->cpp) return spec->cpp(directive);
  return fmt::format("{}.{}({});", cpp_stage(directive.stage), directive.name,
                     fmt::join(cpp_arguments(*spec, directive), ", "));
}

static bool concerns(const Directive& directive, const std::string& func) {
  const std::string stage = stage_of_branch(directive.stage);
  if (stage == func || stage == func + ".pure" || stage.starts_with(func + ".update(")) return true;
  const DirectiveSpec* spec = find_directive(directive.name);
  for (const auto& [name, value] : directive.args) {
    const ArgSpec* arg = spec ? spec->argument(name) : nullptr;
    if (arg && arg->kind == ArgKind::NewFunc && value == Value(func)) return true;
  }
  return false;
}

std::vector<std::string> cpp_of_func(const Schedule& schedule, const std::string& func) {
  std::vector<std::string> lines;
  for (const Directive& d : schedule.directives())
    if (concerns(d, func)) lines.push_back(cpp(d));
  return lines;
}

}  // namespace calotype::schedule
