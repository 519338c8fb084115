#pragma once
// Schedule: how an algorithm runs, as a value: an ordered list of directives, in C++ or JSON. It refers to
// Funcs, stages and loops by name, so one Schedule may be tried on any Pipeline; `check` says whether it
// fits.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "calotype/buffer_form.h"
#include "calotype/error.h"
#include "calotype/func.h"
#include "calotype/image_param.h"
#include "calotype/target.h"

namespace calotype {

class Pipeline;
class Schedule;

/// What happens where a factor does not divide an extent.
enum class Tail {
  Auto,          ///< predicate for vectors and threads, guard elsewhere
  Guard,         ///< a branch around the body
  ShiftInwards,  ///< the last tile moves back and recomputes; pure definitions only, extent >= factor
  RoundUp,       ///< compute past the end: enlarges what is allocated; not for outputs, inputs or reductions
  Predicate,     ///< mask loads and stores
  PredicateLoads,   ///< mask loads; stores past the end, which enlarges what is allocated, as RoundUp
  PredicateStores,  ///< mask stores; loads past the end, which enlarges what producers compute, as RoundUp
};

/// What `trace` reports.
enum class Trace { Loads, Stores, Productions };

/// Where the values of a Func live.
enum class Memory { Auto, Heap, Stack, Global, Shared, Register, Local };

/// Who carries the elements of a copy to shared memory.
enum class Copy {
  Threads,  ///< each thread loads and stores
  Async,    ///< cp.async: a thread starts copies that pass no register, and waits for them later
  Bulk,     ///< cp.async.bulk: one thread starts the copy of a whole row, and a barrier counts its bytes
  Tma,      ///< cp.async.bulk.tensor: one thread starts the copy of a box of a tensor, counted alike
};

/// Whether a loop is cut into a prologue, a steady part without clamps and end tests, and an epilogue.
enum class Partition {
  Auto,    ///< where it is the innermost loop that decides something
  Never,   ///< stays whole
  Always,  ///< also where a loop inside could decide the same
};

/// What `prefetch` does where it would fetch beyond what the buffer holds.
enum class PrefetchBounds {
  NonFaulting,  ///< fetches there: a hint never faults
  Clamp,        ///< fetches the nearest that the buffer holds
  Guard,        ///< fetches nothing
};

/// A named integer of a schedule, which a tuner or `--set` may change.
struct Knob {
  std::string name;
  std::int64_t value = 0;  ///< at the time of making; the Schedule holds the present one
};

/// An integer argument of a directive: a number or a knob.
struct Factor {
  template <std::integral T>
  Factor(T value) : number(static_cast<std::int64_t>(value)) {}
  Factor(const Knob& knob) : number(knob.value), knob(knob.name) {}
  std::int64_t number;
  std::string knob;  ///< empty: a plain number
};

/// An order of tiles for `raster`: strips of `by` tiles along the second block loop, each along the first.
struct Grouped {
  Factor by;
};

/// What a role of a block has: whole warps, and the registers that each of their threads may use.
struct RoleSize {
  Factor warps;
  Factor registers = 0;  ///< 0: what every thread of the block has as it begins
};

/// A loop by name.
struct LoopName {
  LoopName(const Var& var) : name(var.name()) {}
  LoopName(const RVar& var) : name(var.name()) {}
  LoopName(const RDom& dom) : name(dom[0].name()) {}
  template <std::convertible_to<std::string_view> Text>
  LoopName(const Text& name) : name(std::string_view(name)) {}
  std::string name;
};

class Stage;

/// A Func or input by name, as an argument of a directive. Where a stage is meant the text may also be that
/// of a stage: "acc.update(0)", or "acc.pure" for stage 0 of a Func with updates.
struct FuncName {
  FuncName(const Func& func) : name(func.name()) {}
  FuncName(const ImageParam& image) : name(image.name()) {}
  FuncName(const Stage& stage);  ///< the Func whose stage it is
  template <std::convertible_to<std::string_view> Text>
  FuncName(const Text& name) : name(std::string_view(name)) {}
  std::string name;
};

namespace schedule {

/// An argument of a recorded directive: integer, knob by name, string, or list of these.
struct KnobRef {
  std::string name;
  bool operator==(const KnobRef&) const = default;
};
struct Value {
  using List = std::vector<Value>;
  std::variant<std::int64_t, KnobRef, std::string, List> data;
  Value(std::int64_t v) : data(v) {}
  Value(int v) : data(static_cast<std::int64_t>(v)) {}
  Value(const Factor& f) {
    if (f.knob.empty())
      data = f.number;
    else
      data = KnobRef{f.knob};
  }
  Value(KnobRef k) : data(std::move(k)) {}
  Value(std::string s) : data(std::move(s)) {}
  Value(const char* s) : data(std::string(s)) {}
  Value(List l) : data(std::move(l)) {}
  bool operator==(const Value&) const = default;
};

/// What a schedule file says beside directives and knobs, kept so that loading and saving give the same
/// bytes. `provenance` and `measured` are JSON objects as text; empty: what the writer gives by default, or
/// left out.
struct FileNotes {
  std::string target;  ///< the target that the file names
  std::string variant;
  std::string template_name;
  std::string provenance;
  std::string measured;
};

/// One recorded directive. `stage` is the text of the stage or Func addressed, empty for those that edit the
/// graph.
struct Directive {
  std::string stage;                                ///< "blur_y", "acc.update(0)"
  std::string name;                                 ///< "split"
  std::vector<std::pair<std::string, Value>> args;  ///< in the order of the directive's definition
  bool operator==(const Directive&) const = default;
};

}  // namespace schedule

/// What `Schedule::assume` takes for granted of a named size.
class Assumption {
 public:
  /// The size has this value. It is a constant in the code.
  static Assumption exact(Factor value) { return Assumption({{"exact", value}}); }
  /// The size is a multiple of this.
  static Assumption multiple(Factor of) { return Assumption({{"multiple", of}}); }
  /// The size lies in [low, high].
  static Assumption range(Factor low, Factor high) { return Assumption({{"min", low}, {"max", high}}); }
  static Assumption at_least(Factor low) { return Assumption({{"min", low}}); }
  const std::vector<std::pair<std::string, schedule::Value>>& args() const { return args_; }

