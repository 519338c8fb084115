// What testing waits for: the reference evaluator and the simulator of GPU programs, in elements of the
// output.
#include <benchmark/benchmark.h>

#include "workloads.h"

namespace {

using namespace calotype;
using namespace calotype::bench;

void count_elements(benchmark::State& state, const Arguments& arguments) {
  state.SetItemsProcessed(arguments.outputs[0].elements() * state.iterations());
}

void evaluate(benchmark::State& state, const Workload& work) {
  const Prepared prepared(work, Target::host());
  const Arguments arguments = make_arguments(prepared.pipeline, work.small);
  fill_inputs(arguments);
  std::map<std::string, double> params;
  for (const lang::ParamDef& param : prepared.pipeline.graph().params)
    params[param.name] = param.initial.value_or(1.0);
  for ([[maybe_unused]] auto _ : state)
    benchmark::DoNotOptimize(prepared.pipeline.evaluate(arguments.inputs, params, work.small));
  count_elements(state, arguments);
}

void simulate(benchmark::State& state, const Workload& work) {
  const Prepared prepared(work, Target::interpreter());
  const Arguments arguments = make_arguments(prepared.pipeline, work.small);
  fill_inputs(arguments);
  const Kernel kernel = prepared.pipeline.compile(prepared.schedule, Target::interpreter());
  for ([[maybe_unused]] auto _ : state) kernel.call(arguments.all);
  count_elements(state, arguments);
}

[[maybe_unused]] const bool registered = [] {
  // Older versions of the library take a char*. NOLINTBEGIN(readability-redundant-string-cstr)
  for (const Workload& work : workloads()) {
    const std::string name = work.op + "/" + work.type;
    benchmark::RegisterBenchmark(("evaluate/" + name).c_str(), evaluate, work)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("simulate/" + name).c_str(), simulate, work)->Unit(benchmark::kMillisecond);
  }
  // NOLINTEND(readability-redundant-string-cstr)
  return true;
}();

}  // namespace
