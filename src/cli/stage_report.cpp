// What `run --check=stages` and `--dump` found, for people and for programs.
#include "cli/stage_report.h"

#include <fmt/format.h>

#include "cli/report.h"

namespace calotype::cli {
namespace {

const char* kNoDirective = "no directive: the defaults";

std::string counts_text(const StageFinding& f) {
  if (f.box == 0) return "no output needs it at these sizes";
  if (f.elements == 0) return fmt::format("FAILED, none of the {} elements of its box was computed", f.box);
  std::string text = fmt::format("{}, {} of {} elements differ; max abs error {:.3g}, max rel error {:.3g}",
                                 f.passed() ? "passed" : "FAILED", f.different, f.elements, f.max_abs_error,
                                 f.max_rel_error);
  if (f.elements < f.box)
    text += fmt::format("; the schedule computes {} of the {} elements of its box", f.elements, f.box);
  return text;
}

std::string stage_text(const StageFinding& f) {
  std::string text = line("stage", f.name + ": " + counts_text(f));
  if (f.passed()) return text;
  if (f.different > 0) text += difference_text("first", f.first, "") + difference_text("worst", f.worst, "");
  for (const std::string& directive : f.directives) text += fmt::format("  under {}\n", directive);
  if (f.directives.empty()) text += fmt::format("  under {}\n", kNoDirective);
  return text;
}

Json stage_json(const StageFinding& f) {
  Json object = {{"name", f.name},
                 {"passed", f.passed()},
                 {"box", f.box},
                 {"elements", f.elements},
                 {"different", f.different},
                 {"max_abs_error", number(f.max_abs_error)},
                 {"max_rel_error", number(f.max_rel_error)},
                 {"directives", f.directives}};
  if (f.different == 0) return object;
  object["first"] = difference_json(f.first);
  object["worst"] = difference_json(f.worst);
  return object;
}

}  // namespace

std::string stages_text(const StageFindings& findings) {
  if (findings.compared.empty()) return "";
  std::string text;
  for (const StageFinding& f : findings.compared) text += stage_text(f);
  if (!findings.inlined.empty())
    text += line("inlined",
                 fmt::format("{}: no values of their own to compare", fmt::join(findings.inlined, ", ")));
  const StageFinding* first = findings.first_different();
  return text +
         line("stages", first ? fmt::format("FAILED: '{}' is the first that differs, from inputs to outputs",
                                            first->name)
                              : fmt::format("passed: {} compared", findings.compared.size()));
}

Json stages_json(const StageFindings& findings) {
  const StageFinding* first = findings.first_different();
  Json object = {{"first_different", first ? Json(first->name) : Json(nullptr)},
                 {"inlined", findings.inlined},
                 {"comparisons", Json::array()}};
  for (const StageFinding& f : findings.compared) object["comparisons"].push_back(stage_json(f));
  return object;
}

Json stage_error(const StageFinding& f) {
  const bool differs = f.different > 0;
  return {
      {"kind", "check"},
      {"func", f.name},
      {"stage", f.name},
      {"directive", f.directives.empty() ? kNoDirective : fmt::format("{}", fmt::join(f.directives, " "))},
      {"value", differs ? fmt::format("{}", f.worst.got) : ""},
      {"legal", differs ? fmt::format("{}", f.worst.expected) : ""},
      {"message",
       fmt::format("'{}' is the first stage that differs from the reference: {}", f.name, counts_text(f))}};
}

std::string dumps_text(const Pairs& dumps, const StageFindings& findings) {
  std::string text;
  for (const auto& [name, path] : dumps)
    text +=
        line("wrote", fmt::format("{}: {} over {}", path, name, box_text(findings.values_of(name).values)));
  return text;
}

Json dumps_json(const Pairs& dumps, const StageFindings& findings) {
  Json object = Json::object();
  for (const auto& [name, path] : dumps) {
    const Buffer& values = findings.values_of(name).values;
    Json min = Json::array(), extent = Json::array();
    for (int d = 0; d < values.rank(); ++d) {
      min.push_back(values.min(d));
      extent.push_back(values.extent(d));
    }
    object[name] = {{"file", path}, {"min", min}, {"extent", extent}};
  }
  return object;
}

}  // namespace calotype::cli
