#pragma once
// Tells the thread sanitizer what it cannot see: that oneTBB, which is not built with it, orders what one
// thread did before another begins. Nothing otherwise.

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace calotype::llvm_backend {

/// What a thread did before `give` is seen by those that `take` afterwards.
class HandOver {
 public:
#if defined(__SANITIZE_THREAD__)
  void give() { __tsan_release(this); }
  void take() { __tsan_acquire(this); }
#else
  void give() {}
  void take() {}
#endif

 private:
  [[maybe_unused]] char address_ = 0;
};

}  // namespace calotype::llvm_backend
