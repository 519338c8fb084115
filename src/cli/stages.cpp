// `run --check=stages` and `--dump`.
#include "cli/stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/files.h"
#include "cli/npy.h"
#include "cli/usage.h"
#include "schedule/spelling.h"

namespace calotype::cli {
namespace {

bool contains(const std::vector<lang::FuncId>& ids, lang::FuncId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

lang::FuncId find_stage(const std::string& name, const schedule::Scheduled& scheduled,
                        const std::vector<lang::FuncId>& realised) {
  std::vector<std::string> names;
  for (const lang::FuncId id : realised) names.push_back(scheduled.graph.func(id).name);
  const lang::FuncDef* func = scheduled.graph.find_func(name);
  if (!func)
    usage_error(fmt::format("'{}' has no such stage under this schedule", scheduled.graph.name), name,
                did_you_mean(name, names));
  if (!contains(realised, func->id))
    usage_error(
        fmt::format("'{}' is computed inline under this schedule, so it has no values of its own", name),
        name, fmt::format("compute_root or compute_at for it, or one of: {}", fmt::join(names, ", ")));
  return func->id;
}

std::vector<lang::FuncId> dumped_stages(const Pairs& dumps, const schedule::Scheduled& scheduled,
                                        const std::vector<lang::FuncId>& realised) {
  std::vector<lang::FuncId> stages;
  for (const auto& [name, path] : dumps) {
    const lang::FuncId id = find_stage(name, scheduled, realised);
    if (extension(path) != ".npy")
      usage_error("the kind of file cannot hold the values of a stage", path, ".npy");
    if (!contains(stages, id)) stages.push_back(id);
  }
  return stages;
}

}  // namespace

const StageFinding* StageFindings::first_different() const {
  const auto at =
      std::find_if(compared.begin(), compared.end(), [](const StageFinding& f) { return !f.passed(); });
  return at == compared.end() ? nullptr : &*at;
}

const driver::StageValues& StageFindings::values_of(const std::string& name) const {
  return *std::find_if(values.begin(), values.end(),
                       [&](const driver::StageValues& v) { return v.name == name; });
}

StageFindings examine_stages(const Pipeline& pipeline, const Schedule& schedule, const Target& target,
                             const Call& call, bool compare, const Pairs& dumps) {
  const lang::Graph& graph = pipeline.graph();
  const driver::StageArguments arguments{call.inputs, call.params, call.sizes};
  const schedule::Scheduled scheduled = driver::schedule_for(graph, schedule, target, arguments);
  const std::vector<lang::FuncId> realised = driver::realised_stages(scheduled),
                                  dumped = dumped_stages(dumps, scheduled, realised),
                                  &stages = compare ? realised : dumped;
  StageFindings findings;
  findings.values = driver::run_stages(graph, scheduled, stages, arguments);
  if (!compare) return findings;
  for (const lang::FuncId id : scheduled.order)
    if (!contains(realised, id)) findings.inlined.push_back(scheduled.graph.func(id).name);
  const auto reference = driver::reference_stages(graph, scheduled, stages, arguments);
  for (driver::StageComparison& c : driver::compare_stages(findings.values, reference)) {
    std::vector<std::string> directives = schedule::cpp_of_func(schedule, c.name);
    findings.compared.push_back({std::move(c), std::move(directives)});
  }
  return findings;
}

void write_dumps(const Pairs& dumps, const StageFindings& findings) {
  for (const auto& [name, path] : dumps) {
    const Buffer& values = findings.values_of(name).values;
    if (!values.defined())
      usage_error("no output needs the stage at these sizes, so it has no values", name, "larger sizes");
    write_npy(path, values.translate(std::vector<std::int64_t>(values.rank(), 0)));
  }
}

std::string box_text(const Buffer& values) {
  std::vector<std::string> parts;
  for (int d = 0; d < values.rank(); ++d)
    parts.push_back(fmt::format("[{}, {}]", values.min(d), values.min(d) + values.extent(d) - 1));
  return parts.empty() ? "one value" : fmt::format("{}", fmt::join(parts, " x "));
}

}  // namespace calotype::cli
