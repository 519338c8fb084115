#pragma once
// What the benchmarks of our own layers run: each operator at a size, under the schedule that is shipped for
// the host.

#include <string>
#include <vector>

#include "arguments.h"

namespace calotype::bench {

struct Workload {
  std::string op, type;
  cli::Sizes sizes;       ///< for a call on the host
  cli::Sizes small;       ///< for the reference evaluator and the simulator
  bool products = false;  ///< the floor is 2 * M * N * K operations, not the bytes of the arguments
};

/// Images are of 6 megapixels with 3 channels, small ones of 128 x 96.
const std::vector<Workload>& workloads();

/// Operators whose floor is the bytes of their arguments over the bandwidth of a copy: half a gigabyte and
/// more each, above any last-level cache.
const std::vector<Workload>& memory_bound_workloads();

/// An operator with its shipped schedule, ready to be compiled.
struct Prepared {
  Prepared(const Workload& work, const Target& target);
  Pipeline pipeline;
  Schedule schedule;
};

/// Random inputs from a seed: normal floats, bytes of their whole range.
void fill_inputs(const Arguments& arguments, std::uint64_t seed = 1);

}  // namespace calotype::bench
