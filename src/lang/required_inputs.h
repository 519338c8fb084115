#pragma once
// What outputs of given extents read of the inputs.

#include <map>
#include <string>
#include <vector>

#include "calotype/pipeline.h"
#include "lang/graph.h"

namespace calotype::lang {

/// As Pipeline::required_inputs and Pipeline::infer_inputs.
std::vector<InputRegion> required_inputs(const Graph& graph,
                                         const std::vector<std::vector<std::int64_t>>& outputs,
                                         const std::map<std::string, double>& params,
                                         const std::map<std::string, std::int64_t>& sizes);
std::vector<Buffer> infer_inputs(const Graph& graph, const std::vector<std::vector<std::int64_t>>& outputs,
                                 const std::map<std::string, double>& params,
                                 const std::map<std::string, std::int64_t>& sizes);

}  // namespace calotype::lang
