// The reference evaluator: the four steps in order.

#include "lang/evaluate.h"

#include <algorithm>

#include "lang/run_extern.h"
#include "lang/run_stage.h"

namespace calotype::lang {

namespace {

/// Funcs whose float64 value and error bound are needed: the floats among the results and those they depend
/// on.
std::vector<bool> funcs_with_error(const Graph& graph, const std::vector<FuncId>& order,
                                   const std::vector<FuncId>& results) {
  std::vector<bool> needed(graph.funcs.size());
  for (const FuncId id : results) needed[id.value] = graph.func(id).any_float();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    if (!needed[id->value]) continue;
    for (const StageDef& stage : graph.func(*id).stages) {
      for (const ir::CalleePtr& callee : callees(stage)) {
        if (callee->kind == ir::CalleeKind::Func && callee->type.is_float()) needed[callee->index] = true;
      }
    }
  }
  return needed;
}

/// For each Func the last one that reads it, or itself: after that its memory can go.
std::vector<FuncId> last_readers(const Graph& graph, const std::vector<FuncId>& order) {
  std::vector<FuncId> last(graph.funcs.size());
  for (const FuncId id : order) {
    last[id.value] = id;
    for (const StageDef& stage : graph.func(id).stages) {
      for (const ir::CalleePtr& callee : callees(stage)) {
        if (callee->kind == ir::CalleeKind::Func) last[callee->index] = id;
      }
    }
  }
  return last;
}

std::vector<Storage> make_storage(const FuncDef& func, const Region& region, bool with_error) {
  const bool sums = std::any_of(func.stages.begin(), func.stages.end(),
                                [](const StageDef& s) { return s.reduce_op == ir::Op::Add; });
  std::vector<Storage> components;
  for (const Type& type : func.types)
    components.push_back(
        Storage::of_func(func.name, type, region, with_error && type.is_float(), sums && type.is_float()));
  return components;
}

void compute(const FuncDef& func, const Region& region, const Constants& constants, Stores& stores) {
  if (func.is_extern()) return run_extern(func, region, constants, stores);
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

/// An array beside a Func's values, with their coordinates. It views the array's memory.
template <class T>
Buffer beside(const Storage& storage, const std::vector<T>& array) {
  std::vector<std::int64_t> box, mins;
  for (int d = 0; d < storage.values.rank(); ++d) {
    box.push_back(storage.values.extent(d));
    mins.push_back(storage.values.min(d));
  }
  return Buffer(const_cast<T*>(array.data()), box).translate(mins);
}

/// The part of a Buffer over a Func's box that is the output, dense.
Buffer output_part(Buffer buffer, const std::vector<std::int64_t>& extents) {
  for (std::size_t d = 0; d < extents.size(); ++d) buffer = buffer.crop(static_cast<int>(d), 0, extents[d]);
  return buffer.copy();
}

/// Throws what spoiled a point of the output.
void check_output(const Storage& storage, const std::vector<std::int64_t>& extents) {
  if (storage.spoiled.empty()) return;
  const Buffer part = output_part(beside(storage, storage.spoiled), extents);
  const auto* begin = static_cast<const std::uint8_t*>(part.data());
  if (std::any_of(begin, begin + part.elements(), [](std::uint8_t m) { return m != 0; }))
    throw Error(*storage.fault);
}

void deliver(const Graph& graph, FuncId id, const Region& region, const Constants& constants,
             const Stores& stores, Evaluation& result) {
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    if (graph.outputs[o].func != id) continue;
    const std::vector<std::int64_t> extents = output_extents(graph.outputs[o], constants);
    const Type type = graph.output_type(graph.outputs[o]);
    const bool empty = !region.needed || std::find(extents.begin(), extents.end(), 0) != extents.end();
    if (empty) {
      result.outputs[o] = Buffer(type, extents);
      if (type.is_float()) result.exact[o] = result.bound[o] = Buffer(Float(64), extents);
      continue;
    }
    const Storage& storage = stores.funcs[id.value][graph.outputs[o].component];
    check_output(storage, extents);
    result.outputs[o] = output_part(storage.values, extents);
    if (!type.is_float()) continue;
    result.exact[o] = output_part(beside(storage, storage.exact), extents);
    result.bound[o] = output_part(beside(storage, storage.bound), extents);
  }
}

/// The four steps; `done` is called with each Func's region and values, producers first, before they may go.
class Evaluator {
 public:
  Evaluator(const Graph& graph, const std::vector<Buffer>& inputs, const Constants& constants)
      : graph_(graph),
        constants_(constants),
        order_(producers_first(graph)),
        regions_(required_regions(graph, constants)) {
    for (const InputDef& input : graph.inputs)
      stores_.inputs.push_back(Storage::of_input(input.name, inputs[input.id.value]));
    stores_.funcs.resize(graph.funcs.size());
  }

