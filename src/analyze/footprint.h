#pragma once
// What stages read and write at given sizes: boxes of elements, counted once each.

#include <map>
#include <utility>
#include <vector>

#include "lang/evaluate_regions.h"

namespace calotype::analyze {

using lang::Constants;
using lang::FuncId;
using lang::Graph;

/// A Func or an input, as what is read. Ordered, so that reports do not depend on addresses.
struct Source {
  ir::CalleeKind kind = ir::CalleeKind::Func;
  int index = 0;
  auto operator<=>(const Source&) const = default;
};
Source source_of(const Expr& call);

/// Boxes by what is read: the hull of the elements that some expressions read.
using Boxes = std::map<Source, lang::Region>;

/// A graph at given sizes.
class Footprint {
 public:
  /// Error(Algorithm) for a Func that is needed on a box without bounds.
  Footprint(const Graph& graph, const Constants& constants);

  const Graph& graph() const { return graph_; }
  /// Whether an output needs the Func.
  bool needed(FuncId id) const { return regions_[id.value].needed; }
  /// Bytes of all its values on the box that it is needed on.
  std::int64_t bytes(FuncId id) const;
  /// Bytes of one element, all components.
  std::int64_t element_bytes(Source source) const;
  /// The ranges of a stage's loops. Without points where the stage has none.
  lang::Ranges loops(FuncId id, int stage) const;
  /// The number of points that the loops which occur in `e` have.
  std::int64_t points(const Expr& e, const lang::Ranges& loops) const;
  /// All points of a stage; a predicate of its reduction domain leaves none out.
  std::int64_t points(FuncId id, int stage) const;
  /// Adds to `boxes` what a Call reads in the loops given, within what its source has.
  void add_read(const Expr& call, const lang::Ranges& loops, Boxes& boxes) const;
  std::int64_t bytes(const Boxes& boxes) const;
  std::int64_t elements(FuncId id) const { return regions_[id.value].elements(); }
  std::int64_t elements(const Boxes& boxes) const;

 private:
  std::vector<lang::Range> whole(Source source) const;

  const Graph& graph_;
  const Constants& constants_;
  std::vector<lang::Region> regions_;
};

/// Arithmetic of one evaluation of `e`: additions, products, comparisons, functions and the like, each
/// counted 1 (a fused multiply-add 2), in coordinates none. Common parts count once. Nodes for which `stop`
/// holds are not entered.
std::int64_t arithmetic(const Expr& e, const std::function<bool(const Expr&)>& stop = nullptr);

}  // namespace calotype::analyze
