// `calotype schedule`: check, print, diff and save.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/inputs.h"
#include "cli/line_diff.h"
#include "cli/select.h"
#include "cli/usage.h"

namespace calotype::cli {
namespace {

struct Loaded {
  const Operator& op;
  Target target;
  OperatorTypes types;
  Pipeline pipeline;
  ChosenSchedule chosen;
};

// --type if given, else the first combination whose structure the file is for, so that the file alone says
// which.
OperatorTypes types_of_file(const Selection& select, const Operator& op, const Target& target) {
  const bool file = !select.schedule.empty() && select.schedule[0] != '@' && select.schedule != "empty";
  if (!select.type.empty() || !file) return choose_types(op, select.type, {});
  const std::string path = select.schedule == "best" ? find_best(op.name, target) : select.schedule;
  for (const OperatorTypes& types : op.types)
    if (made_for(path, op.pipeline(types))) return types;
  return op.types.front();
}

Loaded load(const Selection& select) {
  const Operator& op = find_operator(select.op);
  const Target target = Target::parse(select.target);
  const OperatorTypes types = types_of_file(select, op, target);
  const Pipeline pipeline = op.pipeline(types);
  ChosenSchedule chosen = choose_schedule(select, op, types, pipeline, target);
  set_knobs(chosen.schedule, select);
  return {op, target, types, pipeline, std::move(chosen)};
}

Json header(const Loaded& loaded) {
  return {{"operator", loaded.op.name},
          {"target", loaded.target.str()},
          {"type", loaded.types.str()},
          {"schedule", loaded.chosen.source}};
}

Outcome check(const Selection& select) {
  const Loaded loaded = load(select);
  const std::vector<Diagnostic> found = loaded.chosen.schedule.check(loaded.pipeline, loaded.target);
  Outcome outcome;
  outcome.json = header(loaded);
  outcome.json["legal"] = found.empty();
  outcome.json["diagnostics"] = Json::array();
  for (const Diagnostic& d : found) {
    outcome.json["diagnostics"].push_back(to_json(d));
    outcome.text += d.str() + "\n";
  }
  if (!found.empty()) {
    outcome.json["error"] = to_json(found.front());
    outcome.code = 1;
  } else {
    outcome.text = fmt::format("{} is legal for {} ({}) on {}\n", loaded.chosen.source, loaded.op.name,
                               loaded.types.str(), loaded.target.str());
  }
  return outcome;
}

Outcome print(const Selection& select) {
  const Loaded loaded = load(select);
  Outcome outcome;
  outcome.text = loaded.chosen.schedule.str();
  if (!outcome.text.empty() && outcome.text.back() != '\n') outcome.text += '\n';
  outcome.json = header(loaded);
  outcome.json["knobs"] = Json::object();
  for (const Knob& knob : loaded.chosen.schedule.knobs()) outcome.json["knobs"][knob.name] = knob.value;
  outcome.json["text"] = outcome.text;
  return outcome;
}

Outcome save(const Selection& select, const std::string& file) {
  const Loaded loaded = load(select);
  loaded.chosen.schedule.save(file, loaded.pipeline, loaded.target);
  Outcome outcome;
  outcome.json = header(loaded);
  outcome.json["file"] = file;
  outcome.text = "wrote " + file + "\n";
  return outcome;
}

// A schedule file as lines that are compared: what decides how the operator runs, without times and
// provenance. Files for other versions of an algorithm can be compared too, so nothing is checked against
// one.
std::vector<std::string> lines_of(const std::string& path) {
  bool too_deep = false;
  const auto limit_depth = [&](int depth, Json::parse_event_t, Json&) {
    return !(too_deep = too_deep || depth > 64);
  };
  const Json file = Json::parse(read_file(path), limit_depth, false);
  if (too_deep) usage_error("the file is nested too deep for a schedule", path, "at most 64 levels");
  if (file.is_discarded() || !file.is_object() || !file.contains("calotype_schedule"))
    usage_error("the file is no schedule", path, "a JSON object with \"calotype_schedule\"");
  std::vector<std::string> lines;
  for (const auto& [key, value] : file.items()) {
    if (key == "provenance" || key == "templates" || key == "cases") continue;
    lines.push_back(key + ": " + value.dump());
  }
  const Json templates = file.value("templates", Json::object()), cases = file.value("cases", Json::array());
  for (const auto& [name, body] : templates.items()) {
    if (!body.is_object()) usage_error("a template of the schedule is no object", path, "{ \"do\": [...] }");
    for (const auto& [key, value] : body.items())
      if (key != "do") lines.push_back(fmt::format("template {}: {}: {}", name, key, value.dump()));
    const Json directives = body.value("do", Json::array());
    for (const Json& directive : directives)
      lines.push_back(fmt::format("template {}: {}", name, directive.dump()));
  }
  for (Json entry : cases) {
    if (entry.is_object()) entry.erase("measured");
    lines.push_back("case: " + entry.dump());
  }
  return lines;
}

Outcome diff(const std::string& a, const std::string& b) {
  Outcome outcome;
  outcome.json = {{"a", a}, {"b", b}, {"removed", Json::array()}, {"added", Json::array()}};
  for (const DiffLine& line : line_diff(lines_of(a), lines_of(b))) {
    if (line.mark == ' ') continue;
    outcome.text += fmt::format("{} {}\n", line.mark, line.text);
    outcome.json[line.mark == '-' ? "removed" : "added"].push_back(line.text);
  }
  const bool same = outcome.text.empty();
  outcome.json["same"] = same;
  outcome.code = same ? 0 : 1;
  outcome.text =
      same ? "the schedules are the same\n" : fmt::format("--- {}\n+++ {}\n{}", a, b, outcome.text);
  return outcome;
}

}  // namespace

Outcome schedule_command(const ScheduleOptions& options) {
  if (options.action == "check") return check(options.select);
  if (options.action == "print") return print(options.select);
  if (options.action == "save") return save(options.select, options.file);
  return diff(options.file, options.other);
}

}  // namespace calotype::cli
