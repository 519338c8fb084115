// The table of proposers, in the order of the directives' own.
#include "fuzz/propose.h"

namespace calotype::fuzz {

const std::vector<Proposer>& proposers() {
  static const std::vector<Proposer> all = {
      {"compute_inline", Turn::Place, 8, true, true, propose_compute_inline, 1},
      {"compute_root", Turn::Place, 20, true, true, propose_compute_root, 0},
      {"compute_at", Turn::Place, 50, true, true, propose_compute_at, 0},
      {"store_root", Turn::Storage, 14, true, true, propose_store_root, 4},
      {"store_at", Turn::Storage, 20, true, true, propose_store_at, 5},
      {"store_in", Turn::Storage, 14, true, true, propose_store_in, 8},
      {"bound", Turn::Storage, 8, true, true, propose_bound, 3},
      {"split", Turn::Loops, 20, true, true, propose_split, 0},
      {"fuse", Turn::Loops, 8, true, true, propose_fuse, 1},
      {"tile", Turn::Loops, 10, true, true, propose_tile, 0},
      {"reorder", Turn::Loops, 12, true, true, propose_reorder, 0},
      {"serial", Turn::Loops, 5, true, true, propose_serial, 1},
      {"unroll", Turn::Loops, 10, true, true, propose_unroll, 0},
      {"vectorize", Turn::Loops, 16, true, true, propose_vectorize, 0},
      {"parallel", Turn::Loops, 12, true, false, propose_parallel, 0},
      {"gpu_blocks", Turn::Threads, 50, false, true, propose_gpu_blocks, 0},
      {"gpu_threads", Turn::Threads, 50, false, true, propose_gpu_threads, 0},
      {"persistent", Turn::Threads, 12, false, true, propose_persistent, 6},
      {"raster", Turn::Threads, 8, false, true, propose_raster, 6},
      {"in", Turn::Graph, 35, true, true, propose_in},
      {"rfactor", Turn::Graph, 65, true, true, propose_rfactor, 4},
      {"bound_extent", Turn::Storage, 7, true, true, propose_bound_extent},
      {"align_bounds", Turn::Storage, 6, true, true, propose_align_bounds, 3},
      {"align_extent", Turn::Storage, 6, true, true, propose_align_extent},
      {"reorder_storage", Turn::Storage, 8, true, true, propose_reorder_storage},
      {"layout", Turn::Storage, 10, true, true, propose_layout},
      {"align_storage", Turn::Storage, 6, true, true, propose_align_storage},
      {"pad", Turn::Storage, 6, true, true, propose_pad},
      {"bound_storage", Turn::Storage, 8, true, true, propose_bound_storage, 3},
      {"fold_storage", Turn::Storage, 10, true, true, propose_fold_storage, 6},
      {"hoist_storage", Turn::Storage, 8, true, true, propose_hoist_storage, 5},
      {"hoist_storage_root", Turn::Storage, 6, true, true, propose_hoist_storage_root, 3},
      {"set_estimate", Turn::Storage, 5, true, true, propose_set_estimate, 0},
      {"stream_stores", Turn::Storage, 6, true, false, propose_stream_stores, 3},
      {"stream_loads", Turn::Graph, 16, true, false, propose_stream_loads, 3},
      {"estimate_size", Turn::Graph, 10, true, true, propose_estimate_size, 0},
      {"assume", Turn::Graph, 12, true, true, propose_assume},
      {"assume_buffer", Turn::Graph, 14, true, true, propose_assume_buffer, 4},
      {"prefetch", Turn::Loops, 5, true, false, propose_prefetch, 6},
      {"partition", Turn::Loops, 6, true, true, propose_partition},
      {"rename", Turn::Loops, 4, true, true, propose_rename},
      {"compute_with", Turn::Storage, 12, true, true, propose_compute_with, 11},
      {"slide", Turn::Storage, 10, true, true, propose_slide, 36},
      {"memoize", Turn::Storage, 24, true, false, propose_memoize, 30},
      {"ring_buffer", Turn::Storage, 6, true, true, propose_ring_buffer, 11},
      {"atomic", Turn::Loops, 10, true, true, propose_atomic, 6},
      {"clone_in", Turn::Graph, 14, true, true, propose_clone_in, 5},
      {"eager_inline", Turn::Graph, 8, true, true, propose_eager_inline, 4},
      {"specialize", Turn::Loops, 6, true, true, propose_specialize},
      {"specialize_fail", Turn::Loops, 2, true, true, propose_specialize_fail},
      {"trace", Turn::Graph, 6, true, true, propose_trace},
  };
  return all;
}

}  // namespace calotype::fuzz
