#pragma once
// Several loops split at once: what tile and gpu_tile share.

#include "schedule/directive.h"
#include "schedule/state.h"

namespace calotype::schedule {

/// What a call in C++ is recorded with.
std::vector<std::pair<std::string, Value>> tile_arguments(const std::vector<LoopName>& loops,
                                                          const std::vector<LoopName>& outer,
                                                          const std::vector<LoopName>& inner,
                                                          const std::vector<Factor>& factors, Tail tail);

/// In the order of the loops tiled.
struct TileLoops {
  std::vector<LoopId> outer, inner;
};

/// Splits each loop and puts all inner loops inside all outer ones. `into`: names of the outer ones, then of
/// the inner ones.
TileLoops tile_loops(Application& a, const std::vector<LoopId>& loops, const std::vector<std::string>& into,
                     const std::vector<std::int64_t>& by);

/// The call in C++, whose arguments stand in a row for two loops, and for as many more as `in_row` says.
std::string tile_in_cpp(const Directive& d, const DirectiveSpec& spec, std::size_t in_row);

}  // namespace calotype::schedule