 private:
  explicit Assumption(std::vector<std::pair<std::string, schedule::Value>> args) : args_(std::move(args)) {}
  std::vector<std::pair<std::string, schedule::Value>> args_;
};

/// A named size, as an argument of a directive.
struct SizeName {
  SizeName(const Dim& dim) : name(dim.name()) {}
  template <std::convertible_to<std::string_view> Text>
  SizeName(const Text& name) : name(std::string_view(name)) {}
  std::string name;
};

/// A condition on what a call gives: named sizes, Params, and strides and extents of arguments, as an Expr or
/// as its text ("N % 8 == 0 && A.stride.0 == 1"). In a text "A.stride.1" is a stride in elements,
/// "A.extent.1" an extent, "C.0.stride.1" a stride of the first buffer of an output that is a Tuple.
struct Condition {
  Condition(const Expr& condition) : text(condition.str()) {}
  template <std::convertible_to<std::string_view> Text>
  Condition(const Text& text) : text(std::string_view(text)) {}
  std::string text;
};

/// The stride of a dimension of an input or output, in elements: for conditions of a schedule alone.
Expr stride_of(const FuncName& argument, int dimension);
/// The same of an extent.
Expr extent_of(const FuncName& argument, int dimension);

/// A stage of a Func in a Schedule: where directives are recorded. Methods return the handle, to be chained.
/// `compute_*` and `store_*` address the Func, the others this stage.
class Stage {
 public:
  Stage(Schedule* schedule, std::string func, int stage = 0);
  /// Update `i` of the Func.
  Stage update(int i = 0) const;
  const std::string& func() const { return func_; }
  /// "acc" or "acc.update(0)".
  std::string name() const;

