// CUDA programs: the CUDA C backend, and the driver API at run time.

#include "codegen/cuda/device_program.h"
#include "codegen/cuda/disassemble.h"
#include "driver/executable.h"

namespace calotype::driver {
namespace {

class CudaExecutable : public Executable {
 public:
  CudaExecutable(const lower::Program& program, const ExecutableOptions& options)
      : device_program_(program, {.contract = options.contract}) {}

  calotype_error_kind run(const calotype_plan& plan, calotype_context& context,
                          std::span<const calotype_argument> arguments, const CallMode& mode) const override {
    return device_program_.run(plan, context, arguments, mode.stream);
  }

  std::string show(const std::string& level) const override {
    if (level == "cuda") return device_program_.source();
    if (level == "ptx") return device_program_.compiled().ptx;
    if (level == "ptxas") return device_program_.figures_text();
    if (level == "sass") return cuda::disassemble(device_program_.compiled().cubin);
    refuse_level(level, levels());
  }
  std::vector<std::string> levels() const override { return {"cuda", "ptx", "ptxas", "sass"}; }
  std::vector<std::pair<std::string, double>> seconds() const override { return device_program_.seconds(); }
  std::vector<std::string> warnings() const override { return device_program_.warnings(); }

 private:
  cuda::DeviceProgram device_program_;
};

}  // namespace

std::unique_ptr<Executable> make_cuda_executable(const lower::Program& program,
                                                 const ExecutableOptions& options) {
  return std::make_unique<CudaExecutable>(program, options);
}

}  // namespace calotype::driver
