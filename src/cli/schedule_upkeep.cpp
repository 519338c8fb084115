// `calotype schedule rebind` and `schedule status`.
#include "cli/schedule_upkeep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "calotype/operator.h"
#include "cli/measured.h"
#include "cli/select.h"
#include "cli/usage.h"
#include "schedule/cases.h"

namespace calotype::cli {
namespace {

namespace fs = std::filesystem;

// The first file that `best` would find for each operator and architecture, by name.
std::vector<std::string> all_files() {
  std::set<std::string> seen;
  std::vector<std::string> files;
  std::error_code error;
  for (const std::string& root : schedule_folders())
    for (const Operator* op : operators())
      for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(root) / op->name, error))
        if (entry.path().extension() == ".json" &&
            seen.insert(op->name + "/" + entry.path().filename().string()).second)
          files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  if (files.empty())
    usage_error("there is no schedule file", "",
                fmt::format("FILE, or files in {}", fmt::join(schedule_folders(), ", ")));
  return files;
}

// "12.5 us at M=64 on a processor, 2026-01-31, calotype 0.1.0" from what the object has.
std::string measured_text(const Json& measured) {
  const auto plain = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  std::string text, at;
  const auto add = [&](const char* key, const char* before, const char* after) {
    if (measured.contains(key)) text += before + plain(measured[key]) + after;
  };
  add("us", "", " us");
  if (measured.contains("at") && measured["at"].is_object())
    for (const auto& [size, value] : measured["at"].items())
      at += fmt::format("{}{}={}", at.empty() ? " at " : ",", size, plain(value));
  text += at;
  add("on", " on ", "");
  add("date", ", ", "");
  add("calotype", ", calotype ", "");
  add("cuda", ", CUDA ", "");
  return text;
}

}  // namespace

Outcome rebind_files(const ScheduleOptions& options) {
  const Operator& op = find_operator(options.select.op);
  const std::string path = options.select.schedule, to = options.file.empty() ? path : options.file;
  ScheduleFile file = ScheduleFile::load(path);
  std::vector<std::string> changes;
  bool found = false;
  for (const OperatorTypes& types : op.types) {
    const Pipeline pipeline = op.pipeline(types);
    if (!file.find_variant(pipeline)) continue;
    found = true;
    for (const std::string& change : file.rebind(pipeline))
      if (std::find(changes.begin(), changes.end(), change) == changes.end()) changes.push_back(change);
  }
  if (!found) file.check(op.pipeline(op.types.front()));  // says how the structure differs
  file.save(to);
  Outcome outcome;
  outcome.json = {{"operator", op.name}, {"file", to}, {"renamed", changes}};
  for (const std::string& change : changes) outcome.text += change + "\n";
  outcome.text += changes.empty() ? fmt::format("the names of {} are the operator's; wrote {}\n", path, to)
                                  : fmt::format("wrote {}\n", to);
  return outcome;
}

Outcome status_of_files(const ScheduleOptions& options) {
  Outcome outcome;
  outcome.json["cases"] = Json::array();
  for (const std::string& path : options.files.empty() ? all_files() : options.files) {
    const ScheduleFile file = ScheduleFile::load(path);
    outcome.text += fmt::format("{}: {} on {}\n", path, file.operator_name(), file.target().str());
    for (std::size_t i = 0; i < file.cases().size(); i++) {
      const schedule::FileCase& c = file.cases()[i];
      const Json measured = c.measured.empty() ? Json(nullptr) : Json::parse(c.measured);
      const std::string stale = c.measured.empty() ? "" : stale_text(measured, file.schedule(i));
      const std::string state = c.measured.empty()
                                    ? "never measured"
                                    : measured_text(measured) + (stale.empty() ? "" : "; stale: " + stale);
      outcome.text += fmt::format("  {}, {}: {}\n", c.variant, schedule::case_text(file, i), state);
      outcome.json["cases"].push_back({{"file", path},
                                       {"operator", file.operator_name()},
                                       {"target", file.target().str()},
                                       {"variant", c.variant},
                                       {"case", schedule::case_text(file, i)},
                                       {"measured", measured},
                                       {"stale", stale}});
    }
  }
  return outcome;
}

}  // namespace calotype::cli
