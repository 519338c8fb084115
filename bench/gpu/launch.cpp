// What a call costs the host beside a bare launch of the same kernel, and what a call costs in a CUDA graph.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "calotype/device_buffer.h"
#include "driver/kernel_impl.h"
#include "gpu/figures.h"
#include "gpu/gpu.h"
#include "shipped.h"
#include "workloads.h"

namespace calotype::bench {
namespace {

// So few that the driver's queue of launches never fills up: a full one makes the host wait for the device.
constexpr int kCallsOfARound = 200, kRounds = 51;
constexpr int kReplays = 1000;

void require(const cuda::Device& device, calotype_cu_result result, const char* action) {
  calotype_context context{};
  if (calotype_cuda_result(&context, device.raw().driver, result, action) != CALOTYPE_GOOD)
    cuda::throw_error(context.error);
}

const cli::Sizes kSizes = {{"N", 4096}, {"R", 8}};

/// rmsnorm_silu_mul of x[8, 4096] in bf16: one kernel of a few microseconds.
struct SmallCall {
  explicit SmallCall(const cuda::Device& device)
      : op(find_operator("rmsnorm_silu_mul")),
        types(OperatorTypes::parse("bf16")),
        pipeline(op.pipeline(types)),
        schedule(
            schedule_named("shipped", op, types, pipeline, Target::cuda(device.arch()), kSizes).schedule),
        kernel(pipeline.compile(schedule, Target::cuda(device.arch()))),
        host(make_arguments(pipeline, kSizes)) {
    fill_inputs(host);
    std::size_t input = 0;
    for (const Arg& a : host.all) {
      const Buffer* buffer = std::get_if<Buffer>(&a.value());
      if (!buffer) {
        args.push_back(a);
        continue;
      }
      buffers.emplace_back(*buffer);
      if (input++ < host.inputs.size()) buffers.back().copy_to_device();
      args.emplace_back(buffers.back().device());
    }
  }

  /// The outputs are what the definition gives, within twice its bound on rounding; throws otherwise.
  void check() const {
    buffers.back().copy_to_host();
    const Evaluation reference = pipeline.evaluate(host.inputs, {}, kSizes);
    const Buffer& out = host.outputs[0];
    std::vector<std::int64_t> at(out.rank(), 0);
    for (at[1] = 0; at[1] < out.extent(1); ++at[1])
      for (at[0] = 0; at[0] < out.extent(0); ++at[0])
        if (!(std::abs(out.value(at) - reference.exact[0].value(at)) <= 2 * reference.bound[0].value(at)))
          throw std::runtime_error("rmsnorm_silu_mul: wrong result");
  }
  void poison() const {
    std::memset(host.outputs[0].data(), 0xff, bytes_of(host.outputs[0]));
    buffers.back().copy_to_device();
  }

  const Operator& op;
  OperatorTypes types;
  Pipeline pipeline;
  Schedule schedule;
  Kernel kernel;
  Arguments host;
  std::vector<DeviceBuffer> buffers;
  std::vector<Arg> args;
};

/// The one launch that a plan's call comes down to, and its function loaded once more.
class BareLaunch {
 public:
  BareLaunch(const cuda::Device& device, const SmallCall& call)
      : device_(device), cuda_(*device.raw().driver) {
    const driver::Variant& variant = call.kernel.impl().dense();
    const cuda::DeviceProgram program(variant.program);
    require(device, cuda_.module_load(&module_, program.compiled().cubin.data()), "loading the kernel");
    record(variant, call);
    require(device, cuda_.module_function(&function_, module_, program.compiled().kernels.at(0).name.c_str()),
            "finding the kernel");
    for (void*& b : buffers_) parameters_.push_back(&b);
    for (std::int64_t& s : scalars_) parameters_.push_back(&s);
  }
  ~BareLaunch() { cuda_.module_unload(module_); }
  BareLaunch(const BareLaunch&) = delete;
  BareLaunch& operator=(const BareLaunch&) = delete;

  void enqueue(calotype_cu_handle stream) {
    require(device_,
            cuda_.launch(function_, grid_[0], grid_[1], grid_[2], block_[0], block_[1], block_[2], 0, stream,
                         parameters_.data(), nullptr),
            "launching the kernel");
  }

 private:
  /// Runs the plan on a device that writes the launch down.
  void record(const driver::Variant& variant, const SmallCall& call) {
    const lower::Function& function = variant.program.functions.at(0);
    if (variant.program.functions.size() != 1 || cuda::dynamic_shared_bytes(function) > 0)
      throw std::runtime_error("the bare launch is of one kernel without dynamic shared memory");
    buffers_.resize(function.buffers.size());
    scalars_.resize(function.scalars.size());
    calotype_device recorder{};
    recorder.state = this;
    recorder.launch = [](void* state, calotype_context*, uint32_t, const uint32_t grid[3],
                         const uint32_t block[3], const int64_t* scalars, void* const* buffers,
                         const calotype_tensor*) {
      auto& self = *static_cast<BareLaunch*>(state);
      std::copy(grid, grid + 3, self.grid_);
      std::copy(block, block + 3, self.block_);
      std::copy(scalars, scalars + self.scalars_.size(), self.scalars_.begin());
      std::copy(buffers, buffers + self.buffers_.size(), self.buffers_.begin());
      return CALOTYPE_GOOD;
    };
    std::vector<calotype_argument> arguments;
    for (std::size_t i = 0; i < call.args.size(); ++i) {
      const Buffer* buffer = std::get_if<Buffer>(&call.args[i].value());
      const lower::Argument& a = variant.program.arguments[i];
      arguments.push_back(
          buffer ? calotype_argument{&buffer->raw(), 0}
                 : calotype_argument{
                       nullptr, driver::scalar_bits(std::get<double>(call.args[i].value()), a.type, a.name)});
    }
    const calotype_plan_code code{nullptr, &recorder};
    calotype_context context{};
    if (calotype_plan_run(&variant.plan->plan(), &code, &context, arguments.data(),
                          static_cast<std::uint32_t>(arguments.size())) != CALOTYPE_GOOD)
      cuda::throw_error(context.error);
  }

