// Profiles: a measured call, read and judged.

#include "driver/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "calotype/error.h"
#include "driver/kernel_impl.h"
#include "lang/evaluate_regions.h"
#include "lower/measure.h"

namespace calotype::driver {
namespace {

using lang::FuncId;
using lower::Count;

constexpr double kEnoughSeconds = 0.3;
constexpr int kMostCalls = 10;

// What is worth a warning.
constexpr double kOften = 1.25;          // times over
constexpr double kGatheredShare = 0.05;  // of its loads
constexpr double kScalarShare = 0.5;     // of its stores

constexpr double kClockSeconds = 2.5e-8;  // about what starting and stopping a clock takes

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Bytes of the largest cache that the system tells of; 0: it tells of none.
std::int64_t last_level_cache() {
  std::int64_t largest = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  for (const int name : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
    largest = std::max<std::int64_t>(largest, sysconf(name));
#endif
  return largest;
}

std::vector<Arg> call_arguments(const lang::Graph& graph, const StageArguments& given,
                                const std::vector<Buffer>& outputs) {
  std::vector<Arg> args;
  for (const lang::Graph::ArgumentRef& ref : graph.arguments) {
    if (!ref.is_param) {
      args.emplace_back(given.inputs[ref.index]);
      continue;
    }
    const lang::ParamDef& p = graph.params[ref.index];
    const auto value = given.params.find(p.name);
    args.emplace_back(value != given.params.end() ? value->second : p.initial.value_or(0));
  }
  for (const Buffer& output : outputs) args.emplace_back(output);
  return args;
}

struct Measured {
  double seconds = 0;
  int calls = 0;
  Readings readings;
};

/// The fastest of some calls after one that does not count.
Measured measure(const KernelImpl& kernel, Meters& meters, const std::vector<Arg>& args) {
  Measured best;
  double spent = 0;
  for (int i = 0; i <= kMostCalls && (i < 2 || spent < kEnoughSeconds); ++i) {
    meters.begin();
    const double start = now();
    kernel.call(args);
    const double seconds = now() - start;
    const Readings readings = meters.finish();
    spent += seconds;
    if (i == 0 || i == 1 || seconds < best.seconds) best = {seconds, i, readings};
    best.calls = i;
  }
  return best;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Of one Func: whatever costs more than it need.
std::vector<std::string> findings(const FuncProfile& f, bool at_root, bool is_float, std::int64_t cache) {
  std::vector<std::string> found;
  if (f.times_over() >= kOften)
    found.push_back(fmt::format("computed {:.1f} times over: compute_at a loop further out, or store_at one",
                                f.times_over()));
  if (share(f.gathers, f.loads) >= kGatheredShare)
    found.push_back(
        fmt::format("gather in the innermost loop: {:.0f}% of its loads; vectorize the loop that the loads "
                    "are contiguous along, or reorder_storage",
                    100 * share(f.gathers, f.loads)));
  if (is_float && share(f.scalars, f.stores) > kScalarShare)
    found.push_back(
        fmt::format("scalar innermost loop of a float stage: {:.0f}% of its stores; vectorize a loop",
                    100 * share(f.scalars, f.stores)));
  if (at_root && cache > 0 && f.peak_bytes > cache)
    found.push_back(
        fmt::format("stage at root larger than the last-level cache ({:.1f} MiB of {:.1f}): compute_at a "
                    "loop of its consumer",
                    static_cast<double>(f.peak_bytes) / 1048576, static_cast<double>(cache) / 1048576));
  return found;
}

FuncProfile func_profile(const schedule::Scheduled& scheduled, FuncId id, const Readings& readings,
                         const lang::Region& region, std::int64_t cache) {
  const lang::FuncDef& func = scheduled.graph.func(id);
  const schedule::FuncSchedule& placed = scheduled.of(id);
  const auto count = [&](Count what) { return readings.counts[lower::counter_of(id, what)]; };
  FuncProfile f{.name = func.name, .place = placed.compute_origin == "default" ? "" : placed.compute_origin};
  f.seconds = readings.seconds[lower::meter_of(id)];
  f.peak_bytes = readings.peaks[lower::meter_of(id)];
  f.loads = count(Count::Loads);
  f.gathers = count(Count::Gathers);
  f.stores = count(Count::Stores);
  f.scalars = count(Count::Scalars);
  f.points = count(Count::Points);
  if (region.needed) f.needed = region.elements();
  f.warnings =
      findings(f, placed.compute.kind == schedule::Place::Kind::Root, func.types.front().is_float(), cache);
  return f;
}

}  // namespace

Profile profile(const lang::Graph& algorithm, const schedule::Scheduled& scheduled,
                const StageArguments& arguments, const std::vector<Buffer>& outputs,
                std::int64_t cache_bytes) {
  if (scheduled.target.kind != Target::Kind::Host)
    throw Error({.kind = ErrorKind::Usage,
                 .message = fmt::format("code for {} cannot be profiled", scheduled.target.str()),
                 .value = scheduled.target.str(),
                 .legal = "a host target"});
  const std::size_t funcs = scheduled.graph.funcs.size();
  const auto meters = std::make_shared<Meters>(funcs + 1, funcs * lower::kCounts, funcs);
  const KernelImpl kernel(scheduled.graph, one_way(scheduled), {}, {.stored_stages = {}, .meters = meters});
  const Measured run = measure(kernel, *meters, call_arguments(scheduled.graph, arguments, outputs));
  const std::vector<lang::Region> regions = lang::required_regions(
      scheduled.graph, lang::bind_arguments(algorithm, arguments.inputs, arguments.params, arguments.sizes));

  Profile result{.call_seconds = run.seconds,
                 .waiting_seconds = run.readings.seconds[lower::waiting_meter(scheduled.graph)],
                 .clock_starts = run.readings.starts,
                 .threads = run.readings.threads,
                 .calls = run.calls};
  const std::int64_t cache = cache_bytes > 0 ? cache_bytes : last_level_cache();
  for (const FuncId id : scheduled.order) {
    if (scheduled.of(id).compute.kind == schedule::Place::Kind::Inline) {
      result.inlined.push_back(scheduled.graph.func(id).name);
      continue;
    }
    result.funcs.push_back(func_profile(scheduled, id, run.readings, regions[id.value], cache));
    result.thread_seconds += result.funcs.back().seconds;
  }
  if (result.thread_seconds > 0) {
    for (FuncProfile& f : result.funcs) f.share = f.seconds / result.thread_seconds;
    result.clock_share = static_cast<double>(result.clock_starts) * kClockSeconds / result.thread_seconds;
  }
  return result;
}

}  // namespace calotype::driver
