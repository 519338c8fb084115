#pragma once
// Small kernels written by hand, as lowering makes them.

#include <string>
#include <vector>

#include "codegen/cuda/printer.h"
#include "ir/stmt.h"

namespace calotype_test {

using namespace calotype;
using ir::Op;

inline ir::SymbolPtr symbol(const std::string& name, Type type = Int(32),
                            ir::SymbolKind kind = ir::SymbolKind::Let) {
  return ir::make_symbol(kind, name, type);
}
inline Expr var(const ir::SymbolPtr& s) { return ir::make_var(s); }
inline Expr number(std::int64_t value) { return ir::make_int(Int(32), value); }
inline Expr node(Op op, Type type, std::vector<Expr> args) { return ir::make(op, type, std::move(args)); }
inline Expr add(const Expr& a, const Expr& b) { return node(Op::Add, a->type, {a, b}); }
inline Expr mul(const Expr& a, const Expr& b) { return node(Op::Mul, a->type, {a, b}); }
inline Expr less(const Expr& a, const Expr& b) { return node(Op::Lt, Bool(a->type.lanes), {a, b}); }
inline Expr to(Type type, const Expr& a) { return node(Op::Cast, type.with_lanes(a->type.lanes), {a}); }
inline Expr load(const ir::BufferPtr& b, const Expr& index) {
  return ir::make(Op::Load, b->type.with_lanes(index->type.lanes), {index}, b);
}
inline Expr load_if(const Expr& predicate, const ir::BufferPtr& b, const Expr& index) {
  return ir::make(Op::LoadIf, b->type.with_lanes(index->type.lanes), {predicate, index}, b);
}
inline Expr ramp(const Expr& base, int lanes, std::int64_t stride = 1) {
  return node(Op::Ramp, base->type.with_lanes(lanes), {base, ir::make_int(base->type, stride)});
}
inline Expr splat(const Expr& e, int lanes) { return node(Op::Broadcast, e->type.with_lanes(lanes), {e}); }

inline ir::BufferPtr argument(const std::string& name, Type type, int position, bool read_only) {
  return ir::make_buffer({.name = name,
                          .type = type,
                          .space = ir::MemorySpace::Argument,
                          .argument = position,
                          .read_only = read_only});
}
inline ir::BufferPtr storage(const std::string& name, Type type, ir::MemorySpace space, std::int64_t elements,
                             std::int64_t offset = 0) {
  return ir::make_buffer({.name = name,
                          .type = type,
                          .space = space,
                          .mins = {ir::index(0)},
                          .extents = {ir::index(elements)},
                          .strides = {ir::index(1)},
                          .offset = offset});
}
inline ir::Stmt serial(const ir::SymbolPtr& v, const Expr& extent, ir::Stmt body,
                       ir::Binding binding = ir::Binding::Serial, const std::string& origin = "") {
  return ir::for_loop({.var = v, .binding = binding, .origin = origin}, ir::make_zero(extent->type), extent,
                      std::move(body));
}

/// A kernel of one dimension of blocks and threads: i = block * threads + thread, guarded by i < n.
struct Elementwise {
  lower::Function f;
  ir::SymbolPtr n = symbol("n", Int(32), ir::SymbolKind::Dim);
  ir::SymbolPtr block = symbol("block", Int(32), ir::SymbolKind::Thread),
                thread = symbol("thread", Int(32), ir::SymbolKind::Thread);
  Expr i;

  Elementwise(const std::string& name, std::vector<ir::BufferPtr> buffers, int threads = 128) {
    f.name = name;
    f.gpu = true;
    f.buffers = std::move(buffers);
    f.scalars = {n};
    f.block_vars[0] = block;
    f.thread_vars[0] = thread;
    const Expr t = number(threads);
    f.grid = {node(Op::Div, Int(32), {add(var(n), number(threads - 1)), t}), number(1), number(1)};
    f.block = {t, number(1), number(1)};
    f.max_threads = threads;
    i = add(mul(var(block), t), var(thread));
  }
  lower::Function with(const ir::Stmt& body) {
    f.body = ir::if_then(less(i, var(n)), body);
    return f;
  }
};

/// out(x, y) = (in(x-1, y) + in(x, y) + in(x+1, y) + 4) / 9 with clamped x, rows by blocks, x by threads in
/// steps.
lower::Function blur_row();
/// One row a block: row * rsqrt(mean of squares), bf16, eight at once, the tail masked; shared memory for the
/// sum.
lower::Function normalise_rows();
/// 64 KB of shared memory, reversed.
lower::Function reverse_in_shared();
/// All that vectors can do: gathers, strides, masks of every kind, reductions.
std::vector<lower::Function> vector_kernels();

/// One operation on operands of one type.
struct Operation {
  std::string name;
  Op op;
  Type operand, result;
  int arity;
  bool strict = false;
};
/// Every operation on every type that has it.
std::vector<Operation> all_operations();
/// One kernel an operand type: out.K[i] = operation K of (a[i], b[i], c[i]).
lower::Function operations_kernel(Type operand, const std::vector<Operation>& operations);
std::vector<Type> all_types();

/// out[e % 5] = out[e % 5] op in[e], atomically, for all n elements but the last, two by each thread; for
/// every operation that reductions have, of the types that have it.
struct AtomicKernel {
  Op op;
  Type type;
  lower::Function function;
};
std::vector<AtomicKernel> atomic_kernels();

}  // namespace calotype_test
