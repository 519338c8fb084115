// From names on the command line to algorithm, schedule and target.
#include "cli/select.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "cli/usage.h"
#include "schedule/cases.h"

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

// The case of a checked file that these sizes and buffers take.
ChosenSchedule choose_case(const ScheduleFile& file, const std::string& path, const Pipeline& pipeline,
                           const Sizes& sizes, const schedule::CaseBuffers& buffers) {
  file.check(pipeline);
  const schedule::FileVariant& variant = file.variant(pipeline);
  const schedule::CaseOrder order(file, variant, file.target(),
                                  schedule::tensors_of_cases(pipeline.graph(), file, variant, file.target()));
  return {file.schedule(order.choose(sizes, buffers)),
          path,
          {},
          order.explain(sizes, buffers),
          static_cast<int>(file.cases_of(variant).size())};
}

// Why a file that was looked up is not for the algorithm.
std::string miss_text(const ScheduleFile& file, const std::string& path, const Pipeline& pipeline) {
  std::string variants;
  for (const schedule::FileVariant& v : file.variants())
    variants += fmt::format("{}{} of '{}'", variants.empty() ? "" : ", ", v.structure, v.name);
  return fmt::format(
      "{} is for other element types or another version of '{}': its structures are {}, and "
      "that of the algorithm is {}",
      path, pipeline.name(), variants, pipeline.fingerprint());
}

bool strict() {
  const char* value = std::getenv("CALOTYPE_SCHEDULE_STRICT");
  return value && std::string_view(value) == "1";
}

ChosenSchedule load_best(const std::string& path, const Pipeline& pipeline, const Target& target,
                         const Sizes& sizes, const schedule::CaseBuffers& buffers) {
  const ScheduleFile file = ScheduleFile::load(path);
  require_target(file, path, target);
  if (file.find_variant(pipeline)) return choose_case(file, path, pipeline, sizes, buffers);
  const std::string miss = miss_text(file, path, pipeline);
  if (strict()) usage_error(miss, "best", "a variant for it in the file, or CALOTYPE_SCHEDULE_STRICT unset");
  return {Schedule{}, "empty", {"warning: " + miss + "; it is passed over for the empty schedule"}};
}

}  // namespace

std::vector<std::string> schedule_folders() {
  std::vector<std::string> folders;
  for (const fs::path& root : schedule_roots()) folders.push_back(root.string());
  return folders;
}

bool is_file(const Selection& select) {
  return !select.schedule.empty() && select.schedule[0] != '@' && select.schedule != "empty";
}

std::string schedule_path(const Selection& select, const Target& target) {
  return select.schedule == "best" ? find_best(select.op, target) : select.schedule;
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

void require_target(const ScheduleFile& file, const std::string& path, const Target& target) {
  if (file.target().is_gpu() == target.is_gpu()) return;
  usage_error(
      fmt::format("{} is a schedule for {}, and the target is {}", path, file.target().str(), target.str()),
      target.str(),
      fmt::format("--target {}{}, or a schedule file for {}", file.target().str(),
                  file.target().is_gpu() ? " or the interpreter of it" : "", target.str()));
}

ChosenSchedule choose_schedule(const Selection& select, const Operator& op, const OperatorTypes& types,
                               const Pipeline& pipeline, const Target& target, const Sizes& sizes,
                               const schedule::CaseBuffers& buffers) {
  if (select.schedule.empty() || select.schedule == "empty") return {Schedule{}, "empty", {}};
  if (select.schedule == "best")
    return load_best(find_best(op.name, target), pipeline, target, sizes, buffers);
  if (select.schedule[0] == '@')
    return {op.schedule(select.schedule.substr(1)).make(types), select.schedule, {}};
  const ScheduleFile file = ScheduleFile::load(select.schedule);
  require_target(file, select.schedule, target);
  return choose_case(file, select.schedule, pipeline, sizes, buffers);
}

schedule::CaseBuffers made_buffers(const lang::Graph& graph, const Sizes& sizes) {
  constexpr std::uint64_t alignment = 64;
  schedule::CaseBuffers buffers;
  const auto add = [&](const std::string& name, Type type, const std::vector<Expr>& extents) {
    schedule::CaseBuffer b{.element = type.bytes(), .address = alignment};
    std::int64_t stride = b.element;
    for (const Expr& e : extents) {
      const std::optional<std::int64_t> extent = evaluate(e, graph, sizes);
      if (!extent) return;
      b.extents.push_back(*extent);
      b.strides.push_back(stride);
      stride *= *extent;
    }
    buffers[name] = std::move(b);
  };
  for (const lang::InputDef& input : graph.inputs) add(input.name, input.type, input.extents);
  for (const lang::OutputDef& output : graph.outputs)
    add(graph.output_name(output), graph.output_type(output), output.extents);
  return buffers;
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
