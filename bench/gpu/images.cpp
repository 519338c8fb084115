// Operators on an image of 24 megapixels: the time of a call, and the bytes of its arguments a second beside
// those of a copy.
#include <cstring>
#include <fstream>

#include "gpu/figures.h"
#include "gpu/gpu.h"
#include "shipped.h"
#include "workloads.h"

namespace calotype::bench {
namespace {

constexpr int kRounds = 15, kCallsOfARound = 12, kCopiesOfARound = 4;
constexpr int kSets = 3;

struct ImageOperator {
  std::string op, type;
  cli::Sizes sizes, small;
};

const std::vector<ImageOperator>& image_operators() {
  static const std::vector<ImageOperator> all = {
      {"blur3x3", "u8", {{"W", 6000}, {"H", 4000}, {"C", 3}}, {{"W", 301}, {"H", 203}, {"C", 3}}},
      {"local_laplacian", "u8", {{"W", 6000}, {"H", 4000}}, {{"W", 301}, {"H", 203}}},
  };
  return all;
}

void read_photo(const std::string& path, const Buffer& image) {
  std::ifstream file(path, std::ios::binary);
  if (!file.read(static_cast<char*>(image.data()), static_cast<std::streamsize>(bytes_of(image))))
    throw std::runtime_error(path + " has fewer than " + std::to_string(bytes_of(image)) + " bytes");
}

/// A small image, byte for byte as by the definition.
void check(const ImageOperator& work, const Pipeline& pipeline, const DeviceKernel& kernel,
           const cuda::Device& device) {
  const Arguments host = make_arguments(pipeline, work.small);
  fill_inputs(host);
  const Evaluation reference = pipeline.evaluate(host.inputs, {}, work.small);
  const DeviceArguments arguments(device, pipeline, host);
  const Clock clock(device);
  kernel.enqueue(arguments, clock.stream());
  clock.wait();
  arguments.download_outputs(host);
  const Buffer &got = host.outputs[0], &expected = reference.outputs[0];
  if (std::memcmp(got.data(), expected.data(), bytes_of(got)) != 0)
    throw std::runtime_error(work.op + ": a small image differs from the definition");
}

nlohmann::ordered_json measure(const ImageOperator& work, const Schedules& schedules, const cli::Knobs& knobs,
                               const cuda::Device& device) {
  const Operator& op = find_operator(work.op);
  const OperatorTypes types = OperatorTypes::parse(work.type);
  const Pipeline pipeline = op.pipeline(types);
  const cli::ChosenSchedule chosen =
      schedule_named(schedules.name, op, types, pipeline, Target::cuda(device.arch()), work.sizes);
  const DeviceKernel kernel(pipeline, cli::with_knobs(chosen.schedule, knobs));
  check(work, pipeline, kernel, device);

  const Arguments host = make_arguments(pipeline, work.sizes);
  fill_inputs(host);
  if (!schedules.photo.empty()) read_photo(schedules.photo, host.inputs[0]);
  std::vector<DeviceArguments> sets;
  for (int set = 0; set < kSets; ++set) sets.emplace_back(device, pipeline, host);
  const Clock clock(device);
  Copies copies(device);
  const auto copy = [&](calotype_cu_handle stream) { copies.enqueue(stream); };
  const auto some_copies = [&](calotype_cu_handle stream) {
    for (int i = 0; i < kCopiesOfARound; ++i) copies.enqueue(stream);
  };
  const auto some_calls = [&](calotype_cu_handle stream) {
    for (int i = 0; i < kCallsOfARound; ++i) kernel.enqueue(sets[i % kSets], stream);
  };
  clock.seconds(copy, some_calls);
  std::vector<double> microseconds, fractions;
  for (int i = 0; i < kRounds; ++i) {
    const double call = clock.seconds(copy, some_calls) / kCallsOfARound;
    const double copied = clock.seconds(copy, some_copies) / kCopiesOfARound;
    microseconds.push_back(call * 1e6);
    fractions.push_back(sets[0].bytes() / call / (Copies::bytes() / copied));
  }
  return {{"microseconds", median(microseconds)},
          {"fraction_of_copy", median(fractions)},
          {"image", schedules.photo.empty() ? "random bytes" : schedules.photo},
          {"schedule", chosen.source},
          {"rounds", kRounds}};
}

}  // namespace

std::vector<GpuFigure> image_figures(const Schedules& schedules) {
  std::vector<GpuFigure> figures;
  for (const ImageOperator& work : image_operators())
    for (const cli::Knobs& knobs : cli::combinations(schedules.knobs))
      figures.push_back(
          {work.op + "/" + work.type + "/6000x4000" + suffix(schedules.name, knobs),
           "microseconds of a call on an image of 24 megapixels",
           [=](const cuda::Device& device) { return measure(work, schedules, knobs, device); }});
  return figures;
}

}  // namespace calotype::bench