  template <class Done>
  void run(const std::vector<FuncId>& results, Done done) {
    const std::vector<bool> with_error = funcs_with_error(graph_, order_, results);
    const std::vector<FuncId> last = last_readers(graph_, order_);
    for (const FuncId id : order_) {
      const FuncDef& func = graph_.func(id);
      const Region& region = regions_[id.value];
      if (region.needed) {
        stores_.funcs[id.value] = make_storage(func, region, with_error[id.value]);
        compute(func, region, constants_, stores_);
      }
      done(id, region, stores_);
      for (const FuncDef& other : graph_.funcs)
        if (last[other.id.value] == id) stores_.funcs[other.id.value].clear();
    }
  }

 private:
  const Graph& graph_;
  const Constants& constants_;
  std::vector<FuncId> order_;
  std::vector<Region> regions_;
  Stores stores_;
};

}  // namespace

Evaluation evaluate(const Graph& graph, const std::vector<Buffer>& inputs,
                    const std::map<std::string, double>& params,
                    const std::map<std::string, std::int64_t>& sizes) {
  const Constants constants = bind_arguments(graph, inputs, params, sizes);
  Evaluation result;
  result.outputs.resize(graph.outputs.size());
  result.exact.resize(graph.outputs.size());
  result.bound.resize(graph.outputs.size());
  std::vector<FuncId> results;
  for (const OutputDef& output : graph.outputs) results.push_back(output.func);
  Evaluator(graph, inputs, constants)
      .run(results, [&](FuncId id, const Region& region, const Stores& stores) {
        deliver(graph, id, region, constants, stores, result);
      });
  return result;
}

namespace {

FuncValues values_of(const Storage& storage) {
  FuncValues result{.values = storage.values, .exact = {}, .bound = {}, .spoiled = {}};
  if (storage.with_error) {
    result.exact = beside(storage, storage.exact).copy();
    result.bound = beside(storage, storage.bound).copy();
  }
  if (!storage.spoiled.empty()) result.spoiled = beside(storage, storage.spoiled).copy();
  return result;
}

}  // namespace

std::vector<std::vector<FuncValues>> evaluate_funcs(const Graph& graph, const std::vector<FuncId>& wanted,
                                                    const std::vector<Buffer>& inputs,
                                                    const std::map<std::string, double>& params,
                                                    const std::map<std::string, std::int64_t>& sizes) {
  const Constants constants = bind_arguments(graph, inputs, params, sizes);
  std::vector<std::vector<FuncValues>> all;
  for (const FuncId id : wanted) all.emplace_back(graph.func(id).components());
  Evaluator(graph, inputs, constants).run(wanted, [&](FuncId id, const Region& region, const Stores& stores) {
    const auto at = std::find(wanted.begin(), wanted.end(), id);
    if (at == wanted.end() || !region.needed) return;
    std::vector<FuncValues>& components = all[at - wanted.begin()];
    for (std::size_t c = 0; c < components.size(); ++c) components[c] = values_of(stores.funcs[id.value][c]);
  });
  return all;
}

}  // namespace calotype::lang
