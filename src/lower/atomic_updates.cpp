// Updates by several lanes or threads of one place.
#include "lower/atomic_updates.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"

namespace calotype::lower {

bool is_atomic(const LoopTree& tree, StageRef stage) {
  const std::vector<LoopId>& loops = tree.schedule_of(stage).loops;
  return std::any_of(loops.begin(), loops.end(),
                     [&](LoopId id) { return tree.scheduled.loop(id).sharing == schedule::Sharing::Atomic; });
}

void require_shared(const LoopTree& tree, StageRef stage, const ir::Buffer& buffer) {
  if (buffer.space != ir::MemorySpace::Register && buffer.space != ir::MemorySpace::Local) return;
  throw Error({.kind = ErrorKind::Schedule,
               .message = fmt::format("threads update '{}' together, but it is in {} memory of each",
                                      tree.func(stage.func).name, ir::to_string(buffer.space)),
               .func = tree.func(stage.func).name,
               .stage = lang::stage_name(tree.func(stage.func), stage.stage),
               .directive = tree.schedule_of(stage).atomic_origin,
               .value = ir::to_string(buffer.space),
               .legal = "store_in(Shared), or compute_root"});
}

}  // namespace calotype::lower
