// The reference evaluator: the four steps in order.

#include "lang/evaluate.h"

#include <algorithm>

#include "lang/run_stage.h"

namespace calotype::lang {

namespace {

/// Funcs whose float64 value and error bound an output needs: floats that a float output depends on.
std::vector<bool> funcs_with_error(const Graph& graph) {
  std::vector<bool> needed(graph.funcs.size());
  for (const OutputDef& output : graph.outputs)
    needed[output.func.value] = graph.func(output.func).type.is_float();
  for (std::size_t i = graph.funcs.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const StageDef& stage : graph.funcs[i].stages) {
      for (const ir::CalleePtr& callee : callees(stage)) {
        if (callee->kind == ir::CalleeKind::Func && callee->type.is_float()) needed[callee->index] = true;
      }
    }
  }
  return needed;
}

/// For each Func the last one that reads it, or itself: after that its memory can go.
std::vector<std::size_t> last_readers(const Graph& graph) {
  std::vector<std::size_t> last(graph.funcs.size());
  for (std::size_t i = 0; i < graph.funcs.size(); ++i) {
    last[i] = i;
    for (const StageDef& stage : graph.funcs[i].stages) {
      for (const ir::CalleePtr& callee : callees(stage)) {
        if (callee->kind == ir::CalleeKind::Func) last[callee->index] = i;
      }
    }
  }
  return last;
}

Storage make_storage(const FuncDef& func, const Region& region, bool with_error) {
  const bool sums =
      func.type.is_float() && std::any_of(func.stages.begin(), func.stages.end(),
                                          [](const StageDef& s) { return s.reduce_op == ir::Op::Add; });
  return Storage::of_func(func.name, func.type, region, with_error, sums);
}

void compute(const FuncDef& func, const Region& region, const Constants& constants, Stores& stores) {
  for (int s = 0; s < static_cast<int>(func.stages.size()); ++s) {
    const StageLoops loops = stage_loops(func, s, region, constants);
    if (!loops.empty()) run_stage(func, s, loops, compile_stage(func, s, constants), stores);
  }
}

std::vector<std::int64_t> output_extents(const OutputDef& output, const Constants& constants) {
  std::vector<std::int64_t> extents;
  for (const Expr& e : output.extents) extents.push_back(size_value(e, constants));
  return extents;
}

/// The part of a Buffer over a Func's box that is the output, dense.
Buffer output_part(Buffer buffer, const std::vector<std::int64_t>& extents) {
  for (std::size_t d = 0; d < extents.size(); ++d) buffer = buffer.crop(static_cast<int>(d), 0, extents[d]);
  return buffer.copy();
}

/// Throws what spoiled a point of the output.
void check_output(const Storage& storage, const std::vector<std::int64_t>& extents) {
  if (storage.spoiled.empty()) return;
  std::vector<std::int64_t> box, mins;
  for (int d = 0; d < storage.values.rank(); ++d) {
    box.push_back(storage.values.extent(d));
    mins.push_back(storage.values.min(d));
  }
  auto* marks = const_cast<std::uint8_t*>(storage.spoiled.data());
  const Buffer part = output_part(Buffer(marks, box).translate(mins), extents);
  const auto* begin = static_cast<const std::uint8_t*>(part.data());
  if (std::any_of(begin, begin + part.elements(), [](std::uint8_t m) { return m != 0; }))
    throw Error(*storage.fault);
}

Buffer beside(const Storage& storage, const std::vector<double>& array,
              const std::vector<std::int64_t>& extents) {
  std::vector<std::int64_t> box, mins;
  for (int d = 0; d < storage.values.rank(); ++d) {
    box.push_back(storage.values.extent(d));
    mins.push_back(storage.values.min(d));
  }
  return output_part(Buffer(const_cast<double*>(array.data()), box).translate(mins), extents);
}

void deliver(const Graph& graph, FuncId id, const Region& region, const Constants& constants,
             const Stores& stores, Evaluation& result) {
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    if (graph.outputs[o].func != id) continue;
    const std::vector<std::int64_t> extents = output_extents(graph.outputs[o], constants);
    const Type type = graph.func(id).type;
    const bool empty = !region.needed || std::find(extents.begin(), extents.end(), 0) != extents.end();
    const Storage& storage = stores.funcs[id.value];
    if (!empty) check_output(storage, extents);
    result.outputs[o] = empty ? Buffer(type, extents) : output_part(storage.values, extents);
    if (!type.is_float()) continue;
    result.exact[o] = empty ? Buffer(Float(64), extents) : beside(storage, storage.exact, extents);
    result.bound[o] = empty ? Buffer(Float(64), extents) : beside(storage, storage.bound, extents);
  }
}

}  // namespace

Evaluation evaluate(const Graph& graph, const std::vector<Buffer>& inputs,
                    const std::map<std::string, double>& params,
                    const std::map<std::string, std::int64_t>& sizes) {
  const Constants constants = bind_arguments(graph, inputs, params, sizes);
  const std::vector<Region> regions = required_regions(graph, constants);
  const std::vector<bool> with_error = funcs_with_error(graph);
  const std::vector<std::size_t> last = last_readers(graph);

  Evaluation result;
  result.outputs.resize(graph.outputs.size());
  result.exact.resize(graph.outputs.size());
  result.bound.resize(graph.outputs.size());

  Stores stores;
  for (const InputDef& input : graph.inputs) {
    stores.inputs.push_back(Storage::of_input(input.name, inputs[input.id.value]));
  }
  stores.funcs.resize(graph.funcs.size());
  for (std::size_t i = 0; i < graph.funcs.size(); ++i) {
    const FuncDef& func = graph.funcs[i];
    if (regions[i].needed) {
      stores.funcs[i] = make_storage(func, regions[i], with_error[i]);
      compute(func, regions[i], constants, stores);
    }
    deliver(graph, func.id, regions[i], constants, stores, result);
    for (std::size_t j = 0; j <= i; ++j) {
      if (last[j] == i) stores.funcs[j] = Storage{};
    }
  }
  return result;
}

}  // namespace calotype::lang
