#pragma once
// Running a pipeline under a schedule and comparing with the reference evaluator.

#include <gtest/gtest.h>

#include <cstdlib>

#include "calotype/calotype.h"
#include "driver/stage_values.h"
#include "lang/equality.h"
#include "support/random_buffer.h"

namespace calotype::testing {

/// What a build can run everywhere: kernels on the interpreter, and the host where there is a CPU backend.
/// With CALOTYPE_TEST_GPU set also this machine's GPU.
inline std::vector<Target> targets() {
  std::vector<Target> all = {Target::interpreter("sm_90a")};
  if (std::getenv("CALOTYPE_TEST_GPU")) all.push_back(Target::cuda());
#ifdef CALOTYPE_HAS_LLVM
  all.push_back(Target::host());
#endif
  return all;
}

/// Whether what a call prints comes to the process's hook: kernels on a GPU write to its standard output.
inline bool takes_lines(const Target& target) { return target.kind != Target::Kind::Cuda; }

/// The targets of which that is so.
inline std::vector<Target> targets_with_lines() {
  std::vector<Target> all = targets();
  std::erase_if(all, [](const Target& t) { return !takes_lines(t); });
  return all;
}

/// Fills with a pattern that no computed value has, so that an element left unwritten shows.
inline void poison(const Buffer& b) {
  Buffer copy = b;
  copy.fill(b.type().is_float() ? -12345.0 : b.type().is_bool() ? 1 : 113);
}

/// The target and, with CALOTYPE_TEST_GPU set, what is asked of the interpreter on this machine's GPU too.
inline std::vector<Target> and_on_gpu(const Target& target) {
  std::vector<Target> all = {target};
  if (target.kind == Target::Kind::CudaInterpreter && std::getenv("CALOTYPE_TEST_GPU"))
    all.push_back(Target::cuda());
  return all;
}

/// Compile, run on random inputs, compare every output with that of the reference.
inline void expect_equals(const Evaluation& reference, const Pipeline& pipeline, const Schedule& schedule,
                          const Target& target, const std::vector<Buffer>& inputs,
                          const std::vector<Buffer>& outputs) {
  Kernel kernel = pipeline.compile(schedule, target);
  std::vector<Arg> args(inputs.begin(), inputs.end());
  for (const Buffer& b : outputs) {
    poison(b);
    args.push_back(b);
  }
  kernel.call(args);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const lang::EqualityReport result = lang::compare_with_reference(outputs[i], reference, i, false);
    EXPECT_TRUE(result.ok) << pipeline.name() << " for " << target.str() << " under\n"
                           << schedule.str() << "\n"
                           << result.str() << "\n"
                           << kernel.show("lowered");
  }
}

/// The same with evaluate() for the reference, on the GPU too where the interpreter is named.
inline void expect_matches(const Pipeline& pipeline, const Schedule& schedule, const Target& target,
                           const std::vector<Buffer>& inputs, const std::vector<Buffer>& outputs,
                           const std::map<std::string, std::int64_t>& sizes = {}) {
  const Evaluation reference = pipeline.evaluate(inputs, {}, sizes);
  for (const Target& one : and_on_gpu(target))
    expect_equals(reference, pipeline, schedule, one, inputs, outputs);
}

/// How every realised stage compares with the reference under a schedule.
inline std::vector<driver::StageComparison> compared_stages(
    const Pipeline& pipeline, const Schedule& schedule, const Target& target,
    const std::vector<Buffer>& inputs, const std::map<std::string, std::int64_t>& sizes = {}) {
  const driver::StageArguments arguments{inputs, {}, sizes};
  const schedule::Scheduled scheduled = driver::schedule_for(pipeline.graph(), schedule, target, arguments);
  const std::vector<lang::FuncId> stages = driver::realised_stages(scheduled);
  return driver::compare_stages(driver::run_stages(pipeline.graph(), scheduled, stages, arguments),
                                driver::reference_stages(pipeline.graph(), scheduled, stages, arguments));
}

/// Compile with every stage stored, run on random inputs, compare each stage with the reference.
inline void expect_stages_match(const Pipeline& pipeline, const Schedule& schedule, const Target& target,
                                const std::vector<Buffer>& inputs,
                                const std::map<std::string, std::int64_t>& sizes = {}) {
  for (const Target& one : and_on_gpu(target))
    for (const driver::StageComparison& stage : compared_stages(pipeline, schedule, one, inputs, sizes))
      EXPECT_TRUE(stage.passed()) << "'" << stage.name << "' of " << pipeline.name() << " for " << one.str()
                                  << " under\n"
                                  << schedule.str() << "\n"
                                  << stage.str() << "; box of " << stage.box;
}

}  // namespace calotype::testing
