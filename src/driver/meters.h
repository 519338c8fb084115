#pragma once
// Clocks, counters and levels that profiled code reports to, from all threads of a call. Numbers as in
// lower/measure.h.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace calotype::driver {

/// What one call reported.
struct Readings {
  std::vector<double> seconds;       ///< by clock, summed over threads
  std::vector<std::int64_t> counts;  ///< by counter
  std::vector<std::int64_t> peaks;   ///< by level: its highest value
  std::int64_t starts = 0;           ///< how often a clock was started
  std::size_t threads = 0;           ///< that took part
};

class Meters {
 public:
  Meters(std::size_t clocks, std::size_t counters, std::size_t levels);
  ~Meters();
  Meters(const Meters&) = delete;
  Meters& operator=(const Meters&) = delete;

  /// All at zero: before a call. Not while one runs.
  void begin();
  /// What was reported since. Not while a call runs.
  Readings finish() const;

  // From any thread of a call.
  void enter(int clock);
  void leave();
  void count(int counter, std::int64_t amount);
  void grow(int level, std::int64_t amount);

 private:
  struct Local;
  Local& local();
  Local& new_local();

  const std::uint64_t id_;  ///< tells a thread whether what it remembers is of these
  const std::size_t clocks_, counters_;
  std::uint64_t begin_ticks_ = 0;
  double begin_seconds_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Local>> locals_;
  std::vector<std::atomic<std::int64_t>> levels_, peaks_;
};

}  // namespace calotype::driver
