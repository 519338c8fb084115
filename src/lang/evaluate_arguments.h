#pragma once
// The arguments of an evaluation: values of the named sizes and Params, and checks of the input buffers.

#include <map>
#include <string>
#include <vector>

#include "calotype/buffer.h"
#include "ir/value.h"
#include "lang/graph.h"

namespace calotype::lang {

/// Values of Dims and Params. Keyed by address for look-up alone.
using Constants = std::map<const ir::Symbol*, ir::Value>;

/// Checks everything that is given and finds a value for every Dim and Param. Throws Error(Argument).
Constants bind_arguments(const Graph& graph, const std::vector<Buffer>& inputs,
                         const std::map<std::string, double>& params,
                         const std::map<std::string, std::int64_t>& sizes);

/// Only the Params and the sizes that are given by name.
Constants bind_values(const Graph& graph, const std::map<std::string, double>& params,
                      const std::map<std::string, std::int64_t>& sizes);
/// A value for a Dim, which `from` gives; Error(Argument) if it is negative or the Dim has another already.
void bind_size(const ir::SymbolPtr& dim, std::int64_t value, const std::string& from, Constants& constants);

/// The value of an expression of constants, Dims and Params.
ir::Value scalar_value(const Expr& e, const Constants& constants);
std::int64_t size_value(const Expr& e, const Constants& constants);

}  // namespace calotype::lang
