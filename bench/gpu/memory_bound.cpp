// Operators on rows, whose floor is each argument read or written once at the bandwidth of a copy: the
// fraction of that bandwidth which they reach, each round measured beside a round of copies.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "gpu/figures.h"
#include "gpu/gpu.h"
#include "shipped.h"
#include "workloads.h"

namespace calotype::bench {
namespace {

constexpr int kRounds = 15, kCallsOfARound = 12, kCopiesOfARound = 4;
// Sets of arguments that calls take in turn, so that none finds its inputs in the cache.
constexpr int kSets = 3;
constexpr std::int64_t kSampledRows = 8;

/// Dimension 1 counts rows that are computed apart from each other; inputs of rank 1 belong to all of them.
struct RowOperator {
  std::string op, type;
  std::int64_t columns, rows;
  std::string column_size, row_size;  // names of the Dims
  cli::Sizes other_sizes;

  std::string name() const {
    return op + "/" + type + "/" + std::to_string(rows) + "x" + std::to_string(columns);
  }
  cli::Sizes sizes(std::int64_t row_count) const {
    cli::Sizes all = other_sizes;
    all[column_size] = columns;
    all[row_size] = row_count;
    return all;
  }
};

std::vector<std::int64_t> sampled_rows(std::int64_t rows) {
  std::vector<std::int64_t> sample;
  for (std::int64_t i = 0; i < kSampledRows; ++i) sample.push_back(i * (rows - 1) / (kSampledRows - 1));
  return sample;
}

void copy_rows(const Buffer& from, const Buffer& to, const std::vector<std::int64_t>& rows) {
  const std::size_t bytes = bytes_of(from) / (from.rank() > 1 ? from.extent(1) : 1);
  const auto* source = static_cast<const char*>(from.data());
  auto* target = static_cast<char*>(to.data());
  if (from.rank() < 2) {
    std::memcpy(target, source, bytes);
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(target + i * bytes, source + rows[i] * bytes, bytes);
}

/// Whether an element has nothing but the bytes of 0xff that outputs are filled with before the call.
bool has_poison(const Buffer& buffer) {
  const std::size_t size = static_cast<std::size_t>(buffer.type().bytes());
  const unsigned char poison[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  const auto* bytes = static_cast<const unsigned char*>(buffer.data());
  for (std::size_t at = 0; at < bytes_of(buffer); at += size)
    if (std::memcmp(bytes + at, poison, size) == 0) return true;
  return false;
}

/// Compares some rows with the definition in float64 and looks for elements that were never written; gives
/// the worst error in units of the bound on rounding.
double check(const RowOperator& row_operator, const Pipeline& pipeline, const Arguments& whole) {
  const std::vector<std::int64_t> rows = sampled_rows(row_operator.rows);
  const cli::Sizes sizes = row_operator.sizes(kSampledRows);
  const Arguments some = make_arguments(pipeline, sizes);
  for (std::size_t i = 0; i < some.inputs.size(); ++i) copy_rows(whole.inputs[i], some.inputs[i], rows);
  copy_rows(whole.outputs[0], some.outputs[0], rows);
  const Evaluation reference = pipeline.evaluate(some.inputs, {}, sizes);

  double worst = 0;
  std::vector<std::int64_t> at(some.outputs[0].rank(), 0);
  for (at[1] = 0; at[1] < kSampledRows; ++at[1]) {
    for (at[0] = 0; at[0] < row_operator.columns; ++at[0]) {
      const double error = std::abs(some.outputs[0].value(at) - reference.exact[0].value(at));
      const double units = error == 0 ? 0 : error / (2 * reference.bound[0].value(at));
      worst = std::isnan(units) ? INFINITY : std::max(worst, units);
    }
  }
  if (has_poison(whole.outputs[0])) worst = INFINITY;
  if (worst > 1)
    throw std::runtime_error(row_operator.name() + ": wrong result, " + std::to_string(worst) +
                             " times the bound");
  return worst;
}

nlohmann::ordered_json measure(const RowOperator& row_operator, const std::string& schedule,
                               const cli::Knobs& knobs, const cuda::Device& device) {
  const Operator& op = find_operator(row_operator.op);
  const OperatorTypes types = OperatorTypes::parse(row_operator.type);
  const Pipeline pipeline = op.pipeline(types);
  const cli::ChosenSchedule chosen =
      schedule_named(schedule, op, types, pipeline, Target::cuda(device.arch()));
  const DeviceKernel kernel(pipeline, cli::with_knobs(chosen.schedule, knobs));

  const Arguments host = make_arguments(pipeline, row_operator.sizes(row_operator.rows));
  std::vector<DeviceArguments> sets;
  for (int set = kSets; set-- > 0;) {
    fill_inputs(host, set);
    sets.emplace_back(device, pipeline, host);
  }
  const Clock clock(device);
  for (const DeviceArguments& set : sets) kernel.enqueue(set, clock.stream());
  clock.wait();
  sets.back().download_outputs(host);  // whose inputs `host` still has
  const double worst = check(row_operator, pipeline, host);

  Copies copies(device);
  const auto copy = [&](calotype_cu_handle stream) { copies.enqueue(stream); };
  const auto some_copies = [&](calotype_cu_handle stream) {
    for (int i = 0; i < kCopiesOfARound; ++i) copies.enqueue(stream);
  };
  const auto some_calls = [&](calotype_cu_handle stream) {
    for (int i = 0; i < kCallsOfARound; ++i) kernel.enqueue(sets[i % sets.size()], stream);
  };
  clock.seconds(copy, some_calls);
  std::vector<double> microseconds, fractions, copy_rates;
  for (int i = 0; i < kRounds; ++i) {
    const double call = clock.seconds(copy, some_calls) / kCallsOfARound;
    const double copied = clock.seconds(copy, some_copies) / kCopiesOfARound;
    microseconds.push_back(call * 1e6);
    copy_rates.push_back(Copies::bytes() / copied * 1e-9);
    fractions.push_back(sets[0].bytes() / call / (Copies::bytes() / copied));
  }
  nlohmann::ordered_json result{{"fraction_of_copy", median(fractions)},
                                {"microseconds", median(microseconds)},
                                {"copy_gigabytes_per_second", median(copy_rates)},
                                {"floor_microseconds", sets[0].bytes() / median(copy_rates) * 1e-3},
                                {"error_of_bound", worst},
                                {"schedule", chosen.source},
                                {"rounds", kRounds}};
  for (const cuda::KernelFigures& figures : kernel.compiled().kernels)
    result["kernels"].push_back(
        {{"name", figures.name}, {"registers", figures.registers}, {"spill_bytes", figures.spill_bytes}});
  return result;
}

/// "@gpu" with THREADS=128 is ":@gpu,THREADS=128" behind the name of the operator.
std::string suffix(const std::string& schedule, const cli::Knobs& knobs) {
  std::string text;
  if (schedule != "shipped") text += ":" + schedule;
  for (const auto& [name, value] : knobs)
    text += (text.empty() ? ":" : ",") + name + "=" + std::to_string(value);
  return text;
}

}  // namespace

std::vector<GpuFigure> memory_bound_figures(const Schedules& schedules) {
  std::vector<RowOperator> operators;
  for (const char* type : {"bf16", "f32"})
    for (const std::int64_t columns : {4096, 8192}) {
      operators.push_back({"rmsnorm_silu_mul", type, columns, 16384, "N", "R", {}});
      operators.push_back({"softmax", type, columns, 16384, "N", "D1", {{"D2", 1}, {"D3", 1}}});
    }
  std::vector<GpuFigure> figures;
  for (const RowOperator& row_operator : operators)
    for (const cli::Knobs& knobs : cli::combinations(schedules.knobs))
      figures.push_back({row_operator.name() + suffix(schedules.name, knobs),
                         "fraction of the copy bandwidth, arguments counted once",
                         [=, schedule = schedules.name](const cuda::Device& device) {
                           return measure(row_operator, schedule, knobs, device);
                         }});
  return figures;
}

}  // namespace calotype::bench
