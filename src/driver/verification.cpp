// Verifying kernels: calls on the simulator whose findings are the result, and what they say as text.

#include "calotype/verification.h"

#include <fmt/format.h>

#include "calotype/error.h"
#include "calotype/pipeline.h"
#include "calotype/schedule.h"
#include "driver/kernel_base.h"
#include "lang/equality.h"
#include "lang/graph.h"
#include "runtime/context.h"

namespace calotype {
namespace {

std::string coordinates(const std::array<std::int64_t, 3>& c) {
  return fmt::format("({}, {}, {})", c[0], c[1], c[2]);
}

std::string text_of(const ThreadAccess& a) {
  std::string text = fmt::format("    {} {}: thread {} of block {}", a.verb, a.text, coordinates(a.thread),
                                 coordinates(a.block));
  for (std::size_t i = 0; i < a.loops.size(); ++i)
    text += fmt::format("{}{} = {}", i == 0 ? ", where " : ", ", a.loops[i].first, a.loops[i].second);
  text += fmt::format("\n      of {}{}{}\n", a.stage, a.directive.empty() ? "" : ": ", a.directive);
  return text;
}

std::string text_of(const Finding& f) {
  std::string text = fmt::format("{}: {}", f.kind, f.message);
  if (f.count > 1 && !f.kernel.empty()) text += fmt::format(" ({} times here)", f.count);
  text += "\n";
  if (!f.kernel.empty() && !f.stage.empty())
    text += fmt::format("  in {}, stage {}{}{}\n", f.kernel, f.stage, f.directive.empty() ? "" : ", ",
                        f.directive);
  for (const ThreadAccess& a : f.accesses) text += text_of(a);
  return text;
}

std::string row(const std::string& name, const char* what, const char* unit, const MemoryFigures& m) {
  if (m.bytes == 0) return {};
  std::string text =
      fmt::format("    {:<20} {:<13} {:>10} {:>12} {:>10}", name, what, m.requests, m.bytes, m.pieces);
  text += fmt::format(" {:<8}", unit);
  if (m.requests > 0)
    text += fmt::format(" {:>6.2f} a request, {:.2f} of the least",
                        static_cast<double>(m.pieces) / static_cast<double>(m.requests),
                        static_cast<double>(m.pieces) / static_cast<double>(m.least_pieces));
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string text_of(const StageFigures& s) {
  std::string text = row(s.stage, "global loads", "sectors", s.global_loads) +
                     row(s.stage, "global stores", "sectors", s.global_stores) +
                     row(s.stage, "shared loads", "turns", s.shared_loads) +
                     row(s.stage, "shared stores", "turns", s.shared_stores);
  std::string rest;
  if (s.barriers > 0) rest += fmt::format(", {} barriers of warps", s.barriers);
  if (s.register_bytes > 0) rest += fmt::format(", {} bytes of registers a thread", s.register_bytes);
  if (s.shared_bytes > 0) rest += fmt::format(", {} bytes of shared memory", s.shared_bytes);
  std::int64_t executed = 0;
  for (const auto& [kind, count] : s.instructions) executed += count;
  text += fmt::format("    {:<20} {} steps of warps{}\n", s.stage, executed, rest);
  return text;
}

std::string text_of(const KernelFigures& k) {
  std::string text =
      fmt::format("{}: grid {}, block {}", k.kernel, coordinates(k.grid), coordinates(k.block));
  if (k.cluster > 1) text += fmt::format(", clusters of {}", k.cluster);
  text += fmt::format(", {} bytes of shared memory; room for {} blocks on a multiprocessor, by {}\n",
                      k.shared_bytes, k.blocks_at_once, k.limited_by);
  text += fmt::format("    {:<20} {:<13} {:>10} {:>12} {:>10}\n", "stage", "memory", "requests", "bytes",
                      "pieces");
  for (const StageFigures& s : k.stages) text += text_of(s);
  return text;
}

/// Elements that no computation gives.
void poison(Buffer& b) { b.fill(b.type().is_float() ? -12345.0 : b.type().is_bool() ? 1 : 113); }

}  // namespace

std::string Verification::str() const {
  std::string text;
  for (const Finding& f : findings) text += text_of(f);
  if (dropped > 0) text += fmt::format("and {} more places with findings\n", dropped);
  if (clean()) text += "no findings\n";
  for (const KernelFigures& k : kernels) text += "\n" + text_of(k);
  return text;
}

Verification Kernel::verify(const std::vector<Arg>& args, const VerifyOptions& options) const {
  if (target().kind != Target::Kind::CudaInterpreter)
    throw Error({.kind = ErrorKind::Usage,
                 .message = fmt::format("a kernel for {} cannot be verified", target().str()),
                 .value = target().str(),
                 .legal = "a kernel for Target::interpreter(arch), the simulator"});
  Verification found;
  calotype_context context{};
  base_->call(args, context, {.verification = &found, .verify = options});
  return found;
}

Verification Pipeline::verify(const Schedule& schedule, const std::string& arch,
                              const std::vector<Buffer>& inputs, const std::map<std::string, double>& params,
                              const std::map<std::string, std::int64_t>& sizes,
                              const VerifyOptions& options) const {
  const Evaluation reference = evaluate(inputs, params, sizes);
  const Kernel kernel = compile(schedule, Target::interpreter(arch));
  std::vector<Arg> args;
  for (const lang::Graph::ArgumentRef& a : graph().arguments) {
    if (!a.is_param) {
      args.emplace_back(inputs.at(static_cast<std::size_t>(a.index)));
      continue;
    }
    const lang::ParamDef& param = graph().params[static_cast<std::size_t>(a.index)];
    const auto given = params.find(param.name);
    args.emplace_back(given == params.end() ? param.initial.value_or(0) : given->second);
  }
  std::vector<Buffer> outputs;
  for (const Buffer& like : reference.outputs) {
    std::vector<std::int64_t> extents;
    for (int d = 0; d < like.rank(); ++d) extents.push_back(like.extent(d));
    outputs.emplace_back(like.type(), extents);
    poison(outputs.back());
    args.emplace_back(outputs.back());
  }
  Verification found = kernel.verify(args, options);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const lang::EqualityReport report = lang::compare_with_reference(outputs[i], reference, i, false);
    const std::string name = graph().output_name(graph().outputs[i]);
    if (!report.ok)
      found.findings.push_back({.kind = "wrong result",
                                .message = fmt::format("{}: {}", name, report.str()),
                                .stage = name,
                                .buffer = name,
                                .count = report.different});
  }
  return found;
}

}  // namespace calotype
