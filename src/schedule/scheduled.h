#pragma once
// A schedule applied to an algorithm (level `schedule`): the graph with wrappers and factored reductions in
// it, and for each Func where it is computed and stored and the loops of each stage. Lowering reads this and
// nothing else of the schedule.

#include <optional>
#include <string>
#include <vector>

#include "calotype/schedule.h"
#include "calotype/size_range.h"
#include "calotype/target.h"
#include "lang/graph.h"

namespace calotype::schedule {

using lang::FuncId;
using LoopId = lang::Id<struct LoopTag>;  ///< unique within a Scheduled

/// What lets iterations of a reduction loop run at one time.
enum class Sharing {
  Apart,    ///< nothing they write is touched by another (or they run one after the other)
  Partial,  ///< each lane or thread has a partial result of its own; they are combined in the end
  Atomic,   ///< they update the same places in steps that are not interrupted
};

/// A loop of a stage. Loops that a directive consumed stay in `Scheduled::loops` with `replaced_by` saying
/// what stands in their place.
struct Loop {
  LoopId id;
  std::string name;
  bool reduction = false;  ///< iterates over (part of) a reduction dimension, in the RDom's order
  ir::Binding binding = ir::Binding::Serial;
  int axis = 0;                                 ///< GpuBlock, GpuThread: 0 x, 1 y, 2 z
  ir::ThreadPart part = ir::ThreadPart::Whole;  ///< GpuThread along x
  Sharing sharing = Sharing::Apart;
  ir::Partition partition = ir::Partition::Auto;
  std::string partition_origin;
  std::string origin;  ///< directive that made or bound it: "#2 split(x, xo, xi, 8)"; empty: the definition
  std::string replaced_by;  ///< empty while it is one of the stage's loops
};

/// How loops follow from other loops, in order of application.
struct Transform {
  enum class Kind { Split, Fuse } kind;
  // Split: old -> outer, inner with old = outer * factor + inner (+ min).
  // Fuse: outer, inner -> fused with fused = outer * extent(inner) + inner.
  LoopId old, outer, inner, fused;
  std::int64_t factor = 0;
  Tail tail = Tail::Auto;  ///< resolved: never Auto in a Scheduled
  std::string origin;
};

/// What the code inside loop `at` reads of a callee, fetched when `from` is `offset` iterations short of it.
struct Prefetch {
  ir::CalleePtr of;
  LoopId at, from;
  std::int64_t offset = 0;
  PrefetchBounds bounds = PrefetchBounds::NonFaulting;
  std::string origin;
};

/// What is copied at a loop runs ahead of the iteration that reads it.
struct SoftwarePipeline {
  LoopId loop;
  std::int64_t depth = 2;  ///< slots: copies run one iteration less ahead
  std::string origin;
};

/// Boxes that each block of a cluster copies for all of them.
struct Multicast {
  LoopId loop;  ///< whose iterations are dealt out to the blocks
  std::string origin;
};

/// A sum of products that instructions of tensor cores carry out, a tile at a time.
struct TensorCore {
  std::vector<LoopId> m, n, k;  ///< loops of the tile, outermost first
  std::string instruction;      ///< "wgmma"; empty: whichever fits
  std::string origin;           ///< the directive that says so
};

struct StageSchedule {
  std::vector<LoopId> dims;   ///< loops of the definition: pure dims (dim 0 first), then reduction dims.
                              ///< In an update a pure dim whose lhs is no plain arg has an invalid id
  std::vector<LoopId> loops;  ///< present loops, innermost first
  std::vector<Transform> transforms;
  std::vector<Prefetch> prefetches;
  std::vector<SoftwarePipeline> pipelines;
  std::optional<TensorCore> tensor_core;
  std::optional<Multicast> multicast;
  std::string atomic_origin;      ///< the directive by which its updates may be atomic; empty: none
  std::string persistent_origin;  ///< the directive by which blocks go from tile to tile; empty: none
  std::int64_t raster_strip = 0;  ///< tiles of a strip along the second block loop; 0: row by row
  std::string raster_origin;