  // Where a Func is computed and stored
  Stage& compute_inline();
  Stage& compute_root();
  /// Once in each iteration of the consumer's loop. A loop name found in several stages of the consumer must
  /// be qualified: give the stage, as `s[acc].update()` or "acc.update(0)".
  Stage& compute_at(const FuncName& consumer, const LoopName& loop);
  Stage& compute_at(const Stage& consumer, const LoopName& loop);
  /// Run this stage in the loops of `other` (a stage of another Func) down to `loop`: they become one, and in
  /// each iteration the body of `other` comes first. Refused where that breaks a dependence.
  Stage& compute_with(const FuncName& other, const LoopName& loop);
  Stage& compute_with(const Stage& other, const LoopName& loop);
  Stage& store_at(const FuncName& consumer, const LoopName& loop);
  Stage& store_at(const Stage& consumer, const LoopName& loop);
  Stage& store_root();
  Stage& store_in(Memory memory);
  /// Promise that `dim` covers exactly [min, min + extent): checked at the call.
  Stage& bound(const LoopName& dim, Factor min, Factor extent);
  /// Promise that `dim` covers exactly `extent` coordinates, from wherever it starts.
  Stage& bound_extent(const LoopName& dim, Factor extent);
  /// Compute at least what is needed, from a multiple of `modulus` (plus `remainder`) on and in multiples of
  /// it. Not for outputs whose region is not so already.
  Stage& align_bounds(const LoopName& dim, Factor modulus, Factor remainder = 0);
  /// The same for the extent alone.
  Stage& align_extent(const LoopName& dim, Factor modulus);
  /// Sizes that a tuner may assume; no effect on code.
  Stage& set_estimate(const LoopName& dim, Factor min, Factor extent);

  // Memory of a Func that is no output
  /// Order of the dimensions in memory, innermost first; those not named keep their places.
  Stage& reorder_storage(const std::vector<LoopName>& dims);
  template <class... Dims>
  Stage& reorder_storage(const LoopName& a, const LoopName& b, const Dims&... rest) {
    return reorder_storage(std::vector<LoopName>{a, b, LoopName(rest)...});
  }
  /// Allocate a multiple of `multiple` along `dim`: so are the strides of the dimensions outside it.
  Stage& align_storage(const LoopName& dim, Factor multiple);
  /// Allocate `elements` more along `dim` than are used.
  Stage& pad(const LoopName& dim, Factor elements);
  /// Allocate exactly `extent` along `dim`, which holds what is needed: proved, or checked at the call.
  Stage& bound_storage(const LoopName& dim, Factor extent);
  /// A ring of `extent` along `dim`. Refused unless what is alive at once is proved to fit.
  Stage& fold_storage(const LoopName& dim, Factor extent);
  /// Allocate at a loop further out, without keeping what earlier iterations have computed.
  Stage& hoist_storage(const FuncName& consumer, const LoopName& loop);
  Stage& hoist_storage(const Stage& consumer, const LoopName& loop);
  Stage& hoist_storage_root();
  /// Compute only what is new along a coordinate of the consumer, through all loops that it was split into,
  /// and `depth` iterations before it is needed.
  Stage& slide(const FuncName& consumer, const LoopName& dim, Factor depth = 0);
  Stage& slide(const Stage& consumer, const LoopName& dim, Factor depth = 0);
  /// Rotate through `copies` of the memory, from one iteration to the next of the loops between where it is
  /// allocated and where it is stored.
  Stage& ring_buffer(Factor copies);
  /// How coordinates lie in memory, innermost first: parts "x", "x / 8", "x % 8" or "x / 8 % 4" of the Func's
  /// coordinates, counted from the first that is stored. {"x % 8", "y", "x / 8"} has columns of 8.
  Stage& layout(const std::vector<std::string>& parts);
  /// Who carries the elements of a Func that only copies: its definition is a plain read, as in() makes it.
  Stage& copy(Copy how);
  /// Shared memory of a GPU block in which pieces of 16 bytes are moved within rows of `bytes` (32, 64, 128)
  /// by the number of the row, so that a column of pieces lies in different banks.
  Stage& swizzle(Factor bytes);
  /// Keep the values from one call to the next, for calls with the same sizes and Params. For Funcs at root
  /// that read no input.
  Stage& memoize();
  /// Stores to the Func's memory (an output's as well) pass the caches by, where the machine can.
  Stage& stream_stores();

