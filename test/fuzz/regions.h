#pragma once
// Which coordinates of each Func and input a program needs, by interval arithmetic on numbers: independent of
// the compiler's, and good enough to size inputs and to refuse programs that are too large.

#include <map>

#include "fuzz/program.h"

namespace calotype::fuzz {

struct Interval {
  std::int64_t low, high;  ///< both included
};
using Box = std::vector<Interval>;

/// By name, for one set of sizes.
std::map<std::string, Box> regions(const Program& program, const Sizes& sizes);

/// Points that all Funcs compute.
std::int64_t work(const Program& program, const Sizes& sizes);

}  // namespace calotype::fuzz
