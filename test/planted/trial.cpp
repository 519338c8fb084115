// The simulator gets the lowered program itself; so may any other executable.

#include "planted/trial.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "driver/kernel_impl.h"
#include "driver/plan_encoder.h"
#include "lang/equality.h"
#include "support/printed.h"

namespace calotype::test {

Trial::Trial(const Subject& subject) : Trial(subject, scheduled(subject)) {}

Trial::Trial(const Subject& subject, const Scheduled& scheduled)
    : pipeline_(scheduled.pipeline),
      kernel_(pipeline_.compile(scheduled.schedule, Target::interpreter("sm_90a"))),
      call_(call_of(subject, pipeline_)),
      reference_(pipeline_.evaluate(call_.inputs, call_.params, call_.sizes)) {}

const lower::Program& Trial::program() const { return kernel_.impl().dense().program; }

void Trial::run(const lower::Program& program, const driver::Executable& executable,
                const driver::CallMode& mode) {
  const auto plan = driver::encode_plan(program);
  std::vector<calotype_argument> arguments;
  const std::vector<Arg> args = call_.arguments(pipeline_.graph());
  for (std::size_t i = 0; i < args.size(); ++i) {
    const lower::Argument& expected = program.arguments[i];
    if (const Buffer* buffer = std::get_if<Buffer>(&args[i].value()))
      arguments.push_back({&buffer->raw(), 0});
    else
      arguments.push_back(
          {nullptr, driver::scalar_bits(std::get<double>(args[i].value()), expected.type, expected.name)});
  }
  for (Buffer& b : call_.outputs) b.fill(b.type().is_float() ? -12345.0 : 113);
  calotype_context context{};
  if (executable.run(plan->plan(), context, arguments, mode) != CALOTYPE_GOOD)
    throw std::runtime_error(context.error.message);
}

bool Trial::is_equal() const {
  for (std::size_t i = 0; i < call_.outputs.size(); ++i)
    if (!lang::compare_with_reference(call_.outputs[i], reference_, i, false).ok) return false;
  return true;
}

std::vector<std::string> Trial::kinds(const lower::Program& program) {
  const auto executable = driver::make_interpreter_executable(program, {});
  Verification found;
  run(program, *executable,
      {.verification = &found, .verify = {.max_findings = 3, .max_steps = std::int64_t{1} << 24}});
  std::vector<std::string> kinds;
  for (const Finding& f : found.findings)
    if (std::find(kinds.begin(), kinds.end(), f.kind) == kinds.end()) kinds.push_back(f.kind);
  if (!is_equal()) kinds.emplace_back("wrong result");
  return kinds;
}

std::vector<Planted> plant_all(const Subject& subject, Trial& trial) {
  std::vector<Planted> all;
  for (const Damage damage : all_damages())
    for (int site = 0;; ++site) {
      const std::optional<lower::Program> program =
          damaged(trial.program(), damage, site, subject.any_number_does, Passing::Printed);
      if (!program) break;
      testing::Printed lines;
      std::vector<std::string> kinds = trial.kinds(*program);
      all.push_back({damage, site, !lines.in_order().empty(), std::move(kinds)});
    }
  return all;
}

}  // namespace calotype::test