  // Loops of this stage
  Stage& split(const LoopName& loop, const LoopName& outer, const LoopName& inner, Factor factor,
               Tail tail = Tail::Auto);
  /// With one name given the new loops are NAME.o and NAME.i.
  Stage& split(const LoopName& loop, Factor factor, Tail tail = Tail::Auto);
  Stage& fuse(const LoopName& inner, const LoopName& outer, const LoopName& fused);
  Stage& tile(const std::vector<LoopName>& loops, const std::vector<LoopName>& outer,
              const std::vector<LoopName>& inner, const std::vector<Factor>& factors, Tail tail = Tail::Auto);
  Stage& tile(const LoopName& x, const LoopName& y, const LoopName& xo, const LoopName& yo,
              const LoopName& xi, const LoopName& yi, Factor fx, Factor fy, Tail tail = Tail::Auto);
  /// Innermost first; permutes the named loops among their own places.
  Stage& reorder(const std::vector<LoopName>& loops);
  template <class... Loops>
  Stage& reorder(const LoopName& a, const LoopName& b, const Loops&... rest) {
    return reorder(std::vector<LoopName>{a, b, LoopName(rest)...});
  }
  Stage& rename(const LoopName& loop, const LoopName& name);
  Stage& partition(const LoopName& loop, Partition how);
  /// At the head of each iteration of `at`, fetch into the caches what the code inside will read of `of`
  /// when `from` (that loop or one around it) has advanced by `offset`.
  Stage& prefetch(const FuncName& of, const LoopName& at, const LoopName& from, Factor offset,
                  PrefetchBounds bounds = PrefetchBounds::NonFaulting);
  Stage& serial(const LoopName& loop);
  Stage& parallel(const LoopName& loop);
  Stage& unroll(const LoopName& loop);
  /// Splits by the factor (NAME.o, NAME.u) and unrolls the inner loop.
  Stage& unroll(const LoopName& loop, Factor factor, Tail tail = Tail::Auto);
  /// Iterations become lanes. Lanes of a reduction loop that update one place, by an operation that is proved
  /// associative, have partial results that are combined in the end.
  Stage& vectorize(const LoopName& loop);
  /// Splits by the factor (NAME.o, NAME.v) and vectorises the inner loop.
  Stage& vectorize(const LoopName& loop, Factor factor, Tail tail = Tail::Auto);
  Stage& gpu_blocks(const std::vector<LoopName>& loops);
  template <class... Loops>
  Stage& gpu_blocks(const LoopName& x, const Loops&... rest) {
    return gpu_blocks(std::vector<LoopName>{x, LoopName(rest)...});
  }
  /// As many blocks as the device runs at one time, each of which goes from tile to tile: an iteration of the
  /// block loops is a tile.
  Stage& persistent();
  /// The order in which tiles start, or in which the blocks of a persistent grid take them.
  Stage& raster(const Grouped& order);
  /// Binds whole loops to threads x, y, z.
  Stage& gpu_threads(const std::vector<LoopName>& loops);
  Stage& gpu_threads(const LoopName& x) { return gpu_threads(std::vector<LoopName>{x}); }
  Stage& gpu_threads(const LoopName& x, const LoopName& y) {
    return gpu_threads(std::vector<LoopName>{x, y});
  }
  Stage& gpu_threads(const LoopName& x, const LoopName& y, const LoopName& z) {
    return gpu_threads(std::vector<LoopName>{x, y, z});
  }
  /// Splits by the factor (NAME.o, NAME.t) and binds the inner loop to thread x.
  Stage& gpu_threads(const LoopName& loop, Factor factor, Tail tail = Tail::Auto);
  /// The iterations, at most 32, become the lanes of a warp: thread x is warp * 32 + lane.
  Stage& gpu_lanes(const LoopName& loop);
  /// Splits by the factor (NAME.o, NAME.l) and binds the inner loop to lanes.
  Stage& gpu_lanes(const LoopName& loop, Factor factor, Tail tail = Tail::Auto);
  /// The iterations become the warps of the block.
  Stage& gpu_warps(const LoopName& loop);
  /// Splits by the factor (NAME.o, NAME.w) and binds the inner loop to warps.
  Stage& gpu_warps(const LoopName& loop, Factor factor, Tail tail = Tail::Auto);
  /// Tiles up to three loops and binds the outer loops to blocks, the inner ones to threads. The names of the
  /// outer loops, then of the inner ones.
  Stage& gpu_tile(const std::vector<LoopName>& loops, const std::vector<LoopName>& blocks,
                  const std::vector<LoopName>& threads, const std::vector<Factor>& factors,
                  Tail tail = Tail::Auto);
  Stage& gpu_tile(const LoopName& x, const LoopName& bx, const LoopName& tx, Factor x_size,
                  Tail tail = Tail::Auto);
  Stage& gpu_tile(const LoopName& x, const LoopName& y, const LoopName& bx, const LoopName& by,
                  const LoopName& tx, const LoopName& ty, Factor x_size, Factor y_size,
                  Tail tail = Tail::Auto);
  Stage& gpu_tile(const LoopName& x, const LoopName& y, const LoopName& z, const LoopName& bx,
                  const LoopName& by, const LoopName& bz, const LoopName& tx, const LoopName& ty,
                  const LoopName& tz, Factor x_size, Factor y_size, Factor z_size, Tail tail = Tail::Auto);
  /// The iterations become the blocks of a cluster, by their ranks: 1 to 8, up to 16 where the target allows
  /// it. The loop stands inside the block loops, or inside those of the Func it is computed in.
  Stage& cluster(const LoopName& loop);
  /// Of a copy by copy(Copy::Tma) that all blocks of a cluster need alike: the iterations of the loop are dealt
  /// out to the blocks, and what each of them copies goes to the shared memory of all.
  Stage& multicast(const LoopName& loop);

