#pragma once
// The 3 x 3 stencil of pipelines.h under schedules of its memory: nests to begin from, and its check at sizes
// around their tiles and vectors.

#include <utility>
#include <vector>

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype::testing {

using StencilSizes = std::vector<std::pair<std::int64_t, std::int64_t>>;

inline void expect_stencil_right(const Schedule& s, const Target& target,
                                 const StencilSizes& sizes = {{1, 1}, {7, 3}, {16, 8}, {37, 18}}) {
  for (const auto& [w, h] : sizes) {
    const Buffer in = random_buffer(Float(32), {w, h}, 1);
    expect_matches(stencil(), s, target, {in}, {Buffer(Float(32), {w, h})});
    expect_stages_match(stencil(), s, target, {in});
  }
}

/// bx in shared memory of blocks of 16 by 4 threads, or of tiles of that size on a host.
inline Schedule stencil_tiles(const Target& target) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4);
  s["bx"].compute_at("out", "xo");
  if (target.is_gpu()) {
    s["out"].gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
    s["bx"].store_in(Memory::Shared);
  }
  return s;
}

/// bx in a window that slides along the rows of out, in a block on a GPU.
inline Schedule stencil_window(const Target& target) {
  Schedule s;
  s["edged"].compute_inline();
  if (target.is_gpu()) {
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 8).reorder("xi", "yi", "xo", "yo");
    s["out"].gpu_blocks("xo", "yo").gpu_threads("xi");
    s["bx"].store_at("out", "xo").compute_at("out", "yi").store_in(Memory::Shared);
  } else {
    s["out"].serial("y");
    s["bx"].store_root().compute_at("out", "y");
  }
  return s;
}

}  // namespace calotype::testing
