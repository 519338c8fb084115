// From the front end's definitions to a Graph: collection, order, names, and Callees of the Graph's own.

#include "lang/build_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lang/contents.h"
#include "lang/errors.h"
#include "lang/random.h"

namespace calotype::lang {

namespace {

using FuncPtr = std::shared_ptr<FuncContents>;

class Builder {
 public:
  Builder(const std::string& name, const std::vector<Input>& inputs, const std::vector<Output>& outputs)
      : inputs_(inputs), outputs_(outputs) {
    graph_.name = name;
  }

  Graph operator()() {
    require_name("Pipeline", graph_.name);
    if (outputs_.empty())
      refuse(fmt::format("Pipeline '{}' has no outputs", graph_.name), "", "", "one or more outputs");
    for (const Input& input : inputs_) add_input(input);
    for (const Output& output : outputs_) collect(output.func.contents(), nullptr);
    name_funcs();
    for (const FuncPtr& func : order_) add_func(func);
    for (const Output& output : outputs_) add_output(output);
    check_used();
    collect_dims();
    check_names();
    graph_.fingerprint = structure_hash(graph_);
    for (const FuncPtr& func : order_) func->frozen = true;
    return std::move(graph_);
  }

 private:
  void add_input(const Input& input) {
    if (const auto* image = std::get_if<ImageParam>(&input)) {
      const ImageContents& contents = *image->contents();
      const int index = static_cast<int>(graph_.inputs.size());
      if (!input_ids_.emplace(&contents, index).second) refuse_twice(contents.name);
      const auto callee = std::make_shared<const ir::Callee>(ir::Callee{.kind = ir::CalleeKind::Input,
                                                                        .name = contents.name,
                                                                        .index = index,
                                                                        .rank = image->rank(),
                                                                        .type = contents.type});
      graph_.inputs.push_back({InputId{index}, contents.name, contents.type, contents.extents, callee});
      graph_.arguments.push_back({false, index});
      return;
    }
    const Param& param = std::get<Param>(input);
    for (const ParamDef& other : graph_.params) {
      if (other.symbol == param.symbol()) refuse_twice(param.name());
    }
    graph_.arguments.push_back({true, static_cast<int>(graph_.params.size())});
    graph_.params.push_back(
        {param.symbol(), param.name(), param.type(), param.initial(), param.low(), param.high()});
  }

  [[noreturn]] void refuse_twice(const std::string& name) const {
    refuse(fmt::format("'{}' is listed twice among the inputs of Pipeline '{}'", name, graph_.name), "", name,
           "each input once");
  }

  /// Producers first. Definitions have seen to it that there is no cycle.
  void collect(const FuncPtr& func, const FuncContents* consumer) {
    if (!seen_.insert(func.get()).second) return;
    if (!func->state.defined()) {
      const std::string used =
          consumer != nullptr ? fmt::format("used by '{}'", consumer->name) : "an output";
      refuse(fmt::format("Func '{}', {}, is undefined", func->name, used), func->name, "",
             fmt::format("a pure definition, as {}(x, y) = ...", func->name));
    }
    for (const FuncPtr& producer : func->state.producers) collect(producer, func.get());
    order_.push_back(func);
  }

  /// Inline reductions without a name are numbered in the order in which they were written.
  void name_funcs() {
    std::set<std::string> taken;
    std::vector<FuncContents*> numbered;
    for (const auto& [input, index] : input_ids_) taken.insert(input->name);
    for (const ParamDef& param : graph_.params) taken.insert(param.name);
    for (const FuncPtr& func : order_) {
      if (func->numbered) {
        numbered.push_back(func.get());
      } else {
        names_[func.get()] = func->name;
        taken.insert(func->name);
      }
    }
    std::sort(numbered.begin(), numbered.end(),
              [](const FuncContents* a, const FuncContents* b) { return a->serial < b->serial; });
    for (const FuncContents* func : numbered) {
      std::string name = func->name;
      for (int i = 1; taken.contains(name); ++i) name = fmt::format("{}.{}", func->name, i);
      names_[func] = name;
      taken.insert(name);
    }
  }

  void add_func(const FuncPtr& contents) {
    const FuncState& state = contents->state;
    FuncDef func;
    func.name = names_.at(contents.get());
    func.types = state.types;
    func.args = state.args;
    func.make_callees(FuncId{static_cast<int>(graph_.funcs.size())});
    func_ids_[contents.get()] = func.id;
    for (const StageDef& stage : state.stages) {
      StageDef mapped = stage;
      for (Expr& e : mapped.lhs) e = remap(func, e);
      mapped.value = with_random_bits(mapped, remap(func, mapped.value));
      mapped.predicate = remap(func, mapped.predicate);
      recognise_reduction(func, mapped);
      func.stages.push_back(std::move(mapped));
    }
    graph_.funcs.push_back(std::move(func));
  }

