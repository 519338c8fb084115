#pragma once
// The loop tree: the structure that the passes between `schedule` and `lowered` edit (levels bounds to sync).
// A loop has an id, an extent, a binding and an ordered list of children; stages refer to loops; several
// stages may share one. Statements (ir::Stmt) are made from it only by the emit pass.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "instr/instruction.h"
#include "ir/simplify.h"
#include "ir/stmt.h"
#include "layout/layout.h"
#include "schedule/scheduled.h"

namespace calotype::lower {

using lang::FuncId;
using schedule::LoopId;
using schedule::Scheduled;

/// A stage of a Func: stage 0 is the pure definition, stage i + 1 is update i.
struct StageRef {
  FuncId func;
  int stage = 0;
  auto operator<=>(const StageRef&) const = default;
};

/// A value that is named once and used below.
struct Binding {
  ir::SymbolPtr symbol;
  Expr value;
};

/// What a node of the tree is. Children are in execution order.
enum class NodeKind {
  Root,     ///< the whole pipeline; children: realisations and productions
  Realize,  ///< storage of a Func lives while the children run
  Produce,  ///< the nests of a Func's stages, in order
  Loop,     ///< children: the loop's body
  Body,     ///< one evaluation of a stage's definition
  Reduce,   ///< a reduction by threads: the loops with partial results, then what combines them
  Send,     ///< partial results of a stage go to the slots where other warps find them
  Combine,  ///< partial results of threads become one, which updates the place
  Publish,  ///< an element in registers goes to shared memory, where other threads read it
  Sync,     ///< a synchronisation of the threads of a block or cluster, placed by the sync pass alone
  First,    ///< the children run for each of the first `count` iterations of a loop that follows, where it
            ///< has them
  Ahead,    ///< inside a loop: the children run for the iteration `count` later, where there is one
  Behind,   ///< inside a loop: the children run for the iteration `count` before, where there was one
  Last,     ///< the children run for the last iteration of a loop that stands before, where it had one
  Role,     ///< the children are run by the warps of a role, while those of its neighbours run theirs
};

struct Node {
  NodeKind kind;
  FuncId func;             ///< Realize, Produce
  StageRef stage;          ///< Loop (its owner), Body, Reduce, Send, Combine, Publish; Role: the kernel's
  LoopId loop;             ///< Loop, First, Ahead, Behind, Last
  std::int64_t count = 0;  ///< First, Ahead, Behind; Role: which of the kernel's
  ir::SyncInfo sync;       ///< Sync
  Expr slot;               ///< Sync of a ring: which slot
  Expr rank;               ///< Sync of a ring: of which block of the cluster; undefined: of this one
  const instr::Instruction* instruction = nullptr;  ///< Body: what carries it out, set by the pipeline pass
  std::vector<Node> children;
};

/// How often a body runs where a split does not divide: a condition on loop variables.
struct Guard {
  Expr condition;
  Tail tail = Tail::Guard;  ///< Guard: a branch; Predicate: masked accesses; PredicateLoads or -Stores: those
  std::string origin;
};

/// A box of coordinates, closed intervals, dimension 0 first.
using Box = std::vector<ir::Interval>;

/// What is fetched into the caches at the head of a loop's body.
struct PrefetchRegion {
  ir::CalleePtr of;
  Box box;
  PrefetchBounds bounds = PrefetchBounds::NonFaulting;
  std::string origin;
};

/// A loop as the bounds pass resolved it.
struct LoopInfo {
  ir::SymbolPtr var;
  Expr min, extent;
  ir::Binding binding = ir::Binding::Serial;
  int axis = 0;
  ir::ThreadPart part = ir::ThreadPart::Whole;
  StageRef owner;
  bool reduction = false;
  std::string name, origin;
  std::vector<Binding> lets;  ///< region bounds named at the head of the body, in order
  std::vector<PrefetchRegion> prefetches;
  ir::Partition partition = ir::Partition::Auto;
  std::string partition_origin;
  bool in_text = false;           ///< as ir::LoopInfo has it
  std::vector<StageRef> sharers;  ///< stages beside the owner's that run in it as if it were their own
  /// Iterations that have something to do, where threads run more of them to take part in shuffles; else
  /// undefined: all of them.
  Expr needed;
};

/// What a function is given to read.
struct ReadBox {
  ir::CalleePtr of;
  Box box;
};

/// A stage as the bounds pass resolved it.
struct StageInfo {
  Box need;  ///< the stage's pure dims range over this (invalid dims of an update: empty interval)
  Box read;  ///< for these it reads: less where only loads are masked, more where only stores are
  std::vector<ir::SymbolPtr> dims;  ///< symbols of the definition: args, then reduction dims
  std::vector<Expr> coordinates;    ///< value of each of `dims` in terms of loop variables
  std::vector<Expr> starts;         ///< smallest value each of `dims` takes, for bounds; same size
  std::vector<Expr> limits;         ///< largest value each of `dims` takes, for bounds; same size
  std::vector<Guard> guards;
  std::vector<ReadBox> reads;  ///< of a stage that a function computes, in the order of first use
};

/// How a scan lies in memory that holds its last values alone: see fold_scans.cpp.
struct FoldedScan {
  int dim = 0;                 ///< the coordinate that moves from one iteration to the next
  StageRef writer;             ///< the update
  int step = 1;                ///< by which it moves: 1 or -1
  Expr before, last;           ///< the newest value there is before the first iteration and after the last
  std::int64_t given = 0;      ///< at least so many there are before the first
  std::vector<LoopId> loops;   ///< what the reduction loop has become
  std::set<StageRef> earlier;  ///< stages that share them, with bodies before the writer's
  bool shifts = false;  ///< the newest is slot 0 and values move up, so that no index depends on a loop; else
                        ///< a ring. Set by the memory pass
};

/// Storage of a Func.
struct Storage {
  Box box;                             ///< coordinates that are stored
  std::vector<std::int64_t> folds;     ///< per dimension: ring depth, or 0 where not folded
  std::vector<ir::BufferPtr> buffers;  ///< by component, all in one space; set by the memory pass
  /// Extents of the memory where it is allocated further out than the box is known: the largest of any box.
  /// Empty: those of the box.
  std::vector<Expr> hoisted;
  /// Extents that are not constant, named around the allocation: a Buffer's extents name nothing else.
  std::vector<Binding> lets;
  /// For Register storage of a whole block: who holds what.
  std::optional<layout::Layout> layout;
  /// The same elements in shared memory, by component, for readers that the layout is converted for through
  /// memory; set by the memory pass.
  std::vector<ir::BufferPtr> published;
  std::int64_t copies = 1;          ///< of all of it, used in turn
  Expr copy;                        ///< which of them is in use, in terms of loops; with several
  std::vector<std::int64_t> shape;  ///< constant upper bounds of the extents, for tiles and stacks; -1: none
  std::optional<FoldedScan> scan;
  std::string unfolded;  ///< of a scan for which a few values would do: what reads too far
};

/// What a loop that was fused into another one has become: a quotient or a remainder of that one's iteration,
/// from 0 to below the extent.
struct FusedPart {
  Expr value, extent;
};

/// A Func at root whose values stay from one call to the next.
struct Kept {
  FuncId func;
  ir::SymbolPtr present;  ///< not 0 where an earlier call has left them
  std::vector<Expr> key;  ///< what they depend on, in terms of the call's sizes and Params
};

/// How the threads of a block combine their partial results of an update, set by the tiles pass: lanes that
/// are next to each other by shuffles, then warps through slots in shared memory.
struct ThreadReduction {
  /// Positions of a thread: lane and warp along x (all of x is in `warp` where its lanes are not combined),
  /// then y, of which `lane_y` is the part within a warp where that is combined and x is not, then z, and the
  /// block's rank in its cluster.
  enum Digit : std::size_t { Lane, Warp, LaneY, Y, Z, Rank };
  static constexpr std::size_t kDigits = 6;
  std::array<std::int64_t, kDigits> extents{1, 1, 1, 1, 1, 1};
  std::array<bool, kDigits> reduced{};
  /// Positions that may have terms: those beyond have the identity and send nothing.
  std::array<std::int64_t, kDigits> used{1, 1, 1, 1, 1, 1};
  /// Threads along x, y and z among which every one has the same results, since no loop around is bound to
  /// them; their extent above is 1, and the first ones send. 1: the axis is one of positions.
  std::array<std::int64_t, 3> alike{1, 1, 1};
  std::vector<ir::BufferPtr> slots;  ///< by component, set by the memory pass; empty: shuffles are enough
  /// What counts the bytes that blocks of a cluster send to the slots, which are there once for each of its
  /// own; set by the memory pass. Null: they meet at barriers of the cluster.
  ir::RingPtr ring;
  std::int64_t ring_bytes = 0;  ///< that each block is sent

