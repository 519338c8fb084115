// One schedule compiled, called, timed and compared.
#include "cli/trial.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace calotype::cli {
namespace {

double seconds_of(const Kernel& kernel, const std::vector<Arg>& args) {
  const auto begin = std::chrono::steady_clock::now();
  kernel.call(args);
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
std::vector<double> time_calls(const Kernel& kernel, const std::vector<Arg>& args, int repeat,
                               double warm_up) {
  std::vector<double> times;
  double spent = 0;
  // A call of several seconds is timed by the first one alone: it warmed up nothing that matters at that
  // length.
  if (repeat == 0 && warm_up > 2) return {warm_up};
  while (repeat > 0 ? static_cast<int>(times.size()) < repeat
                    : times.size() < 3 || (times.size() < 50 && spent < 0.5)) {
    times.push_back(seconds_of(kernel, args));
    spent += times.back();
  }
  return times;
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
  const double first = seconds_of(kernel, args);
  if (reference) trial.comparisons = compare_outputs(pipeline, call.outputs, *reference);
  const std::vector<double> times = time_calls(kernel, args, repeat, first);
  trial.warnings = kernel.warnings();
  trial.median_seconds = median(times);
  trial.calls = static_cast<int>(times.size());
  return trial;
}

}  // namespace calotype::cli
