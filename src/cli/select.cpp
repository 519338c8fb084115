// From names on the command line to algorithm, schedule and target.
#include "cli/select.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/files.h"
#include "cli/usage.h"

namespace calotype::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> schedule_roots() {
  std::vector<fs::path> roots;
  if (const char* given = std::getenv("CALOTYPE_SCHEDULES")) roots.emplace_back(given);
  roots.emplace_back("schedules");
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) roots.push_back(program.parent_path().parent_path() / "share" / "calotype" / "schedules");
#ifdef CALOTYPE_SCHEDULE_DIR
  roots.emplace_back(CALOTYPE_SCHEDULE_DIR);
#endif
  return roots;
}

// Which schedules/OP/*.json there is for a target: one for all CPUs, one for each GPU architecture.
std::string best_name(const Target& target) {
  if (target.kind == Target::Kind::Host) return "host.json";
  return (target.arch.empty() ? "sm_90a" : target.arch) + ".json";
}

ChosenSchedule load_best(const Operator& op, const Pipeline& pipeline, const Target& target) {
  const std::string path = find_best(op.name, target);
  if (made_for(path, pipeline)) return {Schedule::load(path, pipeline), path, {}};
  return {Schedule{},
          "empty",
          {fmt::format(
              "warning: {} is for other element types or another version of '{}' and is passed over for the "
              "empty schedule",
              path, op.name)}};
}

}  // namespace

// A file that is no JSON counts as made for anything: loading it says what is wrong with it.
bool made_for(const std::string& path, const Pipeline& pipeline) {
  const std::string text = read_file(path);
  return text.find(pipeline.fingerprint()) != std::string::npos || !nlohmann::json::accept(text);
}

std::string find_best(const std::string& op, const Target& target) {
  std::string tried;
  for (const fs::path& root : schedule_roots()) {
    const fs::path path = root / op / best_name(target);
    std::error_code error;
    if (fs::exists(path, error)) return path.string();
    tried += (tried.empty() ? "" : ", ") + path.string();
  }
  usage_error(fmt::format("operator '{}' has no schedule file for target {}", op, target.str()), "best",
              "one of these files: " + tried);
}

ChosenSchedule choose_schedule(const Selection& select, const Operator& op, const OperatorTypes& types,
                               const Pipeline& pipeline, const Target& target) {
  if (select.schedule.empty() || select.schedule == "empty") return {Schedule{}, "empty", {}};
  if (select.schedule == "best") return load_best(op, pipeline, target);
  if (select.schedule[0] == '@')
    return {op.schedule(select.schedule.substr(1)).make(types), select.schedule, {}};
  return {Schedule::load(select.schedule, pipeline), select.schedule, {}};
}

std::vector<Knobs> combinations(const KnobValues& values) {
  std::vector<Knobs> all(1);
  for (const auto& [name, choices] : values) {
    std::vector<Knobs> longer;
    for (const Knobs& start : all)
      for (std::int64_t value : choices) {
        longer.push_back(start);
        longer.back().emplace_back(name, value);
      }
    all = std::move(longer);
  }
  return all;
}

Schedule with_knobs(Schedule schedule, const Knobs& knobs) {
  for (const auto& [name, value] : knobs) schedule.set(name, value);
  return schedule;
}

void set_knobs(Schedule& schedule, const Selection& select) {
  for (const auto& [name, values] : select.knobs) {
    if (values.size() != 1)
      usage_error("several values of a knob only make sense for `run`", name,
                  "one value: --set " + name + "=V");
    schedule.set(name, values.front());
  }
}

}  // namespace calotype::cli
