// Writing schedule files: canonical order, one directive a line.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "schedule/defaults.h"
#include "schedule/file.h"

namespace calotype {

namespace schedule {

namespace {

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

std::string variant_line(const FileVariant& v) {
  std::vector<std::string> funcs;
  for (const auto& [name, loops] : v.funcs) funcs.push_back(quoted(name) + ": " + name_list(loops));
  return fmt::format("\n    {}: {{ \"structure\": {}, \"inputs\": {}, \"funcs\": {} }}", quoted(v.name),
                     quoted(v.structure), name_list(v.inputs), object(funcs));
}

std::string template_lines(const FileTemplate& t) {
  std::vector<std::string> needs, directives;
  for (const auto& [need, value] : t.needs) needs.push_back(fmt::format("{}: {}", quoted(need), value));
  for (const Directive& d : t.directives) directives.push_back("\n      " + json_line(d));
  return fmt::format("\n    {}: {{ \"requires\": [], \"needs\": {}, \"do\": [{}] }}", quoted(t.name),
                     object(needs), fmt::join(directives, ","));
}

std::string case_line(const FileCase& c) {
  std::vector<std::string> when, knobs;
  for (const SizeRange& r : c.when) when.push_back(quoted(r.size) + ": " + json_value(r));
  for (const BufferForm& f : c.buffers)
    for (const auto& [key, value] : json_members(f)) when.push_back(quoted(key) + ": " + quoted(value));
  for (const Knob& k : c.knobs) knobs.push_back(fmt::format("{}: {}", quoted(k.name), k.value));
  return fmt::format("\n    {{ \"variant\": {}, \"when\": {}, \"template\": {}, \"knobs\": {}{} }}",
                     quoted(c.variant), object(when), quoted(c.template_name), object(knobs),
                     c.measured.empty() ? "" : ", \"measured\": " + c.measured);
}

template <class T>
std::string joined(const std::vector<T>& all, std::string (*text)(const T&)) {
  std::vector<std::string> parts;
  for (const T& one : all) parts.push_back(text(one));
  return fmt::format("{}", fmt::join(parts, ","));
}

void fail_to_write(const std::string& path, const std::string& why) {
  throw Error({.kind = ErrorKind::Usage,
               .message = fmt::format("cannot write '{}': {}", path, why),
               .value = path,
               .legal = "a path in a folder that exists and may be written"});
}

}  // namespace

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

std::string json_line(const Directive& directive) {
  std::vector<std::string> members;
  if (!directive.stage.empty()) members.push_back("\"stage\": " + quoted(directive.stage));
  members.push_back("\"do\": " + quoted(directive.name));
  for (const auto& [name, value] : directive.args) members.push_back(quoted(name) + ": " + value_text(value));
  return object(members);
}

std::string json_value(const SizeRange& range) {
  if (const auto value = range.exact()) return std::to_string(*value);
  std::string multiple = range.multiple == 1 ? "" : fmt::format("\"multiple {}\"", range.multiple);
  if (range.low == 0 && !range.high) return multiple;
  return fmt::format("[{}, {}{}{}]", range.low, range.high ? std::to_string(*range.high) : "null",
                     multiple.empty() ? "" : ", ", multiple);
}

std::vector<std::pair<std::string, std::string>> json_members(const BufferForm& form) {
  std::vector<std::pair<std::string, std::string>> members;
  if (form.dense) members.emplace_back(form.buffer, "dense");
  if (form.pitch_multiple > 1)
    members.emplace_back(form.buffer + ".pitch", fmt::format("multiple {} bytes", form.pitch_multiple));
  if (form.base_align > 1)
    members.emplace_back(form.buffer + ".base", fmt::format("aligned {} bytes", form.base_align));
  return members;
}

std::string template_hash(const Schedule& schedule) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](const std::string& text) {
    for (const unsigned char c : text + "\n") hash = (hash ^ c) * 0x100000001b3;
  };
  for (const Knob& k : schedule.knobs()) add(fmt::format("{}={}", k.name, k.value));
  for (const Directive& d : schedule.directives()) add(json_line(d));
  return fmt::format("t1:{:016x}", hash);
}

}  // namespace schedule

std::string ScheduleFile::str() const {
  using namespace schedule;
  std::string out =
      fmt::format("{{ \"calotype_schedule\": {}, \"defaults\": {}, \"operator\": {}, \"target\": {},\n",
                  file_version, defaults_version, quoted(operator_name_), quoted(target_.str()));
  out += fmt::format("  \"variants\": {{{} }},\n", joined(variants_, variant_line));
  out += fmt::format("  \"templates\": {{{} }},\n", joined(templates_, template_lines));
  out += fmt::format("  \"cases\": [{} ],\n", joined(cases_, case_line));
  out += fmt::format("  \"numerics\": {{ \"reassociates\": {}, \"contract\": {} }},\n",
                     name_list(numerics_.reassociates), numerics_.contract);
  out += fmt::format("  \"provenance\": {} }}\n", provenance_);
  return out;
}

void ScheduleFile::save(const std::string& path) const {
  const std::string text = str();
  parse(text, path);
  schedule::write_atomically(path, text);
}

}  // namespace calotype
