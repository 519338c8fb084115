// `show --timings`.
#include "cli/timings.h"

#include <fmt/format.h>

namespace calotype::cli {
namespace {

constexpr int kHostCompilations = 5;

struct Part {
  std::string name;
  double seconds = 0;
  std::vector<driver::StepTime> steps;
};

std::vector<Part> parts_of(const Timings& timings) {
  std::vector<Part> parts;
  for (const driver::StepTime& step : timings.steps) {
    if (parts.empty() || parts.back().name != step.part) parts.push_back({step.part, 0, {}});
    parts.back().seconds += step.seconds;
    parts.back().steps.push_back(step);
  }
  return parts;
}

double share(double seconds, const Timings& timings) {
  return timings.seconds > 0 ? seconds / timings.seconds : 0;
}

std::string row(const std::string& part, const std::string& step, double seconds, const Timings& timings) {
  return fmt::format("{:<16}{:<28}{:>10.3f}{:>8.1f}%\n", part, step, seconds * 1e3,
                     100 * share(seconds, timings));
}

}  // namespace

Timings time_compilation(const Pipeline& pipeline, const Schedule& schedule, const Target& target) {
  Timings best;
  const int compilations = target.kind == Target::Kind::Host ? kHostCompilations : 1;
  for (int i = 0; i < compilations; ++i) {
    const Kernel kernel = pipeline.compile(schedule, target);
    const double seconds = kernel.compile_seconds();
    if (i == 0) best.first_seconds = seconds;
    if (i > 0 && seconds >= best.seconds) continue;
    best.seconds = seconds;
    best.steps = kernel.impl().step_times();
  }
  best.compilations = compilations;
  return best;
}

std::string timings_text(const Timings& timings) {
  std::string text = fmt::format("{:<16}{:<28}{:>10}{:>9}\n", "part", "step", "ms", "share");
  for (const Part& part : parts_of(timings)) {
    for (std::size_t i = 0; i < part.steps.size(); ++i)
      text += row(i == 0 ? part.name : "", part.steps[i].step, part.steps[i].seconds, timings);
    if (part.steps.size() > 1) text += row("", "  together", part.seconds, timings);
  }
  text += row("all", "", timings.seconds, timings);
  if (timings.compilations > 1)
    text +=
        fmt::format("the fastest of {} compilations; the first, which sets the backend up, took {:.3f} ms\n",
                    timings.compilations, timings.first_seconds * 1e3);
  return text;
}

Json timings_json(const Timings& timings) {
  Json object = {{"seconds", timings.seconds},
                 {"first_seconds", timings.first_seconds},
                 {"compilations", timings.compilations},
                 {"parts", Json::array()}};
  for (const Part& part : parts_of(timings)) {
    Json entry = {{"part", part.name},
                  {"seconds", part.seconds},
                  {"share", share(part.seconds, timings)},
                  {"steps", Json::array()}};
    for (const driver::StepTime& step : part.steps)
      entry["steps"].push_back(
          {{"step", step.step}, {"seconds", step.seconds}, {"share", share(step.seconds, timings)}});
    object["parts"].push_back(std::move(entry));
  }
  return object;
}

}  // namespace calotype::cli
