#pragma once
// Programs of one kernel written by hand, as lowering would leave them, run on the simulator or on a GPU.

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "calotype/calotype.h"
#include "driver/executable.h"
#include "driver/plan_encoder.h"

namespace calotype::testing {

/// Bits of elements in the low parts of words, as memory holds them.
inline std::vector<std::byte> bytes_of_elements(std::span<const std::uint32_t> elements, int size) {
  std::vector<std::byte> bytes(elements.size() * static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < elements.size(); ++i)
    std::memcpy(bytes.data() + i * static_cast<std::size_t>(size), &elements[i],
                static_cast<std::size_t>(size));
  return bytes;
}

class HandProgram {
 public:
  explicit HandProgram(const std::string& name, std::int64_t threads) {
    program_.name = name;
    program_.target = Target::interpreter("sm_90a");
    kernel_.name = name;
    kernel_.gpu = true;
    kernel_.max_threads = threads;
    for (int axis = 0; axis < 3; ++axis) kernel_.grid[axis] = kernel_.block[axis] = ir::index(1);
    kernel_.block[0] = ir::index(threads);
    kernel_.thread_vars[0] = ir::make_symbol(ir::SymbolKind::Thread, "thread", Int(32));
  }

  /// Dense, dimension 0 innermost.
  ir::BufferPtr input(const std::string& name, Type type, std::vector<std::int64_t> extents,
                      std::span<const std::uint32_t> elements) {
    const ir::BufferPtr made = argument(name, type, extents, false);
    const std::vector<std::byte> bytes = bytes_of_elements(elements, type.bytes());
    std::memcpy(buffers_.back().data(), bytes.data(), bytes.size());
    return made;
  }
  ir::BufferPtr output(const std::string& name, Type type, std::vector<std::int64_t> extents) {
    const ir::BufferPtr made = argument(name, type, extents, true);
    outputs_.push_back(buffers_.size() - 1);
    return made;
  }
  /// That many blocks along x, in clusters; the number of the running one.
  Expr blocks(std::int64_t count, std::int64_t cluster = 1) {
    kernel_.grid[0] = ir::index(count);
    kernel_.cluster = cluster;
    kernel_.block_vars[0] = ir::make_symbol(ir::SymbolKind::Thread, "block", Int(32));
    return ir::make_var(kernel_.block_vars[0]);
  }

  /// An argument that boxes alone are copied of, or to, is none of the kernel's.
  void leave_to_boxes(const ir::BufferPtr& b) { std::erase(kernel_.buffers, b); }

  ir::BufferPtr shared(const std::string& name, Type type, std::int64_t elements, int swizzle = 0) {
    ir::Buffer b = storage(name, type, elements);
    b.space = ir::MemorySpace::Shared;
    b.swizzle = swizzle;
    b.offset = (kernel_.shared_bytes + 1023) / 1024 * 1024;
    kernel_.shared_bytes = b.offset + elements * type.bytes();
    return allocated(std::move(b));
  }
  ir::BufferPtr registers(const std::string& name, Type type, std::int64_t elements) {
    ir::Buffer b = storage(name, type, elements);
    b.space = ir::MemorySpace::Register;
    return allocated(std::move(b));
  }
  ir::RingPtr ring(ir::Ring r) {
    r.offset = (kernel_.shared_bytes + 15) / 16 * 16;
    kernel_.shared_bytes = r.offset + ir::kBarrierBytes * r.slots;
    kernel_.rings.push_back(std::make_shared<const ir::Ring>(std::move(r)));
    return kernel_.rings.back();
  }
  ir::TensorMapPtr boxes(ir::TensorMap map) {
    kernel_.tensors.push_back(std::make_shared<const ir::TensorMap>(std::move(map)));
    return kernel_.tensors.back();
  }

  Expr thread() const { return ir::make_var(kernel_.thread_vars[0]); }

  lower::Program finish(ir::Stmt body) {
    for (const ir::BufferPtr& b : allocated_) body = ir::allocate(b, body);
    kernel_.body = std::move(body);
    program_.functions = {kernel_};
    program_.steps = {{0}};
    return program_;
  }

