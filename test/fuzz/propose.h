#pragma once
// How random schedules come by each directive: one proposer for each, in one table. A directive without one
// makes a test fail.

#include <optional>
#include <string>
#include <vector>

#include "fuzz/draft.h"
#include "schedule/places.h"

namespace calotype::fuzz {

/// When a proposer is asked, while a schedule is drawn.
enum class Turn {
  Graph,    ///< first, once for the whole
  Place,    ///< once for a Func, consumers first
  Loops,    ///< several times for each stage
  Threads,  ///< then once for each stage, on a GPU
  Storage,  ///< at last for a Func
};

struct Proposer {
  std::string directive;
  Turn turn;
  int weight;                    ///< among those of its turn
  bool host = true, gpu = true;  ///< where it is worth asking
  /// Records the directive with random arguments on what the draft addresses, or nothing if none would do.
  void (*propose)(Draft&);
  /// Weight among the directives that a schedule may be drawn around: more for one that few schedules have
  /// room for, or that changes little where it comes by chance.
  int focus = 2;
};

const std::vector<Proposer>& proposers();

void propose_compute_inline(Draft&);
void propose_compute_root(Draft&);
void propose_compute_at(Draft&);
void propose_store_root(Draft&);
void propose_store_at(Draft&);
void propose_store_in(Draft&);
void propose_bound(Draft&);
void propose_split(Draft&);
void propose_fuse(Draft&);
void propose_tile(Draft&);
void propose_reorder(Draft&);
void propose_serial(Draft&);
void propose_unroll(Draft&);
void propose_vectorize(Draft&);
void propose_parallel(Draft&);
void propose_gpu_blocks(Draft&);
void propose_gpu_threads(Draft&);
void propose_gpu_lanes(Draft&);
void propose_gpu_warps(Draft&);
void propose_gpu_tile(Draft&);
void propose_cluster(Draft&);
void propose_persistent(Draft&);
void propose_raster(Draft&);
void propose_in(Draft&);
void propose_rfactor(Draft&);
void propose_bound_extent(Draft&);
void propose_align_bounds(Draft&);
void propose_align_extent(Draft&);
void propose_reorder_storage(Draft&);
void propose_layout(Draft&);
void propose_memoize(Draft&);
void propose_align_storage(Draft&);
void propose_pad(Draft&);
void propose_bound_storage(Draft&);
void propose_fold_storage(Draft&);
void propose_hoist_storage(Draft&);
void propose_hoist_storage_root(Draft&);
void propose_set_estimate(Draft&);
void propose_stream_stores(Draft&);
void propose_stream_loads(Draft&);
void propose_estimate_size(Draft&);
void propose_assume(Draft&);
void propose_assume_buffer(Draft&);
void propose_prefetch(Draft&);
void propose_partition(Draft&);
void propose_rename(Draft&);
void propose_compute_with(Draft&);
void propose_slide(Draft&);
void propose_ring_buffer(Draft&);
void propose_atomic(Draft&);
void propose_clone_in(Draft&);
void propose_eager_inline(Draft&);
void propose_specialize(Draft&);
void propose_specialize_fail(Draft&);
void propose_tensor_core(Draft&);
void propose_role(Draft&);
void propose_multicast(Draft&);
void propose_stage_out(Draft&);
void propose_trace(Draft&);
void propose_copy(Draft&);
void propose_pipeline(Draft&);
void propose_swizzle(Draft&);

/// Where the memory of a Func may lie further out than `from`, nearest first: across loops whose iterations
/// come one after another; the one that holds no loop is outside all of them.
std::vector<std::optional<schedule::Around>> places_outside(const Draft& d, const schedule::Place& from);

/// "f.update(0)", and "f.pure" where the plain name would mean any stage.
std::string stage_text(const Draft& d, const schedule::Around& at);

}  // namespace calotype::fuzz
