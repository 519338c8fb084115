#pragma once
// Where the evaluator keeps values: inputs as they are given, Funcs on their boxes.

#include <optional>
#include <string>
#include <vector>

#include "calotype/buffer.h"
#include "calotype/error.h"
#include "lang/evaluate_regions.h"
#include "lang/lanes.h"

namespace calotype::lang {

/// Values of an input or Func on a box. A Func's are dense, so that the arrays beside the values share its
/// offsets.
///
/// A Func may be computed on more points than are needed in truth, because boxes are hulls. A read outside an
/// input therefore only spoils the points that depend on it; it is an error where an output does.
struct Storage {
  bool is_input = false;
  std::string name;
  Buffer values;
  bool with_error = false;  ///< has `exact` and `bound`
  std::vector<double> exact, bound;
  std::vector<double> magnitude;      ///< for Funcs with sums of floats: the sum of |terms| so far
  std::vector<std::uint8_t> spoiled;  ///< by point, once there is one
  std::optional<Diagnostic> fault;    ///< what spoiled the first

  static Storage of_input(const std::string& name, const Buffer& buffer);
  static Storage of_func(const std::string& name, Type type, const Region& region, bool with_error,
                         bool sums);

  /// Offsets in elements of the coordinates in registers; a lane outside the box gets offset 0. Returns
  /// whether all are inside; `inside` says which.
  bool locate(const std::vector<const Lanes*>& coordinates, int n, std::int64_t* offsets,
              std::uint8_t* inside) const;
  /// The same for coordinates that grow by a constant from lane to lane, which the ends tell.
  bool locate_steps(const std::vector<const Lanes*>& coordinates, int n, std::int64_t* offsets,
                    std::uint8_t* inside) const;
  /// Values at offsets; lanes that are not inside get 0 (null: all are). `error` asks for exact and bound.
  void load(const std::int64_t* offsets, const std::uint8_t* inside, int n, bool error, Lanes& out) const;
  /// Values to offsets for the lanes that are active.
  void store(const std::int64_t* offsets, const std::uint8_t* active, int n, const Lanes& in);
};

}  // namespace calotype::lang
