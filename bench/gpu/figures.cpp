// The list of figures, and the copy bandwidth that others are held against.
#include "gpu/figures.h"

#include "cli/select.h"
#include "gpu/gpu.h"

namespace calotype::bench {
namespace {

constexpr int kRounds = 15, kCopiesOfARound = 8;

nlohmann::ordered_json copy_bandwidth(const cuda::Device& device) {
  const Clock clock(device);
  Copies copies(device);
  const auto copy = [&](calotype_cu_handle stream) { copies.enqueue(stream); };
  const auto some = [&](calotype_cu_handle stream) {
    for (int i = 0; i < kCopiesOfARound; ++i) copies.enqueue(stream);
  };
  clock.seconds(copy, some);
  std::vector<double> rates;
  for (int i = 0; i < kRounds; ++i)
    rates.push_back(kCopiesOfARound * Copies::bytes() / clock.seconds(copy, some) * 1e-9);
  return {{"gigabytes_per_second", median(rates)}, {"rounds", kRounds}};
}

}  // namespace

std::vector<GpuFigure> copy_figures() {
  return {{"copy", "cuMemcpyDtoD of 512 MB, bytes read and written", copy_bandwidth}};
}

std::string suffix(const std::string& schedule, const cli::Knobs& knobs) {
  std::string text;
  if (schedule != "shipped") text += ":" + schedule;
  for (const auto& [name, value] : knobs)
    text += (text.empty() ? ":" : ",") + name + "=" + std::to_string(value);
  return text;
}

void add_for_knobs(std::vector<GpuFigure>& figures, const Schedules& schedules, const std::string& name,
                   const std::string& description,
                   const std::function<nlohmann::ordered_json(const std::string& schedule, const cli::Knobs&,
                                                              const cuda::Device&)>& measure) {
  for (const cli::Knobs& knobs : cli::combinations(schedules.knobs))
    figures.push_back({name + suffix(schedules.name, knobs), description,
                       [=, schedule = schedules.name](const cuda::Device& device) {
                         return measure(schedule, knobs, device);
                       }});
}

std::vector<GpuFigure> gpu_figures(const Schedules& schedules) {
  std::vector<GpuFigure> all;
  for (const auto& list :
       {copy_figures(), memory_bound_figures(schedules), sum_figures(schedules), product_figures(schedules),
        image_figures(schedules), launch_figures(), compile_figures()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace calotype::bench
