// gpu_tile: tiles whose outer loops are blocks and whose inner ones are threads.
#include <fmt/format.h>

#include "schedule/gpu.h"
#include "schedule/spelling.h"
#include "schedule/tiles.h"

namespace calotype {

Stage& Stage::gpu_tile(const std::vector<LoopName>& loops, const std::vector<LoopName>& blocks,
                       const std::vector<LoopName>& threads, const std::vector<Factor>& factors, Tail tail) {
  return record("gpu_tile", schedule::tile_arguments(loops, blocks, threads, factors, tail));
}

Stage& Stage::gpu_tile(const LoopName& x, const LoopName& bx, const LoopName& tx, Factor x_size, Tail tail) {
  return gpu_tile({x}, {bx}, {tx}, std::vector<Factor>{x_size}, tail);
}

Stage& Stage::gpu_tile(const LoopName& x, const LoopName& y, const LoopName& bx, const LoopName& by,
                       const LoopName& tx, const LoopName& ty, Factor x_size, Factor y_size, Tail tail) {
  return gpu_tile({x, y}, {bx, by}, {tx, ty}, std::vector<Factor>{x_size, y_size}, tail);
}

Stage& Stage::gpu_tile(const LoopName& x, const LoopName& y, const LoopName& z, const LoopName& bx,
                       const LoopName& by, const LoopName& bz, const LoopName& tx, const LoopName& ty,
                       const LoopName& tz, Factor x_size, Factor y_size, Factor z_size, Tail tail) {
  return gpu_tile({x, y, z}, {bx, by, bz}, {tx, ty, tz}, std::vector<Factor>{x_size, y_size, z_size}, tail);
}

namespace schedule {

static void apply(Application& a) {
  const std::vector<LoopId> loops = a.loop_list("loops");
  require_bindable(a, loops[0]);
  const TileLoops made = tile_loops(a, loops, a.names("into"), a.integers("by"));
  bind_axes(a, made.outer, ir::Binding::GpuBlock);
  bind_axes(a, made.inner, ir::Binding::GpuThread);
}

static std::string in_cpp(const Directive& d) { return tile_in_cpp(d, *find_directive("gpu_tile"), 3); }

DirectiveSpec gpu_tile_spec() {
  return {
      .name = "gpu_tile",
      .addresses = Addresses::Stage,
      .doc =
          "Splits each of up to three loops, puts all inner loops inside all outer ones, as tile does, and "
          "makes the outer ones blocks and the inner ones threads: the first loop is x, then y, then z.",
      .args = {{.name = "loops", .kind = ArgKind::Loop, .doc = "the loops, x first", .list = true, .most = 3},
               {.name = "into",
                .kind = ArgKind::NewLoop,
                .doc = "names of the loops over blocks, then of those over threads",
                .list = true,
                .least = 2,
                .most = 6},
               {.name = "by",
                .kind = ArgKind::Integer,
                .doc = "threads along each loop",
                .list = true,
                .most = 3,
                .high = most_threads},
               tail_argument()},
      .reorders = "if reduction loops of an associative update change places",
      .refused = {"what tile, gpu_blocks and gpu_threads refuse"},
      .apply = apply,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
