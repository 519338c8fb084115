#pragma once
// The named sizes of a pipeline: bound by input buffers and --size, then used to size everything else.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calotype/buffer.h"
#include "lang/graph.h"

namespace calotype::cli {

using Sizes = std::map<std::string, std::int64_t>;

/// The value of an integer expression over Dims; nullopt if it uses one that has no value.
std::optional<std::int64_t> evaluate(const Expr& e, const lang::Graph& graph, const Sizes& sizes);

/// Sizes from the given inputs (undefined Buffers: not given) and from `asked`; a size of `optional` that
/// neither gives is 1. Error(Usage) for an unknown name, for two values of one size, and for a size that
/// nothing gives.
Sizes bind_sizes(const lang::Graph& graph, const std::vector<Buffer>& inputs, const Sizes& asked,
                 const std::set<std::string>& optional);

/// The extents of an input or output. Error(Usage) if one is negative.
std::vector<std::int64_t> extents_of(const std::vector<Expr>& extents, const std::string& name,
                                     const lang::Graph& graph, const Sizes& sizes);

/// "M=4, N=5"
std::string to_string(const Sizes& sizes);

}  // namespace calotype::cli