  /// The update is a sum over the `k` loops of products of two operands, and instructions of tensor cores
  /// carry out the tile of it that the named loops are, each list outermost first. `instruction`: "wgmma"
  /// (four warps', operands in shared memory); empty: whichever fits.
  Stage& tensor_core(const std::vector<LoopName>& m, const std::vector<LoopName>& n,
                     const std::vector<LoopName>& k, const std::string& instruction = {});

  /// What copy(Async) copies at this loop runs `depth - 1` iterations ahead, in a ring of `depth` slots.
  Stage& pipeline(const LoopName& loop, Factor depth);

  /// Reduction loops of this update may run on several threads (`parallel`, `gpu_blocks`, `gpu_threads`,
  /// `vectorize`): places that iterations share are updated by atomic operations, in any order. For a Func of
  /// one value and an update of the form f(...) = f(...) op term.
  Stage& atomic();

  /// Split an associative update: the reduction loops in `preserved` become pure coordinates of a new Func
  /// `as` (each pair: reduction loop, its new coordinate), which this update then reduces. Returns the new
  /// Func's stage.
  ///
  /// `as` has this Func's arguments followed by the new coordinates. Its stage 0 is the identity of the
  /// operation; its update(0) does this update's work over the reduction loops that are left. This update
  /// becomes a reduction of `as` over the preserved loops, which keep their names. Loops that `split` or
  /// `fuse` made may be preserved; the points of a last, incomplete tile are left out by a predicate.
  Stage rfactor(const std::vector<std::pair<LoopName, LoopName>>& preserved, const std::string& as);

  /// For calls that the condition holds of: a copy of this stage's schedule as it is here, which the
  /// directives on the handle that is returned change. The program is then compiled with the condition known.
  /// Of several conditions of one stage the first that holds is taken; directives on this handle after the
  /// first specialize are for calls that none holds of. A branch may be specialised further.
  Stage specialize(const Condition& condition);
  /// Calls that no condition before it holds of are an Error(Argument) with the message; nothing is written.
  Stage& specialize_fail(const std::string& message);

  /// What every method above calls: record a directive by name.
  Stage& record(std::string name, std::vector<std::pair<std::string, schedule::Value>> args);

 private:
  friend class Schedule;
  friend struct FuncName;
  Schedule* schedule_;
  std::string func_;
  int stage_;
};

class Schedule {
 public:
  Schedule() = default;

  /// The Func's stage 0. Never creates: an unknown Func is reported by `check` and `compile`, with the stages
  /// that exist.
  Stage operator[](const FuncName& func);
  Stage operator[](const Stage& stage);

