#pragma once
// The lines that calls print.

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "calotype/runtime.h"

namespace calotype::testing {

using Lines = std::vector<std::string>;

/// Takes the lines of calls that get its context, and while it lives those of no context.
class Printed {
 public:
  Printed() {
    context.user = this;
    context.print = take;
    calotype_set_print(take, this);
  }
  ~Printed() { calotype_set_print(nullptr, nullptr); }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  /// The lines since the last call, in order of the alphabet: schedules may compute points in any order.
  Lines sorted() {
    Lines all = std::move(lines_);
    lines_.clear();
    std::sort(all.begin(), all.end());
    return all;
  }
  Lines in_order() { return std::exchange(lines_, {}); }

  calotype_context context{};

 private:
  static void take(void* user, const char* line) {
    auto& self = *static_cast<Printed*>(user);
    const std::lock_guard lock(self.mutex_);
    self.lines_.emplace_back(line);
  }
  std::mutex mutex_;
  Lines lines_;
};

}  // namespace calotype::testing
