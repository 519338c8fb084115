// Comparison of a kernel's outputs with the reference.
#include "cli/check.h"

#include "lang/graph.h"

namespace calotype::cli {

std::vector<Comparison> compare_outputs(const Pipeline& pipeline, const std::vector<Buffer>& outputs,
                                        const Evaluation& reference) {
  const lang::Graph& graph = pipeline.graph();
  std::vector<Comparison> results;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    results.push_back(
        {lang::compare_with_reference(outputs[i], reference, i, false), graph.output_name(graph.outputs[i])});
  return results;
}

}  // namespace calotype::cli
