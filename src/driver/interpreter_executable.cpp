// GPU programs without a GPU: the plan's launches run on the interpreter, whose device memory is host memory.

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>

#include "calotype/error.h"
#include "driver/executable.h"
#include "driver/occupancy.h"
#include "runtime/context.h"
#include "runtime/print.h"
#include "sim/simulator.h"

namespace calotype::driver {
namespace {

constexpr unsigned char kPoison = 0xA5;
constexpr std::uint32_t kResidentBlocks = 3;  // of a persistent grid: few, so that each has several tiles

/// What a kernel is called and how many scalars, buffers and tensors it takes.
struct Shape {
  std::string name;
  std::size_t scalars, buffers, tensors;
  std::int64_t cluster, shared_bytes;
};

/// The device of one call: allocations by address, and the kernels.
class Device {
 public:
  Device(const std::vector<sim::Kernel>& kernels, const std::vector<Shape>& shapes, const Target& target,
         const CallMode& mode)
      : kernels_(kernels), shapes_(shapes), target_(target), mode_(mode) {
    interface_.state = this;
    interface_.allocate = [](void* s, calotype_context* c, const char* owner, int64_t bytes, void** memory) {
      return self(s).allocate(c, owner, bytes, memory);
    };
    interface_.release = [](void* s, void* memory) { self(s).release(memory); };
    interface_.upload = [](void*, calotype_context*, void* to, const void* from, int64_t bytes) {
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
      return CALOTYPE_GOOD;
    };
    interface_.download = interface_.upload;
    interface_.launch = [](void* s, calotype_context* c, uint32_t function, const uint32_t grid[3],
                           const uint32_t block[3], const int64_t* scalars, void* const* buffers,
                           const calotype_tensor* tensors) {
      return self(s).launch(c, function, grid, block, scalars, buffers, tensors);
    };
    interface_.finish = [](void*, calotype_context*) { return CALOTYPE_GOOD; };
    interface_.check_memory = [](void*, calotype_context* c, const char* name, const calotype_buffer* b) {
      if (b->device == 0) return CALOTYPE_GOOD;
      return calotype_refuse(c, name, "memory of a GPU", "host memory",
                             "the buffer is on a GPU, which the interpreter does not reach");
    };
    interface_.resident = [](void* s, calotype_context*, uint32_t function, const uint32_t*,
                             uint32_t* blocks) {
      const auto cluster = static_cast<std::uint32_t>(self(s).shapes_[function].cluster);
      *blocks = (kResidentBlocks + cluster - 1) / cluster * cluster;
      return CALOTYPE_GOOD;
    };
  }
  ~Device() {
    for (const auto& [memory, bytes] : memory_) std::free(memory);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const calotype_device* get() const { return &interface_; }

 private:
  static Device& self(void* state) { return *static_cast<Device*>(state); }

  calotype_error_kind allocate(calotype_context* context, const char* owner, int64_t bytes, void** memory) {
    const std::size_t size = (static_cast<std::size_t>(bytes) + 255) / 256 * 256;
    *memory = std::aligned_alloc(256, size ? size : 256);
    if (!*memory) return calotype_out_of_memory(context, owner, bytes);
    std::memset(*memory, kPoison, static_cast<std::size_t>(bytes));
    memory_[*memory] = bytes;
    return CALOTYPE_GOOD;
  }

  void release(void* memory) {
    memory_.erase(memory);
    std::free(memory);
  }

  static calotype_error_kind fail(calotype_context* context, calotype_error_kind kind,
                                  const std::string& text) {
    context->error.kind = kind;
    const std::size_t n = text.copy(context->error.message, sizeof(context->error.message) - 1);
    context->error.message[n] = 0;
    return kind;
  }

  calotype_error_kind launch(calotype_context* context, uint32_t function, const uint32_t grid[3],
                             const uint32_t block[3], const int64_t* scalars, void* const* buffers,
                             const calotype_tensor* tensors) {
    const sim::Kernel& kernel = kernels_[function];
    sim::Launch launch;
    for (int axis = 0; axis < 3; ++axis) {
      launch.grid[axis] = grid[axis];
      launch.block[axis] = block[axis];
    }
    launch.scalars.assign(scalars, scalars + shapes_[function].scalars);
    for (std::size_t i = 0; i < shapes_[function].buffers; ++i)
      launch.buffers.push_back(memory_of(buffers[i]));
    for (std::size_t i = 0; i < shapes_[function].tensors; ++i)
      launch.tensors.push_back({memory_of(tensors[i].data),
                                {tensors[i].extents, tensors[i].extents + tensors[i].plan->rank},
                                {tensors[i].strides, tensors[i].strides + tensors[i].plan->rank}});
    launch.print = [&](const char* text, const std::int64_t* values, const char* kinds) {
      calotype_print(context, text, values, kinds);
    };
    if (mode_.verification) {
      verify(function, launch);
      return CALOTYPE_GOOD;
    }
    const sim::Report report = kernel.run(launch, {});
    if (report.findings.empty()) return CALOTYPE_GOOD;
    return fail(context, CALOTYPE_CHECK_FAILED, sim::to_string(report));
  }

  void verify(uint32_t function, const sim::Launch& launch) const {
    const VerifyOptions& asked = mode_.verify;
    sim::Report report = kernels_[function].run(launch, {.seed = asked.seed,
                                                         .max_findings = asked.max_findings,
                                                         .max_steps = asked.max_steps,
                                                         .random_landing = asked.random_landing,
                                                         .figures = true});
    Verification& all = *mode_.verification;
    std::move(report.findings.begin(), report.findings.end(), std::back_inserter(all.findings));
    all.dropped += report.dropped;
    const Shape& shape = shapes_[function];
    KernelFigures figures{.kernel = shape.name,
                          .grid = launch.grid,
                          .block = launch.block,
                          .cluster = shape.cluster,
                          .shared_bytes = shape.shared_bytes,
                          .stages = std::move(report.stages)};
    const Occupancy room =
        occupancy(target_, launch.block[0] * launch.block[1] * launch.block[2], shape.shared_bytes);
    figures.blocks_at_once = room.blocks;
    figures.limited_by = room.limited_by;
    all.kernels.push_back(std::move(figures));
  }

  /// The allocation that a pointer into device memory belongs to: what a kernel may touch through it.
  sim::Memory memory_of(void* pointer) const {
    // A buffer without elements has no memory; a kernel that gets it may run, and touch nothing of it.
    if (!pointer) return {.data = nullptr, .low = 0, .high = 0};
    auto it = memory_.upper_bound(pointer);
    if (it != memory_.begin()) --it;
    const std::int64_t low = static_cast<const char*>(it->first) - static_cast<const char*>(pointer);
    return {.data = pointer, .low = low, .high = low + it->second};
  }

  const std::vector<sim::Kernel>& kernels_;
  const std::vector<Shape>& shapes_;
  const Target& target_;
  const CallMode& mode_;
  std::map<void*, int64_t> memory_;
  calotype_device interface_{};
};

class InterpreterExecutable : public Executable {
 public:
  explicit InterpreterExecutable(const lower::Program& program) : target_(program.target) {
    for (const lower::Function& f : program.functions) {
      kernels_.emplace_back(f);
      shapes_.push_back(
          {f.name, f.scalars.size(), f.buffers.size(), f.tensors.size(), f.cluster, f.shared_bytes});
    }
  }

  calotype_error_kind run(const calotype_plan& plan, calotype_context& context,
                          std::span<const calotype_argument> arguments, const CallMode& mode) const override {
    Device device(kernels_, shapes_, target_, mode);
    const calotype_plan_code code{.host = nullptr, .device = device.get()};
    return calotype_plan_run(&plan, &code, &context, arguments.data(),
                             static_cast<uint32_t>(arguments.size()));
  }

  std::string show(const std::string& level) const override { refuse_level(level, levels()); }
  std::vector<std::string> levels() const override { return {}; }
  std::vector<std::pair<std::string, double>> seconds() const override { return {}; }

 private:
  const Target target_;
  std::vector<sim::Kernel> kernels_;
  std::vector<Shape> shapes_;
};

}  // namespace

std::unique_ptr<Executable> make_interpreter_executable(const lower::Program& program,
                                                        const ExecutableOptions&) {
  return std::make_unique<InterpreterExecutable>(program);
}

}  // namespace calotype::driver
