// What outputs of given extents read of the inputs: their sizes first, then the evaluator's regions.

#include "lang/required_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/simplify.h"
#include "lang/errors.h"
#include "lang/evaluate_regions.h"

namespace calotype::lang {

namespace {

using Extents = std::vector<std::vector<std::int64_t>>;

[[noreturn]] void refuse_call(std::string message, std::string func, std::string value, std::string legal,
                              Subject subject = Subject::Func) {
  throw Error({.kind = ErrorKind::Argument,
               .subject = subject,
               .message = std::move(message),
               .func = std::move(func),
               .value = std::move(value),
               .legal = std::move(legal)});
}

void check_ranks(const Graph& graph, const Extents& outputs) {
  if (outputs.size() != graph.outputs.size())
    refuse_call(fmt::format("extents of {} outputs are given for Pipeline '{}'", outputs.size(), graph.name),
                "", std::to_string(outputs.size()), fmt::format("those of {} buffers", graph.outputs.size()));
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const OutputDef& output = graph.outputs[o];
    if (outputs[o].size() == output.extents.size()) continue;
    refuse_call(
        fmt::format("output '{}' is given another number of extents than it has", graph.output_name(output)),
        graph.output_name(output), std::to_string(outputs[o].size()), std::to_string(output.extents.size()));
  }
}

std::vector<ir::SymbolPtr> unknown_in(const Expr& e, const Constants& constants) {
  std::vector<ir::SymbolPtr> unknown;
  for (const ir::SymbolPtr& s : ir::free_symbols(e))
    if (!constants.contains(s.get())) unknown.push_back(s);
  return unknown;
}

/// The one Dim of an extent that has no value yet gets the one that the extent tells. Returns whether it has.
bool solve(const Expr& extent, std::int64_t value, const std::string& from, Constants& constants) {
  const std::vector<ir::SymbolPtr> unknown = unknown_in(extent, constants);
  if (unknown.size() != 1) return false;
  const std::optional<ir::LinearIn> line = ir::linear_in(ir::simplify(extent), unknown[0]);
  if (!line || line->coefficient == 0) return false;
  const std::int64_t rest = value - size_value(line->rest, constants);
  bind_size(unknown[0], rest / line->coefficient, from, constants);
  return true;
}

/// Every Dim that the outputs' extents tell; then each extent is what the algorithm makes it.
void bind_outputs(const Graph& graph, const Extents& outputs, Constants& constants) {
  const auto each = [&](auto f) {
    for (std::size_t o = 0; o < outputs.size(); ++o)
      for (std::size_t d = 0; d < outputs[o].size(); ++d) f(graph.outputs[o], d, outputs[o][d]);
  };
  const auto name = [&](const OutputDef& output, std::size_t d) {
    return fmt::format("extent {} of output '{}'", d, graph.output_name(output));
  };
  bool found = true;
  while (std::exchange(found, false))
    each([&](const OutputDef& output, std::size_t d, std::int64_t extent) {
      found |= solve(output.extents[d], extent, name(output, d), constants);
    });
  each([&](const OutputDef& output, std::size_t d, std::int64_t extent) {
    if (extent < 0)
      refuse_call(fmt::format("{} is negative", name(output, d)), graph.output_name(output),
                  std::to_string(extent), "0 or more");
    if (!unknown_in(output.extents[d], constants).empty()) return;  // refused as a size that is missing
    const std::int64_t expected = size_value(output.extents[d], constants);
    if (extent == expected) return;
    refuse_call(fmt::format("{} is to be {}", name(output, d), output.extents[d].str()),
                graph.output_name(output), std::to_string(extent), std::to_string(expected));
  });
}

/// Sizes that only extents of inputs name may stay open; what is computed needs the others.
void require_sizes(const Graph& graph, const Constants& constants) {
  const auto need = [&](const Expr& e, const std::string& func) {
    if (!e.defined()) return;
    for (const ir::SymbolPtr& s : unknown_in(e, constants)) {
      if (s->kind != ir::SymbolKind::Dim) continue;
      refuse_call(fmt::format("what is read depends on the size '{}', which follows from no output", s->name),
                  func, s->name, "a value for it in `sizes`");
    }
  };
  for (const OutputDef& output : graph.outputs)
    for (const Expr& e : output.extents) need(e, graph.output_name(output));
  for (const FuncDef& func : graph.funcs)
    for (const StageDef& stage : func.stages) {
      need(stage.value, func.name);
      need(stage.predicate, func.name);
      for (const Expr& e : stage.lhs) need(e, func.name);
      for (const ReductionDim& r : stage.reduction) {
        need(r.min, func.name);
        need(r.extent, func.name);
      }
    }
}

Constants sizes_of(const Graph& graph, const Extents& outputs, const std::map<std::string, double>& params,
                   const std::map<std::string, std::int64_t>& sizes) {
  check_ranks(graph, outputs);
  Constants constants = bind_values(graph, params, sizes);
  bind_outputs(graph, outputs, constants);
  require_sizes(graph, constants);
  return constants;
}

std::vector<Region> inputs_read(const Graph& graph, const Constants& constants) {
  return read_regions(graph, constants, required_regions(graph, constants));
}

[[noreturn]] void refuse_region(const InputDef& input, int d, const Range& read, const std::string& legal) {
  refuse_call(
      fmt::format("input '{}' is read from {} to {} in dimension {}", input.name, read.min, read.max, d),
      input.name, fmt::format("[{}, {}]", read.min, read.max),
      legal + ", larger inputs, or a boundary condition in the algorithm", Subject::Input);
}

/// Sizes that only inputs have, as large as what is read.
void bind_open_sizes(const Graph& graph, const std::vector<Region>& read, Constants& constants) {
  std::map<const ir::Symbol*, std::int64_t> least;
  for (const InputDef& input : graph.inputs) {
    const Region& region = read[input.id.value];
    for (std::size_t d = 0; d < input.extents.size(); ++d) {
      const std::vector<ir::SymbolPtr> unknown = unknown_in(input.extents[d], constants);
      if (unknown.empty()) continue;
      if (!ir::is(input.extents[d], ir::Op::Variable))
        refuse_call(fmt::format("extent {} of input '{}' is {}, and nothing gives '{}'", d, input.name,
                                input.extents[d].str(), unknown[0]->name),
                    input.name, unknown[0]->name, "a value for it in `sizes`", Subject::Input);
      std::int64_t& most = least[unknown[0].get()];
      if (!region.needed) continue;
      if (region.dims[d].min < 0 || region.dims[d].max >= kUnbounded)
        refuse_region(input, static_cast<int>(d), region.dims[d], "coordinates from 0");
      most = std::max(most, region.dims[d].max + 1);
    }
  }
  for (const auto& [symbol, size] : least) constants[symbol] = ir::Value::of_int(Int(64), size);
}

}  // namespace

