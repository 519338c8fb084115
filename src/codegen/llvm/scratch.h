#pragma once
// Memory of stages that host code computes inside loops: allocated and released once an iteration, by every
// thread. The C library gives what is large back to the system, which then clears its pages anew each time;
// here a thread keeps what it has released.

#include <cstdint>

namespace calotype::llvm_backend {

/// Memory aligned to 64 bytes, its contents undefined; null if there is none. A thread's released memory
/// serves it again for sizes from half of its own on.
void* allocate_scratch(std::int64_t bytes);

/// By any thread; null is ignored. A thread keeps at most 16 pieces and 64 MiB, which are freed when it ends.
void release_scratch(void* memory);

/// Bytes that this thread keeps.
std::int64_t kept_scratch();

}  // namespace calotype::llvm_backend
