#pragma once
// The arguments of one call of an operator, sized by name: what every benchmark of a kernel needs.

#include <string>
#include <vector>

#include "calotype/operator.h"
#include "cli/sizes.h"
#include "lang/graph.h"

namespace calotype::bench {

/// Buffers in the order of the graph, owned and dense; their contents are the benchmark's to write.
struct Arguments {
  std::vector<Buffer> inputs, outputs;
  std::vector<Arg> all;  ///< inputs and Params as listed (each Param with its initial value), then outputs
};

inline Arguments make_arguments(const Pipeline& pipeline, const cli::Sizes& asked) {
  const lang::Graph& graph = pipeline.graph();
  const cli::Sizes sizes = cli::bind_sizes(graph, std::vector<Buffer>(graph.inputs.size()), asked, {});
  Arguments made;
  for (const lang::InputDef& input : graph.inputs)
    made.inputs.emplace_back(input.type, cli::extents_of(input.extents, input.name, graph, sizes));
  for (const lang::OutputDef& output : graph.outputs) {
    made.outputs.emplace_back(graph.output_type(output),
                              cli::extents_of(output.extents, graph.output_name(output), graph, sizes));
  }
  for (const lang::Graph::ArgumentRef& ref : graph.arguments) {
    if (ref.is_param)
      made.all.emplace_back(graph.params[ref.index].initial.value_or(1.0));
    else
      made.all.emplace_back(made.inputs[ref.index]);
  }
  for (const Buffer& output : made.outputs) made.all.emplace_back(output);
  return made;
}

inline std::size_t bytes_of(const Buffer& buffer) {
  return static_cast<std::size_t>(buffer.elements()) * static_cast<std::size_t>(buffer.type().bytes());
}

}  // namespace calotype::bench
