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
  /// Products under way of the warp, an element: those that it is a result of, and that only read it.
  std::vector<std::uint16_t> results, operands;
  int products = 0;           ///< of all of them
  std::uint32_t touched = 0;  ///< the step of the warp in which one was read or written last
  bool has_products() const { return products > 0; }
  void free() {
    results.assign(results.size(), 0);
    operands.assign(operands.size(), 0);
    products = 0;
    touched = 0;
  }
};

/// Asynchronous stores of a thread that have not happened yet.
struct Flight {
  int buffer = 0;           ///< into Code::buffers
  std::int64_t offset = 0;  ///< bytes in the region
  Cell value;
  std::int64_t group = 0;
  std::uint32_t interval = 0;  ///< in which it was started
};
struct Flights {
  std::deque<Flight> waiting;  ///< in the order in which they were started
  std::int64_t groups = 0;     ///< committed so far
};

/// What is ordered before what comes next, of each warp of the cluster: see Clock.
struct Known {
  Intervals ordered, fenced;
  void learn(const Known& other);
};

/// A box on its way out of shared memory, from its start until it has been written.
struct Departure {
  const Instruction* instruction = nullptr;
  std::vector<std::int64_t> from;  ///< elements that lie inside the tensor
  std::deque<Flight> flights;      ///< where they go, and with what they were when it was read
  std::int64_t group = 0;
  bool read = false, there = false;  ///< the latter: though nobody may count on it
};
struct Departures {
  std::deque<Departure> waiting;  ///< in the order in which they were started
  std::int64_t groups = 0;        ///< committed so far
};

/// A slot of a ring of a block: what has arrived since it was complete last, and before.
struct RingSlot {
  struct Copy {
    int thread = 0;  ///< that has started it
    Flight flight;
  };
  std::deque<Copy> started, complete;  ///< the latter happen when somebody has waited for them
  std::vector<bool> arrived;           ///< by number of the warp; of a ring between roles not used
  int came = 0;                        ///< warps that have arrived
  std::int64_t sent = 0, due = 0;      ///< bytes from blocks of the cluster: those that have come, and shall
  std::int64_t turns = 0;              ///< how often it has been complete
  Known arriving, known;               ///< what comes with arrivals, and what those learn who have waited
};

/// A barrier of some of a block's warps.
struct Meeting {
  int threads = 0;  ///< that have come
  int expected = 0;
  Known known;
  std::vector<int> waiting;  ///< numbers of warps
};

/// A product of four warps that this one has started and not waited for.
struct Product {
  const Instruction* instruction;
  std::vector<std::int64_t> first;  ///< element of each operand
  bool adds = false;
  bool computed = false;
  std::int64_t group = 0;
  bool read = false;  ///< its operands have been waited for
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

struct Warp {
  enum class State { Running, AtBarrier, AtClusterBarrier, AtRing, AtMeeting, AtRegisters, Ended };
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
  std::array<Departures, kWarp> departures;
  std::vector<std::vector<std::int64_t>> arrivals;  ///< at each slot of each ring
  std::vector<std::vector<std::int64_t>> waits;     ///< for each that have ended
  std::uint32_t now = 0;                            ///< the running interval
  Known known;
  std::deque<Product> products;       ///< in the order in which they were started
  std::int64_t product_groups = 0;    ///< committed so far
  std::uint32_t product_fence = 0;    ///< the step of the last fence of products
  std::vector<int> started_products;  ///< the places of all, by which warps of a group of four are compared
  std::uint32_t steps = 0;
  int register_count = 0;  ///< a thread
  const Cell* constants = nullptr;

  void forget_products() {
    products.clear();
    started_products.clear();
    product_groups = 0;
    product_fence = 0;
    for (PrivateArray& array : privates) array.free();
  }

  const Cell* read(Register r) const { return r.at >= 0 ? registers.data() + r.at : constants + ~r.at; }
  Cell* write(Register r) { return registers.data() + r.at; }
};

struct Machine;
/// Bytes have come to the slot from another block.
void count_sent(const ir::Ring& ring, RingSlot& slot, std::int64_t bytes);
/// A copy that the warp has started comes with the slot's next phase.
void tell_slot(Machine& m, Warp& warp, RingSlot& slot);
/// The number of a warp among those of its cluster.
inline std::size_t index_of(const Warp& warp) {
  return static_cast<std::size_t>(warp.rank * kBlockWarps + warp.number);
}

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
  /// All threads of the warp are there, or that they are not is found: at "a barrier of the warp".
  void require_whole(const Warp& warp, const Instruction& i, const std::string& what);
  int place(const Instruction& i) const { return static_cast<int>(&i - code.instructions.data()); }
  /// What a lane does with an element, with the loops around it.
  ThreadAccess access_of(const Warp& warp, int lane, const Instruction& i, const std::string& verb,
                         const std::string& text) const;

