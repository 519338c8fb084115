#pragma once
// What compiled host code calls, in terms of the caller's context. For builds with the CPU backend.

#include <mutex>

#include "calotype/runtime.h"
#include "codegen/llvm/hooks.h"
#include "driver/meters.h"

namespace calotype::driver {

/// Stands in `context.host_context` while it lives. Hooks that the context leaves null keep the backend's
/// defaults.
class ContextHooks : public llvm_backend::Hooks {
 public:
  /// `meters`, where there are any, take what profiled code reports.
  explicit ContextHooks(calotype_context& context, Meters* meters = nullptr);
  ~ContextHooks();
  ContextHooks(const ContextHooks&) = delete;
  ContextHooks& operator=(const ContextHooks&) = delete;

 private:
  static ContextHooks& of(Hooks* self) { return *static_cast<ContextHooks*>(self); }
  int run_loop(llvm_backend::ParallelBody body, std::int64_t begin, std::int64_t end, void* closure);
  void record(const char* message);
  void record_no_memory(const char* buffer, std::int64_t bytes);

  calotype_context& context_;
  Meters* const meters_;
  void* const host_context_before_;
  std::mutex mutex_;  ///< of the context's error: several threads may fail
};

}  // namespace calotype::driver
