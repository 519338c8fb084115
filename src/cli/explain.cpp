// `calotype explain`: the bytes and the arithmetic of an operator at given sizes, an operation at a time and
// under a schedule, against what a device can do.
#include <fmt/format.h>

#include <algorithm>

#include "analyze/device.h"
#include "analyze/traffic.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/select.h"
#include "cli/trial.h"
#include "cli/usage.h"
#include "driver/stage_values.h"

namespace calotype::cli {
namespace {

using analyze::Work;

/// The device of --device, with its figures replaced by those of --bandwidth and --rate. Without any of them
/// none.
std::optional<analyze::Device> chosen_device(const ExplainOptions& options) {
  if (options.bandwidth < 0 || options.rate < 0)
    usage_error("--bandwidth and --rate are positive", "", "bytes in GB/s, arithmetic in GFLOP/s");
  std::optional<analyze::Device> device;
  if (!options.device.empty()) {
    const analyze::Device* found = analyze::find_device(options.device);
    std::vector<std::string> names;
    for (const analyze::Device& d : analyze::devices()) names.push_back(d.name);
    if (!found)
      usage_error("no device of that name is known", options.device, did_you_mean(options.device, names));
    device = *found;
  }
  if (options.bandwidth == 0 && options.rate == 0) return device;
  if (!device && (options.bandwidth == 0 || options.rate == 0))
    usage_error("without --device a bound needs both figures", "", "--bandwidth GB/s and --rate GFLOP/s");
  if (!device) device = analyze::Device{.name = "given"};
  if (options.bandwidth > 0) device->bytes_per_second = options.bandwidth * 1e9;
  if (options.rate > 0) device->operations_per_second = options.rate * 1e9;
  return device;
}

analyze::Constants constants_of(const lang::Graph& graph, const Sizes& sizes,
                                const std::map<std::string, double>& params) {
  analyze::Constants constants;
  for (const ir::SymbolPtr& dim : graph.dims)
    constants[dim.get()] = ir::Value::of_int(dim->type, sizes.at(dim->name));
  for (const lang::ParamDef& param : graph.params) {
    const auto given = params.find(param.name);
    const double value = given == params.end() ? param.initial.value_or(0) : given->second;
    constants[param.symbol.get()] = ir::convert(param.type, ir::Value::of_float(Float(64), value));
  }
  return constants;
}

/// The inputs at these sizes, dense, as conditions of a schedule see them: there is no memory to read.
std::vector<Buffer> shapes_of(const lang::Graph& graph, const Sizes& sizes) {
  static char nothing;
  std::vector<Buffer> inputs;
  for (const lang::InputDef& input : graph.inputs)
    inputs.emplace_back(input.type, &nothing, extents_of(input.extents, input.name, graph, sizes));
  return inputs;
}

double intensity(const Work& work) {
  return work.bytes() ? static_cast<double>(work.operations) / static_cast<double>(work.bytes()) : 0;
}

double bound_us(const Work& work, const analyze::Device& device) {
  return 1e6 * analyze::bound_seconds(static_cast<double>(work.bytes()), static_cast<double>(work.operations),
                                      device);
}

std::string bounded_by(const Work& work, const analyze::Device& device) {
  return analyze::is_memory_bound(static_cast<double>(work.bytes()), static_cast<double>(work.operations),
                                  device)
             ? "memory"
             : "arithmetic";
}

std::string row(const std::string& name, const Work& work, const std::optional<analyze::Device>& device,
                const std::string& what) {
  std::string text = fmt::format("  {:<24} {:>15L} {:>15L} {:>15L} {:>17L} {:>9.3g}", name, work.read,
                                 work.written, work.bytes(), work.operations, intensity(work));
  if (device) text += fmt::format(" {:>11.4g} {:<10}", bound_us(work, *device), bounded_by(work, *device));
  text += what.empty() ? "" : "  " + what;
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string table(const std::string& heading, const std::vector<Work>& works,
                  const std::optional<analyze::Device>& device) {
  std::string text = fmt::format("{}\n  {:<24} {:>15} {:>15} {:>15} {:>17} {:>9}", heading, "", "bytes read",
                                 "written", "both", "operations", "op/byte");
  text += device ? fmt::format(" {:>11} {}\n", "bound, us", "by") : "\n";
  for (const Work& work : works)
    text += row(work.name, work, device,
                work.funcs.empty() ? work.text : fmt::format("{}", fmt::join(work.funcs, ", ")));
  std::string line = row("total", analyze::total(works), std::nullopt, "");
  if (device) {
    double us = 0;
    for (const Work& work : works) us += bound_us(work, *device);
    line.pop_back();
    line += fmt::format(" {:>11.4g}\n", us);
  }
  return text + line;
}

Json json_of(const std::vector<Work>& works, const std::optional<analyze::Device>& device) {
  Json list = Json::array();
  for (const Work& work : works) {
    Json one = {{"name", work.name},
                {"read", work.read},
                {"written", work.written},
                {"bytes", work.bytes()},
                {"operations", work.operations},
                {"intensity", number(intensity(work))}};
    if (!work.text.empty()) one["computes"] = work.text;
    if (!work.funcs.empty()) one["funcs"] = work.funcs;
    if (device) {
      one["bound_us"] = number(bound_us(work, *device));
      one["bound_by"] = bounded_by(work, *device);
    }
    list.push_back(std::move(one));
  }
  return list;
}

/// What a call takes on random numbers, and how much of that the bound is.
void add_run(const ExplainOptions& options, const Operator& op, const Pipeline& pipeline,
             const Schedule& schedule, const Target& target, double bound, Outcome& outcome) {
  if (target.is_gpu() && target.kind != Target::Kind::Cuda)
    usage_error("--run measures machines", target.str(), "--target host or cuda");
  RunOptions run;
  run.select = options.select;
  run.params = options.params;
  const Call call = make_call(op, pipeline, {}, run);
  const double us = 1e6 * try_schedule(pipeline, schedule, target, call, 0, nullptr).median_seconds;
  outcome.json["measured_us"] = number(us);
  outcome.text += fmt::format("Measured: {:.4g} us", us);
  if (bound > 0) {
    outcome.json["share_of_bound"] = number(bound / us);
    outcome.text += fmt::format(", of which the bound is {:.1f}%", 100 * bound / us);
  }
  outcome.text += ".\n";
}

}  // namespace

Outcome explain_command(const ExplainOptions& options) {
  const Selection& select = options.select;
  const Operator& op = find_operator(select.op);
  const Target target = Target::parse(select.target);
  const OperatorTypes types = choose_types(op, select.type, {});
  const Pipeline pipeline = op.pipeline(types);
  const lang::Graph& graph = pipeline.graph();
  const Sizes sizes = bind_sizes(graph, {}, select.sizes, {});
  ChosenSchedule chosen =
      choose_schedule(select, op, types, pipeline, target, sizes, made_buffers(graph, sizes));
  set_knobs(chosen.schedule, select);
  const std::optional<analyze::Device> device = chosen_device(options);
  const analyze::Constants constants = constants_of(graph, sizes, options.params);

  const std::vector<Work> alone = analyze::operators(graph, constants);
  const schedule::Scheduled scheduled =
      driver::schedule_for(graph, chosen.schedule, target, {shapes_of(graph, sizes), options.params, sizes});
  const std::vector<Work> fused = analyze::kernels(scheduled, constants);
  const std::int64_t before = analyze::total(alone).bytes(), after = analyze::total(fused).bytes();
  const double share = before ? static_cast<double>(after) / static_cast<double>(before) : 0;

  Outcome outcome;
  outcome.json = {{"operator", op.name},
                  {"target", target.str()},
                  {"type", types.str()},
                  {"schedule", chosen.source},
                  {"sizes", sizes},
                  {"operators", json_of(alone, device)},
                  {"operators_bytes", before},
                  {"kernels", json_of(fused, device)},
                  {"kernels_bytes", after},
                  {"share", number(share)}};
  outcome.text =
      fmt::format("{} of {}, {}, schedule {}\n\n", op.name, types.str(), to_string(sizes), chosen.source);
  outcome.text += table(fmt::format("{} operators, one by one", alone.size()), alone, device) + "\n";
  outcome.text +=
      table(fmt::format("{} {} under the schedule", fused.size(), fused.size() == 1 ? "kernel" : "kernels"),
            fused, device);
  outcome.text += fmt::format("\nThe schedule moves {:.1f}% of the bytes.\n", 100 * share);
  if (device) {
    outcome.json["device"] = {{"name", device->name},
                              {"bytes_per_second", device->bytes_per_second},
                              {"operations_per_second", device->operations_per_second}};
    outcome.text += fmt::format("Bounds: {}, {:g} GB/s, {:g} GFLOP/s.\n", device->name,
                                device->bytes_per_second / 1e9, device->operations_per_second / 1e9);
  }
  if (options.run) {
    double bound = 0;
    for (const Work& work : fused) bound += device ? bound_us(work, *device) : 0;
    add_run(options, op, pipeline, chosen.schedule, target, bound, outcome);
  }
  return outcome;
}

}  // namespace calotype::cli
