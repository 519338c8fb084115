// The sum of 2^30 numbers beside a kernel that only reads them: what a long reduction loses.
#include "codegen/cuda/nvrtc_compile.h"
#include "gpu/figures.h"
#include "gpu/gpu.h"
#include "shipped.h"

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
    void* parameters[] = {static_cast<void*>(&x), static_cast<void*>(&out), &vectors};
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

/// -3, -1, 1 or 3 by a hash of the place. None is 0, so that an element left out or taken twice shows. Sums
/// of such numbers, at whichever places, are within some 2^17 of 0, and f32 has every integer up to 2^24:
/// they are exact in any order.
float value_at(std::uint64_t place) {
  const std::uint64_t hash = (place + 1) * 0x9e3779b97f4a7c15u;
  const std::uint64_t mixed = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
  return static_cast<float>(2 * static_cast<int>(mixed >> 62) - 3);
}

void fill(const Buffer& x) {
  auto* values = static_cast<float*>(x.data());
  for (std::int64_t i = 0; i < kElements; ++i) values[i] = value_at(static_cast<std::uint64_t>(i));
}

/// Throws where `got` is not the sum in integers.
void check(const Buffer& x, double got) {
  const auto* values = static_cast<const float*>(x.data());
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < kElements; ++i) sum += static_cast<std::int64_t>(values[i]);
  if (got != static_cast<double>(sum))
    throw std::runtime_error("sum: " + std::to_string(got) + " where it is " + std::to_string(sum));
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
  fill(host.inputs[0]);
  const DeviceArguments arguments(device, pipeline, host);
  const Reader reader(device, *arguments.all()[0].buffer);
  const Clock clock(device);
  kernel.enqueue(arguments, clock.stream());
  clock.wait();
  arguments.download_outputs(host);
  check(host.inputs[0], host.outputs[0].value({}));

  Copies copies(device);
  const Calls sums{kCallsOfARound,
                   [&](int, calotype_cu_handle stream) { kernel.enqueue(arguments, stream); }};
  const Calls reads{kCallsOfARound, [&](int, calotype_cu_handle stream) { reader.enqueue(stream); }};
  const Turns turns = in_turn(clock, copies, kRounds, sums, reads);
  return {{"fraction_of_reading", turns.speed()},
          {"microseconds", median(turns.first) * 1e6},
          {"read_gigabytes_per_second", 4e-9 * kElements / median(turns.second)},
          {"schedule", chosen.source},
          {"rounds", kRounds}};
}

}  // namespace

std::vector<GpuFigure> sum_figures(const Schedules& schedules) {
  std::vector<GpuFigure> figures;
  add_for_knobs(figures, schedules, "sum/f32/2^30", "fraction of the bandwidth of a kernel that only reads",
                measure);
  return figures;
}

}  // namespace calotype::bench
