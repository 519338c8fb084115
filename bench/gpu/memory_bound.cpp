// Operators whose floor is each argument read or written once at the bandwidth of a copy: the fraction of
// that bandwidth which they reach, each round measured beside a round of copies.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "gpu/figures.h"
#include "gpu/gpu.h"
#include "shipped.h"
#include "workloads.h"

namespace calotype::bench {
namespace {

constexpr int kRounds = 15, kCallsOfARound = 12, kCopiesOfARound = 4;
// Sets of arguments that calls take in turn, so that none finds its inputs in the cache.
constexpr int kSets = 3;
constexpr std::int64_t kSamples = 8;
// Rows and columns that every operator here is measured at.
constexpr std::pair<std::int64_t, std::int64_t> kShapes[] = {{16384, 4096}, {16384, 8192}, {4096, 32768}};

/// `apart` names a size along which slices (rows, columns) are computed apart from each other, so that some
/// of them can be checked on their own.
struct MemoryOperator {
  std::string op, type, shape;
  cli::Sizes sizes;
  std::string apart;
  bool by_place =
      false;  ///< a slice depends on where it lies: the first ones are checked, not some everywhere

  std::string name() const { return op + "/" + type + "/" + shape; }
  std::int64_t slices() const { return sizes.at(apart); }
};

std::vector<std::int64_t> samples(const MemoryOperator& work) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < kSamples; ++i)
    places.push_back(work.by_place ? i : i * (work.slices() - 1) / (kSamples - 1));
  return places;
}

/// Slices of a dense buffer, along the dimension in which the two differ; a buffer without one is copied
/// whole.
void copy_slices(const Buffer& from, const Buffer& to, const std::vector<std::int64_t>& places) {
  int dim = 0;
  while (dim < from.rank() && from.extent(dim) == to.extent(dim)) ++dim;
  const auto* source = static_cast<const char*>(from.data());
  auto* target = static_cast<char*>(to.data());
  if (dim == from.rank()) {
    std::memcpy(target, source, bytes_of(from));
    return;
  }
  std::size_t inner = static_cast<std::size_t>(from.type().bytes()), outer = 1;
  for (int d = 0; d < dim; ++d) inner *= from.extent(d);
  for (int d = dim + 1; d < from.rank(); ++d) outer *= from.extent(d);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < places.size(); ++i)
      std::memcpy(target + (o * to.extent(dim) + i) * inner,
                  source + (o * from.extent(dim) + places[i]) * inner, inner);
}

/// Whether an element has nothing but the bytes of 0xff that outputs are filled with before the call; of
/// single bytes one in 256 has these by right.
bool has_poison(const Buffer& buffer) {
  if (buffer.type().bytes() == 1) return false;
  const std::size_t size = static_cast<std::size_t>(buffer.type().bytes());
  const unsigned char poison[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const auto* bytes = static_cast<const unsigned char*>(buffer.data());
  for (std::size_t at = 0; at < bytes_of(buffer); at += size)
    if (std::memcmp(bytes + at, poison, size) == 0) return true;
  return false;
}

/// The worst error of one output in units of the bound on rounding.
double worst_error(const Buffer& got, const Buffer& exact, const Buffer& bound) {
  double worst = 0;
  std::vector<std::int64_t> at(got.rank(), 0);
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    std::int64_t rest = i;
    for (int d = 0; d < got.rank(); ++d) {
      at[d] = rest % got.extent(d);
      rest /= got.extent(d);
    }
    const double error = std::abs(got.value(at) - exact.value(at));
    const double units = error == 0 ? 0 : error / (2 * bound.value(at));
    worst = std::isnan(units) ? INFINITY : std::max(worst, units);
  }
  return worst;
}

bool different(const Buffer& got, const Buffer& expected) {
  return std::memcmp(got.data(), expected.data(), bytes_of(got)) != 0;
}

/// Compares some slices with the definition in float64 and looks for elements that were never written; gives
/// the worst error in units of the bound on rounding.
double check(const MemoryOperator& work, const Pipeline& pipeline, const Arguments& whole) {
  cli::Sizes sizes = work.sizes;
  sizes[work.apart] = kSamples;
  const Arguments some = make_arguments(pipeline, sizes);
  const std::vector<std::int64_t> places = samples(work);
  for (std::size_t i = 0; i < some.inputs.size(); ++i) copy_slices(whole.inputs[i], some.inputs[i], places);
  const Evaluation reference = pipeline.evaluate(some.inputs, {}, sizes);

  double worst = 0;
  for (std::size_t o = 0; o < some.outputs.size(); ++o) {
    copy_slices(whole.outputs[o], some.outputs[o], places);
    if (!some.outputs[o].type().is_float())
      worst = std::max(worst, different(some.outputs[o], reference.outputs[o]) ? INFINITY : 0.0);
    else
      worst = std::max(worst, worst_error(some.outputs[o], reference.exact[o], reference.bound[o]));
    if (has_poison(whole.outputs[o])) worst = INFINITY;
  }
  if (worst > 1)
    throw std::runtime_error(work.name() + ": wrong result, " + std::to_string(worst) + " times the bound");
  return worst;
}

