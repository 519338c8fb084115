// The arguments of an evaluation.

#include "lang/evaluate_arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"

namespace calotype::lang {

namespace {

[[noreturn]] void refuse_argument(std::string message, std::string value, std::string legal) {
  Diagnostic d;
  d.kind = ErrorKind::Argument;
  d.message = std::move(message);
  d.value = std::move(value);
  d.legal = std::move(legal);
  throw Error(std::move(d));
}

void bind_params(const Graph& graph, const std::map<std::string, double>& params, Constants& constants) {
  std::vector<std::string> names;
  for (const ParamDef& param : graph.params) {
    names.push_back(param.name);
    const auto given = params.find(param.name);
    if (given == params.end() && !param.initial) {
      refuse_argument(fmt::format("Param '{}' has no value", param.name), "",
                      fmt::format("a value of type {}", param.type.str()));
    }
    const double value = given == params.end() ? *param.initial : given->second;
    const ir::Value held = ir::convert(param.type, ir::Value::of_float(Float(64), value));
    if (param.type.is_integral() && ir::convert(Float(64), held).f != value) {
      refuse_argument(
          fmt::format("Param '{}' of type {} cannot have the value {}", param.name, param.type.str(), value),
          fmt::format("{}", value),
          fmt::format("an integer from {} to {}", param.type.min_int(), param.type.max_int()));
    }
    const double number = ir::convert(Float(64), held).f;
    if (param.low && !(number >= *param.low && number <= *param.high))
      refuse_argument(fmt::format("Param '{}' is {}, outside its range", param.name, value),
                      fmt::format("{}", value), fmt::format("a value{}", param.range_text()));
    constants[param.symbol.get()] = held;
  }
  for (const auto& [name, value] : params) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    refuse_argument(fmt::format("there is no Param '{}'", name), name, did_you_mean(name, names));
  }
}

void bind_sizes(const Graph& graph, const std::map<std::string, std::int64_t>& sizes, Constants& constants) {
  std::vector<std::string> names;
  for (const ir::SymbolPtr& dim : graph.dims) names.push_back(dim->name);
  for (const auto& [name, value] : sizes) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      refuse_argument(fmt::format("there is no size '{}'", name), name, did_you_mean(name, names));
    bind_size(graph.dims[found - names.begin()], value, "the call", constants);
  }
}

void check_input(const InputDef& input, const Buffer& buffer) {
  if (!buffer.defined())
    refuse_argument(fmt::format("input '{}' is an undefined Buffer", input.name), "", "a Buffer");
  if (buffer.type() != input.type) {
    refuse_argument(fmt::format("input '{}' has elements of another type", input.name), buffer.type().str(),
                    input.type.str());
  }
  if (buffer.rank() != static_cast<int>(input.extents.size())) {
    refuse_argument(fmt::format("input '{}' has another number of dimensions", input.name),
                    std::to_string(buffer.rank()), std::to_string(input.extents.size()));
  }
  if (buffer.gpu() >= 0) {
    refuse_argument(fmt::format("input '{}' is in the memory of a GPU", input.name),
                    fmt::format("GPU {}", buffer.gpu()), "host memory");
  }
  if (buffer.data() == nullptr && buffer.elements() > 0) {
    refuse_argument(fmt::format("input '{}' has no memory", input.name), "null", "memory for its elements");
  }
  for (int d = 0; d < buffer.rank(); ++d) {
    if (buffer.min(d) == 0) continue;
    refuse_argument(
        fmt::format("coordinates of input '{}' start at {} in dimension {}", input.name, buffer.min(d), d),
        std::to_string(buffer.min(d)), "0; translate the Buffer");
  }
}

/// Extents that are just a Dim give it its value; the others are checked once all Dims have theirs.
void bind_extents(const Graph& graph, const std::vector<Buffer>& inputs, Constants& constants) {
  for (const InputDef& input : graph.inputs) {
    for (std::size_t d = 0; d < input.extents.size(); ++d) {
      if (!ir::is(input.extents[d], ir::Op::Variable)) continue;
      bind_size(ir::symbol_of(input.extents[d]), inputs[input.id.value].extent(static_cast<int>(d)),
                fmt::format("extent {} of input '{}'", d, input.name), constants);
    }
  }
}

void check_extents(const InputDef& input, const Buffer& buffer, const Constants& constants) {
  for (std::size_t d = 0; d < input.extents.size(); ++d) {
    const std::int64_t expected = size_value(input.extents[d], constants);
    const std::int64_t given = buffer.extent(static_cast<int>(d));
    if (given == expected) continue;
    refuse_argument(fmt::format("extent {} of input '{}' is to be {}", d, input.name, input.extents[d].str()),
                    std::to_string(given), std::to_string(expected));
  }
}

}  // namespace

void bind_size(const ir::SymbolPtr& dim, std::int64_t value, const std::string& from, Constants& constants) {
  if (value < 0)
    refuse_argument(fmt::format("size '{}' is negative", dim->name), std::to_string(value), "0 or more");
  const auto [place, is_new] = constants.emplace(dim.get(), ir::Value::of_int(Int(64), value));
  if (is_new || place->second.i == value) return;
  refuse_argument(fmt::format("size '{}' has two values: {} gives {}", dim->name, from, value),
                  std::to_string(value), fmt::format("{}", place->second.i));
}

Constants bind_values(const Graph& graph, const std::map<std::string, double>& params,
                      const std::map<std::string, std::int64_t>& sizes) {
  Constants constants;
  bind_params(graph, params, constants);
  bind_sizes(graph, sizes, constants);
  return constants;
}

ir::Value scalar_value(const Expr& e, const Constants& constants) {
  if (ir::is_const(e)) return ir::value_of(e);
  if (ir::is(e, ir::Op::Variable)) return constants.at(ir::symbol_of(e).get());
  std::vector<ir::Value> operands;
  for (const Expr& arg : e->args) operands.push_back(scalar_value(arg, constants));
  return ir::apply(e->op, e->type, operands).value();
}

std::int64_t size_value(const Expr& e, const Constants& constants) { return scalar_value(e, constants).i; }

Constants bind_arguments(const Graph& graph, const std::vector<Buffer>& inputs,
                         const std::map<std::string, double>& params,
                         const std::map<std::string, std::int64_t>& sizes) {
  if (inputs.size() != graph.inputs.size()) {
    refuse_argument(fmt::format("Pipeline '{}' is given another number of inputs than it has", graph.name),
                    std::to_string(inputs.size()), fmt::format("{} Buffers", graph.inputs.size()));
  }
  Constants constants;
  for (const InputDef& input : graph.inputs) check_input(input, inputs[input.id.value]);
  bind_params(graph, params, constants);
  bind_extents(graph, inputs, constants);
  bind_sizes(graph, sizes, constants);
  for (const ir::SymbolPtr& dim : graph.dims) {
    if (!constants.contains(dim.get())) {
      refuse_argument(fmt::format("size '{}' has no value", dim->name), "",
                      "a value in `sizes`, or an input that fixes it");
    }
  }
  for (const InputDef& input : graph.inputs) check_extents(input, inputs[input.id.value], constants);
  return constants;
}

}  // namespace calotype::lang