  /// Bits of the output's elements behind a run, which begins with poison in it.
  std::vector<std::uint32_t> result(const lower::Program& program, const driver::Executable& executable,
                                    const driver::CallMode& mode = {}) {
    const auto plan = driver::encode_plan(program);
    std::vector<calotype_argument> arguments;
    for (const std::size_t o : outputs_) buffers_[o].fill(-77);
    for (const Buffer& b : buffers_) arguments.push_back({&b.raw(), 0});
    calotype_context context{};
    EXPECT_EQ(executable.run(plan->plan(), context, arguments, mode), CALOTYPE_GOOD) << context.error.message;
    const Buffer& out = buffers_[outputs_.front()];
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(out.elements()), 0);
    const auto size = static_cast<std::size_t>(out.type().bytes());
    for (std::size_t i = 0; i < bits.size(); ++i)
      std::memcpy(&bits[i], static_cast<const std::byte*>(out.data()) + i * size, size);
    return bits;
  }

 private:
  ir::BufferPtr argument(const std::string& name, Type type, const std::vector<std::int64_t>& extents,
                         bool is_output) {
    ir::Buffer b{.name = name, .type = type, .space = ir::MemorySpace::Argument};
    std::int64_t stride = 1;
    for (const std::int64_t extent : extents) {
      b.mins.push_back(ir::index(0));
      b.extents.push_back(ir::index(extent));
      b.strides.push_back(ir::index(stride));
      stride *= extent;
    }
    b.argument = static_cast<int>(program_.arguments.size());
    b.read_only = !is_output;
    program_.arguments.push_back(
        {.name = name, .is_output = is_output, .type = type, .rank = static_cast<int>(extents.size())});
    buffers_.emplace_back(type, extents);
    kernel_.buffers.push_back(ir::make_buffer(std::move(b)));
    return kernel_.buffers.back();
  }

  static ir::Buffer storage(const std::string& name, Type type, std::int64_t elements) {
    ir::Buffer b{.name = name, .type = type};
    b.mins = {ir::index(0)};
    b.extents = {ir::index(elements)};
    b.strides = {ir::index(1)};
    return b;
  }
  ir::BufferPtr allocated(ir::Buffer b) {
    allocated_.push_back(ir::make_buffer(std::move(b)));
    return allocated_.back();
  }

  lower::Program program_;
  lower::Function kernel_;
  std::vector<ir::BufferPtr> allocated_;
  std::vector<Buffer> buffers_;  ///< the arguments
  std::vector<std::size_t> outputs_;
};

/// What the simulator finds; `bits` are the results.
inline Verification simulated(HandProgram& hand, const lower::Program& program,
                              std::vector<std::uint32_t>& bits, const VerifyOptions& options = {}) {
  Verification found;
  const auto executable = driver::make_interpreter_executable(program, {});
  bits = hand.result(program, *executable, {.verification = &found, .verify = options});
  return found;
}

// Expressions and statements of such kernels.
inline Expr number(std::int64_t value) { return ir::make_int(Int(32), value); }
inline Expr load(const ir::BufferPtr& b, const Expr& at) { return ir::make(ir::Op::Load, b->type, {at}, b); }
inline ir::Stmt synchronise(ir::SyncInfo::Kind kind, int pending = 0) {
  return ir::synchronise({.kind = kind, .pending = pending});
}
/// for name in [0, extent): body(name)
template <class Body>
ir::Stmt serial(const std::string& name, std::int64_t extent, Body body) {
  const ir::SymbolPtr s = ir::make_symbol(ir::SymbolKind::Loop, name, Int(32));
  return ir::for_loop({.var = s}, number(0), number(extent), body(ir::make_var(s)));
}
/// body(0) .. body(count - 1), one behind the other.
template <class Body>
ir::Stmt repeated(std::int64_t count, Body body) {
  std::vector<ir::Stmt> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(body(i));
  return ir::block(std::move(all));
}

}  // namespace calotype::testing
