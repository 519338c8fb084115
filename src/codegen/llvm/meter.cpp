// Profiled code: clocks around what Funcs compute, counters and levels of memory. All of it is calls of
// hooks.
#include "codegen/llvm/stmt_emitter.h"

namespace calotype::llvm_backend {

using llvm::Value;

void StmtEmitter::emit_meter(const ir::StmtNode& s) {
  Value* index = b_.getInt32(static_cast<uint32_t>(s.meter().index));
  switch (s.meter().kind) {
    case ir::Meter::Kind::Time:
      call_meter("calotype_host_enter", {index});
      emit(s.body());
      return call_meter("calotype_host_leave", {});
    case ir::Meter::Kind::Sum:
    case ir::Meter::Kind::Peak: {
      Value* amount = exprs_.emit(s.exprs[0]);
      exprs_.forget();
      return call_meter(s.meter().kind == ir::Meter::Kind::Sum ? "calotype_host_count" : "calotype_host_grow",
                        {index, amount});
    }
    case ir::Meter::Kind::Stage:
      internal_error("the mark of the stage " + s.meter().name + " is still there");
  }
}

/// Declared when first called, so that other code does not change. They touch no memory that the code knows:
/// values stay in registers across them.
void StmtEmitter::call_meter(const char* name, std::vector<Value*> arguments) {
  arguments.insert(arguments.begin(), context());
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  llvm::FunctionCallee callee = shared_.module.getOrInsertFunction(
      name, llvm::FunctionType::get(b_.getVoidTy(), types, /*isVarArg=*/false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setOnlyAccessesInaccessibleMemory();
  b_.CreateCall(callee, arguments);
}

}  // namespace calotype::llvm_backend
