#pragma once
// How large index arithmetic gets in a kernel whose arguments the caller has found small enough for 32 bits.

#include <map>
#include <vector>

#include "lower/loop_tree.h"
#include "lower/program.h"

namespace calotype::lower {

/// Every extent and first coordinate of an argument is at most this.
constexpr double kLargestCoordinate = 0x1p30;

class IndexRanges {
 public:
  /// `arguments`: every buffer of the call; the sizes that are extents of one are known to be at most
  /// kLargestCoordinate, and so is the product of the extents of one that is written. `lets`: names of the
  /// whole call, in order.
  IndexRanges(const Function& kernel, const std::vector<ir::BufferPtr>& arguments,
              const std::vector<Binding>& lets);

  /// Tells of a loop or a name before what is inside of it is asked about.
  void enter_loop(const ir::SymbolPtr& var, const Expr& min, const Expr& extent);
  void enter_let(const ir::SymbolPtr& symbol, const Expr& value);

  /// Whether every step of computing an integer or a bool, down to the symbols it is made of, surely stays
  /// within what Int(32) holds.
  bool fits(const Expr& e) const;

 private:
  struct Range {
    double low, high;
  };
  Range range(const Expr& e) const;
  Range arithmetic(const Expr& e) const;
  Range product(const Expr& e) const;
  bool is_written_area(const Expr& e) const;

  std::map<const ir::Symbol*, Range> known_;
  std::vector<std::vector<const ir::Symbol*>> written_;  ///< sizes that are extents of a buffer, for each
};

}  // namespace calotype::lower
