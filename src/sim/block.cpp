// Order of execution: clusters (mostly of one block) one after the other in random order; the warps of a
// cluster in turns of random length, so that what nothing orders happens in many orders.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/machine.h"

namespace calotype::sim {
namespace {

constexpr int kLongestTurn = 10;  ///< log2 of the instructions of a turn

/// The numbers 0 to n - 1 from a random one on with a random step that has no common divisor with n.
class Shuffled {
 public:
  Shuffled(std::int64_t n, Random& random) : n_(n), at_(random.below(n)), step_(1 + random.below(n)) {
    while (std::gcd(step_, n_) != 1) step_ = step_ % n_ + 1;
  }
  std::int64_t next() {
    const std::int64_t current = at_;
    at_ = at_ >= n_ - step_ ? at_ - (n_ - step_) : at_ + step_;
    return current;
  }

 private:
  std::int64_t n_, at_, step_;
};

}  // namespace

void Machine::run() {
  const std::int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  if (blocks == 0) return;
  make_spaces();
  make_warps();
  const std::int64_t along_x = launch.grid[0] / code.cluster;  // clusters
  const std::int64_t clusters = blocks / code.cluster;
  Shuffled order(clusters, random_);
  for (std::int64_t done = 0; done < clusters && !stopped; ++done) {
    const std::int64_t linear = order.next();
    first_block_ = {linear % along_x * code.cluster, linear / along_x % launch.grid[1],
                    linear / along_x / launch.grid[1]};
    run_cluster();
    report.blocks += code.cluster;
  }
  count_instructions();
}

void Machine::start_cluster() {
  clock.block_start = ++ticks_;
  block = first_block_;
  block_starts_.push_back({clock.block_start, first_block_});
  for (const std::unique_ptr<Space>& space : spaces) space->begin_block();
  make_rings();
  make_meetings();
  reached_.assign(static_cast<std::size_t>(code.cluster),
                  std::vector<Reach>(static_cast<std::size_t>(code.cluster * kBlockWarps)));
  for (Warp& warp : warps) {
    warp.state = Warp::State::Running;
    warp.mask = warp.live;
    warp.next = 0;
    warp.now = clock.block_start;
    warp.known = nothing_known();
    warp.frames.clear();
    for (Flights& flights : warp.flights) flights = {};
    for (Departures& departures : warp.departures) departures = {};
    warp.forget_products();
    for (int axis = 0; axis < 3; ++axis)
      if (code.has_block_var[axis])
        *warp.write(code.block_vars[axis]) = of_int(first_block_[axis] + (axis == 0 ? warp.rank : 0));
  }
}

void Machine::run_cluster() {
  start_cluster();
  std::vector<Warp*> ready;
  do {
    find_running(ready);
    while (!ready.empty() && !stopped) {
      const auto chosen = static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(ready.size())));
      run_warp(*ready[chosen]);
      if (ready[chosen]->state == Warp::State::Running) continue;
      ready[chosen] = ready.back();
      ready.pop_back();
    }
    find_running(ready);  // whom others have let go
  } while (!stopped && (!ready.empty() || release_barriers()));
  compare_products();
  if (code.cluster > 1) check_reached();
}

void Machine::find_running(std::vector<Warp*>& running) {
  running.clear();
  for (Warp& warp : warps)
    if (warp.state == Warp::State::Running) running.push_back(&warp);
}

/// Runs a warp until it waits, ends or its turn is over.
void Machine::run_warp(Warp& warp) {
  block = first_block_;
  block[0] += warp.rank;
  clock.now = warp.now;
  clock.ordered = &warp.known.ordered;
  clock.fenced = &warp.known.fenced;
  if (options.random_landing) let_land(warp);
  const std::int64_t turn = std::int64_t{1} << random_.below(kLongestTurn + 1);
  for (std::int64_t step = 0; step < turn && warp.state == Warp::State::Running && !stopped; ++step) {
    const Instruction& i = code.instructions[static_cast<std::size_t>(warp.next)];
    ++executed_[static_cast<std::size_t>(warp.next)];
    ++warp.next;
    ++warp.steps;
    i.run(*this, warp, i);
    ++steps_;
  }
  if (steps_ <= options.max_steps) return;
  stopped = true;
  findings.add(Fault::StepLimit, -1, [&] {
    return Finding{
        .message = fmt::format("the warps have executed {} instructions, {} is in a loop that is too long",
                               steps_, who(thread(warp, 0))),
        .block = block,
        .threads = {coordinates(thread(warp, 0))}};
  });
}

