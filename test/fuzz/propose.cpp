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
      {"bound", Turn::Storage, 4, true, true, propose_bound},
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
  };
  return all;
}

}  // namespace calotype::fuzz
