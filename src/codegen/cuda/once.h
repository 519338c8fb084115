#pragma once
// Something that is done by the first caller who succeeds.

#include <atomic>
#include <mutex>

namespace calotype::cuda {

/// As std::once_flag with std::call_once: the others wait, and what throws is tried again by the next caller.
/// That one throws through a function of libc, which ends the process where libgcc is linked statically.
class Once {
 public:
  template <class F>
  void operator()(F&& f) {
    if (done_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    f();
    done_.store(true, std::memory_order_release);
  }

  bool done() const { return done_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> done_ = false;
  std::mutex mutex_;
};

}  // namespace calotype::cuda