  /// The expression with Callees of this Graph.
  Expr remap(const FuncDef& func, const Expr& e) {
    return ir::rewrite(e, [&](const Expr& node) {
      if (ir::is(node, ir::Op::Variable)) note_symbol(func, ir::symbol_of(node));
      // The Func's name, which inlining would lose.
      if (ir::is(node, ir::Op::Require)) {
        const std::string text = fmt::format("'{}': {}", func.name, *ir::text_of(node));
        return ir::make(ir::Op::Require, node->type, node->args, std::make_shared<const std::string>(text));
      }
      if (!ir::is(node, ir::Op::Call)) return node;
      return ir::make(ir::Op::Call, node->type, node->args, remapped_callee(func, ir::callee_of(node)));
    });
  }

  /// Random numbers as arithmetic on the coordinates of the definition's point.
  Expr with_random_bits(const StageDef& stage, const Expr& value) {
    return ir::rewrite(value, [&](const Expr& node) {
      if (!ir::is(node, ir::Op::Random)) return node;
      const auto next = static_cast<int>(random_calls_.size());
      const int call = random_calls_.emplace(std::get<std::int64_t>(node->attr), next).first->second;
      std::vector<Expr> coordinates;
      for (const Expr& e : stage.lhs) {
        if (ir::is(e, ir::Op::Variable)) coordinates.push_back(e);
      }
      for (const ReductionDim& dim : stage.reduction) coordinates.push_back(ir::make_var(dim.symbol));
      return random_bits(call, node->args[0], coordinates);
    });
  }

  ir::CalleePtr remapped_callee(const FuncDef& func, const ir::CalleePtr& callee) {
    if (callee->kind == ir::CalleeKind::Func) {
      const FuncPtr producer = func_of(callee);
      return (producer ? graph_.func(func_ids_.at(producer.get())) : func).callees[callee->component];
    }
    const auto* image = static_cast<const ImageContents*>(callee->definition.get());
    const auto found = input_ids_.find(image);
    if (found == input_ids_.end()) {
      std::vector<std::string> listed;
      for (const InputDef& input : graph_.inputs) listed.push_back(input.name);
      refuse(fmt::format("'{}' uses input '{}', which is not among the inputs of Pipeline '{}'", func.name,
                         image->name, graph_.name),
             func.name, image->name, fmt::format("listed inputs: {}", fmt::join(listed, ", ")));
    }
    used_inputs_.insert(found->second);
    return graph_.inputs[found->second].callee;
  }

  void note_symbol(const FuncDef& func, const ir::SymbolPtr& symbol) {
    if (symbol->kind != ir::SymbolKind::Param) return;
    const auto is_it = [&](const ParamDef& p) { return p.symbol == symbol; };
    const auto found = std::find_if(graph_.params.begin(), graph_.params.end(), is_it);
    if (found == graph_.params.end()) {
      std::vector<std::string> listed;
      for (const ParamDef& p : graph_.params) listed.push_back(p.name);
      refuse(fmt::format("'{}' uses Param '{}', which is not among the inputs of Pipeline '{}'", func.name,
                         symbol->name, graph_.name),
             func.name, symbol->name, fmt::format("listed Params: {}", fmt::join(listed, ", ")));
    }
    used_params_.insert(static_cast<int>(found - graph_.params.begin()));
  }

  void add_output(const Output& output) {
    const FuncId id = func_ids_.at(output.func.contents().get());
    const FuncDef& func = graph_.func(id);
    if (graph_.is_output(id)) {
      refuse(fmt::format("'{}' is listed twice among the outputs", func.name), func.name, func.name,
             "each output once");
    }
    if (func.rank() > CALOTYPE_MAX_RANK) {
      refuse(fmt::format("output '{}' has {} dimensions", func.name, func.rank()), func.name,
             std::to_string(func.rank()), fmt::format("at most {}", static_cast<int>(CALOTYPE_MAX_RANK)));
    }
    OutputDef def;
    def.func = id;
    def.sized = !output.extents.empty() || func.rank() == 0;
    if (def.sized && static_cast<int>(output.extents.size()) != func.rank()) {
      refuse(fmt::format("output '{}' has {} dimensions and is given {} extents", func.name, func.rank(),
                         output.extents.size()),
             func.name, std::to_string(output.extents.size()),
             fmt::format("{} extents, or none", func.rank()));
    }
    for (int d = 0; d < func.rank(); ++d) {
      def.extents.push_back(def.sized ? size_expr(fmt::format("extent {} of output '{}'", d, func.name),
                                                  func.name, output.extents[d], false)
                                      : static_cast<Expr>(Dim(fmt::format("{}.extent.{}", func.name, d))));
      const auto min = [&] {
        return ir::make_symbol(ir::SymbolKind::MinCoord, fmt::format("{}.min.{}", func.name, d));
      };
      def.mins.push_back(def.sized ? ir::index(0) : ir::make_var(min()));
    }
    for (; def.component < func.components(); ++def.component) graph_.outputs.push_back(def);
  }

