// Pipelines as data: building them, and what they need.
#include "fuzz/program.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "fuzz/operations.h"
#include "support/externs.h"

namespace calotype::fuzz {

namespace {

/// Builds the handles of a program in the order of its Funcs.
class Builder {
 public:
  explicit Builder(const Program& program) : program_(program) {
    for (const auto& [name, value] : program.runs.at(0)) scope_.values.emplace(name, Dim(name));
    for (const ParamSpec& p : program.params) {
      params_.emplace_back(p.type, p.name, static_cast<double>(p.value));
      scope_.values.emplace(p.name, params_.back());
    }
    for (const InputSpec& i : program.inputs) {
      images_.emplace_back(i.type, exprs(i.extents, scope_), i.name);
      const ImageParam image = images_.back();
      scope_.calls[i.name] = [image](std::vector<Expr> at) { return image.at(std::move(at)); };
    }
  }

  Pipeline run() {
    for (const FuncSpec& f : program_.funcs) add(f);
    std::vector<Input> inputs(images_.begin(), images_.end());
    inputs.insert(inputs.end(), params_.begin(), params_.end());
    std::vector<Output> outputs;
    for (const OutputSpec& o : program_.outputs)
      outputs.emplace_back(funcs_.at(o.func), exprs(o.extents, scope_));
    return Pipeline("fuzz", inputs, outputs);
  }

 private:
  static std::vector<Expr> exprs(const std::vector<Node>& nodes, const Scope& scope) {
    std::vector<Expr> all;
    for (const Node& n : nodes) all.push_back(build(n, scope));
    return all;
  }

  void add(const FuncSpec& f) {
    funcs_.emplace(f.name, f.boundary.empty() ? Func(f.name) : bounded(f));
    const Func func = funcs_.at(f.name);
    scope_.calls[f.name] = [func](std::vector<Expr> at) -> Expr { return func.at(std::move(at)); };
    for (int c = 0; c < components(f); ++c)
      scope_.calls[f.name + "." + std::to_string(c)] = [func, c](std::vector<Expr> at) -> Expr {
        return func.at(std::move(at))[c];
      };
    if (f.boundary.empty())
      for (const DefinitionSpec& d : f.stages) define(f, func, d);
  }

  Func bounded(const FuncSpec& f) {
    const auto image = std::find_if(images_.begin(), images_.end(),
                                    [&](const ImageParam& i) { return i.name() == f.source; });
    const std::vector<Expr> extents = exprs(f.extents, scope_);
    const Expr exterior = f.exterior.defined() ? build(f.exterior, scope_) : Expr();
    if (image == images_.end()) {
      const Func& source = funcs_.at(f.source);
      return f.boundary == "repeat_edge" ? boundary::repeat_edge(source, extents, f.name)
                                         : boundary::constant_exterior(source, extents, exterior, f.name);
    }
    if (f.boundary == "repeat_edge") return boundary::repeat_edge(*image, f.name);
    if (f.boundary == "repeat_image") return boundary::repeat_image(*image, f.name);
    if (f.boundary == "mirror_image") return boundary::mirror_image(*image, f.name);
    if (f.boundary == "mirror_interior") return boundary::mirror_interior(*image, f.name);
    return boundary::constant_exterior(*image, exterior, f.name);
  }

  void define(const FuncSpec& f, const Func& func, const DefinitionSpec& d) {
    Scope scope = scope_;
    for (const Node& arg : f.stages[0].lhs) scope.values.emplace(arg.atom, Var(arg.atom));
    if (!d.domain.empty()) {
      std::vector<std::pair<Expr, Expr>> ranges;
      std::vector<std::string> names;
      for (const RangeSpec& r : d.domain) {
        ranges.emplace_back(build(r.min, scope_), build(r.extent, scope_));
        names.push_back(r.name);
      }
      RDom domain(ranges, names);
      for (std::size_t i = 0; i < names.size(); ++i)
        scope.values.emplace(names[i], domain[static_cast<int>(i)]);
      if (d.where.defined()) domain.where(build(d.where, scope));
    }
    if (is_function(d.value)) {
      std::vector<Var> args;
      for (const Node& arg : d.lhs) args.emplace_back(arg.atom);
      Func(func).define_extern(args, {Int(32)}, {"sum_of_three", testing::sum_of_three},
                               exprs({d.value.items.begin() + 1, d.value.items.end()}, scope));
      return;
    }
    FuncRef left = func.at(exprs(d.lhs, scope));
    if (is_tuple(d.value))
      left = Tuple(exprs({d.value.items.begin() + 1, d.value.items.end()}, scope));
    else
      left = build(d.value, scope);
  }

