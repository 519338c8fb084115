// Arithmetic of mixed-radix layouts.

#include "layout/layout.h"

#include <fmt/format.h>

#include <limits>

#include "calotype/error.h"

namespace calotype::layout {

const char* to_string(Axis axis) {
  switch (axis) {
    case Axis::ThreadX:
      return "thread.x";
    case Axis::ThreadY:
      return "thread.y";
    case Axis::ThreadZ:
      return "thread.z";
    case Axis::Rank:
      return "cluster rank";
    case Axis::Register:
      return "register";
  }
  return "";
}

Layout::Layout(std::vector<Digit> digits, int rank) : digits_(std::move(digits)), rank_(rank) {
  std::vector<std::int64_t> next(rank_, 1);
  for (const Digit& d : digits_) {
    if (d.dim < 0 || d.dim >= rank_)
      throw Error({.kind = ErrorKind::Internal,
                   .message = fmt::format("a layout of {} dimensions has no dimension {}", rank_, d.dim)});
    if (d.stride != next[d.dim] || d.extent < 1)
      throw Error(
          {.kind = ErrorKind::Internal,
           .message = fmt::format("a layout's digits must tile dimension {}: stride {} where {} is next",
                                  d.dim, d.stride, next[d.dim])});
    next[d.dim] *= d.extent;
  }
}

std::int64_t Layout::extent(int dim) const {
  std::int64_t total = 1;
  for (const Digit& d : digits_)
    if (d.dim == dim) total *= d.extent;
  return total;
}

std::int64_t Layout::size(Axis axis) const {
  std::int64_t last = 0;
  for (const Digit& d : digits_)
    if (d.axis == axis) last += (d.extent - 1) * d.weight;
  return last + 1;
}

bool Layout::uses(Axis axis) const {
  for (const Digit& d : digits_)
    if (d.axis == axis) return true;
  return false;
}

Expr Layout::position(Axis axis, const std::vector<Expr>& coordinates, const ir::Facts& facts) const {
  return position(axis, coordinates, facts, 0, std::numeric_limits<std::int64_t>::max());
}

Expr Layout::position(Axis axis, const std::vector<Expr>& coordinates, const ir::Facts& facts,
                      std::int64_t from, std::int64_t below) const {
  Expr total = ir::index(0);
  std::vector<std::int64_t> extents(rank_);
  for (int i = 0; i < rank_; ++i) extents[i] = extent(i);
  for (const Digit& d : digits_) {
    if (d.axis != axis || d.weight < from || d.weight >= below) continue;
    Expr digit = coordinates[d.dim];
    if (d.stride > 1) digit = digit / ir::index(d.stride);
    // The slowest digit needs no modulo: coordinates stay inside the tile.
    if (d.stride * d.extent < extents[d.dim]) digit = digit % ir::index(d.extent);
    total = total + digit * ir::index(d.weight);
  }
  return ir::simplify(total, facts);
}

std::vector<std::int64_t> Layout::coordinates(
    const std::vector<std::pair<Axis, std::int64_t>>& positions) const {
  std::vector<std::int64_t> result(rank_, 0);
  for (const Digit& d : digits_)
    for (const auto& [axis, position] : positions)
      if (d.axis == axis) result[d.dim] += position / d.weight % d.extent * d.stride;
  return result;
}

std::string Layout::str(const std::vector<std::string>& names) const {
  std::string text;
  for (int dim = 0; dim < rank_; ++dim) {
    std::string part;
    for (const Digit& d : digits_)
      if (d.dim == dim)
        part = fmt::format("{} {}{}{}", to_string(d.axis), d.extent, part.empty() ? "" : " | ", part);
    text += fmt::format("{}{} = {}", dim ? ", " : "", names[dim], part.empty() ? "1" : part);
  }
  return text;
}

}  // namespace calotype::layout
