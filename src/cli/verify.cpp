// `calotype verify`: an operator under a schedule for a GPU, run on the simulator: what it finds, and figures
// of each stage.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/select.h"
#include "cli/usage.h"

namespace calotype::cli {
namespace {

Json json_of(const ThreadAccess& a) {
  Json loops = Json::object();
  for (const auto& [name, value] : a.loops) loops[name] = value;
  return {{"verb", a.verb},   {"text", a.text},     {"stage", a.stage}, {"directive", a.directive},
          {"block", a.block}, {"thread", a.thread}, {"loops", loops}};
}

Json json_of(const Finding& f) {
  Json accesses = Json::array();
  for (const ThreadAccess& a : f.accesses) accesses.push_back(json_of(a));
  return {{"kind", f.kind},       {"message", f.message}, {"kernel", f.kernel},       {"stage", f.stage},
          {"buffer", f.buffer},   {"index", f.index},     {"directive", f.directive}, {"block", f.block},
          {"threads", f.threads}, {"count", f.count},     {"accesses", accesses}};
}

Json json_of(const MemoryFigures& m) {
  return {
      {"requests", m.requests}, {"bytes", m.bytes}, {"pieces", m.pieces}, {"least_pieces", m.least_pieces}};
}

Json json_of(const StageFigures& s) {
  return {{"stage", s.stage},
          {"global_loads", json_of(s.global_loads)},
          {"global_stores", json_of(s.global_stores)},
          {"shared_loads", json_of(s.shared_loads)},
          {"shared_stores", json_of(s.shared_stores)},
          {"barriers", s.barriers},
          {"register_bytes", s.register_bytes},
          {"shared_bytes", s.shared_bytes},
          {"instructions", s.instructions}};
}

Json json_of(const KernelFigures& k) {
  Json stages = Json::array();
  for (const StageFigures& s : k.stages) stages.push_back(json_of(s));
  return {{"kernel", k.kernel},
          {"grid", k.grid},
          {"block", k.block},
          {"cluster", k.cluster},
          {"shared_bytes", k.shared_bytes},
          {"blocks_at_once", k.blocks_at_once},
          {"limited_by", k.limited_by},
          {"stages", stages}};
}

/// The simulator stands for the GPU that the command line names.
Target simulated(const std::string& text) {
  const Target target = Target::parse(text);
  if (!target.is_gpu())
    usage_error("verify runs programs for GPUs on the simulator", target.str(),
                "--target cuda-sm_90a, cuda-sm_80, ..");
  return Target::interpreter(target.arch.empty() ? "sm_90a" : target.arch);
}

/// A run that was cut short says what would be run to its end.
void name_sizes(Verification& found, const Sizes& sizes, std::int64_t max_steps) {
  for (Finding& f : found.findings)
    if (f.kind == "step limit")
      f.message += fmt::format(
          "; {} is too much for {} instructions, and nothing is said of what they did not come to: smaller "
          "sizes, or --max-steps",
          to_string(sizes), max_steps);
}

}  // namespace

Outcome verify_command(const VerifyCommand& options) {
  const Selection& select = options.run.select;
  const Operator& op = find_operator(select.op);
  const Target target = simulated(select.target);
  const std::vector<InputFile> files;
  const OperatorTypes types = choose_types(op, select.type, files);
  const Pipeline pipeline = op.pipeline(types);
  const lang::Graph& graph = pipeline.graph();
  const Call call = make_call(op, pipeline, files, options.run);
  ChosenSchedule chosen =
      choose_schedule(select, op, types, pipeline, target, call.sizes, made_buffers(graph, call.sizes));
  set_knobs(chosen.schedule, select);

  VerifyOptions how = options.how;
  how.seed = options.run.seed;
  Verification found =
      pipeline.verify(chosen.schedule, target.arch, call.inputs, call.params, call.sizes, how);
  name_sizes(found, call.sizes, how.max_steps);

  Outcome outcome;
  outcome.code = found.clean() ? 0 : 1;
  outcome.text = fmt::format("{} of {}, {}, schedule {}, {}, seed {}\n", op.name, types.str(),
                             to_string(call.sizes), chosen.source, target.arch, options.run.seed);
  for (const std::string& note : chosen.notes) outcome.text += note + "\n";
  outcome.text += found.str();
  Json findings = Json::array(), kernels = Json::array();
  for (const Finding& f : found.findings) findings.push_back(json_of(f));
  for (const KernelFigures& k : found.kernels) kernels.push_back(json_of(k));
  outcome.json = {{"operator", op.name},      {"target", "cuda-" + target.arch},
                  {"type", types.str()},      {"schedule", chosen.source},
                  {"sizes", call.sizes},      {"seed", options.run.seed},
                  {"clean", found.clean()},   {"findings", findings},
                  {"dropped", found.dropped}, {"kernels", kernels}};
  return outcome;
}

}  // namespace calotype::cli
