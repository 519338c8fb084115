// From printed source to launches.

#include "codegen/cuda/device_program.h"

#include <fmt/format.h>

#include <chrono>

#include "calotype/error.h"
#include "codegen/cuda/once.h"
#include "runtime/cuda_cluster.h"
#include "runtime/overlap.h"

namespace calotype::cuda {
namespace {

constexpr std::int64_t kAlignment = 16;

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// True if every element row of the buffer starts at a multiple of 16 bytes, as the kernels will see it: host
/// buffers are copied to the start of an allocation.
bool is_aligned(const calotype_buffer& b) {
  const std::int64_t size = (b.type.bits + 7) / 8;
  std::int64_t bytes = 0, below = 0;
  if (calotype_span(&b, &bytes, &below) != 0) return false;
  const auto address =
      b.device != 0 ? static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(b.data)) : below;
  if (address % kAlignment != 0) return false;
  for (int d = 1; d < b.rank && d < CALOTYPE_MAX_RANK; ++d) {
    if (b.dims[d].extent > 1 && b.dims[d].stride * size % kAlignment != 0) return false;
  }
  return true;
}

std::string target_arch(const lower::Program& program) {
  return program.target.arch.empty() ? Device::get().arch() : program.target.arch;
}

/// The calls of one thread on one stream.
class StreamLease {
 public:
  explicit StreamLease(const Device& device) : device_(device), stream_(device.take_stream()) {}
  ~StreamLease() { device_.give_stream(stream_); }
  StreamLease(const StreamLease&) = delete;
  StreamLease& operator=(const StreamLease&) = delete;
  calotype_cu_handle get() const { return stream_; }

 private:
  const Device& device_;
  calotype_cu_handle stream_;
};

}  // namespace