  /// Whether threads at other positions of the digit are combined by shuffles.
  bool by_shuffles(std::size_t d) const { return reduced[d] && (d == Lane || d == LaneY); }
  /// The digit whose threads are, and the lanes from one of them to the next.
  Digit lane_digit() const { return reduced[LaneY] ? LaneY : Lane; }
  std::int64_t lane_distance() const { return reduced[LaneY] ? extents[Lane] * extents[Warp] * alike[0] : 1; }
  bool exchanges() const {
    for (std::size_t d = Warp; d < kDigits; ++d)
      if (reduced[d] && !by_shuffles(d) && extents[d] > 1) return true;
    return false;
  }
  bool in_cluster() const { return reduced[Rank] && extents[Rank] > 1; }
  /// Partial results that a thread combines behind the exchange.
  std::int64_t received() const {
    std::int64_t count = 1;
    for (std::size_t d = Warp; d < kDigits; ++d)
      if (reduced[d] && !by_shuffles(d)) count *= used[d];
    return count;
  }
  /// Partial results that are sent to a block, for each that a thread has.
  std::int64_t arriving() const {
    std::int64_t count = 1;
    for (std::size_t d = Lane; d < kDigits; ++d)
      if (!by_shuffles(d)) count *= reduced[d] ? used[d] : extents[d];
    return count;
  }
  /// Slots: of every thread that is not combined with its neighbours before.
  std::int64_t sent() const {
    std::int64_t count = 1;
    for (std::size_t d = Lane; d < kDigits; ++d)
      if (!by_shuffles(d) && (d != Rank || reduced[d])) count *= extents[d];
    return count;
  }
};

/// What counts the bulk copies of some Funcs, which are started and waited for together.
struct RingUse {
  std::string name;
  int slots = 1;
  Expr slot;         ///< the one in use, in terms of loops
  ir::RingPtr ring;  ///< set by the memory pass
  int arrivals = 0;  ///< between roles: warps that arrive in a phase
  bool open = false;
};

/// What one role computes and another one reads, in the same iterations of a loop around both.
struct Channel {
  std::vector<FuncId> funcs;
  std::size_t full = 0, empty = 0;  ///< into LoopTree::rings: what tells readers and writers to go on
  /// Blocks whose readers tell the writers: of a cluster, where they copy for each other.
  std::int64_t blocks = 1;
};

/// How a stage reads what other threads hold in registers, set by the tiles pass: a layout is converted.
enum class Conversion {
  Shuffles,  ///< lanes of a warp give each other their elements, in front of the stage's definition
  Shared,    ///< the elements are in shared memory too, written there when all are computed
};

/// A tile of an update that instructions of tensor cores carry out, set by the tiles pass: four warps have 64
/// rows of the result at a time, groups of four one behind the other, then each the next rows.
struct TensorTile {
  const instr::Instruction* record = nullptr;
  LoopId m, n, thread;
  std::vector<LoopId> k;                          ///< outermost first
  std::int64_t rows = 0, columns = 0, depth = 0;  ///< of the tile; depth along the innermost loop of `k`
  std::int64_t groups = 1;                        ///< of four warps
  Expr a, b;                                      ///< the Calls that are multiplied: by rows, by columns
  /// Loops around, in whose first iterations the first products along `k` set the sums, which nothing has
  /// filled before; none: they are added like all others.
  std::optional<std::vector<LoopId>> sets;
  std::int64_t products_along_m() const { return rows / (64 * groups); }
  std::int64_t products_along_n() const { return columns / record->loops[1].second; }
  std::int64_t products_along_k() const { return depth / record->loops[0].second; }
};

/// A stage whose loops are dealt out as the elements of a Func in registers are: it has its own.
struct DealtOut {
  FuncId of;
  std::vector<Expr> positions;  ///< of the element, counted from the first that is stored
  Expr slot;                    ///< the register
};

/// Threads of a block that run some of its nests.
struct RoleInfo {
  std::size_t role = 0;  ///< of Scheduled::roles
  std::int64_t first = 0, threads = 0;
  bool copies = false;  ///< it does nothing but start copies, which is one warp's work
};

/// A nest of a root stage that becomes a kernel, keyed by its stage.
struct KernelInfo {
  /// Of the block, by axis: the largest bound extent. With roles: of the one that computes, whose threads are
  /// the first; those of others follow along x.
  std::array<std::int64_t, 3> threads{1, 1, 1};
  std::vector<RoleInfo> roles;     ///< the one that computes first; empty: none
  std::int64_t cluster = 1;        ///< blocks of a cluster
  std::int64_t shared_bytes = 0;   ///< set by the memory pass
  std::vector<ir::RingPtr> rings;  ///< set by the memory pass
  std::int64_t all_threads() const {
    if (!roles.empty()) return roles.back().first + roles.back().threads;
    return threads[0] * threads[1] * threads[2];
  }
};

struct LoopTree {
  Scheduled scheduled;  ///< after inlining
  Node root;
  std::vector<Binding> root_lets;
  std::vector<LoopInfo> loops;  ///< by LoopId
  std::vector<FusedPart> fused_parts;
  std::map<StageRef, StageInfo> stages;
  std::map<FuncId, Storage> storage;               ///< of realised Funcs that are not outputs
  std::vector<Kept> kept;                          ///< by FuncId
  std::map<StageRef, KernelInfo> kernels;          ///< set by the tiles pass; empty on the host
  std::map<StageRef, ThreadReduction> reductions;  ///< of stages with a Reduce node
  std::map<StageRef, TensorTile> tensor_tiles;     ///< set by the tiles pass
  std::map<StageRef, DealtOut> dealt_out;          ///< set by the tiles pass
  std::vector<RingUse> rings;                      ///< set by the pipeline pass
  std::map<FuncId, std::size_t> ring_of;           ///< of Funcs that are copied in bulk: into `rings`
  std::vector<Channel> channels;                   ///< between roles; set by the pipeline pass
  /// By reader and the Func in registers that it reads; without an entry each thread reads its own elements.
  std::map<std::pair<StageRef, FuncId>, Conversion> conversions;
  std::vector<ir::BufferPtr> inputs;                       ///< by InputId
  std::vector<ir::BufferPtr> outputs;                      ///< by position
  std::map<FuncId, std::vector<ir::BufferPtr>> output_of;  ///< by component
  std::vector<ir::BufferPtr> stored;  ///< of stored stages, by position after the outputs
  std::map<FuncId, std::vector<ir::BufferPtr>> stored_of;  ///< by component
  /// Of Funcs that some calls have no use for: the condition, on what the call gives, under which it has.
  std::map<FuncId, Expr> used_when;
  ir::Facts facts;  ///< ranges of loops and sizes, values of lets
  struct Check {
    Expr condition;
    std::string message, subject;
    std::vector<Expr> values;
    std::string legal;
  };
  std::vector<Check> checks;  ///< what the arguments must satisfy
  /// What the schedule promises of them. The sizes named there have become constants everywhere else, so each
  /// stands with the output dimension whose extent (or min) tells its actual value.
  struct PromisedSize {
    ir::SymbolPtr symbol;
    FuncId output;
    int dim = 0;
    bool is_min = false;
  };
  std::vector<Check> promises;
  std::vector<PromisedSize> promised_sizes;
  std::vector<std::int64_t>
      unit_strides;  ///< per buffer argument: constant stride of dimension 0, or 0: not known

