#pragma once
// A launch as it runs: the warps of the running block, each a context that can stop and go on, and what they
// share.

#include <array>
#include <bit>
#include <deque>
#include <optional>
#include <vector>

#include "sim/code.h"
#include "sim/figures.h"
#include "sim/findings.h"
#include "sim/random.h"
#include "sim/space.h"

namespace calotype::sim {

using Coordinates = std::array<std::int64_t, 3>;

/// A thread's copy of a Local or Register buffer, for the lanes of a warp.
struct PrivateArray {
  std::vector<Cell> cells;        ///< 32 an element
  std::vector<LaneMask> written;  ///< an element
};

/// Asynchronous stores of a thread that have not happened yet.
struct Flight {
  int buffer = 0;           ///< into Code::buffers
  std::int64_t offset = 0;  ///< bytes in the region
  Cell value;
  std::int64_t group = 0;
};
struct Flights {
  std::deque<Flight> waiting;  ///< in the order in which they were started
  std::int64_t groups = 0;     ///< committed so far
};

/// A slot of a ring of a block: what has arrived since it was complete last, and before.
struct RingSlot {
  struct Copy {
    int thread = 0;  ///< that has started it
    Flight flight;
  };
  std::deque<Copy> started, complete;  ///< the latter happen when somebody has waited for them
  std::vector<bool> arrived;           ///< by number of the warp
  std::int64_t sent = 0, due = 0;      ///< bytes from blocks of the cluster: those that have come, and shall
  std::int64_t turns = 0;              ///< how often it has been complete
};

/// An access that a finding is in conflict with, as the shadow knows it.
struct Suspect {
  std::size_t finding = 0;  ///< into Report::findings
  Fault fault = Fault::Race;
  int place = 0;  ///< of the finding
  int region = 0;
  std::int64_t offset = 0;  ///< bytes in the region
  int thread = 0;
  std::uint32_t interval = 0;
};

struct Machine;

struct Warp {
  enum class State { Running, AtBarrier, AtClusterBarrier, AtRing, Ended };
  /// Masks to come back to at the end of a branch or loop.
  struct Frame {
    LaneMask outer;      ///< lanes that entered
    LaneMask otherwise;  ///< If: lanes of the other branch
  };

  int number = 0;  ///< in its block
  int rank = 0;    ///< of the block in its cluster
  State state = State::Running;
  LaneMask live = 0;  ///< lanes that are threads of the block
  LaneMask mask = 0;  ///< lanes that run now
  int next = 0;       ///< the instruction to execute
  std::vector<Frame> frames;
  std::vector<Cell> registers;
  std::vector<PrivateArray> privates;
  std::array<Flights, kWarp> flights;
  std::vector<std::vector<std::int64_t>> arrivals;  ///< at each slot of each ring
  std::vector<std::vector<std::int64_t>> waits;     ///< for each that have ended
  const Cell* constants = nullptr;

