#pragma once
// From the front end's definitions to a Graph.

#include "calotype/pipeline.h"
#include "lang/graph.h"

namespace calotype::lang {

/// Closes the algorithm over everything reachable from `outputs`, and freezes those Funcs. Throws
/// Error(Algorithm).
Graph build_graph(const std::string& name, const std::vector<Input>& inputs,
                  const std::vector<Output>& outputs);

/// Whether the operation is associative and commutative, up to the rounding of floats.
bool is_reduction_op(ir::Op op);
/// Sets reduce_op and reduce_term where the stage is an update `f(lhs) = f(lhs) op term` with a term,
/// coordinates and condition that do not read f.
void recognise_reduction(const FuncDef& func, StageDef& stage);

}  // namespace calotype::lang
