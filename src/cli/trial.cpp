// One schedule compiled, called, timed and compared.
#include "cli/trial.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "calotype/device_buffer.h"

namespace calotype::cli {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Bytes that are a NaN in every float type and unlikely in an integer result.
void poison(const std::vector<Buffer>& outputs) {
  for (const Buffer& output : outputs)
    if (output.elements() > 0) std::memset(output.data(), 0xff, output.elements() * output.type().bytes());
}

// Calls until about half a second is spent, at least 3 and at most 50 times, unless the number was asked for.
std::vector<double> time_calls(const std::function<double()>& seconds_of_call, int repeat, double warm_up) {
  std::vector<double> times;
  double spent = 0;
  // A call of several seconds is timed by the first one alone: it warmed up nothing that matters at that
  // length.
  if (repeat == 0 && warm_up > 2) return {warm_up};
  while (repeat > 0 ? static_cast<int>(times.size()) < repeat
                    : times.size() < 3 || (times.size() < 50 && spent < 0.5)) {
    times.push_back(seconds_of_call());
    spent += times.back();
  }
  return times;
}

/// A call's arguments in a GPU's memory.
struct OnGpu {
  explicit OnGpu(const Call& on_host) : call(on_host) {
    for (std::vector<Buffer>* buffers : {&call.inputs, &call.outputs})
      for (Buffer& buffer : *buffers) {
        mirrors.emplace_back(buffer);
        mirrors.back().copy_to_device();
        buffer = mirrors.back().device();
      }
  }
  std::vector<DeviceBuffer> mirrors;
  Call call;
};

/// Of a call among so many one behind the other that waiting for the last does not count.
std::vector<double> time_on_gpu(const Kernel& kernel, const lang::Graph& graph, const Call& call,
                                int repeat) {
  constexpr double kLongEnough = 2e-3;
  const OnGpu there(call);
  const std::vector<Arg> args = there.call.arguments(graph);
  const KernelOnStream enqueued = kernel.on(nullptr);
  const auto some = [&](int calls) {
    return seconds_of([&] {
      for (int i = 1; i < calls; ++i) enqueued.call(args);
      kernel.call(args);  // waits
    });
  };
  some(2);
  const int calls = std::clamp(static_cast<int>(kLongEnough / some(2)) * 2, 1, 1000);
  return time_calls([&] { return some(calls) / calls; }, repeat, 0);
}

}  // namespace

bool Trial::passed() const {
  return std::all_of(comparisons.begin(), comparisons.end(),
                     [](const Comparison& c) { return c.passed(); }) &&
         stages.passed();
}

Trial try_schedule(const Pipeline& pipeline, const Schedule& schedule, const Target& target, const Call& call,
                   int repeat, const Evaluation* reference) {
  Trial trial;
  const Kernel kernel = pipeline.compile(schedule, target);
  trial.compile_seconds = kernel.compile_seconds();
  trial.numerics = kernel.numerics();
  const std::vector<Arg> args = call.arguments(pipeline.graph());
  poison(call.outputs);
  const double first = seconds_of([&] { kernel.call(args); });
  if (reference) trial.comparisons = compare_outputs(pipeline, call.outputs, *reference);
  const auto again = [&] { return seconds_of([&] { kernel.call(args); }); };
  const std::vector<double> times = target.kind == Target::Kind::Cuda
                                        ? time_on_gpu(kernel, pipeline.graph(), call, repeat)
                                        : time_calls(again, repeat, first);
  trial.warnings = kernel.warnings();
  trial.median_seconds = median(times);
  trial.calls = static_cast<int>(times.size());
  return trial;
}

}  // namespace calotype::cli