std::vector<InputRegion> required_inputs(const Graph& graph, const Extents& outputs,
                                         const std::map<std::string, double>& params,
                                         const std::map<std::string, std::int64_t>& sizes) {
  const std::vector<Region> read = inputs_read(graph, sizes_of(graph, outputs, params, sizes));
  std::vector<InputRegion> result;
  for (const InputDef& input : graph.inputs) {
    const Region& region = read[input.id.value];
    InputRegion box{.name = input.name, .mins = {}, .extents = {}};
    for (std::size_t d = 0; d < input.extents.size(); ++d) {
      box.mins.push_back(region.needed ? region.dims[d].min : 0);
      box.extents.push_back(region.needed ? region.dims[d].extent() : 0);
    }
    result.push_back(std::move(box));
  }
  return result;
}

std::vector<Buffer> infer_inputs(const Graph& graph, const Extents& outputs,
                                 const std::map<std::string, double>& params,
                                 const std::map<std::string, std::int64_t>& sizes) {
  Constants constants = sizes_of(graph, outputs, params, sizes);
  const std::vector<Region> read = inputs_read(graph, constants);
  bind_open_sizes(graph, read, constants);
  std::vector<Buffer> buffers;
  for (const InputDef& input : graph.inputs) {
    std::vector<std::int64_t> extents;
    for (std::size_t d = 0; d < input.extents.size(); ++d) {
      const std::int64_t extent = size_value(input.extents[d], constants);
      const Region& region = read[input.id.value];
      if (region.needed && (region.dims[d].min < 0 || region.dims[d].max >= extent))
        refuse_region(input, static_cast<int>(d), region.dims[d],
                      fmt::format("coordinates from 0 to {}", extent - 1));
      extents.push_back(extent);
    }
    buffers.emplace_back(input.type, extents);
  }
  return buffers;
}

}  // namespace calotype::lang
