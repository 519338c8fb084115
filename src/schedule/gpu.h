#pragma once
// Binding loops to the blocks and threads of a GPU, and the checks of the nest that results.

#include "schedule/state.h"

namespace calotype::schedule {

inline constexpr std::int64_t most_threads = 1024;
inline constexpr std::int64_t most_threads_z = 64;
inline constexpr std::int64_t warp_lanes = 32;
inline constexpr std::int64_t portable_cluster_blocks = 8;

/// The shared memory that a block may have, in units of 1024 bytes: by the CUDA C++ Programming Guide,
/// technical specifications per compute capability. Of a target that names no architecture: that of the
/// largest.
std::int64_t most_shared_kb(const Target& target);

/// The blocks that a cluster may have; 1: the target has no clusters.
std::int64_t most_cluster_blocks(const Target& target);

/// Refuses a target without a GPU.
void require_bindable(const Application& a, LoopId loop);
/// Binds loops to the next free axes: x, then y, then z.
void bind_axes(Application& a, const std::vector<LoopId>& loops, ir::Binding binding);

/// What gpu_lanes and gpu_warps apply: binds a loop, or the inner part of one that is split into LOOP.o and
/// LOOP.suffix, to the lanes of a warp or to the warps of the block.
void apply_part(Application& a, const char* suffix, ir::ThreadPart part);
/// The directive of that name, which binds to at most `most` of them ("lanes").
DirectiveSpec part_spec(const char* name, const char* parts, std::int64_t most, std::string doc,
                        void (*apply)(Application&));
/// For a directive on the grid of a stage: refuses one with fewer block loops of its own than `least`, 1
/// or 2.
void require_blocks(const Application& a, std::size_t least);

/// After the defaults: how blocks and threads of all stages lie in each other, and how many threads there
/// are.
void check_gpu(State& state);

/// Refuses a Func whose memory no cache stands before: computed inside a kernel, and not in global memory.
void require_global_memory(const Application& a, FuncId func);

}  // namespace calotype::schedule
