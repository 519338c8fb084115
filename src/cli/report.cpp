// What `run` found, for people and for programs.
#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/sizes.h"
#include "cli/stage_report.h"
#include "cli/tail.h"

namespace calotype::cli {
namespace {

std::string seconds(double s) {
  return s < 1e-3 ? fmt::format("{:.2f} us", s * 1e6)
         : s < 1  ? fmt::format("{:.3f} ms", s * 1e3)
                  : fmt::format("{:.3f} s", s);
}

std::string tail_text(const std::string& tail) {
  return tail.empty() ? "; in no tail" : "; in the tail of " + tail;
}

Json placed_json(const Difference& d, const std::string& tail) {
  Json object = difference_json(d);
  object["in_tail"] = !tail.empty();
  object["tail"] = tail;
  return object;
}

Json comparison_json(const PlacedComparison& placed) {
  const Comparison& c = placed.comparison;
  Json object = {{"name", c.name},
                 {"elements", c.elements},
                 {"different", c.different},
                 {"max_abs_error", number(c.max_abs_error)},
                 {"max_rel_error", number(c.max_rel_error)}};
  if (c.passed()) return object;
  object["first"] = placed_json(c.first, placed.first_tail);
  object["worst"] = placed_json(c.worst, placed.worst_tail);
  return object;
}

Json knobs_json(const Trial& trial) {
  Json knobs = Json::object();
  for (const auto& [name, value] : trial.knobs) knobs[name] = value;
  return knobs;
}

// A failed check in the shape of every other failure.
Json check_error(const PlacedComparison& placed) {
  const Comparison& c = placed.comparison;
  return {{"kind", "check"},
          {"func", c.name},
          {"stage", c.name},
          {"directive", placed.worst_tail},
          {"value", fmt::format("{}", c.worst.got)},
          {"legal", fmt::format("{}", c.worst.expected)},
          {"message", fmt::format("{} of {} elements of '{}' differ from the reference", c.different,
                                  c.elements, c.name)}};
}

std::string comparison_text(const PlacedComparison& placed) {
  const Comparison& c = placed.comparison;
  std::string text = line(
      "check", fmt::format("{}: {}, {} of {} elements differ; max abs error {:.3g}, max rel error {:.3g}",
                           c.name, c.passed() ? "passed" : "FAILED", c.different, c.elements, c.max_abs_error,
                           c.max_rel_error));
  if (c.passed()) return text;
  return text + difference_text("first", c.first, tail_text(placed.first_tail)) +
         difference_text("worst", c.worst, tail_text(placed.worst_tail));
}

}  // namespace

std::string line(const char* label, const std::string& value) {
  return fmt::format("{:<10}{}\n", label, value);
}

std::string difference_text(const char* which, const Difference& d, const std::string& where) {
  return fmt::format("  {} at ({}): got {}, expected {}{}{}\n", which, fmt::join(d.at, ", "), d.got,
                     d.expected, d.allowed > 0 ? fmt::format(" within {:.3g} of {}", d.allowed, d.exact) : "",
                     where);
}

Json difference_json(const Difference& d) {
  return {{"at", d.at},
          {"got", number(d.got)},
          {"expected", number(d.expected)},
          {"exact", number(d.exact)},
          {"allowed", number(d.allowed)}};
}

std::vector<PlacedComparison> place(const std::vector<Comparison>& comparisons, const Pipeline& pipeline,
                                    const Schedule& schedule, const Target& target, const Call& call) {
  std::vector<PlacedComparison> placed;
  for (const Comparison& c : comparisons) placed.push_back({c, "", ""});
  const lang::Graph& graph = pipeline.graph();
  const auto failed = [](const Comparison& c) { return !c.passed(); };
  if (std::none_of(comparisons.begin(), comparisons.end(), failed)) return placed;
  const schedule::Scheduled scheduled =
      driver::schedule_for(graph, schedule, target, {call.inputs, call.params, call.sizes});
  for (PlacedComparison& p : placed)
    for (const lang::OutputDef& output : graph.outputs) {
      if (graph.output_name(output) != p.comparison.name || p.comparison.passed()) continue;
      const std::vector<std::int64_t> extents =
          extents_of(output.extents, p.comparison.name, graph, call.sizes);
      p.first_tail = tail_at(scheduled, output.func, p.comparison.first.at, extents);
      p.worst_tail = tail_at(scheduled, output.func, p.comparison.worst.at, extents);
    }
  return placed;
}

Json facts_json(const RunFacts& facts) {
  Json object = {
      {"operator", facts.op}, {"target", facts.target}, {"type", facts.types}, {"schedule", facts.schedule}};
  object["sizes"] = facts.sizes;
  object["params"] = facts.params;
  object["seed"] = facts.seed;
  object["threads"] = facts.threads > 0 ? Json(facts.threads) : Json(nullptr);
  object["notes"] = facts.notes;
  return object;
}

std::string facts_text(const RunFacts& facts) {
  std::string text = line("operator", fmt::format("{} ({})", facts.op, facts.types));
  text += line("target", facts.target);
  text += line("schedule", facts.schedule == "empty" ? "empty: every stage by the defaults" : facts.schedule);
  text += line("sizes", to_string(facts.sizes));
  for (const auto& [name, value] : facts.params) text += line("param", fmt::format("{} = {}", name, value));
  for (const std::string& note : facts.notes) text += line("note", note);
  return text;
}

void add_trial_json(Json& object, const Trial& trial, const std::vector<PlacedComparison>& placed) {
  object["compile_seconds"] = trial.compile_seconds;
  object["median_seconds"] = trial.median_seconds;
  object["calls"] = trial.calls;
  object["numerics"] = Json::parse(trial.numerics, nullptr, false);
  object["warnings"] = trial.warnings;
  const bool compared = !placed.empty();
  double abs_error = 0, rel_error = 0;
  for (const PlacedComparison& p : placed) {
    abs_error = std::max(abs_error, p.comparison.max_abs_error);
    rel_error = std::max(rel_error, p.comparison.max_rel_error);
  }
  object["checked"] = compared ? Json(trial.passed()) : Json(nullptr);
  object["max_abs_error"] = compared ? number(abs_error) : Json(nullptr);
  object["max_rel_error"] = compared ? number(rel_error) : Json(nullptr);
  if (!compared) return;
  if (!trial.stages.compared.empty()) object["stages"] = stages_json(trial.stages);
  if (const StageFinding* stage = trial.stages.first_different()) object["error"] = stage_error(*stage);
  object["comparisons"] = Json::array();
  for (const PlacedComparison& p : placed) {
    object["comparisons"].push_back(comparison_json(p));
    if (!p.comparison.passed() && !object.contains("error")) object["error"] = check_error(p);
  }
}

std::string trial_text(const Trial& trial, const std::vector<PlacedComparison>& placed) {
  std::string text = line("compile", seconds(trial.compile_seconds));
  text += line("median", fmt::format("{} of {} call{}", seconds(trial.median_seconds), trial.calls,
                                     trial.calls == 1 ? "" : "s"));
  if (trial.numerics != "{}" && !trial.numerics.empty()) text += line("numerics", trial.numerics);
  for (const std::string& warning : trial.warnings) text += line("warning", warning);
  for (const PlacedComparison& p : placed) text += comparison_text(p);
  return text + stages_text(trial.stages);
}

// "passed", or "FAILED" with the first stage that differs.
static std::string verdict(const Trial& trial) {
  if (trial.comparisons.empty()) return "no";
  const StageFinding* stage = trial.stages.first_different();
  return trial.passed() ? "passed" : stage ? fmt::format("FAILED in '{}'", stage->name) : "FAILED";
}

std::string trials_text(const std::vector<Trial>& trials) {
  std::string text;
  for (const auto& [name, value] : trials.front().knobs) text += fmt::format("{:>8} ", name);
  text += fmt::format("{:>12} {:>12}  {}\n", "compile", "median", "checked");
  for (const Trial& trial : trials) {
    for (const auto& [name, value] : trial.knobs) text += fmt::format("{:>8} ", value);
    if (trial.refusal)
      text += fmt::format("{:>12} {:>12}  refused: {}\n", "-", "-", trial.refusal->message);
    else
      text += fmt::format("{:>12} {:>12}  {}\n", seconds(trial.compile_seconds),
                          seconds(trial.median_seconds), verdict(trial));
  }
  return text;
}

Json trials_json(const std::vector<Trial>& trials) {
  Json list = Json::array();
  for (const Trial& trial : trials) {
    Json entry = {{"knobs", knobs_json(trial)}, {"legal", !trial.refusal.has_value()}};
    if (trial.refusal) {
      entry["reason"] = to_json(*trial.refusal);
    } else {
      std::vector<PlacedComparison> plain;
      for (const Comparison& c : trial.comparisons) plain.push_back({c, "", ""});
      add_trial_json(entry, trial, plain);
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace calotype::cli
