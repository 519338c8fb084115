// Operators on an image of 24 megapixels: the time of a call, and the bytes of its arguments a second beside
// those of a copy. A small image is checked against the definition, the large one, for which the definition
// takes too long, against a plain schedule on the same GPU.
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

void write_result(const std::string& path, const Buffer& image) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(image.data()), static_cast<std::streamsize>(bytes_of(image)));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

void require_same(const Buffer& got, const Buffer& expected, const std::string& what) {
  if (std::memcmp(got.data(), expected.data(), bytes_of(got)) != 0) throw std::runtime_error(what);
}

/// Every Func at root, a thread a point: nothing of what a tuned schedule may have wrong, for some gigabytes
/// between the stages of local_laplacian. For algorithms without updates.
Schedule plain(const Pipeline& pipeline) {
  Schedule schedule;
  for (const lang::FuncDef& func : pipeline.graph().funcs) {
    const std::string inner = func.args.at(0)->name;
    std::vector<LoopName> blocks{inner + ".o"};
    for (int dim = 1; dim < func.rank(); ++dim) blocks.emplace_back(func.args[dim]->name);
    schedule[func.name].compute_root().gpu_threads(inner, 128).gpu_blocks(blocks);
  }
  return schedule;
}

/// A small image, byte for byte as by the definition.
void check_small(const ImageOperator& work, const Pipeline& pipeline, const DeviceKernel& kernel,
                 const cuda::Device& device) {
  const Arguments host = make_arguments(pipeline, work.small);
  fill_inputs(host);
  const Evaluation reference = pipeline.evaluate(host.inputs, {}, work.small);
  const DeviceArguments arguments(device, pipeline, host);
  const Clock clock(device);
  kernel.enqueue(arguments, clock.stream());
  clock.wait();
  arguments.download_outputs(host);
  require_same(host.outputs[0], reference.outputs[0],
               work.op + ": a small image differs from the definition");
}

/// The image that is timed, byte for byte as by the plain schedule. The result is left in `host`; `set` and
/// `other` have the same inputs.
void check_large(const ImageOperator& work, const Pipeline& pipeline, const DeviceKernel& kernel,
                 const Clock& clock, const Arguments& host, const DeviceArguments& set,
                 const DeviceArguments& other) {
  const DeviceKernel by_points(pipeline, plain(pipeline));
  kernel.enqueue(set, clock.stream());
  by_points.enqueue(other, clock.stream());
  clock.wait();
  set.download_outputs(host);
  const Arguments expected = make_arguments(pipeline, work.sizes);
  other.download_outputs(expected);
  require_same(host.outputs[0], expected.outputs[0],
               work.op + ": the large image differs from that of a plain schedule");
}

nlohmann::ordered_json measure(const ImageOperator& work, const Schedules& schedules, const cli::Knobs& knobs,
                               const cuda::Device& device) {
  const Operator& op = find_operator(work.op);
  const OperatorTypes types = OperatorTypes::parse(work.type);
  const Pipeline pipeline = op.pipeline(types);
  const cli::ChosenSchedule chosen =
      schedule_named(schedules.name, op, types, pipeline, Target::cuda(device.arch()), work.sizes);
  const DeviceKernel kernel(pipeline, cli::with_knobs(chosen.schedule, knobs));
  check_small(work, pipeline, kernel, device);

  const Arguments host = make_arguments(pipeline, work.sizes);
  fill_inputs(host);
  if (!schedules.photo.empty()) read_photo(schedules.photo, host.inputs[0]);
  std::vector<DeviceArguments> sets;
  for (int set = 0; set < kSets; ++set) sets.emplace_back(device, pipeline, host);
  const Clock clock(device);
  check_large(work, pipeline, kernel, clock, host, sets[0], sets[1]);
  if (!schedules.result.empty()) write_result(schedules.result, host.outputs[0]);

  Copies copies(device);
  const Calls calls{kCallsOfARound,
                    [&](int call, calotype_cu_handle stream) { kernel.enqueue(sets[call % kSets], stream); }};
  const Calls copying{kCopiesOfARound, [&](int, calotype_cu_handle stream) { copies.enqueue(stream); }};
  const Turns turns = in_turn(clock, copies, kRounds, calls, copying);
  return {{"microseconds", median(turns.first) * 1e6},
          {"fraction_of_copy", turns.speed() * sets[0].bytes() / Copies::bytes()},
          {"image", schedules.photo.empty() ? "random bytes" : schedules.photo},
          {"schedule", chosen.source},
          {"rounds", kRounds}};
}

}  // namespace

std::vector<GpuFigure> image_figures(const Schedules& schedules) {
  std::vector<GpuFigure> figures;
  for (const ImageOperator& work : image_operators())
    add_for_knobs(figures, schedules, work.op + "/" + work.type + "/6000x4000",
                  "microseconds of a call on an image of 24 megapixels",
                  [=](const std::string&, const cli::Knobs& knobs, const cuda::Device& device) {
                    return measure(work, schedules, knobs, device);
                  });
  return figures;
}

}  // namespace calotype::bench