  /// Whether a tail moves back, so that some elements are computed twice: maybe at one time, but always the
  /// same value.
  bool computes_twice() const {
    for (const Transform& t : transforms)
      if (t.kind == Transform::Kind::Split && t.tail == Tail::ShiftInwards) return true;
    return false;
  }
};

/// Where a Func is computed or stored.
struct Place {
  enum class Kind { Inline, Root, At } kind = Kind::Inline;
  FuncId func;  ///< At: the consumer's Func, stage and loop
  int stage = 0;
  LoopId loop;
};

/// A stage that runs in loops of another one. Of each pair the loop of the first stage is a part of that of
/// the second, which stands for both.
struct SharedNest {
  FuncId func;  ///< the stage whose body comes later
  int stage = 0;
  FuncId with;  ///< the one whose loops they are
  int with_stage = 0;
  std::vector<std::pair<LoopId, LoopId>> loops;  ///< outermost first
  std::string origin;
};

/// The window of a Func moves along a coordinate of a consumer.
struct Slide {
  FuncId func;  ///< the consumer
  int stage = 0;
  LoopId dim;              ///< one of the stage's `dims`
  std::int64_t depth = 0;  ///< iterations that it is computed ahead
  std::string origin;
};

struct BoundPromise {
  int dim = 0;
  std::optional<std::int64_t> min;  ///< none: wherever it starts
  std::int64_t extent = 0;
  std::string origin;
};

/// The region along `dim` covers a multiple of `modulus`, from `remainder` modulo it on if that is given.
struct BoundAlignment {
  int dim = 0;
  std::int64_t modulus = 1;
  std::optional<std::int64_t> remainder;
  std::string origin;
};

/// A number that a directive gives for a dimension.
struct DimNumber {
  int dim = 0;
  std::int64_t value = 0;
  std::string origin;
};

/// One of the coordinates in memory that a layout gives: (x / divide) % modulo of a Func's coordinate x.
struct StoragePart {
  int dim = 0;
  std::int64_t divide = 1;
  std::optional<std::int64_t> modulo;
};

/// The memory of a Func, dimension by dimension.
struct StorageSchedule {
  std::vector<int> order;  ///< innermost first; empty: as the coordinates
  std::vector<DimNumber> multiples, pads, extents, folds;
  std::string origin;  ///< the last directive that changes strides; empty: none
  bool stream_loads = false, stream_stores = false;
  std::vector<StoragePart> layout;  ///< innermost first; empty: by `order`
  std::string layout_origin;
  std::int64_t copies = 1;  ///< of all of it, used in turn
  std::string copies_origin;
  std::int64_t swizzle = 0;  ///< bytes of the rows within which pieces are moved; 0: none
  std::string swizzle_origin;

