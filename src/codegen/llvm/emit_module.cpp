// Functions of a module: their entry, attributes, alias scopes, and the runtime functions they call.
#include "codegen/llvm/emit_module.h"

#include <fmt/format.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/stmt_emitter.h"

namespace calotype::llvm_backend {

using llvm::Value;

RuntimeCalls::RuntimeCalls(llvm::Module& module) {
  llvm::LLVMContext& c = module.getContext();
  llvm::Type *pointer = llvm::PointerType::get(c, 0), *i64 = llvm::Type::getInt64Ty(c),
             *i32 = llvm::Type::getInt32Ty(c);
  llvm::Type* nothing = llvm::Type::getVoidTy(c);
  parallel_for =
      module.getOrInsertFunction("calotype_host_parallel_for", i32, pointer, pointer, i64, i64, pointer);
  allocate = module.getOrInsertFunction("calotype_host_allocate", pointer, pointer, i64);
  no_memory = module.getOrInsertFunction("calotype_host_no_memory", nothing, pointer, pointer, i64);
  release = module.getOrInsertFunction("calotype_host_release", nothing, pointer, pointer);
  check_failed =
      module.getOrInsertFunction("calotype_host_check_failed", nothing, pointer, pointer, pointer, pointer);
  print = module.getOrInsertFunction("calotype_host_print", nothing, pointer, pointer, pointer, pointer);
  for (llvm::FunctionCallee callee : {parallel_for, allocate, no_memory, release, check_failed, print}) {
    llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  }
  auto* allocator = llvm::cast<llvm::Function>(allocate.getCallee());
  allocator->addRetAttr(llvm::Attribute::NoAlias);
  allocator->addRetAttr(llvm::Attribute::getWithAlignment(c, llvm::Align(64)));
  for (llvm::FunctionCallee callee : {no_memory, check_failed, print})
    llvm::cast<llvm::Function>(callee.getCallee())->addFnAttr(llvm::Attribute::Cold);
}

llvm::Function* ModuleEmitter::add_function(llvm::FunctionType* type, const std::string& name,
                                            bool is_public) {
  auto linkage = is_public ? llvm::Function::ExternalLinkage : llvm::Function::InternalLinkage;
  llvm::Function* function = llvm::Function::Create(type, linkage, name, module);
  const Machine& machine = settings.machine;
  function->addFnAttr("target-cpu", machine.cpu);
  function->addFnAttr("target-features", machine.features);
  // Schedules choose the lanes; where they ask for the widest registers, CPU tuning must not halve them.
  function->addFnAttr("prefer-vector-width", fmt::format("{}", machine.vector_bits));
  function->setDoesNotThrow();
  llvm::BasicBlock::Create(module.getContext(), "entry", function);
  return function;
}

namespace {

/// The buffers that a function names: its arguments, then its allocations in order.
std::vector<ir::BufferPtr> all_buffers(const lower::Function& function) {
  std::vector<ir::BufferPtr> buffers = function.buffers;
  ir::visit(function.body, [&](const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::Allocate) buffers.push_back(s->buffer());
  });
  return buffers;
}

bool may_share(const ir::Buffer& a, const ir::Buffer& b) {
  return a.shared_with >= 0 && a.shared_with == b.argument;
}

/// A scope of its own for each buffer: accesses to different ones never overlap, but where the algorithm has
/// declared that they may.
void add_alias_scopes(const lower::Function& function, llvm::LLVMContext& context, Environment& environment) {
  llvm::MDBuilder metadata(context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(function.name);
  std::vector<ir::BufferPtr> buffers;
  std::vector<llvm::Metadata*> scopes;
  for (const ir::BufferPtr& buffer : all_buffers(function)) {
    if (!environment.buffers.emplace(buffer.get(), BufferRef{}).second) continue;
    buffers.push_back(buffer);
    scopes.push_back(metadata.createAnonymousAliasScope(domain, buffer->name));
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    BufferRef& ref = environment.buffers.at(buffers[i].get());
    ref.scope = llvm::MDNode::get(context, scopes[i]);
    std::vector<llvm::Metadata*> others;
    for (std::size_t j = 0; j < scopes.size(); ++j) {
      if (j != i && !may_share(*buffers[i], *buffers[j])) others.push_back(scopes[j]);
    }
    if (!others.empty()) ref.disjoint = llvm::MDNode::get(context, others);
  }
}

/// The scalar of a type in the low part of a 64-bit slot.
Value* from_slot(Builder& b, Type type, Value* slot) {
  if (type.is_bool()) return b.CreateICmpNE(slot, b.getInt64(0));
  Value* bits = b.CreateTrunc(slot, b.getIntNTy(type.bits));
  return b.CreateBitCast(bits, register_type(b.getContext(), type));
}

void emit_function(ModuleEmitter& shared, const lower::Function& function) {
  if (function.gpu) internal_error("the kernel " + function.name + " is not for the host");
  llvm::LLVMContext& context = shared.module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), {pointer, pointer, pointer}, false);
  llvm::Function* entry = shared.add_function(type, function.name, true);
  Environment environment;
  add_alias_scopes(function, context, environment);
  StmtEmitter emitter(shared, entry, std::move(environment));
  Builder& b = emitter.builder();
  auto slot = [&](llvm::Type* element, unsigned argument, std::size_t i) {
    auto* load = b.CreateLoad(element, b.CreateConstInBoundsGEP1_64(element, entry->getArg(argument), i));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context, {}));
    return load;
  };
  for (std::size_t i = 0; i < function.scalars.size(); ++i) {
    const ir::SymbolPtr& symbol = function.scalars[i];
    Value* value = from_slot(b, symbol->type, slot(b.getInt64Ty(), 1, i));
    value->setName(symbol->name);
    if (function.multiples.size() > i && function.multiples[i] > 1) {
      emitter.environment().multiples[symbol.get()] = function.multiples[i];
      value = multiple_of(b, value, function.multiples[i]);
    }
    emitter.environment().symbols[symbol.get()] = value;
  }
  for (std::size_t i = 0; i < function.buffers.size(); ++i) {
    llvm::LoadInst* memory = slot(pointer, 2, i);
    memory->setName(function.buffers[i]->name);
    note_alignment(*memory, *function.buffers[i]);
    emitter.environment().buffers[function.buffers[i].get()].pointer = memory;
  }
  emitter.emit(function.body);
  emitter.finish();
}

}  // namespace

std::unique_ptr<llvm::Module> emit_module(llvm::LLVMContext& context,
                                          const std::vector<lower::Function>& functions,
                                          const EmitSettings& settings, const llvm::DataLayout& layout) {
  auto module = std::make_unique<llvm::Module>("calotype", context);
  module->setDataLayout(layout);
  module->setTargetTriple(settings.machine.triple);
  ModuleEmitter shared{*module, settings, RuntimeCalls(*module), extern_records(functions)};
  for (const lower::Function& function : functions) emit_function(shared, function);
  return module;
}

}  // namespace calotype::llvm_backend
