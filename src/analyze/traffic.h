#pragma once
// Memory traffic and arithmetic of a pipeline at given sizes: each operator of the algorithm run alone, and
// each kernel of a schedule. Counted from the definitions: no run is needed.

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/footprint.h"
#include "schedule/scheduled.h"

namespace calotype::analyze {

/// What one operator or kernel moves and computes. Each element is counted once however often it is read: the
/// least that a machine with ideal caches moves.
struct Work {
  std::string name;                ///< "scale", "out.1"; of a kernel its stage, "acc.update(0)"
  std::string text;                ///< of an operator: what it computes of what
  std::vector<std::string> funcs;  ///< of a kernel: the Funcs computed in it
  std::int64_t read = 0;           ///< bytes
  std::int64_t written = 0;        ///< bytes
  std::int64_t operations = 0;     ///< as `arithmetic` counts

  std::int64_t bytes() const { return read + written; }
};
/// The sum, without a name.
Work total(const std::vector<Work>& works);

/// The algorithm as a library of array operations would run it, an operator at a time with every result
/// written to memory. An operator is
///   - an operation on arrays; operations with constants and sizes count as operations on one array,
///   - all of an expression that reads one array at several places or more than once, where that is the only
///     array it depends on (x * x, z / (1 + exp(-z)), a stencil),
///   - a reduction, with the division of a sum by a constant (a mean), and with its term where that has more
///     elements than what it reads and gives (a matrix product, a convolution),
///   - any other update as a whole.
/// Conversions of type and Funcs that only read elsewhere (a boundary condition) belong to what uses them.
std::vector<Work> operators(const Graph& graph, const Constants& constants);

/// Each loop nest at root, which on a GPU is a kernel, with everything that is computed within it. Values
/// that are not stored at root stay on the chip and do not count.
std::vector<Work> kernels(const schedule::Scheduled& scheduled, const Constants& constants);

}  // namespace calotype::analyze
