#pragma once
// From emitted LLVM IR to optimised IR, object code and assembly.

#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

namespace calotype::llvm_backend {

/// A short pipeline, in place.
void optimize(llvm::Module& module, llvm::TargetMachine& target_machine);
std::unique_ptr<llvm::MemoryBuffer> make_object(llvm::Module& module, llvm::TargetMachine& target_machine);
std::string make_assembly(llvm::Module& module, llvm::TargetMachine& target_machine);

}  // namespace calotype::llvm_backend