nlohmann::ordered_json measure(const MemoryOperator& work, const std::string& schedule,
                               const cli::Knobs& knobs, const cuda::Device& device) {
  const Operator& op = find_operator(work.op);
  const OperatorTypes types = OperatorTypes::parse(work.type);
  const Pipeline pipeline = op.pipeline(types);
  const cli::ChosenSchedule chosen =
      schedule_named(schedule, op, types, pipeline, Target::cuda(device.arch()), work.sizes);
  const DeviceKernel kernel(pipeline, cli::with_knobs(chosen.schedule, knobs));

  const Arguments host = make_arguments(pipeline, work.sizes);
  std::vector<DeviceArguments> sets;
  for (int set = kSets; set-- > 0;) {
    fill_inputs(host, set);
    sets.emplace_back(device, pipeline, host);
  }
  const Clock clock(device);
  for (const DeviceArguments& set : sets) kernel.enqueue(set, clock.stream());
  clock.wait();
  sets.back().download_outputs(host);  // whose inputs `host` still has
  const double worst = check(work, pipeline, host);

  Copies copies(device);
  const Calls calls{kCallsOfARound,
                    [&](int call, calotype_cu_handle stream) { kernel.enqueue(sets[call % kSets], stream); }};
  const Calls copying{kCopiesOfARound, [&](int, calotype_cu_handle stream) { copies.enqueue(stream); }};
  const Turns turns = in_turn(clock, copies, kRounds, calls, copying);
  const double copy_rate = Copies::bytes() / median(turns.second);
  nlohmann::ordered_json result{{"fraction_of_copy", turns.speed() * sets[0].bytes() / Copies::bytes()},
                                {"microseconds", median(turns.first) * 1e6},
                                {"copy_gigabytes_per_second", copy_rate * 1e-9},
                                {"floor_microseconds", sets[0].bytes() / copy_rate * 1e6},
                                {"error_of_bound", worst},
                                {"schedule", chosen.source},
                                {"rounds", kRounds}};
  result["kernels"] = about_kernels(kernel.compiled());
  return result;
}

/// Rows by columns, as in NumPy.
std::vector<MemoryOperator> memory_operators() {
  std::vector<MemoryOperator> all;
  const auto shape = [](std::int64_t rows, std::int64_t columns) {
    return std::to_string(rows) + "x" + std::to_string(columns);
  };
  const auto rows = [&](const char* op, const char* type, std::int64_t r, std::int64_t c) {
    const bool softmax = std::string(op) == "softmax";
    cli::Sizes sizes{{"N", c}, {softmax ? "D1" : "R", r}};
    if (softmax) sizes.insert({{"D2", 1}, {"D3", 1}});
    all.push_back(
        {op, type, shape(r, c), sizes, softmax ? "D1" : "R", std::string(op) == "bias_gelu_dropout"});
  };
  const auto columns = [&](const char* type, std::int64_t r, std::int64_t c) {
    all.push_back({"softmax_columns", type, shape(r, c), {{"N", c}, {"R", r}}, "N"});
  };
  const auto transpose = [&](const char* type, std::int64_t r, std::int64_t c) {
    all.push_back({"transpose", type, shape(r, c), {{"N", c}, {"M", r}, {"B", 1}}, "M"});
  };
  for (const char* op : {"rmsnorm_silu_mul", "layernorm_residual", "softmax"})
    for (const char* type : {"bf16", "f32"}) {
      for (const auto& [r, c] : kShapes) rows(op, type, r, c);
      rows(op, type, 2048, 65536);
      rows(op, type, 512, 262144);
    }
  for (const char* type : {"bf16", "f32"}) {
    for (const auto& [r, c] : kShapes) rows("bias_gelu_dropout", type, r, c);
    columns(type, 4096, 16384);
    for (const auto& [r, c] : kShapes) columns(type, r, c);
    for (const auto& [r, c] : kShapes) transpose(type, r, c);
  }
  for (const char* type : {"f32", "bf16", "u8"}) transpose(type, 16384, 16384);
  return all;
}

}  // namespace

std::vector<GpuFigure> memory_bound_figures(const Schedules& schedules) {
  std::vector<GpuFigure> figures;
  for (const MemoryOperator& work : memory_operators())
    add_for_knobs(figures, schedules, work.name(), "fraction of the copy bandwidth, arguments counted once",
                  [=](const std::string& schedule, const cli::Knobs& knobs, const cuda::Device& device) {
                    return measure(work, schedule, knobs, device);
                  });
  return figures;
}

}  // namespace calotype::bench
