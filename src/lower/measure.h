#pragma once
// The numbers of the meters in a profiled program: which clock, counter and level belongs to which Func.

#include "lang/graph.h"

namespace calotype::lower {

/// What is counted of each Func.
enum class Count {
  Points,   ///< elements that its pure definition stored
  Stores,   ///< elements stored by any of its definitions
  Scalars,  ///< of those the floats stored one at a time
  Loads,    ///< elements loaded while it was computed
  Gathers,  ///< of those the ones loaded from places without a common stride
};
constexpr int kCounts = 5;

/// The clock of a Func, and the level of the memory that it is stored in.
inline int meter_of(lang::FuncId func) { return func.value; }
/// The clock that runs while a thread waits for the others of a parallel loop.
inline int waiting_meter(const lang::Graph& graph) { return static_cast<int>(graph.funcs.size()); }
inline int counter_of(lang::FuncId func, Count what) { return func.value * kCounts + static_cast<int>(what); }

}  // namespace calotype::lower
