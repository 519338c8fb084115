#pragma once
// What compiled host code calls: parallel loops, memory and failures. A caller may replace any of them.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace calotype::llvm_backend {

/// Iterations [begin, end) of a parallel loop; returns a Status.
using ParallelBody = int (*)(void* context, std::int64_t begin, std::int64_t end, void* closure);

/// What `context` of a HostFunction points at. Members left null, and a null context, mean the defaults:
/// oneTBB, aligned memory of which each thread keeps some (scratch.h), silence (the Status still tells), and
/// calotype_print. Derive to carry state of one's own.
struct Hooks {
  /// Run every iteration of [begin, end), in any grouping; the first nonzero status is returned.
  int (*parallel_for)(Hooks* self, ParallelBody body, std::int64_t begin, std::int64_t end,
                      void* closure) = nullptr;
  /// Memory aligned to 64 bytes, or null. The two are replaced together.
  void* (*allocate)(Hooks* self, std::int64_t bytes) = nullptr;
  void (*release)(Hooks* self, void* memory) = nullptr;
  /// A Check failed, with its message complete. Several threads may call at the same time.
  void (*failed)(Hooks* self, const char* message) = nullptr;
  /// There is no memory of so many bytes for the buffer of this name. Several threads may call at the same
  /// time.
  void (*no_memory)(Hooks* self, const char* buffer, std::int64_t bytes) = nullptr;
  /// A line of print(), as for calotype_print. Several threads may call at the same time.
  void (*print)(Hooks* self, const char* text, const std::int64_t* values, const char* kinds) = nullptr;
  /// What profiled code calls, from every thread of its loops: a clock starts and the one around it rests
  /// until `leave`; a counter or a level of memory grows by an amount. Numbers are those of ir::Meter.
  void (*enter)(Hooks* self, int clock) = nullptr;
  void (*leave)(Hooks* self) = nullptr;
  void (*count)(Hooks* self, int counter, std::int64_t amount) = nullptr;
  void (*grow)(Hooks* self, int level, std::int64_t amount) = nullptr;
};

/// Threads that parallel loops of this process may use; 0 = as many as the machine has.
void set_threads(int count);

/// Names and addresses that compiled code may refer to: the hooks and the C library's math for f64.
std::vector<std::pair<const char*, void*>> runtime_symbols();

}  // namespace calotype::llvm_backend
