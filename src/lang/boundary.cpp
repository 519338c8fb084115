// Boundary conditions: Funcs that equal their source inside its box and are defined everywhere.
//
// What holds in the interior is marked likely, so that loops can be cut around it. A coordinate is clamped to
// the box in any case, which is what lets bounds inference see that nothing outside is read.

#include <fmt/format.h>

#include <functional>

#include "calotype/image_param.h"
#include "lang/errors.h"

namespace calotype::boundary {

namespace {

/// What a boundary condition extends: an input or a Func.
struct Source {
  std::function<Expr(std::vector<Expr>)> at;
  std::vector<Expr> extents;  ///< of the dimensions that are extended
  int rank;
};

/// x, y, z, w, d4, d5 and on.
std::vector<Expr> arguments(int rank) {
  std::vector<Expr> args;
  for (int d = 0; d < rank; ++d) {
    args.push_back(Var(d < 4 ? std::string(1, "xyzw"[d]) : fmt::format("d{}", d)));
  }
  return args;
}

Source source_of(const ImageParam& image, const std::string& name, int dimensions) {
  if (dimensions > image.rank()) {
    lang::refuse(fmt::format("boundary condition '{}' is on {} dimensions of '{}', which has {}", name,
                             dimensions, image.name(), image.rank()),
                 name, std::to_string(dimensions), fmt::format("at most {}", image.rank()));
  }
  Source source{[image](std::vector<Expr> args) { return image.at(std::move(args)); }, {}, image.rank()};
  const int count = dimensions < 0 ? image.rank() : dimensions;
  for (int d = 0; d < count; ++d) source.extents.push_back(image.extent(d));
  return source;
}

Source source_of(const Func& f, const std::vector<Expr>& extents, const std::string& name) {
  if (static_cast<int>(extents.size()) > f.rank()) {
    lang::refuse(fmt::format("boundary condition '{}' is on {} dimensions of '{}', which has {}", name,
                             extents.size(), f.name(), f.rank()),
                 name, std::to_string(extents.size()), fmt::format("at most {}", f.rank()));
  }
  return {[f](std::vector<Expr> args) -> Expr { return f.at(std::move(args)); }, extents, f.rank()};
}

Expr inside(const Expr& x, const Expr& extent) { return likely(x >= 0 && x < extent); }
Expr clamped(const Expr& x, const Expr& extent) { return clamp(x, 0, extent - 1); }

using Remap = std::function<Expr(const Expr& x, const Expr& extent)>;

/// The source at coordinates each of which `remap` brings inside.
Func remapped(const Source& source, const std::string& name, const Remap& remap) {
  const std::vector<Expr> args = arguments(source.rank);
  std::vector<Expr> inner = args;
  for (std::size_t d = 0; d < source.extents.size(); ++d) inner[d] = remap(args[d], source.extents[d]);
  Func result(name);
  result.at(args) = source.at(inner);
  return result;
}

Expr edge(const Expr& x, const Expr& extent) { return clamped(likely(x), extent); }

Func exterior(const Source& source, const Expr& value, const std::string& name) {
  const std::vector<Expr> args = arguments(source.rank);
  std::vector<Expr> inner = args;
  Expr interior;
  for (std::size_t d = 0; d < source.extents.size(); ++d) {
    inner[d] = edge(args[d], source.extents[d]);
    const Expr here = inside(args[d], source.extents[d]);
    interior = interior.defined() ? interior && here : here;
  }
  Func result(name);
  result.at(args) = interior.defined() ? select(interior, source.at(inner), value) : source.at(inner);
  return result;
}

Expr wrapped(const Expr& x, const Expr& extent) {
  return clamped(select(inside(x, extent), x, x % extent), extent);
}

/// The edge is repeated: ... 1 0 | 0 1 2 | 2 1 ..., of period 2 * extent.
Expr mirrored(const Expr& x, const Expr& extent) {
  const Expr phase = x % (extent * 2);
  return clamped(select(inside(x, extent), x, min(phase, extent * 2 - 1 - phase)), extent);
}

/// The edge is not repeated: ... 2 1 | 0 1 2 | 1 0 ..., of period 2 * extent - 2; x % 0 is 0 for an extent
/// of 1.
Expr mirrored_inside(const Expr& x, const Expr& extent) {
  const Expr phase = x % (extent * 2 - 2);
  return clamped(select(inside(x, extent), x, min(phase, extent * 2 - 2 - phase)), extent);
}

}  // namespace

Func constant_exterior(const ImageParam& image, Expr value, const std::string& name, int dimensions) {
  return exterior(source_of(image, name, dimensions), value, name);
}

Func constant_exterior(const Func& f, const std::vector<Expr>& extents, Expr value, const std::string& name) {
  return exterior(source_of(f, extents, name), value, name);
}

Func repeat_edge(const ImageParam& image, const std::string& name, int dimensions) {
  return remapped(source_of(image, name, dimensions), name, edge);
}

Func repeat_edge(const Func& f, const std::vector<Expr>& extents, const std::string& name) {
  return remapped(source_of(f, extents, name), name, edge);
}

Func repeat_image(const ImageParam& image, const std::string& name, int dimensions) {
  return remapped(source_of(image, name, dimensions), name, wrapped);
}

Func repeat_image(const Func& f, const std::vector<Expr>& extents, const std::string& name) {
  return remapped(source_of(f, extents, name), name, wrapped);
}

Func mirror_image(const ImageParam& image, const std::string& name, int dimensions) {
  return remapped(source_of(image, name, dimensions), name, mirrored);
}

Func mirror_image(const Func& f, const std::vector<Expr>& extents, const std::string& name) {
  return remapped(source_of(f, extents, name), name, mirrored);
}

Func mirror_interior(const ImageParam& image, const std::string& name, int dimensions) {
  return remapped(source_of(image, name, dimensions), name, mirrored_inside);
}

Func mirror_interior(const Func& f, const std::vector<Expr>& extents, const std::string& name) {
  return remapped(source_of(f, extents, name), name, mirrored_inside);
}

}  // namespace calotype::boundary
