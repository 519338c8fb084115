// The sizes that a pipeline is compiled for, with what the schedule promises of them, and a buffer for every
// argument.
//
// Requires: a placed tree. Leaves: LoopTree::facts of the sizes, inputs, outputs and output_of.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "ir/known_condition.h"
#include "lower/passes.h"
#include "schedule/forms.h"

namespace calotype::lower {
namespace {

void declare_sizes(LoopTree& tree) {
  const lang::Graph& graph = tree.scheduled.graph;
  for (const ir::SymbolPtr& dim : graph.dims) tree.facts.set_range(dim, ir::index(0), {});
  // A call whose output has an extent of 0 does nothing, so lowered code runs with 1 or more.
  for (const lang::OutputDef& output : graph.outputs)
    for (const Expr& e : output.extents)
      if (ir::is(e, ir::Op::Variable)) tree.facts.set_range(ir::symbol_of(e), ir::index(1), {});
}

/// The ranges of integer Params, which each call is held to.
void declare_params(LoopTree& tree) {
  for (const lang::ParamDef& p : tree.scheduled.graph.params)
    if (p.low && p.type.is_integral() && !p.type.is_bool())
      tree.facts.set_range(p.symbol, ir::make_int(p.type, static_cast<std::int64_t>(*p.low)),
                           ir::make_int(p.type, static_cast<std::int64_t>(*p.high)));
}

/// What the schedule assumes of sizes: facts, and checks of the call that name the size.
void assume_sizes(LoopTree& tree) {
  std::map<std::string, SizeRange> known;
  for (const schedule::SizeAssumption& a : tree.scheduled.assumptions) {
    const SizeRange& range = a.range;
    const Expr size = ir::make_var(a.symbol);
    Expr holds = size >= ir::index(range.low);
    if (range.high) holds = holds && size <= ir::index(*range.high);
    if (range.multiple > 1) holds = holds && size % ir::index(range.multiple) == ir::index(0);
    tree.promises.push_back({ir::simplify(holds),
                             fmt::format("the size {} is {{}}, and the schedule's {} is for {}", range.size,
                                         a.origin, range.str()),
                             range.size,
                             {size},
                             fmt::format("{}: {}", range.size, range.str())});
    const auto [at, first] = known.emplace(range.size, range);
    if (!first) at->second = intersect(at->second, range);
    const SizeRange& all = at->second;
    const ir::Facts::Known* before = tree.facts.find(a.symbol);
    const std::int64_t least = before && before->range.min.defined() ? *ir::as_int(before->range.min) : 0;
    tree.facts.set_range(a.symbol, ir::index(std::max(least, all.low)),
                         all.high ? ir::index(*all.high) : Expr());
    if (all.multiple > 1) tree.facts.set_multiple(a.symbol, all.multiple);
  }
}

/// Among the arguments of a call.
int input_position(const lang::Graph& graph, lang::InputId id) {
  const auto at =
      std::find_if(graph.arguments.begin(), graph.arguments.end(),
                   [&](const lang::Graph::ArgumentRef& a) { return !a.is_param && a.index == id.value; });
  return static_cast<int>(at - graph.arguments.begin());
}

/// What the conditions say that a call has decided before it came here; and that it is turned away, if it is.
void note_decisions(LoopTree& tree) {
  for (const schedule::Decision& d : tree.scheduled.decisions)
    for (const Expr& part : ir::parts_of(d.holds ? d.condition : !d.condition)) ir::learn(tree.facts, part);
  if (const std::optional<schedule::Rejection>& r = tree.scheduled.rejection)
    tree.checks.push_back({ir::make_zero(Bool()), r->message, r->func, {}, "calls that a branch is for"});
}

/// A stride of dimension 0 that the kernel is compiled for, which is 1 for tensors, one that a condition
/// settles, or a value of the call.
Expr stride_of(const LoopTree& tree, int buffer, const std::string& name, int dim, bool tensor) {
  const std::int64_t unit = dim > 0 ? 0 : tensor || tree.unit_strides.empty() ? 1 : tree.unit_strides[buffer];
  if (unit != 0) return ir::index(unit);
  const std::string text = fmt::format("{}.stride.{}", name, dim);
  for (const auto& [known, symbol] : tree.scheduled.strides) {
    if (known != text) continue;
    const ir::Facts::Known* facts = tree.facts.find(symbol);
    const bool point = facts && facts->range.is_point();
    return point ? facts->range.min : ir::make_var(symbol);
  }
  return ir::make_var(ir::make_symbol(ir::SymbolKind::Stride, text));
}

/// Strides of dense memory are the products that they are. A multiple in bytes is one of the strides; where
/// those are products it is one of the sizes, and the call is held to it for one row as well. A stride that a
/// condition names may break the multiple in calls of one row, so the one in the code is another symbol.
std::vector<Expr> strides_of(LoopTree& tree, int buffer, const std::string& name,
                             schedule::ArgumentRef argument) {
  const std::vector<schedule::FormAssumption>& forms = tree.scheduled.forms;
  const std::vector<Expr>& extents = schedule::extents_of(tree.scheduled.graph, argument);
  const BufferForm form = schedule::joined_form(forms, argument);
  const Type type = schedule::type_of(tree.scheduled.graph, argument);
  const std::int64_t multiple = schedule::multiple_in_elements(form.pitch_multiple, type);
  std::vector<Expr> strides;
  if (form.dense) {
    strides = schedule::dense_strides(extents);
    if (multiple == 1 || strides.size() < 2) return strides;
    // Sizes that are constants leave nothing to learn.
    const Expr divides = ir::simplify(strides[1] % ir::index(multiple) == ir::index(0));
    if (!ir::is_const(divides)) ir::learn(tree.facts, divides);
    for (const schedule::FormAssumption* f : schedule::forms_of(forms, argument))
      if (f->form.pitch_multiple > 1) tree.promises.push_back(pitch_check(*f, 1, strides[1], type));
    return strides;
  }
  for (int d = 0; d < static_cast<int>(extents.size()); ++d) {
    strides.push_back(stride_of(tree, buffer, name, d, schedule::is_tensor(forms, argument)));
    if (d == 0 || multiple == 1 || !ir::is(strides[d], ir::Op::Variable)) continue;
    const ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Stride, ir::symbol_of(strides[d])->name);
    const ir::Facts::Known* known = tree.facts.find(ir::symbol_of(strides[d]));
    tree.facts.set_multiple(symbol, std::lcm(known ? known->multiple : 1, multiple));
    strides[d] = ir::make_var(symbol);
  }
  return strides;
}

}  // namespace

