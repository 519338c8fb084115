#pragma once
// ImageParam: an input buffer of a Pipeline, and boundary conditions on it.

#include <memory>
#include <string>
#include <vector>

#include "calotype/func.h"

namespace calotype {

namespace lang {
struct ImageContents;
}

/// An input of `type`; dimension 0 is innermost. Coordinates start at 0 in every dimension.
class ImageParam {
 public:
  /// With the extents named or given: Dims, constants, or expressions of them (checked at the call).
  ImageParam(Type type, std::vector<Expr> extents, const std::string& name);
  /// With extents of its own: Dims named NAME.extent.0 and on.
  ImageParam(Type type, int rank, const std::string& name);

  template <class... Args>
  Expr operator()(Args&&... args) const {
    return at({Expr(std::forward<Args>(args))...});
  }
  Expr at(std::vector<Expr> args) const;

  const std::string& name() const;
  Type type() const;
  int rank() const;
  Expr extent(int dimension) const;
  Expr width() const { return extent(0); }
  Expr height() const { return extent(1); }
  Expr channels() const { return extent(2); }
  const std::shared_ptr<lang::ImageContents>& contents() const { return contents_; }

 private:
  std::shared_ptr<lang::ImageContents> contents_;
};

/// Boundary conditions: a Func equal to the input inside and defined everywhere. Dimensions beyond
/// `dimensions` (default all) are left alone. Its arguments are x, y, z, w, d4, d5 and on. The source must
/// have at least one element in every dimension that is extended.
namespace boundary {
/// `value` outside.
Func constant_exterior(const ImageParam& image, Expr value, const std::string& name, int dimensions = -1);
/// aaa|abcd|ddd
Func repeat_edge(const ImageParam& image, const std::string& name, int dimensions = -1);
/// bcd|abcd|abc
Func repeat_image(const ImageParam& image, const std::string& name, int dimensions = -1);
/// cba|abcd|dcb
Func mirror_image(const ImageParam& image, const std::string& name, int dimensions = -1);
/// dcb|abcd|cba
Func mirror_interior(const ImageParam& image, const std::string& name, int dimensions = -1);
/// The same on a Func with the box [0, extents[i]) given, for its first `extents.size()` dimensions.
Func constant_exterior(const Func& f, const std::vector<Expr>& extents, Expr value, const std::string& name);
Func repeat_edge(const Func& f, const std::vector<Expr>& extents, const std::string& name);
Func repeat_image(const Func& f, const std::vector<Expr>& extents, const std::string& name);
Func mirror_image(const Func& f, const std::vector<Expr>& extents, const std::string& name);
Func mirror_interior(const Func& f, const std::vector<Expr>& extents, const std::string& name);
}  // namespace boundary

}  // namespace calotype
