#pragma once
// From lowered functions to one LLVM module, not yet optimised.

#include <llvm/IR/Module.h>

#include <memory>
#include <vector>

#include "codegen/llvm/machine.h"
#include "lower/program.h"

namespace calotype::llvm_backend {

struct EmitSettings {
  const Machine& machine;
  bool contract = true;
};

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context,
                                          const std::vector<lower::Function>& functions,
                                          const EmitSettings& settings, const llvm::DataLayout& layout);

}  // namespace calotype::llvm_backend
