// Streams, events and device memory for the benchmarks.
#include "gpu/gpu.h"

#include <algorithm>

#include "driver/kernel_impl.h"

namespace calotype::bench {
namespace {

constexpr std::size_t kCopyBytes = std::size_t{512} << 20;
constexpr int kCopyBuffers = 4;

void require(const cuda::Device& device, calotype_cu_result result, const char* action) {
  calotype_context context{};
  if (calotype_cuda_result(&context, device.raw().driver, result, action) != CALOTYPE_GOOD)
    cuda::throw_error(context.error);
}

}  // namespace

Clock::Clock(const cuda::Device& device) : device_(device), scope_(device), stream_(device.take_stream()) {
  require(device, device.raw().driver->event_create(&begin_, 0), "making an event");
  require(device, device.raw().driver->event_create(&end_, 0), "making an event");
}

Clock::~Clock() {
  device_.raw().driver->event_destroy(begin_);
  device_.raw().driver->event_destroy(end_);
  device_.give_stream(stream_);
}

double Clock::seconds(const Work& filler, const Work& work) const {
  const calotype_cuda& cuda = *device_.raw().driver;
  filler(stream_);
  require(device_, cuda.event_record(begin_, stream_), "recording an event");
  work(stream_);
  require(device_, cuda.event_record(end_, stream_), "recording an event");
  require(device_, cuda.event_synchronize(end_), "running the kernels");
  float milliseconds = 0;
  require(device_, cuda.event_elapsed(&milliseconds, begin_, end_), "reading the time");
  return milliseconds * 1e-3;
}

void Clock::wait() const {
  require(device_, device_.raw().driver->stream_synchronize(stream_), "running the kernels");
}

Copies::Copies(const cuda::Device& device) {
  // Numbers as a computation has them: memory of zeros is faster on some GPUs.
  std::vector<std::uint64_t> random(kCopyBytes / sizeof(std::uint64_t));
  for (std::size_t i = 0; i < random.size(); ++i) random[i] = (i + 1) * 0x9e3779b97f4a7c15u ^ (i << 21);
  for (int i = 0; i < kCopyBuffers; ++i) {
    memory_.push_back(std::make_unique<cuda::DeviceMemory>(device, kCopyBytes));
    memory_.back()->upload(random.data());
  }
}

void Copies::enqueue(calotype_cu_handle stream) {
  memory_[(next_ + 1) % kCopyBuffers]->copy_from(*memory_[next_], stream);
  next_ = (next_ + 2) % kCopyBuffers;
}

double Copies::bytes() { return 2.0 * kCopyBytes; }

DeviceArguments::DeviceArguments(const cuda::Device& device, const Pipeline& pipeline,
                                 const Arguments& host) {
  const lang::Graph& graph = pipeline.graph();
  for (std::size_t i = 0; i < graph.arguments.size(); ++i) {
    const lang::Graph::ArgumentRef& ref = graph.arguments[i];
    if (ref.is_param)
      add(graph.params[ref.index], host.all[i]);
    else
      add(device, host.inputs[ref.index], false);
  }
  first_output_ = memory_.size();
  for (const Buffer& output : host.outputs) add(device, output, true);
}

void DeviceArguments::add(const cuda::Device& device, const Buffer& buffer, bool output) {
  memory_.push_back(std::make_unique<cuda::DeviceMemory>(device, bytes_of(buffer)));
  if (output) {
    const std::vector<unsigned char> poison(bytes_of(buffer), 0xff);
    memory_.back()->upload(poison.data());
  } else {
    memory_.back()->upload(buffer.data());
  }
  buffers_.push_back(std::make_unique<calotype_buffer>(buffer.raw()));
  buffers_.back()->data = memory_.back()->data();
  buffers_.back()->device = 1;
  arguments_.push_back({buffers_.back().get(), 0});
  bytes_ += static_cast<double>(bytes_of(buffer));
}

void DeviceArguments::add(const lang::ParamDef& param, const Arg& value) {
  arguments_.push_back(
      {nullptr, driver::scalar_bits(std::get<double>(value.value()), param.type, param.name)});
}

void DeviceArguments::download_outputs(const Arguments& host) const {
  for (std::size_t i = 0; i < host.outputs.size(); ++i)
    memory_[first_output_ + i]->download(host.outputs[i].data());
}

DeviceKernel::DeviceKernel(const Pipeline& pipeline, const Schedule& schedule) {
  // Compiled a second time here, from the same lowered program, to have its launches in a stream of our own.
  const Kernel kernel = pipeline.compile(schedule, Target::cuda());
  const driver::Variant& variant = kernel.impl().dense();
  plan_ = variant.plan;
  program_ = std::make_unique<cuda::DeviceProgram>(
      variant.program, cuda::CompileOptions{.contract = kernel.impl().scheduled().numerics.contract});
}

void DeviceKernel::enqueue(const DeviceArguments& arguments, calotype_cu_handle stream) const {
  calotype_context context{};
  if (program_->run(plan_->plan(), context, arguments.all(), stream) != CALOTYPE_GOOD)
    cuda::throw_error(context.error);
}

nlohmann::ordered_json about_kernels(const cuda::Compiled& compiled) {
  nlohmann::ordered_json all;
  for (const cuda::KernelFigures& figures : compiled.kernels)
    all.push_back(
        {{"name", figures.name}, {"registers", figures.registers}, {"spill_bytes", figures.spill_bytes}});
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double Turns::speed() const {
  std::vector<double> speeds;
  for (std::size_t round = 0; round < first.size(); ++round) speeds.push_back(second[round] / first[round]);
  return median(std::move(speeds));
}

Turns in_turn(const Clock& clock, Copies& copies, int rounds, const Calls& first, const Calls& second) {
  const auto filler = [&](calotype_cu_handle stream) { copies.enqueue(stream); };
  const auto seconds_of_a_call = [&](const Calls& side) {
    const auto all = [&](calotype_cu_handle stream) {
      for (int call = 0; call < side.count; ++call) side.enqueue(call, stream);
    };
    return clock.seconds(filler, all) / side.count;
  };
  Turns turns;
  for (int round = 0; round <= rounds; ++round) {
    const double one = seconds_of_a_call(first);
    const double other = seconds_of_a_call(second);
    if (round == 0) continue;  // warms up
    turns.first.push_back(one);
    turns.second.push_back(other);
  }
  return turns;
}

}  // namespace calotype::bench
