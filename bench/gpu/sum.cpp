// The sum of 2^30 numbers beside a kernel that only reads them: what a long reduction loses.
#include <cmath>

#include "codegen/cuda/nvrtc_compile.h"
#include "gpu/figures.h"
#include "gpu/gpu.h"
#include "shipped.h"
#include "workloads.h"

namespace calotype::bench {
namespace {

constexpr std::int64_t kElements = std::int64_t{1} << 30;
constexpr int kRounds = 15, kCallsOfARound = 3;
constexpr unsigned kThreads = 512, kBlocksOfAProcessor = 4;

// Eight loads of 16 bytes are on their way at once. The sum is written only if it is a number that it is not,
// so that no load can be left out.
constexpr const char* kReadOnly = R"(
extern "C" __global__ void __launch_bounds__(512) read_only(const float4* __restrict__ x, float* out, long long n) {
  const long long step = (long long)gridDim.x * 512;
  float sum = 0.0f;
  for (long long i = blockIdx.x * 512ll + threadIdx.x; i < n; i += 8 * step) {
    float4 v[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) v[j] = i + j * step < n ? __ldcs(&x[i + j * step]) : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += v[j].x + v[j].y + v[j].z + v[j].w;
  }
  if (sum == 1.2345678e30f) *out = sum;
}
)";

/// The kernel above, on one buffer.
class Reader {
 public:
  Reader(const cuda::Device& device, const calotype_buffer& x) : device_(device), x_(x.data) {
    const cuda::Compiled compiled = cuda::compile(kReadOnly, device.arch());
    const cuda::DeviceScope scope(device);
    require(cuda().module_load(&module_, compiled.cubin.data()));
    require(cuda().module_function(&function_, module_, "read_only"));
    int processors = 0;
    require(cuda().device_attribute(&processors, CALOTYPE_CU_MULTIPROCESSORS, device.raw().device));
    blocks_ = processors * kBlocksOfAProcessor;
  }
  ~Reader() {
    const cuda::DeviceScope scope(device_);
    cuda().module_unload(module_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void enqueue(calotype_cu_handle stream) const {
    void* x = x_;
    void* out = nullptr;  // never written to
    long long vectors = kElements / 4;
    void* parameters[] = {&x, &out, &vectors};
    require(cuda().launch(function_, blocks_, 1, 1, kThreads, 1, 1, 0, stream, parameters, nullptr));
  }

 private:
  const calotype_cuda& cuda() const { return *device_.raw().driver; }
  void require(calotype_cu_result result) const {
    calotype_context context{};
    if (calotype_cuda_result(&context, device_.raw().driver, result, "the kernel that only reads") !=
        CALOTYPE_GOOD)
      cuda::throw_error(context.error);
  }
  const cuda::Device& device_;
  void* x_;
  calotype_cu_handle module_ = nullptr, function_ = nullptr;
  unsigned blocks_ = 0;
};

/// The error of a sum in units of what rounding may give for additions in any order.
double check(const Buffer& x, double got) {
  const auto* values = static_cast<const float*>(x.data());
  double sum = 0, magnitudes = 0;
  for (std::int64_t i = 0; i < kElements; ++i) {
    sum += values[i];
    magnitudes += std::abs(values[i]);
  }
  // A tree of partial sums: a value goes through some thousands of additions at most.
  const double units = std::abs(got - sum) / (4096 * std::ldexp(magnitudes, -24));
  if (!(units <= 1)) throw std::runtime_error("sum: wrong result " + std::to_string(got));
  return units;
}

nlohmann::ordered_json measure(const std::string& schedule, const cli::Knobs& knobs,
                               const cuda::Device& device) {
  const Operator& op = find_operator("sum");
  const OperatorTypes types = OperatorTypes::parse("x=f32,out=f32");
  const Pipeline pipeline = op.pipeline(types);
  const cli::Sizes sizes{{"N", kElements}, {"D1", 1}, {"D2", 1}, {"D3", 1}};
  const cli::ChosenSchedule chosen =
      schedule_named(schedule, op, types, pipeline, Target::cuda(device.arch()), sizes);
  const DeviceKernel kernel(pipeline, cli::with_knobs(chosen.schedule, knobs));
  const Arguments host = make_arguments(pipeline, sizes);
  fill_inputs(host);
  const DeviceArguments arguments(device, pipeline, host);
  const Reader reader(device, *arguments.all()[0].buffer);
  const Clock clock(device);
  kernel.enqueue(arguments, clock.stream());
  clock.wait();
  arguments.download_outputs(host);
  const double error = check(host.inputs[0], host.outputs[0].value({}));

  Copies copies(device);
  const auto filler = [&](calotype_cu_handle stream) { copies.enqueue(stream); };
  std::vector<double> ours, read;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(clock.seconds(filler, [&](calotype_cu_handle stream) {
      for (int i = 0; i < kCallsOfARound; ++i) kernel.enqueue(arguments, stream);
    }) / kCallsOfARound);
    read.push_back(clock.seconds(filler, [&](calotype_cu_handle stream) {
      for (int i = 0; i < kCallsOfARound; ++i) reader.enqueue(stream);
    }) / kCallsOfARound);
  }
  std::vector<double> fractions;
  for (int round = 0; round < kRounds; ++round) fractions.push_back(read[round] / ours[round]);
  return {{"fraction_of_reading", median(fractions)},
          {"microseconds", median(ours) * 1e6},
          {"read_gigabytes_per_second", 4e-9 * kElements / median(read)},
          {"error_of_bound", error},
          {"schedule", chosen.source},
          {"rounds", kRounds}};
}

}  // namespace

std::vector<GpuFigure> sum_figures(const Schedules& schedules) {
  std::vector<GpuFigure> figures;
  for (const cli::Knobs& knobs : cli::combinations(schedules.knobs))
    figures.push_back({"sum/f32/2^30" + suffix(schedules.name, knobs),
                       "fraction of the bandwidth of a kernel that only reads",
                       [=, schedule = schedules.name](const cuda::Device& device) {
                         return measure(schedule, knobs, device);
                       }});
  return figures;
}

}  // namespace calotype::bench
