// Compilation from lowered functions to a Module: emit, optimise, make code, link.
#include "codegen/llvm/backend.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <chrono>
#include <mutex>

#include "calotype/error.h"
#include "codegen/llvm/emit_module.h"
#include "codegen/llvm/extern.h"
#include "codegen/llvm/link.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/optimize.h"

namespace calotype::llvm_backend {
namespace {

class Stopwatch {
 public:
  /// Seconds since the last call or construction.
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void verify(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out)) {
    throw Error({.kind = ErrorKind::Internal, .message = "the emitted LLVM IR is not valid: " + text});
  }
}

std::string print(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return text;
}

class CompiledModule : public Module {
 public:
  CompiledModule(std::vector<lower::Function> functions, Options options)
      : functions_(std::move(functions)), options_(std::move(options)), machine_(machine_for(options_.arch)) {
    MachineLease target_machine(machine_);
    llvm::LLVMContext context;
    Stopwatch watch;
    auto module = emit_verified(context, *target_machine);
    seconds_.emplace_back("LLVM IR", watch.lap());
    optimize(*module, *target_machine);
    seconds_.emplace_back("optimisation", watch.lap());
    if (machine_.runs_here) {
      auto object = make_object(*module, *target_machine);
      seconds_.emplace_back("machine code", watch.lap());
      std::vector<std::string> names;
      for (const auto& function : functions_) names.push_back(function.name);
      std::vector<std::pair<std::string, const void*>> data;
      for (const auto& [name, call] : extern_records(functions_)) data.emplace_back(name, call);
      code_ = link(std::move(object), names, data);
      seconds_.emplace_back("linking", watch.lap());
    }
    if (options_.keep_text) make_texts();
  }

  HostFunction function(const std::string& name) const override {
    if (!code_) {
      throw Error({.kind = ErrorKind::Target,
                   .message = "code for this architecture cannot run on this machine",
                   .value = options_.arch});
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (functions_[i].name == name) return reinterpret_cast<HostFunction>(code_->addresses()[i]);
      names.push_back(functions_[i].name);
    }
    throw Error({.kind = ErrorKind::Internal,
                 .message = "no such compiled function",
                 .value = name,
                 .legal = did_you_mean(name, names)});
  }

  std::string llvm_text() const override { return make_texts(), llvm_text_; }
  std::string asm_text() const override { return make_texts(), asm_text_; }
  std::vector<std::pair<std::string, double>> seconds() const override { return seconds_; }

 private:
  std::unique_ptr<llvm::Module> emit_verified(llvm::LLVMContext& context,
                                              llvm::TargetMachine& target_machine) const {
    auto module =
        emit_module(context, functions_, {machine_, options_.contract}, target_machine.createDataLayout());
    verify(*module);
    return module;
  }

  /// Compiles once more: code generation changes the IR, and most callers never ask.
  void make_texts() const {
    std::call_once(texts_made_, [this] {
      MachineLease target_machine(machine_);
      llvm::LLVMContext context;
      auto module = emit_verified(context, *target_machine);
      optimize(*module, *target_machine);
      llvm_text_ = print(*module);
      asm_text_ = make_assembly(*module, *target_machine);
    });
  }

  std::vector<lower::Function> functions_;
  Options options_;
  const Machine& machine_;
  std::unique_ptr<LinkedCode> code_;
  std::vector<std::pair<std::string, double>> seconds_;
  mutable std::once_flag texts_made_;
  mutable std::string llvm_text_, asm_text_;
};

}  // namespace

std::shared_ptr<Module> compile(const std::vector<lower::Function>& functions, const Options& options) {
  return std::make_shared<CompiledModule>(functions, options);
}

}  // namespace calotype::llvm_backend
