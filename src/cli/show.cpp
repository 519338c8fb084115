// `calotype show`: the text of a stage of compilation.
#include <fmt/format.h>

#include <sstream>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/html_page.h"
#include "cli/inputs.h"
#include "cli/select.h"
#include "cli/timings.h"
#include "cli/usage.h"
#include "schedule/ways.h"

namespace calotype::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The levels that need no backend come from the algorithm and schedule alone.
std::string level_text(const std::string& level, const Pipeline& pipeline, const Schedule& schedule,
                       const Target& target) {
  if (level == "algorithm") return pipeline.str();
  if (level == "schedule")
    return schedule::to_string(schedule::ways_or_throw(pipeline.graph(), schedule, target));
  return pipeline.compile(schedule, target).show(level);
}

// The kernel serves every size; sizes that are named are checked and what follows from them stands at the
// top.
std::string sizes_text(const Pipeline& pipeline, const Sizes& asked) {
  if (asked.empty()) return "";
  const lang::Graph& graph = pipeline.graph();
  const Sizes sizes = bind_sizes(graph, {}, asked, {});
  std::string text = "# sizes: " + to_string(sizes) + "\n";
  auto add = [&](const char* kind, const std::string& name, const std::vector<Expr>& extents) {
    text +=
        fmt::format("# {} {}: {}\n", kind, name, fmt::join(extents_of(extents, name, graph, sizes), " x "));
  };
  for (const lang::InputDef& input : graph.inputs) add("input", input.name, input.extents);
  for (const lang::OutputDef& output : graph.outputs)
    add("output", graph.output_name(output), output.extents);
  return text;
}

// Of a file with several cases: which of them the text is of. Cases are the whole text of their own level.
std::string cases_text(const ChosenSchedule& chosen, const std::string& level) {
  if (level == "cases")
    return chosen.explanation.empty() ? "the schedule has no cases\n" : chosen.explanation;
  std::string text;
  if (chosen.cases > 1)
    for (const std::string& line : lines_of(chosen.explanation)) text += "# " + line + "\n";
  return text;
}

std::string page(const std::string& op, const std::string& types, const Pipeline& pipeline,
                 const ChosenSchedule& chosen, const Target& target) {
  const Kernel kernel = pipeline.compile(chosen.schedule, target);
  PageContents contents{.title = op + " for " + target.str(),
                        .facts = {{"types", types}, {"schedule", chosen.source}},
                        .loops = kernel.show("sync"),
                        .schedule = kernel.show("schedule"),
                        .codes = {{"Lowered", kernel.show("lowered")}}};
  if (target.kind == Target::Kind::Host) contents.codes.emplace_back("Assembly", kernel.show("asm"));
  if (target.kind == Target::Kind::Cuda) contents.codes.emplace_back("CUDA C", kernel.show("cuda"));
  return html_page(contents);
}

// What was asked for, and in JSON under a name of its own where that says more than the text.
struct Shown {
  std::string text;
  Json json = Json::object();
};

Shown shown(const ShowOptions& options, const Pipeline& pipeline, const ChosenSchedule& chosen,
            const Target& target) {
  if (options.timings) {
    const Timings timings = time_compilation(pipeline, chosen.schedule, target);
    return {timings_text(timings), {{"timings", timings_json(timings)}}};
  }
  if (options.level == "cases") return {};
  return {level_text(options.level, pipeline, chosen.schedule, target)};
}

}  // namespace

Outcome show_command(const ShowOptions& options) {
  const Selection& select = options.select;
  const Operator& op = find_operator(select.op);
  const Target target = Target::parse(select.target);
  const OperatorTypes types = choose_types(op, select.type, {});
  const Pipeline pipeline = op.pipeline(types);
  ChosenSchedule chosen = choose_schedule(select, op, types, pipeline, target, select.sizes,
                                          made_buffers(pipeline.graph(), select.sizes));
  set_knobs(chosen.schedule, select);
  Outcome outcome;
  outcome.json = {
      {"operator", op.name}, {"target", target.str()}, {"type", types.str()}, {"schedule", chosen.source}};
  std::string text;
  if (options.html) {
    text = page(op.name, types.str(), pipeline, chosen, target);
  } else {
    const Shown what = shown(options, pipeline, chosen, target);
    text = sizes_text(pipeline, select.sizes) + cases_text(chosen, options.level) + what.text;
    if (text.empty() || text.back() != '\n') text += '\n';
    if (!options.level.empty()) outcome.json["level"] = options.level;
    outcome.json["text"] = text;
    outcome.json.update(what.json);
  }
  if (options.output.empty()) {
    outcome.text = text;
    return outcome;
  }
  write_file(options.output, text);
  outcome.json["file"] = options.output;
  outcome.text = "wrote " + options.output + "\n";
  return outcome;
}

}  // namespace calotype::cli