  const Program& program_;
  Scope scope_;
  std::vector<ImageParam> images_;
  std::vector<Param> params_;
  std::map<std::string, Func> funcs_;
};

void add_callees(const Node& node, std::set<std::string>& names) {
  if (node.is_atom() || !node.defined()) return;
  if (is_call(node.head())) names.insert(called(node.head()));
  for (const Node& item : node.items) add_callees(item, names);
}

void add_names(const Node& node, std::set<std::string>& names) {
  if (node.is_atom()) names.insert(node.atom);
  for (const Node& item : node.items) add_names(item, names);
}

}  // namespace

bool is_tuple(const Node& value) { return !value.is_atom() && value.defined() && value.head() == "tuple"; }

bool is_function(const Node& value) {
  return !value.is_atom() && value.defined() && value.head() == "function";
}

int components(const FuncSpec& func) {
  if (func.stages.empty() || !is_tuple(func.stages[0].value)) return 1;
  return static_cast<int>(func.stages[0].value.size()) - 1;
}

const FuncSpec* Program::func(const std::string& name) const {
  for (const FuncSpec& f : funcs)
    if (f.name == name) return &f;
  return nullptr;
}

const InputSpec* Program::input(const std::string& name) const {
  for (const InputSpec& i : inputs)
    if (i.name == name) return &i;
  return nullptr;
}

Pipeline build(const Program& program) { return Builder(program).run(); }

std::int64_t number(const Node& node, const Sizes& sizes) {
  if (node.is_atom()) {
    const auto found = sizes.find(node.atom);
    return found != sizes.end() ? found->second : std::stoll(node.atom);
  }
  const std::int64_t a = number(node[1], sizes), b = number(node[2], sizes);
  if (node.head() == "+") return a + b;
  if (node.head() == "-") return a - b;
  if (node.head() == "*") return a * b;
  throw std::runtime_error("no number: " + node.str());
}

std::vector<std::string> callees(const Node& node) {
  std::set<std::string> names;
  add_callees(node, names);
  return {names.begin(), names.end()};
}

std::vector<Node*> nodes_of(FuncSpec& func) {
  std::vector<Node*> nodes;
  for (DefinitionSpec& d : func.stages) {
    for (Node& n : d.lhs) nodes.push_back(&n);
    nodes.push_back(&d.value);
    if (d.where.defined()) nodes.push_back(&d.where);
    for (RangeSpec& r : d.domain) nodes.insert(nodes.end(), {&r.min, &r.extent});
  }
  for (Node& n : func.extents) nodes.push_back(&n);
  if (func.exterior.defined()) nodes.push_back(&func.exterior);
  return nodes;
}

std::vector<const Node*> nodes_of(const FuncSpec& func) {
  const std::vector<Node*> nodes = nodes_of(const_cast<FuncSpec&>(func));
  return {nodes.begin(), nodes.end()};
}

namespace {

template <class F>
void each_node(Program& p, F&& f) {
  for (InputSpec& i : p.inputs)
    for (Node& n : i.extents) f(n);
  for (OutputSpec& o : p.outputs)
    for (Node& n : o.extents) f(n);
  for (FuncSpec& func : p.funcs)
    for (Node* n : nodes_of(func)) f(*n);
}

void replace(Node& n, const std::string& name, const Node& by) {
  if (n.atom == name) n = by;
  for (Node& item : n.items) replace(item, name, by);
}

void prune_dims(Program& p) {
  std::set<std::string> used, fixed;
  each_node(p, [&](const Node& n) { add_names(n, used); });
  for (const InputSpec& i : p.inputs)
    for (const Node& n : i.extents) fixed.insert(n.atom);
  for (const OutputSpec& o : p.outputs)
    for (const Node& n : o.extents) fixed.insert(n.atom);
  const Sizes first = p.runs[0];
  for (const auto& [name, value] : first) {
    if (used.count(name) && !fixed.count(name)) {
      p.runs.resize(1);
      each_node(p, [&, dim = name, size = value](Node& n) { replace(n, dim, Node(size)); });
    }
    if (!fixed.count(name))
      for (Sizes& sizes : p.runs) sizes.erase(name);
  }
}

}  // namespace

void prune(Program& program) {
  std::set<std::string> needed, names;
  for (const OutputSpec& o : program.outputs) needed.insert(o.func);
  for (auto f = program.funcs.rbegin(); f != program.funcs.rend(); ++f) {
    if (!needed.count(f->name)) continue;
    if (!f->source.empty()) needed.insert(f->source);
    for (const Node* n : nodes_of(*f)) {
      add_callees(*n, needed);
      add_names(*n, names);
    }
  }
  std::erase_if(program.funcs, [&](const FuncSpec& f) { return !needed.count(f.name); });
  std::erase_if(program.inputs, [&](const InputSpec& i) { return !needed.count(i.name); });
  std::erase_if(program.params, [&](const ParamSpec& p) { return !names.count(p.name); });
  prune_dims(program);
}

}  // namespace calotype::fuzz
