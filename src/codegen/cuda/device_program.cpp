// From printed source to launches.

#include "codegen/cuda/device_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "calotype/error.h"
#include "codegen/cuda/figures.h"
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
  if (b.device == 0 && calotype_span(&b, &bytes, &below) != 0) return false;
  const auto address =
      b.device != 0 ? static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(b.data)) : below;
  if (address % kAlignment != 0) return false;
  for (int d = 1; d < b.rank && d < CALOTYPE_MAX_RANK; ++d) {
    if (b.dims[d].extent > 1 && b.dims[d].stride * size % kAlignment != 0) return false;
  }
  return true;
}

int spilled_bytes(const Compiled& compiled) {
  int bytes = 0;
  for (const KernelFigures& k : compiled.kernels) bytes += k.spill_bytes;
  return bytes;
}

std::string target_arch(const lower::Program& program) {
  return program.target.arch.empty() ? Device::get().arch() : program.target.arch;
}

}  // namespace

/// Machine code on the device.
class DeviceProgram::Module {
 public:
  /// `image` is a cubin, or PTX ending in a zero.
  Module(const Device& device, const char* image, int toolkit) : device_(device) {
    calotype_context context{};
    if (calotype_cuda_module_load(&context, &device.raw(), image, toolkit, &handle_) != CALOTYPE_GOOD)
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
  void prepare_cluster(calotype_cuda_kernel& kernel, const std::string& name,
                       const lower::Function& f) const {
    calotype_context context{};
    if (calotype_cuda_kernel_cluster(&context, &device_.raw(), kernel.function, name.c_str(),
                                     static_cast<std::uint32_t>(f.cluster),
                                     static_cast<std::uint32_t>(f.max_threads), kernel.shared_bytes,
                                     &kernel.clustered) != CALOTYPE_GOOD)
      throw_error(context.error);
  }

 private:
  const Device& device_;
  calotype_cu_handle handle_ = nullptr;
};

struct DeviceProgram::Code {
  PrintOptions options;
  std::string source;
  Compiled compiled;
  Once made, loaded;
  // Once loaded:
  const Device* device = nullptr;
  std::unique_ptr<Module> module;
  std::vector<std::string> names;
  std::vector<calotype_cuda_kernel> kernels;
  std::vector<std::vector<calotype_cuda_encoded>> tensors;  // by kernel
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

/// "sm_90a" and later ones.
static bool has_early_launches(const std::string& arch) {
  return arch.starts_with("sm_") && std::atoi(arch.c_str() + 3) >= 90;
}

DeviceProgram::DeviceProgram(const lower::Program& program, const CompileOptions& options)
    : functions_(program.functions),
      options_(options),
      arch_(target_arch(program)),
      aligned_(std::make_unique<Code>()),
      general_(std::make_unique<Code>()) {
  options_.name = program.name + ".cu";
  auto start = Clock::now();
  const bool early = has_early_launches(arch_);
  aligned_->options = {
      .aligned_arguments = true, .begins_early = early, .facts = aligned_stride_facts(program)};
  aligned_->source = print(functions_, aligned_->options);
  general_->options.begins_early = early;
  seconds_.emplace_back("printing", since(start));
  start = Clock::now();
  make(*aligned_);
  seconds_.emplace_back(aligned_->compiled.from_cache ? "NVRTC (from the disk cache)" : "NVRTC",
                        since(start));
}

DeviceProgram::~DeviceProgram() = default;

const std::string& DeviceProgram::source() const { return aligned_->source; }
const Compiled& DeviceProgram::compiled() const { return aligned_->compiled; }
std::string DeviceProgram::figures_text() const { return cuda::figures_text(functions_, compiled()); }

std::vector<std::string> DeviceProgram::warnings() const {
  std::vector<std::string> all = warnings_of(functions_, aligned_->compiled);
  if (general_->made.done())
    for (const std::string& w : warnings_of(functions_, general_->compiled))
      if (std::find(all.begin(), all.end(), w) == all.end()) all.push_back(w);
  return all;
}

void DeviceProgram::make(Code& code) const {
  code.made([&] {
    if (code.source.empty()) code.source = print(functions_, code.options);
    const bool same = &code != aligned_.get() && code.source == aligned_->source;
    code.compiled = same ? aligned_->compiled : compile(code.source, arch_, options_);
    for (const KernelFigures& k : code.compiled.kernels)
      if (k.spill_bytes > 0) code.options.alone.insert(k.name);
    if (code.options.alone.empty()) return;
    // What spills is compiled once more with all the registers of a multiprocessor.
    std::string source = print(functions_, code.options);
    if (source == code.source) return;
    Compiled compiled = compile(source, arch_, options_);
    if (spilled_bytes(compiled) >= spilled_bytes(code.compiled)) return;
    code.source = std::move(source);
    code.compiled = std::move(compiled);
  });
}

void DeviceProgram::load(Code& code) const {
  code.loaded([&] {
    const Device& device = Device::get();
    const bool native = device.runs_code_of(arch_);
    if (!native && !device.runs_ptx_of(arch_))
      throw Error({.kind = ErrorKind::Target,
                   .message = fmt::format("code for {} does not run on {} ({})", arch_, device.raw().name,
                                          device.arch()),
                   .value = arch_,
                   .legal = "cuda, or cuda-" + device.arch()});
    auto module = std::make_unique<Module>(
        device, native ? code.compiled.cubin.data() : code.compiled.ptx.c_str(), code.compiled.nvrtc);
    code.names = kernel_names(functions_);
    code.kernels.resize(functions_.size());
    code.tensors.resize(functions_.size());
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const lower::Function& f = functions_[i];
      if (!f.gpu) continue;
      calotype_cuda_kernel& kernel = code.kernels[i];
      kernel.name = code.names[i].c_str();
      kernel.buffer_count = static_cast<std::uint32_t>(f.buffers.size());
      kernel.scalar_count = static_cast<std::uint32_t>(f.scalars.size());
      kernel.tensor_count = static_cast<std::uint32_t>(f.tensors.size());
      code.tensors[i].resize(f.tensors.size());
      kernel.tensors = code.tensors[i].data();
      kernel.shared_bytes = static_cast<std::uint32_t>(dynamic_shared_bytes(f));
      kernel.begins_early = code.options.begins_early;
      kernel.function = module->find(code.names[i], kernel.shared_bytes);
      if (f.cluster > 1) module->prepare_cluster(kernel, code.names[i], f);
    }
    code.module = std::move(module);
    code.device = &device;
  });
}

DeviceProgram::Code& DeviceProgram::code_for(std::span<const calotype_argument> arguments) const {
  bool aligned = true;
  for (const calotype_argument& a : arguments) aligned &= !a.buffer || is_aligned(*a.buffer);
  return aligned ? *aligned_ : *general_;
}

calotype_error_kind DeviceProgram::run(const calotype_plan& plan, calotype_context& context,
                                       std::span<const calotype_argument> arguments,
                                       std::optional<calotype_cu_handle> stream) const {
  const auto count = static_cast<std::uint32_t>(arguments.size());
  Code& code = code_for(arguments);
  if (!code.loaded.done()) {
    // Bad arguments are refused before anything is compiled or loaded for them.
    if (const calotype_error_kind refused =
            calotype_plan_check_call(&plan, &context, arguments.data(), count))
      return refused;
    make(code);
    load(code);
  }
  const Device& device = *code.device;
  const DeviceScope scope(device);
  std::optional<StreamLease> lease;
  if (!stream) lease.emplace(device);
  calotype_cuda_session session{.device = &device.raw(),
                                .stream = stream ? *stream : lease->get(),
                                .kernels = code.kernels.data(),
                                .seen = &device.seen(),
                                .goes_on = stream.has_value()};
  const calotype_device service = calotype_cuda_serve(&session);
  const calotype_plan_code plan_code{nullptr, &service};
  calotype_error_kind kind = calotype_plan_run(&plan, &plan_code, &context, arguments.data(), count);
  if (!kind && lease) kind = service.finish(service.state, &context);
  return kind;
}

}  // namespace calotype::cuda
