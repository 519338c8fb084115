#pragma once
// Layout: who holds which element of a tile. An ordered mixed-radix split of the tile's coordinates, each
// digit bound to an axis that the target declares. Fragments of instructions, registers dealt to threads and
// tiles in shared memory are all values of this one type.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/simplify.h"

namespace calotype::layout {

/// What a digit of a coordinate selects.
enum class Axis {
  ThreadX,
  ThreadY,
  ThreadZ,   ///< a thread of the block; along x a lane has weight 1, a warp 32
  Rank,      ///< a block of the cluster
  Register,  ///< a slot of the holder's own memory
};
const char* to_string(Axis axis);

/// One digit: coordinate `dim` has the digit (coordinate / stride) % extent, bound to `axis` with weight
/// `weight`.
struct Digit {
  int dim = 0;
  std::int64_t stride = 1;
  std::int64_t extent = 1;
  Axis axis = Axis::Register;
  std::int64_t weight = 1;
  bool operator==(const Digit&) const = default;
};

/// Digits from the fastest to the slowest of each dimension, dimension 0 first. The digits of a dimension are
/// adjacent: stride of the next is stride * extent of the one before; the first has stride 1.
class Layout {
 public:
  Layout() = default;
  /// Throws Error(Internal) if the digits do not tile their dimensions.
  explicit Layout(std::vector<Digit> digits, int rank);

  int rank() const { return rank_; }
  const std::vector<Digit>& digits() const { return digits_; }
  /// Elements along one dimension of the tile.
  std::int64_t extent(int dim) const;
  /// Positions along an axis: registers a thread holds, threads that take part.
  std::int64_t size(Axis axis) const;
  bool uses(Axis axis) const;
  bool operator==(const Layout&) const = default;

  /// The position along `axis` of the element at the coordinates (counted from the tile's origin).
  Expr position(Axis axis, const std::vector<Expr>& coordinates, const ir::Facts& facts) const;
  /// What digits of weights from `from` on and below `below` contribute to it.
  Expr position(Axis axis, const std::vector<Expr>& coordinates, const ir::Facts& facts, std::int64_t from,
                std::int64_t below) const;
  /// The coordinates of the element at the given position along each axis: the inverse of `position`.
  std::vector<std::int64_t> coordinates(const std::vector<std::pair<Axis, std::int64_t>>& positions) const;

  /// "c = register 2 | thread.x 256 | register 8", slowest digit first.
  std::string str(const std::vector<std::string>& names) const;

 private:
  std::vector<Digit> digits_;
  int rank_ = 0;
};

}  // namespace calotype::layout