LoopTree::Check pitch_check(const schedule::FormAssumption& form, int dim, const Expr& stride, Type type) {
  const Expr bytes = ir::simplify(stride * ir::index(type.bytes()));
  const std::int64_t multiple = form.form.pitch_multiple;
  return {
      ir::simplify(bytes % ir::index(multiple) == ir::index(0)),
      fmt::format("the stride of dimension {} is {{}} bytes, and the schedule's {} is for multiples of {}",
                  dim, form.origin, multiple),
      form.form.buffer,
      {bytes},
      fmt::format("a pitch that is a multiple of {} bytes", multiple)};
}

void declare_arguments(LoopTree& tree) {
  declare_sizes(tree);
  declare_params(tree);
  assume_sizes(tree);
  note_decisions(tree);
  apply_promises(tree);
  const lang::Graph& graph = tree.scheduled.graph;
  int buffers = 0;
  int position = 0;
  tree.inputs.resize(graph.inputs.size());
  for (const lang::Graph::ArgumentRef& a : graph.arguments) {
    if (!a.is_param) {
      const lang::InputDef& input = graph.inputs[a.index];
      ir::Buffer b{.name = input.name,
                   .type = stored_type(input.type),
                   .space = ir::MemorySpace::Argument,
                   .argument = position,
                   .read_only = true};
      if (const lang::OutputDef* output = graph.alias_of(input.id)) {
        b.read_only = false;
        b.shared_with = static_cast<int>(graph.arguments.size() + (output - graph.outputs.data()));
      }
      const std::vector<lang::InputId>& streamed = tree.scheduled.streamed_inputs;
      b.stream_loads = std::find(streamed.begin(), streamed.end(), input.id) != streamed.end();
      for (std::size_t d = 0; d < input.extents.size(); ++d) {
        b.mins.push_back(ir::index(0));
        b.extents.push_back(input.extents[d]);
      }
      const schedule::ArgumentRef own{false, a.index};
      b.strides = strides_of(tree, buffers, input.name, own);
      b.alignment = schedule::joined_form(tree.scheduled.forms, own).base_align;
      tree.inputs[a.index] = ir::make_buffer(std::move(b));
      ++buffers;
    }
    ++position;
  }
  for (const lang::OutputDef& output : graph.outputs) {
    const lang::FuncDef& func = tree.func(output.func);
    ir::Buffer b{.name = graph.output_name(output),
                 .type = stored_type(graph.output_type(output)),
                 .space = ir::MemorySpace::Argument,
                 .argument = position++,
                 .idempotent = tree.scheduled.of(output.func).stages.front().computes_twice()};
    for (const lang::Graph::Alias& alias : graph.aliases)
      if (&graph.outputs[alias.output] == &output) b.shared_with = input_position(graph, alias.input);
    b.stream_loads = tree.scheduled.of(output.func).storage.stream_loads;
    b.stream_stores = tree.scheduled.of(output.func).storage.stream_stores;
    for (int d = 0; d < func.rank(); ++d) {
      b.mins.push_back(output.mins[d]);
      b.extents.push_back(output.extents[d]);
    }
    const schedule::ArgumentRef own{true, static_cast<int>(&output - graph.outputs.data())};
    b.strides = strides_of(tree, buffers, b.name, own);
    b.alignment = schedule::joined_form(tree.scheduled.forms, own).base_align;
    ++buffers;
    tree.outputs.push_back(ir::make_buffer(std::move(b)));
    tree.output_of[output.func].push_back(tree.outputs.back());
  }
}

}  // namespace calotype::lower
