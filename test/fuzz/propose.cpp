// The table of proposers, in the order of the directives' own.
#include "fuzz/propose.h"

namespace calotype::fuzz {

const std::vector<Proposer>& proposers() {
  static const std::vector<Proposer> all = {
      {"compute_inline", Turn::Place, 8, true, true, propose_compute_inline},
      {"compute_root", Turn::Place, 20, true, true, propose_compute_root},
      {"compute_at", Turn::Place, 50, true, true, propose_compute_at},
      {"store_root", Turn::Storage, 14, true, true, propose_store_root},
      {"store_at", Turn::Storage, 20, true, true, propose_store_at},
      {"store_in", Turn::Storage, 14, true, true, propose_store_in},
      {"bound", Turn::Storage, 8, true, true, propose_bound},
      {"split", Turn::Loops, 20, true, true, propose_split},
      {"fuse", Turn::Loops, 8, true, true, propose_fuse},
      {"tile", Turn::Loops, 10, true, true, propose_tile},
      {"reorder", Turn::Loops, 12, true, true, propose_reorder},
      {"serial", Turn::Loops, 5, true, true, propose_serial},
      {"unroll", Turn::Loops, 10, true, true, propose_unroll},
      {"vectorize", Turn::Loops, 16, true, true, propose_vectorize},
      {"parallel", Turn::Loops, 12, true, false, propose_parallel},
      {"gpu_blocks", Turn::Threads, 50, false, true, propose_gpu_blocks},
      {"gpu_threads", Turn::Threads, 50, false, true, propose_gpu_threads},
      {"in", Turn::Graph, 35, true, true, propose_in},
      {"rfactor", Turn::Graph, 65, true, true, propose_rfactor},
      {"bound_extent", Turn::Storage, 7, true, true, propose_bound_extent},
      {"align_bounds", Turn::Storage, 6, true, true, propose_align_bounds},
      {"align_extent", Turn::Storage, 6, true, true, propose_align_extent},
      {"reorder_storage", Turn::Storage, 8, true, true, propose_reorder_storage},
      {"align_storage", Turn::Storage, 6, true, true, propose_align_storage},
      {"pad", Turn::Storage, 6, true, true, propose_pad},
      {"bound_storage", Turn::Storage, 8, true, true, propose_bound_storage},
      {"fold_storage", Turn::Storage, 10, true, true, propose_fold_storage},
      {"hoist_storage", Turn::Storage, 8, true, true, propose_hoist_storage},
      {"hoist_storage_root", Turn::Storage, 6, true, true, propose_hoist_storage_root},
      {"set_estimate", Turn::Storage, 5, true, true, propose_set_estimate},
      {"stream_stores", Turn::Storage, 6, true, false, propose_stream_stores},
      {"stream_loads", Turn::Graph, 16, true, false, propose_stream_loads},
      {"estimate_size", Turn::Graph, 10, true, true, propose_estimate_size},
      {"assume", Turn::Graph, 12, true, true, propose_assume},
      {"assume_buffer", Turn::Graph, 14, true, true, propose_assume_buffer},
      {"prefetch", Turn::Loops, 5, true, false, propose_prefetch},
      {"partition", Turn::Loops, 6, true, true, propose_partition},
      {"rename", Turn::Loops, 4, true, true, propose_rename},
      {"compute_with", Turn::Storage, 12, true, true, propose_compute_with},
      {"slide", Turn::Storage, 10, true, true, propose_slide},
      {"ring_buffer", Turn::Storage, 6, true, true, propose_ring_buffer},
      {"atomic", Turn::Loops, 10, true, true, propose_atomic},
      {"clone_in", Turn::Graph, 14, true, true, propose_clone_in},
      {"eager_inline", Turn::Graph, 8, true, true, propose_eager_inline},
      {"specialize", Turn::Loops, 6, true, true, propose_specialize},
      {"specialize_fail", Turn::Loops, 2, true, true, propose_specialize_fail},
  };
  return all;
}

}  // namespace calotype::fuzz
