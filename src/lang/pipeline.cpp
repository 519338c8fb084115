// Pipeline: a closed algorithm. (`compile` is the driver's.)

#include "calotype/pipeline.h"

#include "lang/build_graph.h"
#include "lang/evaluate.h"
#include "lang/required_inputs.h"

namespace calotype {

Pipeline::Pipeline(const std::string& name, std::vector<Input> inputs, std::vector<Output> outputs)
    : graph_(std::make_shared<const lang::Graph>(lang::build_graph(name, inputs, outputs))) {}

const std::string& Pipeline::name() const { return graph_->name; }
std::string Pipeline::fingerprint() const { return graph_->fingerprint; }
std::string Pipeline::str() const { return lang::to_string(*graph_); }

Evaluation Pipeline::evaluate(const std::vector<Buffer>& inputs, const std::map<std::string, double>& params,
                              const std::map<std::string, std::int64_t>& sizes) const {
  return lang::evaluate(*graph_, inputs, params, sizes);
}

std::vector<InputRegion> Pipeline::required_inputs(const std::vector<std::vector<std::int64_t>>& outputs,
                                                   const std::map<std::string, double>& params,
                                                   const std::map<std::string, std::int64_t>& sizes) const {
  return lang::required_inputs(*graph_, outputs, params, sizes);
}

std::vector<Buffer> Pipeline::infer_inputs(const std::vector<std::vector<std::int64_t>>& outputs,
                                           const std::map<std::string, double>& params,
                                           const std::map<std::string, std::int64_t>& sizes) const {
  return lang::infer_inputs(*graph_, outputs, params, sizes);
}

}  // namespace calotype
