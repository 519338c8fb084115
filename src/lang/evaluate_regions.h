#pragma once
// The box of coordinates that each Func is needed on, in concrete integers.

#include <map>
#include <string>
#include <vector>

#include "lang/evaluate_arguments.h"

namespace calotype::lang {

/// Integers from `min` to `max`, both included; empty where max < min. Ends are cut to what kUnbounded
/// allows.
struct Range {
  std::int64_t min = 0, max = -1;
  bool empty() const { return max < min; }
  std::int64_t extent() const { return empty() ? 0 : max - min + 1; }
  bool operator==(const Range&) const = default;
};
/// Ends at or beyond this (or its negative) mean: no bound is known.
constexpr std::int64_t kUnbounded = std::int64_t{1} << 61;

using Ranges = std::map<const ir::Symbol*, Range>;  ///< keyed by address for look-up alone

/// All values that an integer expression may have while symbols range over `ranges`. A superset.
Range range_of(const Expr& e, const Ranges& ranges, const Constants& constants);

/// A box; `needed` is false until a consumer reads from it.
struct Region {
  bool needed = false;
  std::vector<Range> dims;
  std::int64_t elements() const;
  void include(const std::vector<Range>& box);
};

/// Ranges of a stage's loops when its Func is computed on a box: first the Func's args (in an update those
/// whose coordinate is no pure dimension are empty and not iterated), then the reduction dimensions.
struct StageLoops {
  std::vector<Range> pure, reduction;
  std::vector<bool> is_pure;
  bool empty() const;
};
StageLoops stage_loops(const FuncDef& func, int stage, const Region& region, const Constants& constants);

/// By FuncId: what the outputs need, directly and through others. Throws Error(Algorithm) for a region that
/// no memory can hold, as a coordinate without bounds gives.
std::vector<Region> required_regions(const Graph& graph, const Constants& constants);
/// By InputId: what Funcs read of the inputs where they are computed on `regions`.
std::vector<Region> read_regions(const Graph& graph, const Constants& constants,
                                 const std::vector<Region>& regions);

}  // namespace calotype::lang