  const lang::FuncDef& func(FuncId id) const { return scheduled.graph.func(id); }
  const lang::StageDef& def(StageRef s) const { return func(s.func).stages[s.stage]; }
  const schedule::StageSchedule& schedule_of(StageRef s) const {
    return scheduled.of(s.func).stages[s.stage];
  }
  LoopInfo& loop(LoopId id) { return loops[id.value]; }
  const LoopInfo& loop(LoopId id) const { return loops[id.value]; }
  std::optional<Conversion> conversion(StageRef reader, FuncId of) const {
    const auto found = conversions.find({reader, of});
    return found == conversions.end() ? std::nullopt : std::optional(found->second);
  }
  /// The values of a stage's dimensions in terms of loops, to be put into its definition.
  ir::Substitution coordinates_of(StageRef stage) const;
  /// A loop that no directive has made, from 0 on.
  LoopId add_loop(StageRef owner, std::string name, ir::Binding binding, std::string origin);
  /// The register in which the stage has the element of a Func, where its loops are dealt out alike;
  /// undefined: they are not, or it is another element.
  Expr own_slot(StageRef reader, FuncId of, const std::vector<Expr>& coordinates) const;
  /// Whether the stage has shuffles, so that all lanes of a warp have to reach its definition.
  bool shuffles(StageRef stage) const {
    for (const auto& [read, conversion] : conversions)
      if (read.first == stage && conversion == Conversion::Shuffles) return true;
    return false;
  }
  /// The channel between roles that the Func is part of; null: none.
  const Channel* channel_of(FuncId id) const {
    for (const Channel& c : channels)
      if (std::find(c.funcs.begin(), c.funcs.end(), id) != c.funcs.end()) return &c;
    return nullptr;
  }
  const Kept* find_kept(FuncId id) const {
    for (const Kept& k : kept)
      if (k.func == id) return &k;
    return nullptr;
  }
  bool inlined(FuncId id) const { return scheduled.of(id).compute.kind == schedule::Place::Kind::Inline; }
  /// Whether the stage is what add_copies has added: it writes to the Func's stored argument and nowhere
  /// else.
  bool is_copy(StageRef s) const {
    return s.stage > 0 && stored_of.count(s.func) &&
           s.stage + 1 == static_cast<int>(func(s.func).stages.size()) &&
           ir::equal(def(s).value, func(s.func).read(def(s).lhs));
  }
};

/// Calls `f` on every node, parents first, with the chain of enclosing nodes (outermost first).
void visit(const Node& node, const std::function<void(const Node&, const std::vector<const Node*>&)>& f);
/// Loops around a stage's body, innermost first, through the compute sites of its Func and of theirs.
std::vector<LoopId> enclosing_loops(const LoopTree& tree, StageRef stage);
/// Loops around a Func's compute (or store) site, innermost first.
std::vector<LoopId> site_loops(const LoopTree& tree, const schedule::Place& place);
/// Whether a block runs more than one iteration of a loop.
bool runs_again(const LoopTree& tree, LoopId id);
/// Calls of stage definitions to `callee_func`, as coordinate lists in terms of the stage's symbols.
std::vector<Expr> calls_in(const lang::StageDef& stage);

/// Adds a check of the call, unless the facts prove that it holds.
void require(LoopTree& tree, LoopTree::Check check);
/// Whether a value may differ between iterations, so that no check of the call can speak of it.
bool depends_on_loops(const LoopTree& tree, const Expr& e);

/// What the kernel of a stage at root is called: a name of C.
std::string kernel_name(const LoopTree& tree, StageRef stage);

/// Text of the tree, for levels bounds to sync.
std::string to_string(const LoopTree& tree);

}  // namespace calotype::lower
