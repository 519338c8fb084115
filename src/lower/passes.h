#pragma once
// The passes, in the order in which `lower` runs them. Each is a free function in the file of its name; what
// it does, requires and leaves stands at that file's head.

#include "lower/loop_tree.h"
#include "lower/program.h"

namespace calotype::lower {

struct Options {
  Target target;
  /// Known strides of dimension 0, one per buffer argument (inputs as listed, then outputs); 0: any. Empty:
  /// all 1.
  std::vector<std::int64_t> unit_strides;
  /// Width of index arithmetic in kernels: 32 where the plan has checked that sizes fit, else 64.
  int index_bits = 32;
  /// Realised Funcs that are no outputs, whose values the program also writes to arguments of their own,
  /// after the outputs and in this order. See store_stages.cpp.
  std::vector<FuncId> stored_stages;
  /// Host programs: measure what each Func costs. See measure.cpp.
  bool profile = false;
};

// schedule -> loop tree
void inline_funcs(Scheduled& scheduled);
/// Refuses what is wrong for an output in the memory of an input.
void check_aliases(const Scheduled& scheduled);
void add_copies(Scheduled& scheduled, const Options& options);
LoopTree place(Scheduled scheduled, const Options& options);
void infer_bounds(LoopTree& tree);
void declare_stored(LoopTree& tree, const Options& options);
void keep_values(LoopTree& tree);
void find_unused(LoopTree& tree, const Options& options);
void resolve_tiles(LoopTree& tree);
void schedule_pipeline(LoopTree& tree);
void assign_memory(LoopTree& tree);
void place_barriers(LoopTree& tree);

// loop tree -> statements
/// One function or kernel: a root nest of a GPU program, or the whole pipeline on the host.
struct Unit {
  std::string name;
  std::optional<StageRef> kernel;  ///< the stage it runs, if a kernel
  ir::Stmt stmt;                   ///< GPU loops are still loops
};
/// With `profile` the Funcs and their stages are marked by Meters.
std::vector<Unit> emit(const LoopTree& tree, bool profile = false);

// statements -> statements
ir::Stmt partition_loops(const ir::Stmt& s, const ir::Facts& facts, bool gpu);
ir::Stmt unroll_loops(const ir::Stmt& s, const ir::Facts& facts);
ir::Stmt vectorize_loops(const ir::Stmt& s, const ir::Facts& facts);
ir::Stmt group_lanes(const ir::Stmt& s, const ir::Facts& facts);
ir::Stmt simplify_stmt(const ir::Stmt& s, const ir::Facts& facts);
void check_copies(const LoopTree& tree, const std::vector<Unit>& units);
/// Last of all, in a profiled program.
ir::Stmt measure(const ir::Stmt& s, const LoopTree& tree);
/// The same statements with every variable bound inside renamed apart (names that size storage stay).
ir::Stmt fresh_copy(const ir::Stmt& s);
/// Whether a Let names an extent of the allocation it stands around.
bool names_storage(const ir::Stmt& let);
/// The facts, and what the loops and names in `s` say of their variables.
ir::Facts with_loops(ir::Facts facts, const ir::Stmt& s);
/// See store_last.cpp.
ir::Stmt store_last(const ir::Stmt& s);
ir::Stmt share_values(const ir::Stmt& s);
/// Used by printers for one lane of a vector: the names, in order of definition, of what `e` computes more
/// than once; `e` uses them on return.
ir::Substitution share_values(Expr& e);
/// What memory holds of a type: itself, or the bits of an 8-bit float.
Type stored_type(Type type);
/// Used by emit: a value whose loads are of stored types, with the bits in place of 8-bit floats.
Expr expand_float8(const Expr& e);
/// Used by make_program: the body of a kernel without shuffles by which a thread would get what it has
/// itself.
ir::Stmt drop_own_shuffles(const Function& kernel, ir::Facts facts);
ir::Stmt plain_division(const ir::Stmt& s, const ir::Facts& facts);

// statements -> program
Program make_program(const LoopTree& tree, const std::vector<Unit>& units, const Options& options);
/// `arguments`: every buffer of the call; `lets`: what the plan computes, in order.
void narrow_indices(Function& kernel, int bits, const std::vector<ir::BufferPtr>& arguments,
                    const std::vector<Binding>& lets);

/// Used by infer_bounds: restrict what is produced at each iteration of a serial loop between the store and
/// the compute site to what earlier iterations have not produced, and fold the storage where that bounds it.
/// `box` is what the consumers need at the compute site; on return what is to be produced.
void slide_window(LoopTree& tree, FuncId func, Box& box, Storage& storage);
/// Used by infer_bounds: a region that is needed of a Func, enlarged to what align_bounds asks for; an
/// output's must be so already.
void align_region(LoopTree& tree, FuncId func, Box& box);
void check_aligned(const LoopTree& tree, FuncId func, const Box& box);
/// Used by infer_bounds, see tails.cpp: a region that is needed, enlarged by RoundUp and ShiftInwards; what
/// is stored of one; what a stage with `info.need` ranges over and reads, where `all` is the Func's region.
void round_region(const LoopTree& tree, FuncId func, Box& box);
Box with_room_past_end(const LoopTree& tree, FuncId func, const Box& box);
void read_by_tails(const LoopTree& tree, StageRef stage, const Box& all, StageInfo& info);
/// Used by infer_bounds, see fold_scans.cpp: `first`, what the first definition of a Func covers, becomes
/// less if the Func is a scan of which memory is to hold the last values alone.
void begin_scan(LoopTree& tree, FuncId func, Storage& storage, Box& first);
/// Used by infer_bounds as soon as all Funcs of a nest are resolved: how many values such a scan keeps.
void fold_scan(LoopTree& tree, FuncId func);
/// Used by infer_bounds: what is known of the extents of memory, once box and rings are.
void shape_storage(LoopTree& tree, FuncId func, Storage& storage);
/// Used by place: an order of the Funcs, still producers first, in which those that share loops stand
/// together.
void order_sharing(Scheduled& scheduled);
/// Used by place: the productions of Funcs that share loops, in that order, as one.
Node share_nests(const LoopTree& tree, std::vector<Node> productions);
/// Used by infer_bounds as soon as all Funcs of a nest that stages share are resolved: one range for each
/// shared loop, and guards for stages that do not cover it.
void join_loops(LoopTree& tree, ir::Algebra& algebra, const std::vector<FuncId>& funcs);
/// Used by join_loops: refuses a nest where a stage reads what is not complete.
void check_shared_order(const LoopTree& tree, const std::vector<FuncId>& funcs);
/// The Funcs whose stages share loops with one of this Func, directly or through others, itself included, in
/// the order of the Funcs.
std::vector<FuncId> sharing(const Scheduled& scheduled, FuncId func);
/// Used by infer_bounds, first of all.
void declare_arguments(LoopTree& tree);
/// Used by declare_arguments and make_program: that a call's stride has the pitch that is assumed of it.
LoopTree::Check pitch_check(const schedule::FormAssumption& form, int dim, const Expr& stride, Type type);
/// Used by infer_bounds: the loops of a stage whose region (`info.need`) is known.
void resolve_loops(LoopTree& tree, ir::Algebra& algebra, StageRef ref, StageInfo& info);
/// Used by declare_arguments, as soon as the sizes are known.
void apply_promises(LoopTree& tree);
/// Used by infer_bounds for a Func that is no output: `needs`, a box for each of its stages, become what was
/// promised.
void keep_promises(LoopTree& tree, FuncId func, std::vector<Box>& needs);

}  // namespace calotype::lower
