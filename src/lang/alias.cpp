// Declared sharing of memory between an output and an input.

#include <fmt/format.h>

#include <algorithm>

#include "calotype/pipeline.h"
#include "lang/errors.h"
#include "lang/graph.h"

namespace calotype {

namespace {

int find_output(const lang::Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    if (graph.output_name(graph.outputs[o]) == name) return static_cast<int>(o);
    names.push_back(graph.output_name(graph.outputs[o]));
  }
  lang::refuse(fmt::format("Pipeline '{}' has no output '{}'", graph.name, name), "", name,
               did_you_mean(name, names));
}

const lang::InputDef& find_input(const lang::Graph& graph, const std::string& name) {
  if (const lang::InputDef* input = graph.find_input(name)) return *input;
  std::vector<std::string> names;
  for (const lang::InputDef& input : graph.inputs) names.push_back(input.name);
  lang::refuse(fmt::format("Pipeline '{}' has no input '{}'", graph.name, name), "", name,
               did_you_mean(name, names));
}

void check_alias(const lang::Graph& graph, int position, const lang::InputDef& input) {
  const lang::OutputDef& output = graph.outputs[position];
  const lang::FuncDef& func = graph.func(output.func);
  const auto refuse = [&](const std::string& why, std::string value, std::string legal) {
    lang::refuse(fmt::format("the output '{}' cannot lie in the memory of the input '{}': {}", func.name,
                             input.name, why),
                 func.name, std::move(value), std::move(legal));
  };
  const auto rank = static_cast<int>(input.extents.size());
  if (func.is_tuple()) refuse("it has several values", func.type_text(), "a Func of one value");
  if (func.type() != input.type) refuse("their types differ", func.type().str(), input.type.str());
  if (func.rank() != rank)
    refuse("they have other numbers of dimensions", std::to_string(func.rank()), std::to_string(rank));
  if (!output.sized) refuse("its box may begin anywhere", func.name, "an Output with extents");
  for (const lang::Graph::Alias& known : graph.aliases)
    if (known.output == position || known.input == input.id)
      refuse("one of them is declared already", func.name,
             "one input for an output, one output for an input");
}

}  // namespace

const lang::OutputDef* lang::Graph::alias_of(InputId id) const {
  const auto known =
      std::find_if(aliases.begin(), aliases.end(), [&](const Alias& a) { return a.input == id; });
  return known != aliases.end() ? &outputs[known->output] : nullptr;
}

Pipeline Pipeline::alias(const std::string& out, const std::string& in) const {
  const int position = find_output(*graph_, out);
  const lang::InputDef& input = find_input(*graph_, in);
  check_alias(*graph_, position, input);
  auto graph = std::make_shared<lang::Graph>(*graph_);
  graph->aliases.push_back({position, input.id});
  Pipeline result = *this;
  result.graph_ = std::move(graph);
  return result;
}

}  // namespace calotype
