// `calotype run`: one operator under one schedule, or under every combination of the knobs given with --set.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/measured.h"
#include "cli/profile_report.h"
#include "cli/report.h"
#include "cli/select.h"
#include "cli/stage_report.h"
#include "cli/threads.h"
#include "cli/usage.h"
#include "driver/buffer_reader.h"
#include "driver/stage_values.h"
#include "schedule/forms.h"

namespace calotype::cli {
namespace {

struct Run {
  const RunOptions& options;
  const Operator& op;
  Target target;
  OperatorTypes types;
  Pipeline pipeline;
  ChosenSchedule chosen;
  Call call;
  RunFacts facts;
  std::optional<Evaluation> reference;

  Trial attempt(const Schedule& schedule) const {
    const bool compare_stages = options.check == CheckMode::Stages;
    StageFindings stages;
    if (compare_stages || !options.dumps.empty())
      stages = examine_stages(pipeline, schedule, target, call, compare_stages, options.dumps);
    Trial trial =
        try_schedule(pipeline, schedule, target, call, options.repeat, reference ? &*reference : nullptr);
    trial.stages = std::move(stages);
    return trial;
  }
};

Run prepare(const RunOptions& options) {
  const Selection& select = options.select;
  const Operator& op = find_operator(select.op);
  const Target target = Target::parse(select.target);
  std::vector<std::string> notes;
  const std::vector<InputFile> files = load_inputs(options.inputs, notes);
  const OperatorTypes types = choose_types(op, select.type, files);
  const Pipeline pipeline = op.pipeline(types);
  check_outputs(options.outputs, pipeline.graph());
  Call call = make_call(op, pipeline, files, options);
  ChosenSchedule chosen = choose_schedule(
      select, op, types, pipeline, target, call.sizes,
      driver::BufferReader(pipeline.graph(), schedule::argument_names(pipeline.graph()), target)
          .read(call.arguments(pipeline.graph())));
  notes.insert(notes.end(), chosen.notes.begin(), chosen.notes.end());
  notes.insert(notes.end(), call.notes.begin(), call.notes.end());
  RunFacts facts{op.name,     target.str(), types.str(),     chosen.source, call.sizes,
                 call.params, options.seed, options.threads, notes};
  return {options,          op,          target, types, pipeline, std::move(chosen), std::move(call),
          std::move(facts), std::nullopt};
}

// The fastest trial that is legal and has not failed its check.
const Trial* best_of(const std::vector<Trial>& trials) {
  const Trial* best = nullptr;
  for (const Trial& trial : trials)
    if (!trial.refusal && trial.passed() && (!best || trial.median_seconds < best->median_seconds))
      best = &trial;
  return best;
}

void save_best(const Run& run, const Trial* best, Outcome& outcome) {
  const std::string& file = run.options.save_best;
  if (file.empty()) return;
  if (!best) usage_error("no combination of --set is legal and right, so there is none to save", file);
  Schedule schedule = with_knobs(run.chosen.schedule, best->knobs);
  schedule::FileNotes notes = schedule.notes();
  notes.measured = measured_json(schedule, run.target, run.call.sizes, best->median_seconds).dump();
  schedule.set_notes(std::move(notes));
  schedule.save(file, run.pipeline, run.target);
  outcome.json["saved"] = file;
  outcome.text += line("saved", file);
}

void explain(const ChosenSchedule& chosen, Outcome& outcome) {
  const std::string text = chosen.explanation.empty() ? "the schedule has no cases\n" : chosen.explanation;
  outcome.text += text;
  outcome.json["explain"] = text;
}

// After the plain kernel has run: the outputs hold the same values again.
void add_profile(const Run& run, const Schedule& schedule, double median_seconds, Outcome& outcome) {
  const lang::Graph& graph = run.pipeline.graph();
  const driver::StageArguments arguments{run.call.inputs, run.call.params, run.call.sizes};
  const driver::Profile profile = driver::profile(
      graph, driver::schedule_for(graph, schedule, run.target, arguments), arguments, run.call.outputs);
  outcome.json["profile"] = profile_json(profile);
  outcome.text += profile_text(profile, median_seconds);
}

Outcome run_one(const Run& run, const Knobs& knobs) {
  Outcome outcome;
  const Schedule schedule = with_knobs(run.chosen.schedule, knobs);
  Trial trial = run.attempt(schedule);
  trial.knobs = knobs;
  const std::vector<PlacedComparison> placed =
      place(trial.comparisons, run.pipeline, schedule, run.target, run.call);
  outcome.json = facts_json(run.facts);
  add_trial_json(outcome.json, trial, placed);
  outcome.text = facts_text(run.facts) + trial_text(trial, placed);
  if (run.options.profile) add_profile(run, schedule, trial.median_seconds, outcome);
  write_outputs(run.options.outputs, run.call, run.pipeline.graph());
  for (const auto& [name, path] : run.options.outputs) outcome.text += line("wrote", path);
  write_dumps(run.options.dumps, trial.stages);
  outcome.text += dumps_text(run.options.dumps, trial.stages);
  if (!run.options.dumps.empty()) outcome.json["dumps"] = dumps_json(run.options.dumps, trial.stages);
  save_best(run, best_of({trial}), outcome);
  outcome.code = trial.passed() ? 0 : 1;
  return outcome;
}

// A combination that the schedule or target refuses is a line of the table; anything else ends the run.
Trial attempt_or_refusal(const Run& run, const Knobs& knobs) {
  const Schedule schedule = with_knobs(run.chosen.schedule, knobs);
  Trial trial;
  try {
    trial = run.attempt(schedule);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Schedule && error.kind() != ErrorKind::Argument) throw;
    trial.refusal = error.diagnostic();
  }
  trial.knobs = knobs;
  return trial;
}

Outcome run_table(const Run& run, const std::vector<Knobs>& all) {
  for (const Pairs* files : {&run.options.outputs, &run.options.dumps})
    if (!files->empty())
      usage_error("several values of --set do not say which values to write", files->front().second,
                  "one value a knob with --output and --dump");
  if (run.options.profile)
    usage_error("several values of --set do not say which to profile", "--profile", "one value a knob");
  std::vector<Trial> trials;
  for (const Knobs& knobs : all) trials.push_back(attempt_or_refusal(run, knobs));
  const Trial* best = best_of(trials);
  Outcome outcome;
  outcome.json = facts_json(run.facts);
  if (best) {
    std::vector<PlacedComparison> plain;
    for (const Comparison& c : best->comparisons) plain.push_back({c, "", ""});
    add_trial_json(outcome.json, *best, plain);
    outcome.json["best"] = Json::object();
    for (const auto& [name, value] : best->knobs) outcome.json["best"][name] = value;
  }
  outcome.json["trials"] = trials_json(trials);
  outcome.text = facts_text(run.facts) + trials_text(trials);
  save_best(run, best, outcome);
  for (const Trial& trial : trials)
    if (!trial.passed()) outcome.code = 1;
  return outcome;
}

}  // namespace

Outcome run_command(const RunOptions& options) {
  set_threads(options.threads);
  Run run = prepare(options);
  if (options.profile && run.target.kind != Target::Kind::Host)
    usage_error("--profile measures code of the host", run.target.str(), "--target host");
  if (options.check != CheckMode::None) {
    std::vector<Buffer> inputs = run.call.inputs;
    run.reference = run.pipeline.evaluate(inputs, run.call.params, run.call.sizes);
  }
  const std::vector<Knobs> all = combinations(options.select.knobs);
  Outcome outcome = all.size() == 1 ? run_one(run, all.front()) : run_table(run, all);
  if (options.explain) explain(run.chosen, outcome);
  return outcome;
}

}  // namespace calotype::cli
