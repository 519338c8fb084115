// Meters: every thread has clocks and counters of its own, which are summed when a call is over.

#include "driver/meters.h"

#include <chrono>
#include <map>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace calotype::driver {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A clock that is cheap to read; its rate is found by the other one over the whole call.
std::uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

std::atomic<std::uint64_t> next_id{1};

}  // namespace

struct Meters::Local {
  std::vector<std::uint64_t> ticks;
  std::vector<std::int64_t> counts;
  std::vector<int> running;  ///< clocks that were started, the last one running
  std::uint64_t since = 0;
  std::int64_t starts = 0;

  void pass(std::uint64_t now) {
    if (!running.empty()) ticks[running.back()] += now - since;
    since = now;
  }
};

Meters::Meters(std::size_t clocks, std::size_t counters, std::size_t levels)
    : id_(next_id++), clocks_(clocks), counters_(counters), levels_(levels), peaks_(levels) {}

Meters::~Meters() = default;

void Meters::begin() {
  const std::lock_guard lock(mutex_);
  for (const std::unique_ptr<Local>& l : locals_) {
    l->ticks.assign(clocks_, 0);
    l->counts.assign(counters_, 0);
    l->running.clear();  // a call that failed has left some
    l->starts = 0;
  }
  for (std::atomic<std::int64_t>& level : levels_) level = 0;
  for (std::atomic<std::int64_t>& peak : peaks_) peak = 0;
  begin_seconds_ = now_seconds();
  begin_ticks_ = ticks();
}

Readings Meters::finish() const {
  const std::uint64_t passed = ticks() - begin_ticks_;
  const double per_tick = passed == 0 ? 0 : (now_seconds() - begin_seconds_) / static_cast<double>(passed);
  const std::lock_guard lock(mutex_);
  Readings readings{std::vector<double>(clocks_), std::vector<std::int64_t>(counters_), {}, 0, 0};
  for (const std::unique_ptr<Local>& l : locals_) {
    for (std::size_t i = 0; i < clocks_; ++i)
      readings.seconds[i] += static_cast<double>(l->ticks[i]) * per_tick;
    for (std::size_t i = 0; i < counters_; ++i) readings.counts[i] += l->counts[i];
    readings.starts += l->starts;
    readings.threads += l->starts > 0;
  }
  for (const std::atomic<std::int64_t>& peak : peaks_) readings.peaks.push_back(peak);
  return readings;
}

Meters::Local& Meters::local() {
  thread_local std::uint64_t known_id = 0;
  thread_local Local* known = nullptr;
  if (known_id != id_) {
    known = &new_local();
    known_id = id_;
  }
  return *known;
}

/// The calling thread's, which it may have had before it worked for other Meters.
Meters::Local& Meters::new_local() {
  thread_local std::map<std::uint64_t, Local*> mine;
  Local*& found = mine[id_];
  if (found) return *found;
  const std::lock_guard lock(mutex_);
  locals_.push_back(std::make_unique<Local>());
  found = locals_.back().get();
  found->ticks.assign(clocks_, 0);
  found->counts.assign(counters_, 0);
  return *found;
}

void Meters::enter(int clock) {
  Local& l = local();
  l.pass(ticks());
  l.running.push_back(clock);
  ++l.starts;
}

void Meters::leave() {
  Local& l = local();
  l.pass(ticks());
  l.running.pop_back();
}

void Meters::count(int counter, std::int64_t amount) { local().counts[counter] += amount; }

void Meters::grow(int level, std::int64_t amount) {
  const std::int64_t now = levels_[level] += amount;
  std::int64_t peak = peaks_[level];
  while (now > peak && !peaks_[level].compare_exchange_weak(peak, now)) {
  }
}

}  // namespace calotype::driver