  const Cell* read(Register r) const { return r.at >= 0 ? registers.data() + r.at : constants + ~r.at; }
  Cell* write(Register r) { return registers.data() + r.at; }
};

/// Bytes have come to the slot from another block.
void count_sent(RingSlot& slot, std::int64_t bytes);

/// Lanes whose value is not 0.
LaneMask true_lanes(const Warp& warp, Register r);

template <class F>
void for_lanes(LaneMask lanes, F f) {
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

struct Machine {
  Machine(const Code& code, const Launch& launch, const Options& options, Report& report);

  void run();

  // Run-time facts for handlers
  /// The number of a thread among those of its cluster.
  static int thread(const Warp& warp, int lane) {
    return warp.rank * kBlockThreads + warp.number * kWarp + lane;
  }
  Coordinates coordinates(int thread) const;
  /// "thread (3, 0, 0) of block (0, 1, 0)"
  std::string who(int thread) const;
  std::string who(int thread, const Coordinates& first_block) const;
  /// The first block of the cluster that an interval of the clock belongs to.
  const Coordinates& block_of(std::uint32_t interval) const;
  int place(const Instruction& i) const { return static_cast<int>(&i - code.instructions.data()); }
  /// What a lane does with an element, with the loops around it.
  ThreadAccess access_of(const Warp& warp, int lane, const Instruction& i, const std::string& verb,
                         const std::string& text) const;

  // A second run of the same launch, which finds the accesses of suspects
  void watch_for(const std::vector<Suspect>& suspects);
  bool watches() const { return !watched_.empty(); }
  void note_access(const Region& region, std::int64_t offset, std::int64_t bytes, const Warp& warp, int lane,
                   const Instruction& i, const char* verb, bool starts);
  /// The finding has come up again: what follows is later than the access that it conflicts with.
  void settle_watched(Fault fault, int place);
  void tell_suspects(std::vector<Finding>& of) const;

  const Code& code;
  const Launch& launch;
  const Options& options;
  Report& report;
  Findings findings;
  std::vector<std::unique_ptr<Space>> spaces;  ///< one for each of Code::buffers
  std::vector<Warp> warps;
  std::vector<std::vector<std::vector<RingSlot>>> rings;  ///< by rank in the cluster and number
  Coordinates block{};                                    ///< of the warp that runs
  Clock clock;
  std::optional<Figures> figures;  ///< with Options::figures
  bool stopped = false;            ///< a check failed, or the limit of steps is reached
  std::vector<Suspect> suspects;

 private:
  struct BlockStart {
    std::uint32_t interval;
    Coordinates block;
  };

  void make_spaces();
  void make_global_regions();
  void make_shared_region();
  void make_warps();
  void set_scalars(Warp& warp) const;

  void run_cluster();
  void start_cluster();
  void run_warp(Warp& warp);
  bool release_barriers();
  bool release_block(int rank);
  bool release_cluster();
  bool has_fence(const Warp& waiting) const;
  bool release_rings();
  void stuck_at_rings();
  void make_rings();
  bool same_barrier(const Warp& waiting, Warp::State state, int rank);
  void count_instructions();
  void let_land();

  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<std::byte> shared_;
  std::vector<BlockStart> block_starts_;
  Coordinates first_block_{};            ///< of the running cluster
  std::vector<std::uint32_t> barriers_;  ///< by rank: the interval since the block's last barrier
  std::uint32_t cluster_barrier_ = 0;    ///< and since the cluster's
  std::vector<std::uint32_t> fences_;    ///< by rank: the interval since the last one with a fence
  struct Watched {
    Suspect suspect;
    ThreadAccess access;  ///< the latest that it may be; no verb: none
    bool settled = false;
  };
  std::vector<Watched> watched_;
  std::vector<std::int64_t> executed_;  ///< times of each instruction
  std::int64_t steps_ = 0;
  std::int64_t threads_ = 0;
  Random random_;
};

// Handlers that the compiler puts into instructions. Compute: result, a, b, c and a site of Code::operations.
void run_compute(Machine&, Warp&, const Instruction&);
// The same of signed sums, differences and products that an index comes of: beyond their type they are found.
void run_index(Machine&, Warp&, const Instruction&);
// Memory: `a` index, `b` predicate if the site has one; `result` of a load, `c` value of a store; a site of
// Code::accesses. Allocate: a site of Code::buffers.
void run_load(Machine&, Warp&, const Instruction&);
void run_store(Machine&, Warp&, const Instruction&);
// To the memory of the block of rank `b`; without a predicate.
void run_remote_store(Machine&, Warp&, const Instruction&);
// As a store, of a site that has an operation: the value is combined with the element.
void run_atomic(Machine&, Warp&, const Instruction&);
// As a store, which happens when its group has been waited for.
void run_async_store(Machine&, Warp&, const Instruction&);
// An element of a bulk copy, to a site that has a ring: `b` is the slot.
void run_ring_store(Machine&, Warp&, const Instruction&);
// A box to the element `a`, counted by slot `b`: `target` is in Code::boxes.
void run_box_store(Machine&, Warp&, const Instruction&);
void run_allocate(Machine&, Warp&, const Instruction&);
// Shuffles: the value `a` of another lane: of number `b` (-1: none is needed), or of the number that differs
// in the bits `site`. Load: what the other lane has at its index `a`, of a site of Code::accesses.
void run_shuffle(Machine&, Warp&, const Instruction&);
void run_shuffle_load(Machine&, Warp&, const Instruction&);
void run_shuffle_xor(Machine&, Warp&, const Instruction&);
// Control. If: condition `a`, to `target` (Else or End of the branch) where no lane is left. Else: to
// `target` (End).
void run_if(Machine&, Warp&, const Instruction&);
void run_else(Machine&, Warp&, const Instruction&);
void run_end_if(Machine&, Warp&, const Instruction&);
// Loops: `result` is the variable, `b` the iterations left; enter goes to `target` past the loop where none
// is, next goes back to `target`, the first of the body. `site` of next: bits of the variable.
void run_enter_loop(Machine&, Warp&, const Instruction&);
void run_next(Machine&, Warp&, const Instruction&);
// Check and print: condition `a`, a site of Code::checks. Barrier: a site of Code::barriers.
void run_check(Machine&, Warp&, const Instruction&);
void run_print(Machine&, Warp&, const Instruction&);
void run_barrier(Machine&, Warp&, const Instruction&);
// Groups of asynchronous stores. Wait: `site` groups may be left.
void run_commit(Machine&, Warp&, const Instruction&);
void run_wait(Machine&, Warp&, const Instruction&);
// Slot `a` of the ring `site`; an Arrive says in `target` how many bytes are sent to it.
void run_arrive(Machine&, Warp&, const Instruction&);
void run_await(Machine&, Warp&, const Instruction&);
void run_turn(Machine&, Warp&, const Instruction&);
void run_cluster_barrier(Machine&, Warp&, const Instruction&);
void run_exit(Machine&, Warp&, const Instruction&);

}  // namespace calotype::sim