  void check_used() {
    for (const FuncDef& func : graph_.funcs) {
      for (const StageDef& stage : func.stages) {
        for (const ReductionDim& dim : stage.reduction) {
          remap(func, dim.min);  // notes Params
          remap(func, dim.extent);
        }
      }
    }
    const auto refuse_unused = [&](const char* what, const std::string& name) {
      refuse(fmt::format("{} '{}' is among the inputs of Pipeline '{}' and is not used", what, name,
                         graph_.name),
             "", name, "only inputs that the outputs depend on");
    };
    for (const InputDef& input : graph_.inputs) {
      if (!used_inputs_.contains(input.id.value)) refuse_unused("input", input.name);
    }
    for (std::size_t i = 0; i < graph_.params.size(); ++i) {
      if (!used_params_.contains(static_cast<int>(i))) refuse_unused("Param", graph_.params[i].name);
    }
  }

  void collect_dims() {
    for (const InputDef& input : graph_.inputs) add_dims(input.extents);
    for (const OutputDef& output : graph_.outputs) add_dims(output.extents);
    for (const FuncDef& func : graph_.funcs) {
      for (const StageDef& stage : func.stages) {
        add_dims(stage.lhs);
        add_dims({stage.value});
        for (const ReductionDim& dim : stage.reduction) add_dims({dim.min, dim.extent});
        if (stage.predicate.defined()) add_dims({stage.predicate});
      }
    }
  }

  void add_dims(const std::vector<Expr>& exprs) {
    for (const Expr& e : exprs) {
      for (const ir::SymbolPtr& symbol : ir::free_symbols(e)) {
        const bool seen = std::find(graph_.dims.begin(), graph_.dims.end(), symbol) != graph_.dims.end();
        if (symbol->kind == ir::SymbolKind::Dim && !seen) graph_.dims.push_back(symbol);
      }
    }
  }

  void check_names() const {
    std::map<std::string, std::string> owners;
    const auto claim = [&](const char* what, const std::string& name) {
      const auto [place, is_new] = owners.emplace(name, what);
      if (is_new) return;
      refuse(fmt::format("Pipeline '{}' has two things named '{}': a {} and a {}", graph_.name, name,
                         place->second, what),
             name, name, "names that differ among Funcs, inputs, Params and Dims");
    };
    for (const InputDef& input : graph_.inputs) claim("input", input.name);
    for (const ParamDef& param : graph_.params) claim("Param", param.name);
    for (const FuncDef& func : graph_.funcs) claim("Func", func.name);
    // Last, since two of one name often have theirs from an input and an output of one name.
    for (const ir::SymbolPtr& dim : graph_.dims) claim("Dim", dim->name);
  }

  const std::vector<Input>& inputs_;
  const std::vector<Output>& outputs_;
  Graph graph_;
  std::vector<FuncPtr> order_;
  std::set<const FuncContents*> seen_;
  // Keyed by address for look-up alone.
  std::map<const FuncContents*, std::string> names_;
  std::map<const FuncContents*, FuncId> func_ids_;
  std::map<const ImageContents*, int> input_ids_;
  std::set<int> used_inputs_, used_params_;
  std::map<std::int64_t, int> random_calls_;  ///< numbers in the order of first use
};

}  // namespace

bool is_reduction_op(ir::Op op) {
  constexpr ir::Op ops[] = {ir::Op::Add,   ir::Op::Mul,    ir::Op::Min, ir::Op::Max, ir::Op::BitAnd,
                            ir::Op::BitOr, ir::Op::BitXor, ir::Op::And, ir::Op::Or};
  return std::find(std::begin(ops), std::end(ops), op) != std::end(ops);
}

void recognise_reduction(const FuncDef& func, StageDef& stage) {
  const auto reads_self = [&](const Expr& e) {
    return ir::any_of(e, [&](const Expr& node) { return func.is_read(node); });
  };
  const ir::Op op = stage.value->op;
  if (!is_reduction_op(op)) return;
  if (reads_self(stage.predicate) || std::any_of(stage.lhs.begin(), stage.lhs.end(), reads_self)) return;
  for (int side = 0; side < 2; ++side) {
    const Expr& old = stage.value->args[side];
    const Expr& term = stage.value->args[1 - side];
    const bool same_point = func.is_read(old) && ir::equal(old->args, stage.lhs);
    if (!same_point || reads_self(term)) continue;
    stage.reduce_op = op;
    stage.reduce_term = term;
    return;
  }
}

Graph build_graph(const std::string& name, const std::vector<Input>& inputs,
                  const std::vector<Output>& outputs) {
  return Builder(name, inputs, outputs)();
}

}  // namespace calotype::lang