  // What warps know of each other
  /// The warp begins another interval; the number of it.
  std::uint32_t advance(Warp& warp);
  /// What the warp's lanes have done so far is ordered before what they do next, and told to others.
  const Known& tell(Warp& warp);
  void learn(Warp& warp, const Known& known);
  /// What the warp knows of comes before what goes another way to memory.
  void fence(Warp& warp);
  /// What is known as nothing has happened yet.
  Known nothing_known() const;
  /// Whether the block of that rank has not ended, and the warp knows that it has begun.
  bool runs(const Warp& warp, std::int64_t rank) const;
  /// The instruction reaches into another block, which must not end before.
  void reach(const Warp& warp, const Instruction& i, std::int64_t rank);

  /// All boxes but those of the latest groups of a thread have been read, or written too.
  void depart(Warp& warp, int lane, std::int64_t groups_left, bool written);
  /// The warp ends: so have all that are in a group.
  void end_departures(Warp& warp);

  /// A product of four warps happens, for one of them.
  void compute(Warp& warp, Product& product);

  // A second run of the same launch, which finds the accesses of suspects
  void watch_for(const std::vector<Suspect>& suspects);
  bool watches() const { return !watched_.empty(); }
  void note_access(const Region& region, std::int64_t offset, std::int64_t bytes, const WarpAccess& access,
                   int lane, const char* verb, bool starts);
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
  std::vector<std::array<Meeting, 16>> meetings;          ///< by rank and number of the barrier
  std::vector<std::int64_t> free_registers;               ///< by rank
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
  void find_running(std::vector<Warp*>& running);
  void run_warp(Warp& warp);
  bool release_barriers();
  bool release_block(int rank);
  bool release_cluster();
  void meet(const std::vector<Warp*>& warps);
  bool release_rings();
  /// "full, at which others never arrive"
  std::string awaited(const Warp& warp, const Instruction& i);
  bool release_registers();
  void report_stuck();
  void make_rings();
  void make_meetings();
  void check_reached();
  bool same_barrier(const Warp& waiting, Warp::State state, int rank);
  void compare_products();
  void count_instructions();
  void let_land(Warp& running);
  void let_leave(Warp& warp);
  struct GlobalMemory {
    int buffer = 0;  ///< into Code::buffers
    Memory memory;
    std::byte* first() const { return static_cast<std::byte*>(memory.data) + memory.low; }
  };
  std::vector<GlobalMemory> global_memory() const;

  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<std::byte> shared_;
  std::vector<BlockStart> block_starts_;
  Coordinates first_block_{};  ///< of the running cluster
  std::uint32_t ticks_ = 0;    ///< intervals begun so far
  struct Watched {
    Suspect suspect;
    ThreadAccess access;  ///< the latest that it may be; no verb: none
    bool settled = false;
  };
  std::vector<Watched> watched_;
  struct Reach {
    const Instruction* instruction = nullptr;
    std::uint32_t interval = 0;
  };
  std::vector<std::vector<Reach>> reached_;  ///< by rank and the number of the warp: the latest
  std::vector<std::int64_t> executed_;       ///< times of each instruction
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
// A box to the element `a`, counted by slot `b`: `target` is in Code::boxes, which says to what blocks.
void run_box_store(Machine&, Warp&, const Instruction&);
// A box from the element `a` to the tensor. Read, written: `site` groups may be left.
void run_box_out(Machine&, Warp&, const Instruction&);
void run_boxes_commit(Machine&, Warp&, const Instruction&);
void run_boxes_read(Machine&, Warp&, const Instruction&);
void run_boxes_written(Machine&, Warp&, const Instruction&);
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
// Of the block of rank `b`.
void run_remote_arrive(Machine&, Warp&, const Instruction&);
void run_await(Machine&, Warp&, const Instruction&);
void run_turn(Machine&, Warp&, const Instruction&);
void run_cluster_barrier(Machine&, Warp&, const Instruction&);
void run_warp_barrier(Machine&, Warp&, const Instruction&);
void run_fence(Machine&, Warp&, const Instruction&);
// The barrier `site` of `target` threads.
void run_meet(Machine&, Warp&, const Instruction&);
void run_meet_arrive(Machine&, Warp&, const Instruction&);
// `site` registers a thread.
void run_registers(Machine&, Warp&, const Instruction&);
// Instructions of tiles: a site of Code::tiles; `c` says whether a product is added.
void run_move(Machine&, Warp&, const Instruction&);
void run_product(Machine&, Warp&, const Instruction&);
void run_wide_product(Machine&, Warp&, const Instruction&);
// Groups of products. Wait: `site` groups may be left.
void run_product_fence(Machine&, Warp&, const Instruction&);
void run_product_commit(Machine&, Warp&, const Instruction&);
void run_product_wait(Machine&, Warp&, const Instruction&);
void run_product_read(Machine&, Warp&, const Instruction&);  // by their operands alone
void run_exit(Machine&, Warp&, const Instruction&);

}  // namespace calotype::sim