/// Some of the copies under way are there already, and the running warp's next product.
void Machine::let_land(Warp& running) {
  for (Product& product : running.products) {
    if (product.computed) continue;
    if (random_.below(4) == 0) compute(running, product);
    break;
  }
  const auto appear = [&](const Flight& flight) {
    if (random_.below(4) == 0) spaces[static_cast<std::size_t>(flight.buffer)]->appear(flight);
  };
  for (Warp& warp : warps) {
    for (const Flights& flights : warp.flights)
      std::for_each(flights.waiting.begin(), flights.waiting.end(), appear);
    let_leave(warp);
  }
  for (const auto& of_block : rings)
    for (const std::vector<RingSlot>& ring : of_block)
      for (const RingSlot& slot : ring) {
        for (const RingSlot::Copy& copy : slot.started) appear(copy.flight);
        for (const RingSlot::Copy& copy : slot.complete) appear(copy.flight);
      }
}

/// Some of its boxes are there already, as they are now where they have not been read.
void Machine::let_leave(Warp& warp) {
  for (Departures& departures : warp.departures)
    for (Departure& d : departures.waiting) {
      if (d.there || random_.below(4) != 0) continue;
      const AccessSite& from = code.accesses[static_cast<std::size_t>(d.instruction->site)];
      const Space& space = *spaces[static_cast<std::size_t>(from.buffer)];
      for (std::size_t i = 0; i < d.from.size(); ++i) {
        Flight flight = d.flights[i];
        if (!d.read) flight.value = space.peek(warp, d.from[i]);
        spaces[static_cast<std::size_t>(flight.buffer)]->appear(flight);
      }
      d.there = d.read;
    }
}

/// All warps wait or have ended: lets those go on that wait at a barrier which is complete. False if there is
/// nobody to go on.
bool Machine::release_barriers() {
  if (release_rings() || release_registers()) return true;
  bool any = false;
  for (int rank = 0; rank < code.cluster && !stopped; ++rank) any |= release_block(rank);
  if (any || release_cluster()) return true;
  report_stuck();
  return false;
}

/// Whether the warps of a block (rank -1: of the cluster) that have not ended all wait where `waiting` does.
/// One that has ended before is found; the others need not wait for it.
bool Machine::same_barrier(const Warp& waiting, Warp::State state, int rank) {
  const Warp* other = nullptr;
  const Warp* ended = nullptr;
  for (const Warp& warp : warps) {
    if (rank >= 0 && warp.rank != rank) continue;
    if (warp.state == Warp::State::Ended)
      ended = &warp;
    else if (warp.state != state || warp.next != waiting.next)
      other = &warp;
  }
  const Instruction& barrier = code.instructions[static_cast<std::size_t>(waiting.next - 1)];
  const auto fault = [&](Fault kind, const Warp& second, const char* format) {
    findings.add(kind, place(barrier), [&] {
      const int first_thread = thread(waiting, 0), second_thread = thread(second, 0);
      return Finding{.message = fmt::format(fmt::runtime(format), who(first_thread),
                                            code.barriers[barrier.site].reason, who(second_thread)),
                     .block = block,
                     .threads = {coordinates(first_thread), coordinates(second_thread)}};
    });
  };
  if (other != nullptr) {
    fault(Fault::Deadlock, *other, "the warp of {} waits at a barrier ({}), that of {} waits at another one");
    return false;
  }
  if (ended != nullptr)
    fault(Fault::Divergence, *ended, "the warp of {} waits at a barrier ({}), that of {} has ended");
  return true;
}

/// All that one of them knows all of them know now.
void Machine::meet(const std::vector<Warp*>& met) {
  Known all = nothing_known();
  for (const Warp* warp : met) all.learn(warp->known);
  const std::uint32_t now = ++ticks_;
  for (const Warp* warp : met) all.ordered[index_of(*warp)] = now;
  for (Warp* warp : met) {
    warp->known = all;
    warp->now = now;
    warp->state = Warp::State::Running;
  }
}

bool Machine::release_block(int rank) {
  std::vector<Warp*> waiting;
  for (Warp& warp : warps)
    if (warp.rank == rank && warp.state == Warp::State::AtBarrier) waiting.push_back(&warp);
  if (waiting.empty() || !same_barrier(*waiting.back(), Warp::State::AtBarrier, rank)) return false;
  meet(waiting);
  ++report.barriers;
  return true;
}

bool Machine::release_cluster() {
  std::vector<Warp*> waiting;
  for (Warp& warp : warps)
    if (warp.state == Warp::State::AtClusterBarrier) waiting.push_back(&warp);
  if (waiting.empty() || !same_barrier(*waiting.back(), Warp::State::AtClusterBarrier, -1)) return false;
  meet(waiting);
  ++report.barriers;
  return true;
}

void Machine::count_instructions() {
  for (std::size_t i = 0; i < executed_.size(); ++i)
    if (executed_[i] > 0) report.instructions[code.instructions[i].name] += executed_[i];
  if (figures) report.stages = figures->of_stages(executed_);
}

}  // namespace calotype::sim
