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

/// The values of a component of a Func on the box on which the outputs need it, with the Func's coordinates.
/// All undefined where nothing needs it.
struct FuncValues {
  Buffer values;
  Buffer exact, bound;  ///< floats, as in an Evaluation
  /// u8: not 0 where a value depends on a read outside an input, which no output does; undefined: nowhere.
  Buffer spoiled;
};

/// The values of single Funcs, in the order of `wanted`, by component. The graph may be one that a schedule
/// has added to.
std::vector<std::vector<FuncValues>> evaluate_funcs(const Graph& graph, const std::vector<FuncId>& wanted,
                                                    const std::vector<Buffer>& inputs,
                                                    const std::map<std::string, double>& params,
                                                    const std::map<std::string, std::int64_t>& sizes);

}  // namespace calotype::lang
