#pragma once
// The loops of an update among which lanes, or threads, of reduction loops have partial results.

#include <cstdint>
#include <vector>

#include "schedule/scheduled.h"

namespace calotype::schedule {

/// The vector loops of a stage have at most so many lanes together, and so has it partial results.
constexpr std::int64_t kMostLanes = 256;

/// All lists innermost first.
struct LaneNest {
  std::vector<LoopId> vectors;  ///< vector loops inside `around` or it itself
  std::vector<LoopId> lanes;    ///< those of them that are reduced over
  std::vector<LoopId>
      threads;  ///< loops bound to threads, or to the blocks of a cluster, that are reduced over
  std::vector<LoopId> loops;  ///< every loop up to `around`, that one included
  LoopId around;              ///< the partial results live as long as this loop; invalid: there are none
  LoopId obstacle;  ///< a loop inside lanes that moves the place updated and is no vector, or has threads

  bool is_lane(LoopId loop) const;
  bool by_threads() const { return !threads.empty(); }
  /// The outermost loop with partial results.
  LoopId outermost_partial() const;
};

/// Partial results live around every loop over which the place that is updated stays, as far out as that
/// goes within loops that no other stage shares; with `in_order` no further than needed, so that a lane holds
/// what follows on the lane before.
LaneNest lane_nest(const Scheduled& scheduled, FuncId func, int stage, bool in_order);

/// Whether the loop is one that stages of different Funcs share, as the owner's or the other's own.
bool is_shared(const Scheduled& scheduled, LoopId loop);

/// Whether the place that an update writes depends on the loop.
bool moves_place(const Scheduled& scheduled, FuncId func, int stage, LoopId loop);

}  // namespace calotype::schedule
