#pragma once
// Emits the statements of one LLVM function: the entry of a lowered function, or the body of a parallel loop.

#include <llvm/Analysis/TargetFolder.h>
#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "codegen/llvm/environment.h"
#include "codegen/llvm/expr_emitter.h"
#include "codegen/llvm/extern.h"

namespace calotype::llvm_backend {

/// The runtime's functions as declared in a module (hooks.h).
struct RuntimeCalls {
  llvm::FunctionCallee parallel_for, allocate, no_memory, release, check_failed, print;
  explicit RuntimeCalls(llvm::Module& module);
};

/// What every function of a module shares.
struct ModuleEmitter {
  llvm::Module& module;
  const EmitSettings& settings;
  RuntimeCalls calls;
  std::vector<ExternRecord> externs;
  /// A function with the machine's attributes and an entry block.
  llvm::Function* add_function(llvm::FunctionType* type, const std::string& name, bool is_public);
};

class StmtEmitter {
 public:
  /// At the entry block of `function`, whose first argument is the context. The environment is the caller's
  /// to fill.
  StmtEmitter(ModuleEmitter& shared, llvm::Function* function, Environment environment);

  llvm::IRBuilderBase& builder() { return b_; }
  Environment& environment() { return environment_; }
  void emit(const ir::Stmt& s);
  /// Return kGood.
  void finish();
  /// Iterations from `begin` to `end` (i64) of a loop over `s`'s variable.
  void emit_loop(const ir::StmtNode& s, llvm::Value* begin, llvm::Value* end);

 private:
  void emit_if(const ir::StmtNode& s);
  void emit_for(const ir::StmtNode& s);
  void emit_allocate(const ir::StmtNode& s);
  void emit_heap(const ir::StmtNode& s);
  void emit_stack(const ir::StmtNode& s);
  void emit_check(const ir::StmtNode& s);
  void emit_print(const ir::StmtNode& s);
  // extern.cpp
  void emit_extern(const ir::StmtNode& s);
  // meter.cpp
  void emit_meter(const ir::StmtNode& s);
  void call_meter(const char* name, std::vector<llvm::Value*> arguments);
  // lock.cpp
  void emit_locked(const ir::StmtNode& s);
  llvm::Value* lock_of(llvm::Value* pointer);
  void take(llvm::Value* lock);
  // prefetch.cpp
  void emit_prefetch(const ir::StmtNode& s);
  void emit_prefetch_along(const ir::StmtNode& s, std::size_t next, llvm::Value* index);
  // stream.cpp
  void complete_streams();
  // parallel.cpp
  void emit_parallel(const ir::StmtNode& s, llvm::Value* begin, llvm::Value* end);

  llvm::Value* context() { return function_->getArg(0); }
  llvm::BasicBlock* new_block(const char* name);
  llvm::AllocaInst* entry_alloca(llvm::Type* type, std::uint64_t alignment);
  void set_pointer(const ir::BufferPtr& buffer, llvm::Value* pointer);
  /// Leave the function with `status` where `bad` holds, after releasing what is allocated.
  void fail_if(llvm::Value* bad, llvm::Value* status);
  void fail(llvm::Value* status);

  /// An allocation that is alive, and the way out through it: releases it, then goes on to the next outer
  /// one.
  struct WayOut {
    llvm::Value* memory = nullptr;  ///< null for the outermost, which returns
    bool streamed = false;          ///< stores to the memory pass the caches by
    llvm::BasicBlock* block = nullptr;
    llvm::PHINode* status = nullptr;
  };
  WayOut& way_out(std::size_t depth);

  ModuleEmitter& shared_;
  llvm::Function* function_;
  llvm::IRBuilder<llvm::TargetFolder> b_;
  Environment environment_;
  ExprEmitter exprs_;
  std::vector<WayOut> ways_out_{1};
};

}  // namespace calotype::llvm_backend
