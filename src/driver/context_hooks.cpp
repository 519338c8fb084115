// Hooks of compiled host code that go to the caller's context.

#ifdef CALOTYPE_HAS_LLVM

#include "driver/context_hooks.h"

#include "runtime/context.h"
#include "runtime/print.h"

namespace calotype::driver {

ContextHooks::ContextHooks(calotype_context& context, Meters* meters)
    : context_(context), meters_(meters), host_context_before_(context.host_context) {
  if (context.allocate || context.release) {
    allocate = [](Hooks* self, std::int64_t bytes) -> void* {
      return bytes < 0 ? nullptr : calotype_allocate(&of(self).context_, static_cast<std::size_t>(bytes));
    };
    release = [](Hooks* self, void* memory) { calotype_release(&of(self).context_, memory); };
  }
  if (context.parallel_for)
    parallel_for = [](Hooks* self, llvm_backend::ParallelBody body, std::int64_t begin, std::int64_t end,
                      void* closure) { return of(self).run_loop(body, begin, end, closure); };
  print = [](Hooks* self, const char* text, const std::int64_t* values, const char* kinds) {
    calotype_print(&of(self).context_, text, values, kinds);
  };
  no_memory = [](Hooks* self, const char* buffer, std::int64_t bytes) {
    of(self).record_no_memory(buffer, bytes);
  };
  failed = [](Hooks* self, const char* message) { of(self).record(message); };
  if (meters) {
    enter = [](Hooks* self, int clock) { of(self).meters_->enter(clock); };
    leave = [](Hooks* self) { of(self).meters_->leave(); };
    count = [](Hooks* self, int counter, std::int64_t amount) { of(self).meters_->count(counter, amount); };
    grow = [](Hooks* self, int level, std::int64_t amount) { of(self).meters_->grow(level, amount); };
  }
  context.host_context = static_cast<Hooks*>(this);
}

ContextHooks::~ContextHooks() { context_.host_context = host_context_before_; }

// The caller runs a body of one closure; compiled code wants the hooks beside its own.
int ContextHooks::run_loop(llvm_backend::ParallelBody body, std::int64_t begin, std::int64_t end,
                           void* closure) {
  struct Loop {
    Hooks* hooks;
    llvm_backend::ParallelBody body;
    void* closure;
  } loop{this, body, closure};
  const calotype_parallel_body part = [](void*, std::int64_t from, std::int64_t to, void* outer) {
    const Loop& l = *static_cast<Loop*>(outer);
    return l.body(l.hooks, from, to, l.closure);
  };
  return context_.parallel_for(context_.user, part, begin, end, &loop);
}

// The first failure stays; the plan finds the error filled and leaves it.
void ContextHooks::record(const char* message) {
  const std::lock_guard lock(mutex_);
  if (context_.error.kind == CALOTYPE_GOOD)
    calotype_fail(&context_, CALOTYPE_CHECK_FAILED, nullptr, nullptr, "%s", message);
}

void ContextHooks::record_no_memory(const char* buffer, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (context_.error.kind == CALOTYPE_GOOD) calotype_out_of_memory(&context_, buffer, bytes);
}

}  // namespace calotype::driver

#endif  // CALOTYPE_HAS_LLVM
