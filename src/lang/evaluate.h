#pragma once
// The reference evaluator: runs the definitions with no schedule and nothing of lowering.
//
// In four steps: bind sizes and Params to values (evaluate_arguments); find the box that each Func is needed
// on, with concrete integers, from the outputs back (evaluate_regions); compile each definition to a short
// program over batches of points (bytecode); run the programs over the boxes, stage by stage (run_stage).

#include "calotype/pipeline.h"
#include "lang/graph.h"

namespace calotype::lang {

/// As Pipeline::evaluate. Throws Error(Argument) for arguments that do not fit and for reads outside an
/// input.
Evaluation evaluate(const Graph& graph, const std::vector<Buffer>& inputs,
                    const std::map<std::string, double>& params,
                    const std::map<std::string, std::int64_t>& sizes);

}  // namespace calotype::lang