  /// What a list says of a dimension; nullptr: nothing.
  static const DimNumber* find(const std::vector<DimNumber>& list, int dim) {
    for (const DimNumber& n : list)
      if (n.dim == dim) return &n;
    return nullptr;
  }
};

/// What a tuner may assume of a named size.
struct SizeEstimate {
  std::string size;
  std::int64_t value = 0;
  std::string origin;
};

/// What a tuner may assume of a coordinate.
struct Estimate {
  int dim = 0;
  std::int64_t min = 0, extent = 0;
  std::string origin;
};

/// The schedule holds for these values of a named size alone.
struct SizeAssumption {
  ir::SymbolPtr symbol;
  SizeRange range;
  std::string origin;
};

/// The schedule holds for arguments whose memory lies so alone.
struct FormAssumption {
  bool output = false;
  int argument = 0;  ///< position among Graph::inputs or Graph::outputs
  BufferForm form;
  std::string origin;
  bool tensor = false;  ///< boxes of it are copied: see is_tensor in schedule/forms.h
};

/// Whether one thread starts the copy of many elements, whose bytes a barrier counts.
inline bool is_counted(Copy copy) { return copy == Copy::Bulk || copy == Copy::Tma; }

/// What is reported of a Func or input.
struct Traced {
  std::string of;
  bool loads = false, stores = false, productions = false;
  std::string origin;
};

/// Warps of a block that compute some of its Funcs, beside those that compute the others.
struct Role {
  std::string name;
  std::vector<FuncId> funcs;
  std::int64_t warps = 0;
  std::int64_t registers = 0;  ///< of a thread; 0: as many as it begins with
  int directive = -1;
  std::string origin;
};

/// A condition of `specialize`, and whether it holds in the calls that a Scheduled is for.
struct Decision {
  Expr condition;
  bool holds = false;
  std::string origin;
};

/// What a call is told where a Scheduled is for calls that `specialize_fail` turns away.
struct Rejection {
  std::string func, message, origin;
};

/// An extent of an argument as the algorithm writes it, where an assumption has made it a constant.
struct AssumedExtent {
  bool output = false;
  int argument = 0;  ///< position among Graph::inputs or Graph::outputs
  int dim = 0;
  Expr extent;
};

struct FuncSchedule {
  Place compute, store;  ///< store is the same as compute unless store_at said otherwise
  Place hoist;           ///< where the memory is allocated: as store unless hoist_storage said otherwise
  std::string hoist_origin;
  std::optional<Slide> slide;
  Memory memory = Memory::Auto;
  std::vector<BoundPromise> bounds;
  std::vector<BoundAlignment> alignments;
  std::vector<Estimate> estimates;
  StorageSchedule storage;
  std::vector<StageSchedule> stages;
  std::string compute_origin;  ///< directive or "default"
  std::string memory_origin;   ///< directive, or empty
  Copy copy = Copy::Threads;
  std::string copy_origin;     ///< directive, or empty
  std::string memoize_origin;  ///< directive by which its values outlive a call; empty: none
};

/// What the schedule lets the compiler do to float results.
struct Numerics {
  std::vector<std::string> reassociates;  ///< "acc.k"
  bool contract = true;                   ///< a * b + c may be rounded once
};

struct Scheduled {
  lang::Graph graph;          ///< a copy, with Funcs made by `in` and `rfactor` appended (FuncIds stay valid)
  std::vector<FuncId> order;  ///< all Funcs, producers before consumers
  std::vector<FuncSchedule> funcs;             ///< by FuncId
  std::vector<Loop> loops;                     ///< by LoopId
  std::vector<SharedNest> shared;              ///< in the order of the directives
  std::vector<SizeAssumption> assumptions;     ///< sizes with one value are that constant in `graph`
  std::vector<AssumedExtent> assumed_extents;  ///< what tells their values at a call
  std::vector<FormAssumption> forms;           ///< of the memory of arguments
  std::vector<Traced> traced;
  std::vector<Role> roles;
  std::vector<Decision> decisions;                             ///< what is known of the calls that it is for
  std::vector<std::pair<std::string, ir::SymbolPtr>> strides;  ///< named by conditions, as "A.stride.1"
  std::optional<Rejection> rejection;                          ///< none: calls are served
  Numerics numerics;
  std::vector<SizeEstimate> sizes;
  std::vector<lang::InputId> streamed_inputs;  ///< loads of which pass the caches by
  Target target;

  const Loop& loop(LoopId id) const { return loops[id.value]; }
  const FuncSchedule& of(FuncId id) const { return funcs[id.value]; }
  /// Whether boxes of an output's values go out of shared memory.
  bool sends_boxes(FuncId id) const { return of(id).copy == Copy::Tma && graph.is_output(id); }
  /// Position of the role that computes the Func: its own, or that of whom it is computed for; none: no
  /// role does.
  std::optional<std::size_t> role_of(FuncId id) const;
  /// The loop that stands for this one: another stage's where they share it.
  LoopId shared_loop(LoopId id) const {
    for (const SharedNest& nest : shared)
      for (const auto& [own, other] : nest.loops)
        if (own == id) return other;
    return id;
  }
};

/// Apply every directive in order, then the defaults for what was left unsaid, then the checks that need no
/// lowering. Diagnostics are appended; the result is meaningful only if none was. Of a schedule with
/// conditions: the way that is taken where none of them holds (ways.h has the others).
Scheduled apply(const lang::Graph& graph, const Schedule& schedule, const Target& target,
                std::vector<Diagnostic>& diagnostics);
/// The same; throws the first diagnostic as Error.
Scheduled apply_or_throw(const lang::Graph& graph, const Schedule& schedule, const Target& target);

/// Text of level `schedule`: every Func with its place and loops, and which directive said so.
std::string to_string(const Scheduled& scheduled);

}  // namespace calotype::schedule
