// The command line, read with CLI11. Values with a grammar of their own (NAME=N,...) are taken as text and
// parsed here, so that their errors name what would be legal.
#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "cli/usage.h"

namespace calotype::cli {
namespace {

// Text of the options as CLI11 collects it.
struct Raw {
  std::vector<std::string> sizes, knobs, inputs, outputs, dumps, params;
  std::string check, seed, threads, repeat;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::pair<std::string, std::string> pair_of(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    usage_error(option + " wants NAME=VALUE", text, option + " NAME=VALUE");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Pairs pairs_of(const std::string& option, const std::vector<std::string>& texts) {
  Pairs pairs;
  for (const std::string& text : texts) pairs.push_back(pair_of(option, text));
  return pairs;
}

template <class T>
T number(const std::string& option, const std::string& text, const std::string& legal) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) usage_error(option + " wants a number", text, legal);
  return value;
}

// A count that an option gives; 0 where it is not given.
int positive(const std::string& option, const std::string& text) {
  if (text.empty()) return 0;
  const int value = number<int>(option, text, "an integer of 1 or more");
  if (value < 1) usage_error(option + " is 1 at least", text, "an integer of 1 or more, or no " + option);
  return value;
}

// --size M=4,N=5 --size K=6
std::map<std::string, std::int64_t> parse_sizes(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> sizes;
  for (const std::string& text : texts)
    for (const std::string& part : split(text, ',')) {
      const auto [name, value] = pair_of("--size", part);
      const auto size = number<std::int64_t>("--size", value, "an integer of 0 or more");
      if (size < 0) usage_error("a size is never negative", part, "an integer of 0 or more");
      if (const auto [at, fresh] = sizes.emplace(name, size); !fresh && at->second != size)
        usage_error("--size gives one name two values", name, "one value a name");
    }
  return sizes;
}

std::map<std::string, double> parse_params(const std::vector<std::string>& texts) {
  std::map<std::string, double> params;
  for (const auto& [name, value] : pairs_of("--param", texts))
    if (!params.emplace(name, number<double>("--param", value, "a number")).second)
      usage_error("--param gives a name twice", name, "one value a name");
  return params;
}

CheckMode parse_check(const std::string& text) {
  if (text.empty()) return CheckMode::None;
  if (text == "values") return CheckMode::Values;
  if (text == "stages") return CheckMode::Stages;
  usage_error("--check takes no such value", text, "--check or --check=stages");
}

// A repeatable option that takes one argument each time, so that what follows is not swallowed.
void repeated(CLI::App* app, const std::string& name, std::vector<std::string>& to, const std::string& help) {
  app->add_option(name, to, help)->allow_extra_args(false)->expected(1)->take_all();
}

void add_selection(CLI::App* app, Selection& select, Raw& raw) {
  app->add_option("OPERATOR", select.op, "name of the operator, as `list` prints it")->required();
  app->add_option("--target", select.target,
                  "host, cuda, cuda-interpreter, or with an architecture as cuda-sm_90a");
  app->add_option("--type", select.type, "element types: bf16, or A=s8,B=s8,C=s32");
  repeated(app, "--set", raw.knobs, "KNOB=V1,V2,...: values of a knob of the schedule");
}

void add_schedule(CLI::App* app, Selection& select) {
  app->add_option(
      "--schedule", select.schedule,
      "a schedule file, 'best' for schedules/OPERATOR/ARCH.json, or @NAME for one of the operator's own");
}

void add_run(CLI::App& app, Options& options, Raw& raw) {
  CLI::App* run =
      app.add_subcommand("run", "compile and run an operator, time it, compare it with the reference");
  add_selection(run, options.run.select, raw);
  add_schedule(run, options.run.select);
  repeated(run, "--size", raw.sizes, "NAME=N,...: sizes that no input file fixes");
  repeated(run, "--input", raw.inputs, "NAME=FILE.npy|.png|.jpg; inputs not given are random");
  repeated(run, "--output", raw.outputs, "NAME=FILE.npy|.png|.jpg");
  repeated(run, "--param", raw.params, "NAME=V: value of a scalar argument");
  run->add_option("--seed", raw.seed, "seed of the random inputs (default 0)");
  run->add_option("--threads", raw.threads, "most threads of the host's parallel loops");
  run->add_option("--repeat", raw.repeat, "number of timed calls");
  run->add_flag("--check{values}", raw.check,
                "compare with the reference; --check=stages compares every stage");
  repeated(run, "--dump", raw.dumps, "STAGE=FILE.npy: write the values of a stage");
  run->add_option("--save-best", options.run.save_best, "write the fastest schedule of --set to this file");
  run->add_flag("--dense", options.run.dense,
                "copy inputs to dense memory, dimension 0 innermost, before the call");
  run->add_flag("--explain", options.run.explain,
                "say which case of the schedule file the sizes take, and why not the others");
  run->add_flag("--profile", options.run.profile,
                "measure what each Func costs on the host: time, memory, loads, stores, points");
  run->add_flag("--json", options.json, "print one JSON object");
}

void add_show(CLI::App& app, Options& options, Raw& raw) {
  CLI::App* show = app.add_subcommand("show", "print a stage of compilation");
  add_selection(show, options.show.select, raw);
  add_schedule(show, options.show.select);
  show->add_option("--level", options.show.level,
                   "algorithm, schedule, cases, bounds, loops, tiles, lowered, plan, ...");
  show->add_flag("--timings", options.show.timings, "print what each step of the compilation took");
  show->add_flag("--html", options.show.html, "write a page of loops, code and storage to the file of -o");
  repeated(show, "--size", raw.sizes, "NAME=N,...");
  show->add_option("-o", options.show.output, "write to this file");
  show->add_flag("--json", options.json, "print one JSON object");
}

void add_explain(CLI::App& app, Options& options, Raw& raw) {
  CLI::App* explain = app.add_subcommand(
      "explain", "memory traffic and arithmetic, an operation at a time and under a schedule");
  ExplainOptions& to = options.explain;
  add_selection(explain, to.select, raw);
  add_schedule(explain, to.select);
  repeated(explain, "--size", raw.sizes, "NAME=N,...: the sizes");
  repeated(explain, "--param", raw.params, "NAME=V: value of a scalar argument");
  explain->add_option("--device", to.device, "h200, h100, ...: adds the least time by the device's figures");
  explain->add_option("--bandwidth", to.bandwidth, "bytes per second in GB/s, for the device's own figure");
  explain->add_option("--rate", to.rate, "arithmetic in GFLOP/s, for the device's own figure");
  explain->add_flag("--run", to.run, "run it too, on random numbers: the time, and the share of the bound");
  explain->add_flag("--json", options.json, "print one JSON object");
}

void add_verify(CLI::App& app, Options& options, Raw& raw) {
  CLI::App* verify = app.add_subcommand(
      "verify", "run a schedule for a GPU on the simulator: races, missing fences, deadlocks, wrong results");
  VerifyCommand& to = options.verify;
  to.run.select.target = "cuda-sm_90a";
  add_selection(verify, to.run.select, raw);
  add_schedule(verify, to.run.select);
  repeated(verify, "--size", raw.sizes, "NAME=N,...: the sizes");
  repeated(verify, "--param", raw.params, "NAME=V: value of a scalar argument");
  verify->add_option("--seed", raw.seed,
                     "seed of the inputs and of the order of blocks and warps (default 0)");
  verify->add_option("--max-findings", to.how.max_findings, "places reported in a kernel (default 20)")
      ->check(CLI::PositiveNumber);
  verify->add_option("--max-steps", to.how.max_steps, "instructions of warps in a kernel (default 2^30)")
      ->check(CLI::PositiveNumber);
  verify->add_flag("--random-landing", to.how.random_landing,
                   "copies under way end at random moments, not as late as they may");
  verify->add_flag("--json", options.json, "print one JSON object");
}

void add_file_upkeep(CLI::App* schedule, Options& options) {
  ScheduleOptions& to = options.schedule;
  CLI::App* rebind =
      schedule->add_subcommand("rebind", "give a file the names of an algorithm that has the same structure");
  rebind->add_option("OPERATOR", to.select.op)->required();
  rebind->add_option("FILE", to.select.schedule)->required();
  rebind->add_option("-o", to.file, "the file to write, without it FILE");
  rebind->add_flag("--json", options.json, "print one JSON object");
  CLI::App* status = schedule->add_subcommand("status",
                                              "for each case of files: where and when it was measured, and "
                                              "whether that is stale");
  status->add_option("FILE", to.files, "schedule files; without any those that `best` looks up");
  status->add_flag("--json", options.json, "print one JSON object");
}

void add_schedule_command(CLI::App& app, Options& options, Raw& raw) {
  CLI::App* schedule = app.add_subcommand("schedule", "check, print, compare and write schedule files");
  schedule->require_subcommand(1);
  ScheduleOptions& to = options.schedule;
  for (const char* action : {"check", "print"}) {
    CLI::App* sub = schedule->add_subcommand(
        action, std::string(action) == "check" ? "say whether a schedule is legal, without compiling"
                                               : "print a schedule, one directive a line");
    add_selection(sub, to.select, raw);
    sub->add_option("FILE", to.select.schedule, "a schedule file, 'best' or @NAME")->required();
    sub->add_flag("--json", options.json, "print one JSON object");
  }
  add_file_upkeep(schedule, options);
  CLI::App* save = schedule->add_subcommand(
      "save", "write one of the operator's own schedules as a file, for all its element types or --type");
  add_selection(save, to.select, raw);
  save->add_option("FILE", to.select.schedule, "a schedule file, 'best' or @NAME")->required();
  save->add_option("-o", to.file, "the file to write")->required();
  save->add_flag("--json", options.json, "print one JSON object");
  CLI::App* diff = schedule->add_subcommand("diff", "compare two schedule files");
  diff->add_option("A", to.file)->required();
  diff->add_option("B", to.other)->required();
  diff->add_flag("--json", options.json, "print one JSON object");
}

void finish_run(Options& options, const Raw& raw) {
  RunOptions& run = options.run;
  run.inputs = pairs_of("--input", raw.inputs);
  run.outputs = pairs_of("--output", raw.outputs);
  run.dumps = pairs_of("--dump", raw.dumps);
  run.params = parse_params(raw.params);
  run.check = parse_check(raw.check);
  if (!raw.seed.empty()) run.seed = number<std::uint64_t>("--seed", raw.seed, "an integer of 0 or more");
  run.threads = positive("--threads", raw.threads);
  run.repeat = positive("--repeat", raw.repeat);
}

void check_show(const ShowOptions& show) {
  const int kinds = !show.level.empty() + show.timings + show.html;
  if (kinds != 1)
    usage_error(kinds == 0 ? "show wants to know what" : "show prints one thing at a time", show.level,
                "one of --level LEVEL, --timings, --html -o FILE");
  if (show.html && show.output.empty())
    usage_error("--html wants a file to write", "", "--html -o FILE.html");
}

}  // namespace

KnobValues parse_knobs(const std::vector<std::string>& texts) {
  KnobValues knobs;
  for (const auto& [name, values] : pairs_of("--set", texts)) {
    for (const auto& knob : knobs)
      if (knob.first == name) usage_error("--set gives a knob twice", name, "--set " + name + "=V1,V2");
    knobs.emplace_back(name, std::vector<std::int64_t>());
    for (const std::string& value : split(values, ','))
      knobs.back().second.push_back(number<std::int64_t>("--set", value, "integers, as --set BM=64,128"));
  }
  return knobs;
}

Options parse_options(int argc, const char* const* argv) {
  Options options;
  Raw raw;
  CLI::App app("Runs operators under schedules: algorithm, schedule and target are three separate things.",
               "calotype");
  app.require_subcommand(1);
  CLI::App* list = app.add_subcommand("list", "the operators of this program");
  list->add_flag("--json", options.json, "print one JSON object");
  add_run(app, options, raw);
  add_show(app, options, raw);
  add_explain(app, options, raw);
  add_verify(app, options, raw);
  add_schedule_command(app, options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    usage_error(error.what(), "", "see `calotype --help`");
  }
  CLI::App* chosen = app.get_subcommands().front();
  options.command = chosen->get_name();
  if (options.command == "schedule") options.schedule.action = chosen->get_subcommands().front()->get_name();
  finish_run(options, raw);
  options.explain.params = options.run.params;
  options.verify.run.params = options.run.params;
  options.verify.run.seed = options.run.seed;
  if (options.command == "show") check_show(options.show);
  for (Selection* select : {&options.run.select, &options.show.select, &options.explain.select,
                            &options.verify.run.select, &options.schedule.select}) {
    select->sizes = parse_sizes(raw.sizes);
    select->knobs = parse_knobs(raw.knobs);
  }
  return options;
}

}  // namespace calotype::cli
