// Pipelines as data: as trees of text, and as C++.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "fuzz/operations.h"
#include "fuzz/program.h"

namespace calotype::fuzz {

namespace {

Node nodes(std::vector<Node> items) {
  // The head keeps an empty list apart from what is left out.
  items.insert(items.begin(), "of");
  return Node(std::move(items));
}

std::vector<Node> items_of(const Node& node) { return {node.items.begin() + 1, node.items.end()}; }

Node to_node(const DefinitionSpec& d) {
  std::vector<Node> domain;
  for (const RangeSpec& r : d.domain) domain.push_back(list(r.name, r.min, r.extent));
  Node node = list("def", nodes(d.lhs), d.value, nodes(domain));
  if (d.where.defined()) node.items.push_back(d.where);
  return node;
}

DefinitionSpec definition_of(const Node& n) {
  DefinitionSpec d{.lhs = items_of(n[1]), .value = n[2], .domain = {}, .where = {}};
  for (const Node& r : items_of(n[3])) d.domain.push_back({r[0].atom, r[1], r[2]});
  if (n.size() > 4) d.where = n[4];
  return d;
}

Node to_node(const FuncSpec& f) {
  Node node = f.boundary.empty() ? list("func", f.name)
                                 : list("boundary", f.name, f.boundary, f.source, nodes(f.extents));
  if (f.exterior.defined()) node.items.push_back(f.exterior);
  for (const DefinitionSpec& d : f.stages) node.items.push_back(to_node(d));
  return node;
}

FuncSpec func_of(const Node& n) {
  FuncSpec f{.name = n[1].atom, .stages = {}, .boundary = {}, .source = {}, .extents = {}, .exterior = {}};
  if (n.head() == "func") {
    for (std::size_t i = 2; i < n.size(); ++i) f.stages.push_back(definition_of(n[i]));
    return f;
  }
  f.boundary = n[2].atom;
  f.source = n[3].atom;
  f.extents = items_of(n[4]);
  if (n.size() > 5) f.exterior = n[5];
  return f;
}

Node to_node(const Sizes& sizes) {
  Node node = list("sizes");
  for (const auto& [name, value] : sizes) node.items.push_back(list(name, value));
  return node;
}

const char* kind(bool whole) { return whole ? "whole" : "real"; }

std::string joined(const std::vector<Node>& nodes) {
  std::vector<std::string> all;
  for (const Node& n : nodes) all.push_back(cpp(n));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string cpp(const DefinitionSpec& d, const std::string& func) {
  if (is_function(d.value))  // the function stands in test/support/externs.h
    return fmt::format(
        "  {}.define_extern({{{}}}, {{Int(32)}}, {{\"sum_of_three\", sum_of_three}}, {{{}}});\n", func,
        joined(d.lhs), joined(items_of(d.value)));
  const std::string line = fmt::format("{}({}) = {};", func, joined(d.lhs), fuzz::cpp(d.value));
  if (d.domain.empty()) return "  " + line + "\n";
  std::string ranges, names, rvars, where;
  for (std::size_t i = 0; i < d.domain.size(); ++i) {
    const RangeSpec& r = d.domain[i];
    const char* comma = i ? ", " : "";
    ranges += fmt::format("{}{{{}, {}}}", comma, fuzz::cpp(r.min), fuzz::cpp(r.extent));
    names += fmt::format("{}\"{}\"", comma, r.name);
    rvars += fmt::format(" RVar {} = domain[{}];", r.name, i);
  }
  if (d.where.defined()) where = fmt::format(" domain.where({});", fuzz::cpp(d.where));
  return fmt::format(
      "  {{\n    RDom domain({{{}}}, std::vector<std::string>{{{}}});\n   {}{}\n    {}\n  }}\n", ranges,
      names, rvars, where, line);
}

std::string cpp(const Program& p, const FuncSpec& f) {
  if (!f.boundary.empty()) {
    std::string args = f.source;
    if (!p.input(f.source)) args += fmt::format(", {{{}}}", joined(f.extents));
    if (f.exterior.defined()) args += ", " + fuzz::cpp(f.exterior);
    return fmt::format("  Func {0} = boundary::{1}({2}, \"{0}\");\n", f.name, f.boundary, args);
  }
  std::string text = fmt::format("  Func {0}(\"{0}\");\n", f.name);
  for (const DefinitionSpec& d : f.stages) text += cpp(d, f.name);
  return text;
}

std::string declarations(const Program& p) {
  std::string text;
  for (const auto& [name, value] : p.runs.at(0)) text += fmt::format("  Dim {0}(\"{0}\");\n", name);
  std::map<std::string, bool> vars;
  for (const FuncSpec& f : p.funcs)
    if (!f.stages.empty())
      for (const Node& n : f.stages[0].lhs) vars[n.atom] = true;
  for (const auto& [name, used] : vars) text += fmt::format("  Var {0}(\"{0}\");\n", name);
  for (const ParamSpec& q : p.params)
    text += fmt::format("  Param {0}(Type::parse(\"{1}\"), \"{0}\", {2});\n", q.name, q.type.str(), q.value);
  for (const InputSpec& i : p.inputs)
    text += fmt::format("  ImageParam {0}(Type::parse(\"{1}\"), {{{2}}}, \"{0}\");\n", i.name, i.type.str(),
                        joined(i.extents));
  return text;
}

}  // namespace

Node to_node(const Program& p) {
  Node node = list("program", list("data", p.data_seed));
  for (const Sizes& s : p.runs) node.items.push_back(to_node(s));
  for (const InputSpec& i : p.inputs)
    node.items.push_back(list("input", i.name, i.type.str(), nodes(i.extents), i.low, i.high, kind(i.whole)));
  for (const ParamSpec& q : p.params) node.items.push_back(list("param", q.name, q.type.str(), q.value));
  for (const FuncSpec& f : p.funcs) node.items.push_back(to_node(f));
  for (const OutputSpec& o : p.outputs)
    node.items.push_back(list("output", o.func, nodes(o.extents), kind(o.whole)));
  return node;
}

Program program_of(const Node& node) {
  Program p;
  for (const Node& n : items_of(node)) {
    if (n.head() == "data") {
      p.data_seed = std::stoull(n[1].atom);
    } else if (n.head() == "sizes") {
      Sizes sizes;
      for (const Node& s : items_of(n)) sizes[s[0].atom] = std::stoll(s[1].atom);
      p.runs.push_back(sizes);
    } else if (n.head() == "input") {
      p.inputs.push_back({n[1].atom, Type::parse(n[2].atom), items_of(n[3]), std::stoll(n[4].atom),
                          std::stoll(n[5].atom), n[6].atom == "whole"});
    } else if (n.head() == "param") {
      p.params.push_back({n[1].atom, Type::parse(n[2].atom), std::stoll(n[3].atom)});
    } else if (n.head() == "output") {
      p.outputs.push_back({n[1].atom, items_of(n[2]), n[3].atom == "whole"});
    } else if (n.head() == "func" || n.head() == "boundary") {
      p.funcs.push_back(func_of(n));
    } else {
      throw std::runtime_error("no part of a program: " + n.str());
    }
  }
  return p;
}

std::string cpp(const Program& p) {
  std::string text = "Pipeline fuzz() {\n" + declarations(p);
  for (const FuncSpec& f : p.funcs) text += cpp(p, f);
  std::vector<std::string> inputs, outputs, sizes;
  for (const InputSpec& i : p.inputs) inputs.push_back(i.name);
  for (const ParamSpec& q : p.params) inputs.push_back(q.name);
  for (const OutputSpec& o : p.outputs)
    outputs.push_back(fmt::format("Output({}, {{{}}})", o.func, joined(o.extents)));
  text += fmt::format("  return Pipeline(\"fuzz\", {{{}}}, {{{}}});\n}}\n", fmt::join(inputs, ", "),
                      fmt::join(outputs, ", "));
  for (const Sizes& run : p.runs) {
    std::vector<std::string> parts;
    for (const auto& [name, value] : run) parts.push_back(fmt::format("{} = {}", name, value));
    sizes.push_back(fmt::format("{}", fmt::join(parts, ", ")));
  }
  return text + fmt::format("// called with {}\n", fmt::join(sizes, "; then with "));
}

}  // namespace calotype::fuzz