/// Machine code on the device.
class DeviceProgram::Module {
 public:
  /// `image` is a cubin, or PTX ending in a zero.
  Module(const Device& device, const char* image) : device_(device) {
    calotype_context context{};
    if (calotype_cuda_module_load(&context, &device.raw(), image, &handle_) != CALOTYPE_GOOD)
      throw_error(context.error);
  }
  ~Module() { calotype_cuda_module_unload(&device_.raw(), handle_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  calotype_cu_handle find(const std::string& kernel, std::uint32_t shared_bytes) const {
    calotype_context context{};
    calotype_cu_handle function = nullptr;
    if (calotype_cuda_kernel_find(&context, &device_.raw(), handle_, kernel.c_str(), shared_bytes,
                                  &function) != CALOTYPE_GOOD)
      throw_error(context.error);
    return function;
  }

  /// Of a kernel whose blocks run in clusters.
  void prepare_cluster(const calotype_cuda_kernel& kernel, const std::string& name,
                       const lower::Function& f) const {
    calotype_context context{};
    if (calotype_cuda_kernel_cluster(
            &context, &device_.raw(), kernel.function, name.c_str(), static_cast<std::uint32_t>(f.cluster),
            static_cast<std::uint32_t>(f.max_threads), kernel.shared_bytes) != CALOTYPE_GOOD)
      throw_error(context.error);
  }

 private:
  const Device& device_;
  calotype_cu_handle handle_ = nullptr;
};

struct DeviceProgram::Code {
  std::string source;
  Compiled compiled;
  Once made, loaded;
  std::unique_ptr<Module> module;  // once loaded
  std::vector<calotype_cuda_kernel> kernels;
};

ir::Facts aligned_stride_facts(const lower::Program& program) {
  ir::Facts facts;
  for (const lower::Scalar& s : program.scalars) {
    if (s.source.kind != lower::ScalarSource::Kind::Stride || s.source.dim == 0) continue;
    const std::int64_t size = program.arguments[s.source.argument].type.bytes();
    if (size < kAlignment) facts.set_multiple(s.symbol, kAlignment / size);
  }
  return facts;
}

DeviceProgram::DeviceProgram(const lower::Program& program, const CompileOptions& options)
    : functions_(program.functions),
      options_(options),
      arch_(target_arch(program)),
      aligned_(std::make_unique<Code>()) {
  options_.name = program.name + ".cu";
  auto start = Clock::now();
  aligned_->source = print(functions_, {.aligned_arguments = true, .facts = aligned_stride_facts(program)});
  std::string general = print(functions_);
  seconds_.emplace_back("printing", since(start));
  if (general != aligned_->source) {
    general_ = std::make_unique<Code>();
    general_->source = std::move(general);
  }
  start = Clock::now();
  make(*aligned_);
  seconds_.emplace_back(aligned_->compiled.from_cache ? "NVRTC (from the disk cache)" : "NVRTC",
                        since(start));
}

DeviceProgram::~DeviceProgram() = default;

const std::string& DeviceProgram::source() const { return aligned_->source; }
const Compiled& DeviceProgram::compiled() const { return aligned_->compiled; }

void DeviceProgram::make(Code& code) const {
  code.made([&] { code.compiled = compile(code.source, arch_, options_); });
}

void DeviceProgram::load(Code& code, const Device& device) const {
  code.loaded([&] {
    const bool native = device.runs_code_of(arch_);
    if (!native && !device.runs_ptx_of(arch_))
      throw Error({.kind = ErrorKind::Target,
                   .message = fmt::format("code for {} does not run on {} ({})", arch_, device.raw().name,
                                          device.arch()),
                   .value = arch_,
                   .legal = "cuda, or cuda-" + device.arch()});
    auto module =
        std::make_unique<Module>(device, native ? code.compiled.cubin.data() : code.compiled.ptx.c_str());
    const std::vector<std::string> names = kernel_names(functions_);
    code.kernels.resize(functions_.size());
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const lower::Function& f = functions_[i];
      if (!f.gpu) continue;
      calotype_cuda_kernel& kernel = code.kernels[i];
      kernel.buffer_count = static_cast<std::uint32_t>(f.buffers.size());
      kernel.scalar_count = static_cast<std::uint32_t>(f.scalars.size());
      kernel.shared_bytes = static_cast<std::uint32_t>(dynamic_shared_bytes(f));
      kernel.function = module->find(names[i], kernel.shared_bytes);
      if (f.cluster > 1) module->prepare_cluster(kernel, names[i], f);
    }
    code.module = std::move(module);
  });
}

const DeviceProgram::Code& DeviceProgram::code_for(const std::vector<calotype_argument>& arguments) const {
  bool aligned = true;
  for (const calotype_argument& a : arguments) aligned &= !a.buffer || is_aligned(*a.buffer);
  Code& code = aligned || !general_ ? *aligned_ : *general_;
  make(code);
  load(code, Device::get());
  return code;
}

calotype_error_kind DeviceProgram::run(const calotype_plan& plan, calotype_context& context,
                                       const std::vector<calotype_argument>& arguments,
                                       calotype_cu_handle stream) const {
  const auto count = static_cast<std::uint32_t>(arguments.size());
  // Bad arguments are refused before anything is compiled or loaded for them.
  const calotype_error_kind refused = calotype_plan_check_call(&plan, &context, arguments.data(), count);
  if (refused) return refused;
  const Device& device = Device::get();
  const Code& code = code_for(arguments);
  const DeviceScope scope(device);
  std::unique_ptr<StreamLease> lease;
  if (!stream) lease = std::make_unique<StreamLease>(device);
  calotype_cuda_session session{&device.raw(), lease ? lease->get() : stream, code.kernels.data()};
  const calotype_device service = calotype_cuda_serve(&session);
  const calotype_plan_code plan_code{nullptr, &service};
  calotype_error_kind kind = calotype_plan_run(&plan, &plan_code, &context, arguments.data(), count);
  if (!kind && lease) kind = service.finish(service.state, &context);
  return kind;
}

}  // namespace calotype::cuda
