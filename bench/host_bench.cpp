// Machine code: how long it takes to make, pass by pass, and how fast it is.
#include <benchmark/benchmark.h>

#include <map>

#include "workloads.h"

namespace {

using namespace calotype;
using namespace calotype::bench;

// A fresh Pipeline each time; the counters are milliseconds of each pass.
void compile(benchmark::State& state, const Workload& work) {
  std::map<std::string, double> passes;
  for ([[maybe_unused]] auto _ : state) {
    const Prepared prepared(work, Target::host());
    const Kernel kernel = prepared.pipeline.compile(prepared.schedule, Target::host());
    for (const auto& [pass, seconds] : kernel.pass_seconds()) passes[pass] += seconds * 1e3;
  }
  for (const auto& [pass, total] : passes)
    state.counters[pass] = benchmark::Counter(total, benchmark::Counter::kAvgIterations);
}

void run(benchmark::State& state, const Workload& work) {
  const Prepared prepared(work, Target::host());
  const Arguments arguments = make_arguments(prepared.pipeline, work.sizes);
  fill_inputs(arguments);
  const Kernel kernel = prepared.pipeline.compile(prepared.schedule, Target::host());
  for ([[maybe_unused]] auto _ : state) kernel.call(arguments.all);
  if (work.products) {
    const double products = 2.0 * work.sizes.at("M") * work.sizes.at("N") * work.sizes.at("K");
    state.counters["flops"] = benchmark::Counter(products, benchmark::Counter::kIsIterationInvariantRate);
  } else {
    std::size_t bytes = 0;
    for (const Buffer& b : arguments.inputs) bytes += bytes_of(b);
    for (const Buffer& b : arguments.outputs) bytes += bytes_of(b);
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  }
}

[[maybe_unused]] const bool registered = [] {
  // Older versions of the library take a char*. NOLINTBEGIN(readability-redundant-string-cstr)
  for (const Workload& work : workloads()) {
    const std::string name = work.op + "/" + work.type;
    benchmark::RegisterBenchmark(("compile/" + name).c_str(), compile, work)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("run/" + name).c_str(), run, work)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  // NOLINTEND(readability-redundant-string-cstr)
  return true;
}();

}  // namespace
