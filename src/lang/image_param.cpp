// ImageParam: an input buffer of a Pipeline.

#include "calotype/image_param.h"

#include <fmt/format.h>

#include "calotype/runtime.h"
#include "lang/contents.h"
#include "lang/errors.h"

namespace calotype {

namespace {

std::vector<Expr> own_extents(const std::string& name, int rank) {
  if (rank < 0) {
    lang::refuse(fmt::format("input '{}' has rank {}", name, rank), name, std::to_string(rank), "0 or more");
  }
  std::vector<Expr> extents;
  for (int d = 0; d < rank; ++d) extents.push_back(Dim(fmt::format("{}.extent.{}", name, d)));
  return extents;
}

}  // namespace

ImageParam::ImageParam(Type type, std::vector<Expr> extents, const std::string& name)
    : contents_(std::make_shared<lang::ImageContents>()) {
  lang::require_name("input", name);
  if (!type.is_scalar())
    lang::refuse(fmt::format("input '{}' is of vectors", name), name, type.str(), "a scalar type");
  if (extents.size() > CALOTYPE_MAX_RANK) {
    lang::refuse(fmt::format("input '{}' has {} dimensions", name, extents.size()), name,
                 std::to_string(extents.size()),
                 fmt::format("at most {}", static_cast<int>(CALOTYPE_MAX_RANK)));
  }
  for (std::size_t d = 0; d < extents.size(); ++d) {
    extents[d] = lang::size_expr(fmt::format("extent {} of input '{}'", d, name), name, extents[d], false);
  }
  contents_->name = name;
  contents_->type = type;
  contents_->extents = std::move(extents);
}

ImageParam::ImageParam(Type type, int rank, const std::string& name)
    : ImageParam(type, own_extents(name, rank), name) {}

Expr ImageParam::at(std::vector<Expr> args) const {
  args = lang::coordinates("input", name(), rank(), std::move(args));
  return ir::make(ir::Op::Call, type(), std::move(args), lang::callee_of(contents_));
}

const std::string& ImageParam::name() const { return contents_->name; }
Type ImageParam::type() const { return contents_->type; }
int ImageParam::rank() const { return static_cast<int>(contents_->extents.size()); }

Expr ImageParam::extent(int dimension) const {
  if (dimension < 0 || dimension >= rank()) {
    lang::refuse(fmt::format("input '{}' has no dimension {}", name(), dimension), name(),
                 std::to_string(dimension), fmt::format("a dimension below its rank {}", rank()));
  }
  return contents_->extents[dimension];
}

}  // namespace calotype
