#pragma once
// Kernels written by hand for the simulator's tests, as lowering would leave them.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lower/program.h"
#include "sim/simulator.h"

namespace calotype::sim {

struct KernelMaker {
  lower::Function function;

  explicit KernelMaker(std::string name) {
    function.name = std::move(name);
    function.gpu = true;
  }

  ir::BufferPtr argument(const std::string& name, Type type) {
    function.buffers.push_back(
        ir::make_buffer({.name = name, .type = type, .space = ir::MemorySpace::Argument}));
    return function.buffers.back();
  }

  Expr scalar(const std::string& name, Type type = Int(64)) {
    function.scalars.push_back(ir::make_symbol(ir::SymbolKind::Dim, name, type));
    return ir::make_var(function.scalars.back());
  }

  Expr thread(int axis = 0) { return variable(function.thread_vars, axis, "thread"); }
  Expr block(int axis = 0) { return variable(function.block_vars, axis, "block"); }

  /// Storage of the block at the next free byte, or of a thread.
  ir::BufferPtr storage(const std::string& name, Type type, ir::MemorySpace space, std::int64_t elements) {
    ir::Buffer b{.name = name, .type = type, .space = space};
    b.mins = {ir::index(0)};
    b.extents = {ir::index(elements)};
    b.strides = {ir::index(1)};
    if (space == ir::MemorySpace::Shared) {
      b.offset = function.shared_bytes;
      function.shared_bytes += (elements * type.bytes() + 127) / 128 * 128;
    }
    return ir::make_buffer(std::move(b));
  }

  Report run(const Launch& launch, const Options& options = {}) const {
    return Kernel(function).run(launch, options);
  }

 private:
  static Expr variable(std::array<ir::SymbolPtr, 3>& symbols, int axis, const char* name) {
    ir::SymbolPtr& s = symbols[axis];
    if (s == nullptr) s = ir::make_symbol(ir::SymbolKind::Thread, std::string(name) + "_" + "xyz"[axis]);
    return ir::make_var(s);
  }
};

inline Expr load(const ir::BufferPtr& b, const Expr& index) {
  return ir::make(ir::Op::Load, b->type.with_lanes(index.type().lanes), {index}, b);
}
inline Expr load_if(const ir::BufferPtr& b, const Expr& predicate, const Expr& index) {
  return ir::make(ir::Op::LoadIf, b->type.with_lanes(index.type().lanes), {predicate, index}, b);
}
inline Expr ramp(const Expr& base, int lanes, std::int64_t stride = 1) {
  return ir::make(ir::Op::Ramp, base.type().with_lanes(lanes), {base, ir::make_int(base.type(), stride)});
}
inline Expr broadcast(const Expr& e, int lanes) {
  return ir::make(ir::Op::Broadcast, e.type().with_lanes(lanes), {e});
}
/// for name in [0, extent): body(name)
template <class Body>
ir::Stmt loop(const std::string& name, const Expr& extent, Body body) {
  const ir::SymbolPtr s = ir::make_symbol(ir::SymbolKind::Loop, name);
  return ir::for_loop({.var = s}, ir::index(0), extent, body(ir::make_var(s)));
}

template <class T>
Memory memory_of(std::vector<T>& data) {
  return {data.data(), 0, static_cast<std::int64_t>(data.size() * sizeof(T))};
}

inline std::int64_t count_kind(const Report& report, const std::string& kind) {
  return std::count_if(report.findings.begin(), report.findings.end(),
                       [&](const Finding& f) { return f.kind == kind; });
}

/// The first finding, or an empty one that no test expects.
inline const Finding& first(const Report& report) {
  static const Finding none;
  return report.clean() ? none : report.findings.front();
}

/// Small integers, none of them 0, so that sums of floats are exact.
inline std::vector<float> whole_numbers(std::size_t n, unsigned seed) {
  std::vector<float> values(n);
  for (float& v : values) {
    seed = seed * 1664525 + 1013904223;
    v = static_cast<float>(static_cast<int>(seed >> 24) - 128);
    if (v == 0) v = 1;
  }
  return values;
}

}  // namespace calotype::sim
