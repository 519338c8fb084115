// `calotype schedule`: check, print, diff and save.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/line_diff.h"
#include "cli/schedule_upkeep.h"
#include "cli/select.h"
#include "cli/usage.h"
#include "driver/device_needs.h"
#include "schedule/cases.h"
#include "schedule/file.h"
#include "schedule/scheduled.h"
#include "schedule/ways.h"

namespace calotype::cli {
namespace {

/// One schedule: of a file a case of a variant.
struct Entry {
  OperatorTypes types;
  Pipeline pipeline;
  std::string name;  ///< "case 0: M 1 to 64; ..."; empty: not of a file
  schedule::NewCase as;
  Schedule schedule;
  schedule::FileTemplate body = {};  ///< the template of the case
};

/// What FILE names: one schedule, or every case of the variants asked for.
struct Loaded {
  const Operator& op;
  Target target;
  std::string source, provenance;
  std::vector<Entry> entries;
  std::vector<std::string> reassociates;  ///< of the file's `numerics`
  std::vector<std::string> strange;       ///< variants of the file for none of the operator's types
};

const schedule::FileTemplate& template_of(const ScheduleFile& file, const schedule::FileCase& c) {
  return *std::find_if(file.templates().begin(), file.templates().end(),
                       [&](const schedule::FileTemplate& t) { return t.name == c.template_name; });
}

/// Every case that a file has for the operator, or with --type for those types.
void load_file(const Selection& select, Loaded& loaded) {
  loaded.source = schedule_path(select, loaded.target);
  const ScheduleFile file = ScheduleFile::load(loaded.source);
  loaded.provenance = file.provenance();
  loaded.reassociates = file.numerics().reassociates;
  std::set<std::string> found;
  for (const OperatorTypes& types : loaded.op.types) {
    if (!select.type.empty() && types.str() != choose_types(loaded.op, select.type, {}).str()) continue;
    const Pipeline pipeline = loaded.op.pipeline(types);
    const bool only = !select.type.empty() || &types == &loaded.op.types.back();
    if (!file.find_variant(pipeline) && (!only || !found.empty())) continue;
    file.check(pipeline);
    const schedule::FileVariant& variant = file.variant(pipeline);
    found.insert(variant.name);
    for (const std::size_t i : file.cases_of(variant)) {
      const schedule::FileCase& c = file.cases()[i];
      Schedule schedule = file.schedule(i);
      set_knobs(schedule, select);
      loaded.entries.push_back({types,
                                pipeline,
                                schedule::case_text(file, i),
                                {c.when, c.buffers, c.variant, c.template_name, c.measured},
                                std::move(schedule),
                                template_of(file, c)});
    }
  }
  for (const schedule::FileVariant& v : file.variants())
    if (select.type.empty() && !found.contains(v.name)) loaded.strange.push_back(v.name);
}

/// `each_type`: without --type one of the operator's own schedules for each of its types.
Loaded load(const Selection& select, bool each_type = false) {
  const Operator& op = find_operator(select.op);
  Loaded loaded{op, Target::parse(select.target), select.schedule.empty() ? "empty" : select.schedule, "", {},
                {}};
  if (is_file(select)) {
    load_file(select, loaded);
    return loaded;
  }
  std::vector<OperatorTypes> all = {choose_types(op, select.type, {})};
  if (each_type && select.type.empty()) all = op.types;
  for (const OperatorTypes& types : all) {
    const Pipeline pipeline = op.pipeline(types);
    ChosenSchedule chosen = choose_schedule(select, op, types, pipeline, loaded.target, {}, {});
    set_knobs(chosen.schedule, select);
    loaded.entries.push_back({types, pipeline, "", {}, std::move(chosen.schedule)});
  }
  return loaded;
}

std::vector<std::string> type_names(const Loaded& loaded) {
  std::vector<std::string> names;
  for (const Entry& e : loaded.entries)
    if (names.empty() || names.back() != e.types.str()) names.push_back(e.types.str());
  return names;
}

Json header(const Loaded& loaded) {
  const std::vector<std::string> types = type_names(loaded);
  return {{"operator", loaded.op.name},
          {"target", loaded.target.str()},
          {"type", types.front()},
          {"types", types},
          {"schedule", loaded.source}};
}

/// "f32, case 0: M 1 to 64; ..."
std::string entry_name(const Entry& entry) {
  return entry.types.str() + (entry.name.empty() ? "" : ", " + entry.name);
}

/// What `numerics` lists and no case does. Loading a file for one algorithm cannot know it.
std::vector<Diagnostic> listed_in_vain(const Loaded& loaded) {
  std::set<std::string> found;
  for (const Entry& e : loaded.entries)
    for (const std::string& entry :
         schedule::apply_or_throw(e.pipeline.graph(), e.schedule, loaded.target).numerics.reassociates)
      found.insert(entry);
  std::vector<Diagnostic> faults;
  for (const std::string& entry : loaded.reassociates)
    if (!found.contains(entry))
      faults.push_back({.kind = ErrorKind::Usage,
                        .message = fmt::format("'numerics' lists '{}', whose order no case changes", entry),
                        .value = entry,
                        .legal = fmt::format("{}", fmt::join(found, ", "))});
  return faults;
}

/// Templates whose needs are not what their cases need; `all`: every case of the file is loaded.
std::vector<Diagnostic> misstated_needs(const Loaded& loaded, bool all) {
  std::map<std::string, std::pair<schedule::FileTemplate, std::map<std::string, std::int64_t>>> needed;
  for (const Entry& e : loaded.entries) {
    if (e.name.empty()) continue;
    auto& [body, most] = needed[e.body.name];
    body = e.body;
    for (const auto& [need, value] :
         driver::device_needs(schedule::ways_or_throw(e.pipeline.graph(), e.schedule, loaded.target)))
      most[need] = std::max(most[need], value);
  }
  std::vector<Diagnostic> faults;
  for (const auto& [name, of] : needed)
    if (const auto d = driver::misstated_need(of.first, of.second, all)) faults.push_back(*d);
  return faults;
}

Outcome check(const Selection& select) {
  const Loaded loaded = load(select);
  if (is_file(select)) require_target(ScheduleFile::load(loaded.source), loaded.source, loaded.target);
  Outcome outcome;
  outcome.json = header(loaded);
  outcome.json["legal"] = true;
  outcome.json["diagnostics"] = Json::array();
  const auto report = [&](const Diagnostic& d, const std::string& of) {
    if (outcome.code == 0) outcome.json["error"] = to_json(d);
    outcome.code = 1;
    outcome.json["legal"] = false;
    outcome.json["diagnostics"].push_back(to_json(d));
    outcome.text += of + d.str() + "\n";
  };
  for (const std::string& variant : loaded.strange)
    report({.kind = ErrorKind::Usage,
            .message = fmt::format("the variant '{}' is for none of the element types of '{}'", variant,
                                   loaded.op.name),
            .value = variant,
            .legal = "variants of the operator as it is"},
           "");
  for (const Entry& e : loaded.entries)
    for (const Diagnostic& d : e.schedule.check(e.pipeline, loaded.target))
      report(d, loaded.entries.size() == 1 ? "" : entry_name(e) + ":\n");
  if (outcome.code == 0)
    for (const Diagnostic& d : misstated_needs(loaded, select.type.empty())) report(d, "");
  if (outcome.code == 0 && select.type.empty())
    for (const Diagnostic& d : listed_in_vain(loaded)) report(d, "");
  if (outcome.code == 0)
    outcome.text = fmt::format("{} is legal for {} ({}) on {}\n", loaded.source, loaded.op.name,
                               fmt::join(type_names(loaded), ", "), loaded.target.str());
  return outcome;
}

Json knobs_json(const Schedule& schedule) {
  Json knobs = Json::object();
  for (const Knob& knob : schedule.knobs()) knobs[knob.name] = knob.value;
  return knobs;
}

Outcome print(const Selection& select) {
  const Loaded loaded = load(select);
  Outcome outcome;
  outcome.json = header(loaded);
  outcome.json["knobs"] = knobs_json(loaded.entries.front().schedule);
  outcome.json["cases"] = Json::array();
  for (const Entry& e : loaded.entries) {
    std::string text = e.schedule.str();
    if (!text.empty() && text.back() != '\n') text += '\n';
    outcome.json["cases"].push_back(
        {{"type", e.types.str()}, {"case", e.name}, {"knobs", knobs_json(e.schedule)}, {"text", text}});
    if (loaded.entries.size() > 1) outcome.text += fmt::format("// {}\n", entry_name(e));
    outcome.text += text;
  }
  outcome.json["text"] = outcome.text;
  return outcome;
}

/// The schedule of a case without what its conditions assume, which stands at the end.
Schedule without_conditions(const Schedule& whole, std::size_t conditions) {
  Schedule s;
  for (const Knob& k : whole.knobs()) s.knob(k.name, k.value);
  for (std::size_t i = 0; i + conditions < whole.directives().size(); i++) s.append(whole.directives()[i]);
  return s;
}

Outcome save(const Selection& select, const std::string& path) {
  const Loaded loaded = load(select, true);
  ScheduleFile file(loaded.op.name, loaded.target);
  for (const Entry& e : loaded.entries) {
    Schedule directives = e.schedule;
    if (const std::size_t count = schedule::condition_count(e.as.when, e.as.buffers))
      directives = without_conditions(e.schedule, count);
    file.add(e.pipeline, directives, e.as);
  }
  if (!loaded.provenance.empty()) file.set_provenance(loaded.provenance);
  file.save(path);
  Outcome outcome;
  outcome.json = header(loaded);
  outcome.json["file"] = path;
  outcome.text = "wrote " + path + "\n";
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
  const std::string text = schedule::read_schedule_text(path);
  if (text.size() > schedule::largest_file)
    usage_error("the file is too large for a schedule", path,
                fmt::format("at most {} MB", schedule::largest_file >> 20));
  const Json file = Json::parse(text, limit_depth, false);
  if (too_deep) usage_error("the file is nested too deep for a schedule", path, "at most 64 levels");
  if (file.is_discarded() || !file.is_object() || !file.contains("calotype_schedule"))
    usage_error("the file is no schedule", path, "a JSON object with \"calotype_schedule\"");
  std::vector<std::string> lines;
  for (const auto& [key, value] : file.items()) {
    if (key == "provenance" || key == "templates" || key == "cases") continue;
    if (key != "variants" || !value.is_object()) {
      lines.push_back(key + ": " + value.dump());
      continue;
    }
    for (const auto& [name, variant] : value.items())
      lines.push_back(fmt::format("variant {}: {}", name, variant.dump()));
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
  if (options.action == "rebind") return rebind_files(options);
  if (options.action == "status") return status_of_files(options);
  return diff(options.file, options.other);
}

}  // namespace calotype::cli
