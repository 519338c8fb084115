// Parallel loops: the body becomes a function of a range of iterations and a closure, which holds what the
// body uses of its surroundings: values of symbols and pointers of buffers.
#include <algorithm>
#include <set>

#include "codegen/llvm/stmt_emitter.h"

namespace calotype::llvm_backend {

using llvm::Value;

namespace {

/// What a statement takes from outside, in order of first use.
struct Captures {
  std::vector<ir::SymbolPtr> symbols;
  std::vector<ir::BufferPtr> buffers;
};

class CaptureFinder {
 public:
  CaptureFinder(const ir::Stmt& body, const Environment& outside) : outside_(outside) {
    ir::visit(body, [&](const ir::Stmt& s) {
      if (s->kind == ir::StmtKind::Store || s->kind == ir::StmtKind::Prefetch) add(s->buffer());
      if (s->kind == ir::StmtKind::Extern)
        for (const ir::ExternCall::Box& box : s->extern_call().boxes) add(box.buffer);
      if (s->kind == ir::StmtKind::Allocate) {
        for (const Expr& extent : s->buffer()->extents) add(extent);
      }
    });
    ir::visit_exprs(body, [&](const Expr& e) { add(e); });
  }
  Captures found;

 private:
  void add(const Expr& e) {
    ir::visit(e, [&](const Expr& node) {
      if (node->op == ir::Op::Variable) add(ir::symbol_of(node));
      if (node->op == ir::Op::Load || node->op == ir::Op::LoadIf) add(ir::buffer_of(node));
    });
  }
  void add(const ir::SymbolPtr& symbol) {
    // What the body itself binds is not known outside.
    if (!outside_.symbols.contains(symbol.get()) || !seen_.insert(symbol.get()).second) return;
    found.symbols.push_back(symbol);
    auto definition = outside_.vector_lets.find(symbol.get());  // addresses are seen through to it
    if (definition != outside_.vector_lets.end()) add(definition->second);
  }
  void add(const ir::BufferPtr& buffer) {
    auto it = outside_.buffers.find(buffer.get());
    bool allocated = it != outside_.buffers.end() && it->second.pointer;
    if (allocated && seen_.insert(buffer.get()).second) found.buffers.push_back(buffer);
  }
  const Environment& outside_;
  std::set<const void*> seen_;
};

}  // namespace

void StmtEmitter::emit_parallel(const ir::StmtNode& s, Value* begin, Value* end) {
  const Captures captures = CaptureFinder(s.body(), environment_).found;
  std::vector<Value*> values;
  for (const auto& symbol : captures.symbols) values.push_back(environment_.symbols.at(symbol.get()));
  for (const auto& buffer : captures.buffers) values.push_back(environment_.buffers.at(buffer.get()).pointer);
  std::vector<llvm::Type*> fields;
  for (Value* value : values) fields.push_back(value->getType());
  auto* closure_type = llvm::StructType::get(b_.getContext(), fields);
  Value* closure =
      entry_alloca(closure_type, shared_.module.getDataLayout().getABITypeAlign(closure_type).value());
  for (unsigned i = 0; i < values.size(); ++i)
    b_.CreateStore(values[i], b_.CreateStructGEP(closure_type, closure, i));

  llvm::Type *pointer = b_.getPtrTy(), *i64 = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(b_.getInt32Ty(), {pointer, i64, i64, pointer}, false);
  llvm::Function* body =
      shared_.add_function(type, (function_->getName() + "." + s.loop().var->name).str(), false);
  Environment inside;
  inside.vector_lets = environment_.vector_lets;
  inside.multiples = environment_.multiples;
  inside.buffers = environment_.buffers;  // for their alias scopes
  for (auto& entry : inside.buffers) entry.second.pointer = nullptr;
  StmtEmitter emitter(shared_, body, std::move(inside));
  unsigned field = 0;
  auto load = [&] {
    Value* slot = emitter.b_.CreateStructGEP(closure_type, body->getArg(3), field);
    return emitter.b_.CreateLoad(fields[field++], slot);
  };
  for (const auto& symbol : captures.symbols) {
    Value* value = load();
    const auto multiple = environment_.multiples.find(symbol.get());
    if (multiple != environment_.multiples.end()) value = multiple_of(emitter.b_, value, multiple->second);
    emitter.environment_.symbols[symbol.get()] = value;
  }
  for (const auto& buffer : captures.buffers) {
    llvm::LoadInst* memory = load();
    note_alignment(*memory, *buffer);
    emitter.environment_.buffers[buffer.get()].pointer = memory;
  }
  emitter.emit_loop(s, body->getArg(1), body->getArg(2));
  emitter.finish();

  if (std::any_of(captures.buffers.begin(), captures.buffers.end(),
                  [](const ir::BufferPtr& buffer) { return buffer->stream_stores; }))
    complete_streams();
  Value* status = b_.CreateCall(shared_.calls.parallel_for, {context(), body, begin, end, closure});
  fail_if(b_.CreateICmpNE(status, b_.getInt32(0)), status);
}

}  // namespace calotype::llvm_backend