  const cuda::Device& device_;
  const calotype_cuda& cuda_;
  calotype_cu_handle module_ = nullptr, function_ = nullptr;
  std::uint32_t grid_[3] = {}, block_[3] = {};
  std::vector<std::int64_t> scalars_;
  std::vector<void*> buffers_;
  std::vector<void*> parameters_;
};

/// Microseconds of the host for one of many calls that are put into an empty stream.
template <class Call>
double host_microseconds(const Clock& clock, Call&& call) {
  clock.wait();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kCallsOfARound; ++i) call();
  const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
  return spent.count() / kCallsOfARound;
}

nlohmann::ordered_json launch(const cuda::Device& device) {
  const Clock clock(device);
  const SmallCall call(device);
  BareLaunch bare(device, call);
  const KernelOnStream on_stream = call.kernel.on(clock.stream());
  const auto ours = [&] { on_stream.call(call.args); };
  call.poison();
  bare.enqueue(clock.stream());
  clock.wait();
  call.check();
  call.poison();
  ours();
  clock.wait();
  call.check();
  std::vector<double> our_times, bare_times, differences;
  for (int i = 0; i <= kRounds; ++i) {
    const double first = host_microseconds(clock, [&] { bare.enqueue(clock.stream()); });
    const double second = host_microseconds(clock, ours);
    if (i == 0) continue;  // warms up
    bare_times.push_back(first);
    our_times.push_back(second);
    differences.push_back(second - first);
  }
  return {{"call_microseconds", median(our_times)},
          {"cuLaunchKernel_microseconds", median(bare_times)},
          {"overhead_microseconds", median(differences)},
          {"calls", kRounds * kCallsOfARound}};
}

/// A graph that is destroyed with the object.
class Graph {
 public:
  Graph(const cuda::Device& device, calotype_cu_handle stream, const std::function<void()>& work)
      : cuda_(*device.raw().driver) {
    require(device, cuda_.capture_begin(stream, CALOTYPE_CU_CAPTURE_GLOBAL), "beginning a capture");
    work();
    require(device, cuda_.capture_end(stream, &graph_), "ending a capture");
    require(device, cuda_.graph_make(&made_, graph_, 0), "making a graph");
  }
  ~Graph() {
    if (made_) cuda_.graph_unmake(made_);
    if (graph_) cuda_.graph_destroy(graph_);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  calotype_cu_result launch(calotype_cu_handle stream) const { return cuda_.graph_launch(made_, stream); }

 private:
  const calotype_cuda& cuda_;
  calotype_cu_handle graph_ = nullptr, made_ = nullptr;
};

nlohmann::ordered_json graph(const cuda::Device& device) {
  const Clock clock(device);
  const SmallCall call(device);
  const KernelOnStream on_stream = call.kernel.on(clock.stream());
  call.poison();
  const Graph one(device, clock.stream(), [&] { on_stream.call(call.args); });
  require(device, one.launch(clock.stream()), "launching a graph");
  clock.wait();
  call.check();
  // A graph of twenty calls: what is left of each once the launch of the graph is shared.
  constexpr int kCalls = 20;
  const Graph many(device, clock.stream(), [&] {
    for (int i = 0; i < kCalls; ++i) on_stream.call(call.args);
  });
  const auto seconds_of = [&](const Work& work) { return clock.seconds([](calotype_cu_handle) {}, work); };
  const auto replay = [&](const Graph& graph, int times) {
    return [&device, &graph, times](calotype_cu_handle stream) {
      for (int i = 0; i < times; ++i) require(device, graph.launch(stream), "launching a graph");
    };
  };
  const auto plain = [&](calotype_cu_handle) {
    for (int i = 0; i < kReplays; ++i) on_stream.call(call.args);
  };
  std::vector<double> singles, shared, calls;
  for (int i = 0; i <= 15; ++i) {
    const double a = seconds_of(replay(one, kReplays)) / kReplays * 1e6;
    const double b = seconds_of(replay(many, kReplays / kCalls)) / kReplays * 1e6;
    const double c = seconds_of(plain) / kReplays * 1e6;
    if (i == 0) continue;  // warms up
    singles.push_back(a);
    shared.push_back(b);
    calls.push_back(c);
  }
  return {{"replay_microseconds", median(singles)},
          {"replay_of_20_microseconds_a_call", median(shared)},
          {"call_microseconds", median(calls)},
          {"replays", kReplays},
          {"rounds", 15}};
}

}  // namespace

std::vector<GpuFigure> launch_figures() {
  return {{"launch", "host time of a call in a stream, and of cuLaunchKernel alone, in turn", launch},
          {"graph/rmsnorm_silu_mul/bf16/8x4096", "replay of the call as a CUDA graph, and the call itself",
           graph}};
}

}  // namespace calotype::bench
