// Host programs: machine code from the LLVM backend.

#include <fmt/format.h>

#include "calotype/error.h"
#include "driver/executable.h"

#ifdef CALOTYPE_HAS_LLVM
#include "codegen/llvm/backend.h"
#include "driver/context_hooks.h"
#endif

namespace calotype::driver {

#ifdef CALOTYPE_HAS_LLVM

namespace {

class HostExecutable : public Executable {
 public:
  HostExecutable(const lower::Program& program, const ExecutableOptions& options)
      : meters_(options.meters), cache_(options.cache) {
    module_ = llvm_backend::compile(
        program.functions, {.arch = program.target.arch, .contract = options.contract, .keep_text = false});
    for (const lower::Function& f : program.functions) names_.push_back(f.name);
  }

  calotype_error_kind run(const calotype_plan& plan, calotype_context& context,
                          std::span<const calotype_argument> arguments, const CallMode&) const override {
    std::vector<calotype_host_function> functions;
    for (const std::string& name : names_) functions.push_back(module_->function(name));
    ContextHooks hooks(context, meters_.get());
    const calotype_plan_code code{.host = functions.data(), .device = nullptr, .cache = cache_.get()};
    return calotype_plan_run(&plan, &code, &context, arguments.data(),
                             static_cast<uint32_t>(arguments.size()));
  }

  std::string show(const std::string& level) const override {
    if (level == "llvm") return module_->llvm_text();
    if (level == "asm") return module_->asm_text();
    refuse_level(level, levels());
  }
  std::vector<std::string> levels() const override { return {"llvm", "asm"}; }
  std::vector<std::pair<std::string, double>> seconds() const override { return module_->seconds(); }

 private:
  std::shared_ptr<Meters> meters_;
  std::shared_ptr<calotype_value_cache> cache_;
  std::shared_ptr<llvm_backend::Module> module_;
  std::vector<std::string> names_;
};

}  // namespace

std::unique_ptr<Executable> make_host_executable(const lower::Program& program,
                                                 const ExecutableOptions& options) {
  return std::make_unique<HostExecutable>(program, options);
}

#else

std::unique_ptr<Executable> make_host_executable(const lower::Program& program, const ExecutableOptions&) {
  throw Error({.kind = ErrorKind::Target,
               .message = "this build has no CPU backend",
               .value = program.target.str(),
               .legal = "a build with CALOTYPE_LLVM=ON, or a cuda target"});
}

#endif

void refuse_level(const std::string& level, const std::vector<std::string>& levels) {
  throw Error({.kind = ErrorKind::Usage,
               .message = fmt::format("this target has no level '{}'", level),
               .value = level,
               .legal = did_you_mean(level, levels)});
}

}  // namespace calotype::driver