  /// A copy of `of` (an input or Func) between it and the consumers listed (empty: all): a Func named
  /// `OF.in(A,B)` or `OF.in`, whose stage is returned.
  Stage in(const FuncName& of, const std::vector<FuncName>& consumers = {});

  /// As `in`, but the copy computes the values of the Func once more, by definitions of its own, updates
  /// included: a Func named `OF.clone(A,B)` or `OF.clone`, whose stage is returned. Not for inputs.
  Stage clone_in(const FuncName& of, const std::vector<FuncName>& consumers = {});
  /// The values of an output in a Func of their own, `OF.staged`, whose stage is returned; the output is a
  /// plain copy of it. In shared memory a tile is put together before it goes out: copy(Copy::Tma) on the
  /// output.
  Stage stage_out(const FuncName& of);
  /// Puts the definition of `of` in the place of each use, here in the list: directives that follow (rfactor)
  /// see what results. The Func is gone then. Not for outputs and Funcs with updates.
  Schedule& eager_inline(const FuncName& of);

  /// The value of a named size that a tuner may assume; no effect on code.
  void estimate_size(const SizeName& size, Factor value);
  /// Loads of the values of a Func or input pass the caches by, where the machine can.
  void stream_loads(const FuncName& of);
  /// The kernel is for these values of a size alone: the compiler uses it, and a call with another value is
  /// an error. Several assumptions of one size all hold. It does not matter where in the list they stand.
  Schedule& assume(const SizeName& size, const Assumption& assumption);

  /// Gives some warps of a block a part of its work: they compute the Funcs named, and what is computed for
  /// those and no role has, while other warps compute the rest. Between roles values go through shared
  /// memory, in rings of as many slots as `pipeline` or `ring_buffer` say.
  void role(const std::string& name, const std::vector<FuncName>& funcs, const RoleSize& size);

  /// The kernel is for arguments whose memory lies so: the compiler uses it, and a call with another is an
  /// error.
  Schedule& assume_buffer(const BufferForm& form);
  /// Prints a line for each of these that happens to a Func or input: for looking, not for use.
  void trace(const FuncName& of, const std::vector<Trace>& what = {Trace::Stores, Trace::Productions});

  /// A named integer. Its value is part of the schedule.
  Knob knob(const std::string& name, std::int64_t value);
  /// Change a knob; Error(Usage) lists the knobs if there is none of that name.
  void set(const std::string& knob, std::int64_t value);
  const std::vector<Knob>& knobs() const { return knobs_; }

  const std::vector<schedule::Directive>& directives() const { return directives_; }
  void append(schedule::Directive directive);
  /// Same directives and knobs; the file notes do not count.
  bool operator==(const Schedule& other) const;

  const schedule::FileNotes& notes() const { return notes_; }
  void set_notes(schedule::FileNotes notes) { notes_ = std::move(notes); }

  /// What compile would refuse, without making code: every fault that the directives themselves have, or else
  /// the first that lowering finds (an extent that must be constant, shared memory that is too large). Throws
  /// nothing; empty means legal.
  std::vector<Diagnostic> check(const Pipeline& pipeline, const Target& target = Target::host()) const;

  /// One knob or directive a line, in C++ for a Schedule named `s`.
  std::string str() const;

  /// The schedule file (see docs/schedule_files.md) for this algorithm and target.
  std::string to_json(const Pipeline& pipeline, const Target& target) const;
  /// Writes to a temporary file beside `path` and renames it. Errors: Usage.
  void save(const std::string& path, const Pipeline& pipeline, const Target& target) const;
  /// The one case that a file has for this algorithm: all or nothing, as ScheduleFile::load with a Pipeline.
  /// A file with several cases for it is an error; ScheduleFile reads those.
  static Schedule from_json(const std::string& text, const Pipeline& pipeline, const std::string& file = "");
  static Schedule load(const std::string& path, const Pipeline& pipeline);

 private:
  std::vector<schedule::Directive> directives_;
  std::vector<Knob> knobs_;
  schedule::FileNotes notes_;
};

}  // namespace calotype
