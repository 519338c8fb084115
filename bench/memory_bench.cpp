// Operators whose floor on a host is each argument read or written once at the bandwidth of a copy: the
// fraction of that bandwidth which they reach, each round measured beside a copy on the same cores.
//
//   calotype_memory_bench [--only NAME] [--rounds N] [--threads N] [--schedule S] [--set KNOB=V1,V2]...
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <thread>

#include "cli/check.h"
#include "cli/inputs.h"
#include "cli/select.h"
#include "cli/threads.h"
#include "shipped.h"
#include "workloads.h"

namespace {

using namespace calotype;
using namespace calotype::bench;

struct Options {
  std::string only, schedule = "shipped";
  int rounds = 15, threads = 0;
  bool cpu_time = false;
  cli::KnobValues knobs;
};

/// What is timed by: the wall's clock or the processor time of this process.
double now(bool cpu_time) {
  if (cpu_time) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double seconds_of(bool cpu_time, const std::function<void()>& work) {
  const double start = now(cpu_time);
  work();
  return now(cpu_time) - start;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// Copies between two buffers, a part a thread.
class Copy {
 public:
  Copy(std::int64_t bytes, const Options& options, int threads)
      : from_(UInt(8), {bytes}), to_(UInt(8), {bytes}), cpu_time_(options.cpu_time), threads_(threads) {
    std::memset(from_.data(), 1, bytes_of(from_));
    std::memset(to_.data(), 2, bytes_of(to_));
  }
  /// Bytes read and written a second.
  double bandwidth() {
    const std::size_t part = bytes_of(from_) / threads_;
    const auto copy_part = [&](int i) {
      std::memcpy(static_cast<char*>(to_.data()) + i * part,
                  static_cast<const char*>(from_.data()) + i * part, part);
    };
    const double seconds = seconds_of(cpu_time_, [&] {
      std::vector<std::jthread> others;
      for (int i = 1; i < threads_; ++i) others.emplace_back(copy_part, i);
      copy_part(0);
    });
    return 2.0 * part * threads_ / seconds;
  }

 private:
  Buffer from_, to_;
  bool cpu_time_;
  int threads_;
};

std::size_t total_bytes(const Arguments& arguments) {
  std::size_t bytes = 0;
  for (const Buffer& b : arguments.inputs) bytes += bytes_of(b);
  for (const Buffer& b : arguments.outputs) bytes += bytes_of(b);
  return bytes;
}

/// The kernel's results at small sizes are the reference's; throws where they are not.
void check(const Workload& work, const Pipeline& pipeline, const Kernel& kernel) {
  cli::RunOptions options;
  options.select.sizes = work.small;
  const cli::Call call = cli::make_call(find_operator(work.op), pipeline, {}, options);
  for (const Buffer& output : call.outputs) std::memset(output.data(), 0xff, bytes_of(output));
  kernel.call(call.arguments(pipeline.graph()));
  const Evaluation reference = pipeline.evaluate(call.inputs, call.params, call.sizes);
  for (const cli::Comparison& result : cli::compare_outputs(pipeline, call.outputs, reference))
    if (!result.passed())
      throw std::runtime_error(work.op + ": '" + result.name + "' differs from the reference");
}

std::string text_of(const cli::Knobs& knobs) {
  std::string text;
  for (const auto& [name, value] : knobs) text += " " + name + "=" + std::to_string(value);
  return text;
}

void measure(const Workload& work, const Options& options, const cli::Knobs& knobs, Copy& copy) {
  const Operator& op = find_operator(work.op);
  const OperatorTypes types = OperatorTypes::parse(work.type);
  const Pipeline pipeline = op.pipeline(types);
  const cli::ChosenSchedule chosen = schedule_named(options.schedule, op, types, pipeline, Target::host());
  const Kernel kernel = pipeline.compile(cli::with_knobs(chosen.schedule, knobs), Target::host());
  check(work, pipeline, kernel);
  const Arguments arguments = make_arguments(pipeline, work.sizes);
  fill_inputs(arguments);
  kernel.call(arguments.all);
  std::vector<double> times, copies, ratios;
  for (int round = 0; round < options.rounds; ++round) {
    times.push_back(seconds_of(options.cpu_time, [&] { kernel.call(arguments.all); }));
    copies.push_back(copy.bandwidth());
    ratios.push_back(static_cast<double>(total_bytes(arguments)) / times.back() / copies.back());
  }
  const double bandwidth = static_cast<double>(total_bytes(arguments)) / median(times);
  std::printf("%-20s%-16s%-26s%9.2f%9.2f%9.2f%8.2f  %s%s\n", work.op.c_str(), work.type.c_str(),
              cli::to_string(work.sizes).c_str(), median(times) * 1e3, bandwidth * 1e-9,
              median(copies) * 1e-9, median(ratios), chosen.source.c_str(), text_of(knobs).c_str());
  std::fflush(stdout);
}

/// The exit code: 1 if a figure failed.
int measure_all(const Options& options) {
  cli::set_threads(options.threads);
  const int threads =
      options.threads ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  Copy copy(std::int64_t{512} << 20, options, threads);
  std::printf("%-20s%-16s%-26s%9s%9s%9s%8s  schedule, %d threads\n", "operator", "types", "sizes", "ms",
              "GB/s", "copy", "ratio", threads);
  int code = 0;
  for (const Workload& work : memory_bound_workloads()) {
    if ((work.op + "/" + work.type).find(options.only) == std::string::npos) continue;
    for (const cli::Knobs& knobs : cli::combinations(options.knobs)) {
      try {
        measure(work, options, knobs, copy);
      } catch (const std::exception& error) {
        std::printf("%-20s%-16sfailed%s: %s\n", work.op.c_str(), work.type.c_str(), text_of(knobs).c_str(),
                    error.what());
        code = 1;
      }
    }
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<std::string> knobs;
  CLI::App app("Fractions of a copy's bandwidth that operators reach");
  app.add_option("--only", options.only, "OPERATOR/TYPES that have this in them");
  app.add_option("--rounds", options.rounds, "calls, each beside a copy (default 15)")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "0, the default: all cores")->check(CLI::NonNegativeNumber);
  app.add_flag("--cpu-time", options.cpu_time,
               "processor time instead of the wall's, with one thread: for a busy machine");
  app.add_option("--schedule", options.schedule, "@NAME or a file instead of the shipped schedule");
  app.add_option("--set", knobs, "KNOB=V1,V2: values of a knob of the schedule, a figure for each")
      ->allow_extra_args(false)
      ->expected(1)
      ->take_all();
  CLI11_PARSE(app, argc, argv);
  if (options.cpu_time) options.threads = 1;
  try {
    options.knobs = cli::parse_knobs(knobs);
    return measure_all(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
