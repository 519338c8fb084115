// What warps know of each other: vector clocks, handed on by barriers and rings.

#include <fmt/format.h>

#include <algorithm>

#include "sim/machine.h"

namespace calotype::sim {
namespace {

void raise(Intervals& to, const Intervals& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

}  // namespace

void Known::learn(const Known& other) {
  raise(ordered, other.ordered);
  raise(fenced, other.fenced);
}

Known Machine::nothing_known() const {
  const Intervals start(static_cast<std::size_t>(code.cluster * kBlockWarps), clock.block_start);
  return {start, start};
}

std::uint32_t Machine::advance(Warp& warp) { return clock.now = warp.now = ++ticks_; }

const Known& Machine::tell(Warp& warp) {
  warp.known.ordered[index_of(warp)] = advance(warp);
  return warp.known;
}

void Machine::learn(Warp& warp, const Known& known) { warp.known.learn(known); }

void Machine::fence(Warp& warp) {
  raise(warp.known.fenced, warp.known.ordered);
  warp.known.fenced[index_of(warp)] = advance(warp);
}

bool Machine::runs(const Warp& warp, std::int64_t rank) const {
  if (rank == warp.rank) return true;
  const auto first = warp.known.ordered.begin() + rank * kBlockWarps;
  const bool begun = std::any_of(first, first + kBlockWarps,
                                 [&](std::uint32_t interval) { return interval > clock.block_start; });
  return begun && std::any_of(warps.begin(), warps.end(), [&](const Warp& other) {
           return other.rank == rank && other.state != Warp::State::Ended;
         });
}

void Machine::reach(const Warp& warp, const Instruction& i, std::int64_t rank) {
  if (rank != warp.rank) reached_[static_cast<std::size_t>(rank)][index_of(warp)] = {&i, warp.now};
}

/// Who reaches into a block has done so before one of its warps ended, in any order of execution.
void Machine::check_reached() {
  if (stopped || std::any_of(warps.begin(), warps.end(),
                             [](const Warp& warp) { return warp.state != Warp::State::Ended; }))
    return;
  for (int rank = 0; rank < code.cluster; ++rank) {
    Known known = nothing_known();
    for (const Warp& warp : warps)
      if (warp.rank == rank) known.learn(warp.known);
    for (const Warp& warp : warps) {
      const auto& [i, interval] = reached_[static_cast<std::size_t>(rank)][index_of(warp)];
      if (!i || interval < known.ordered[index_of(warp)]) continue;
      block = first_block_;
      block[0] += warp.rank;
      const int first = thread(warp, 0);
      findings.add(Fault::NotRunning, place(*i), [&] {
        return Finding{.message = fmt::format("the warp of {} reaches into the block of rank {}, which may "
                                              "have ended: none of its warps waits for that",
                                              who(first), rank),
                       .block = block,
                       .threads = {coordinates(first)}};
      });
    }
  }
}

void run_warp_barrier(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, "a barrier of the warp");
  m.tell(warp);
}

void run_fence(Machine& m, Warp& warp, const Instruction&) { m.fence(warp); }

}  // namespace calotype::sim
