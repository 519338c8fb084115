// The named sizes of a pipeline.
#include "cli/sizes.h"

#include <fmt/format.h>

#include "cli/usage.h"
#include "ir/simplify.h"

namespace calotype::cli {
namespace {

// The Dim that an extent is, if it is just one.
const ir::SymbolPtr* plain_dim(const Expr& e) {
  if (!ir::is(e, ir::Op::Variable)) return nullptr;
  const ir::SymbolPtr& symbol = ir::symbol_of(e);
  return symbol->kind == ir::SymbolKind::Dim ? &symbol : nullptr;
}

std::vector<std::string> dim_names(const lang::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::SymbolPtr& dim : graph.dims) names.push_back(dim->name);
  return names;
}

void bind_size(Sizes& sizes, const std::string& name, std::int64_t value, const std::string& source) {
  const auto [at, fresh] = sizes.emplace(name, value);
  if (!fresh && at->second != value)
    usage_error(fmt::format("size {} is {} elsewhere, but {} of {}", name, at->second, value, source),
                std::to_string(value), fmt::format("one value for {}: inputs and --size that agree", name));
}

// "an extent of 3", "an extent of W + 1, which is 8".
std::string legal_extent(const Expr& extent, std::int64_t value) {
  if (ir::as_int(extent)) return fmt::format("an extent of {}", value);
  return fmt::format("an extent of {}, which is {}", extent.str(), value);
}

// Extents that are not one plain Dim (constants, expressions) must come out as the input's.
void check_extents(const lang::InputDef& input, const Buffer& buffer, const lang::Graph& graph,
                   const Sizes& sizes) {
  for (int d = 0; d < buffer.rank(); ++d) {
    const std::optional<std::int64_t> wanted = evaluate(input.extents[d], graph, sizes);
    if (!wanted || *wanted == buffer.extent(d)) continue;
    Diagnostic diagnostic;
    diagnostic.kind = ErrorKind::Usage;
    diagnostic.message =
        fmt::format("input '{}' has extent {} in dimension {}", input.name, buffer.extent(d), d);
    diagnostic.func = input.name;
    diagnostic.subject = Subject::Input;
    diagnostic.value = std::to_string(buffer.extent(d));
    diagnostic.legal = legal_extent(input.extents[d], *wanted);
    if (buffer.rank() == 3 && d == 2 && buffer.extent(d) == 1 && *wanted == 3)
      diagnostic.legal += ", the channels of a colour image; save a grey image, which has one, as RGB first";
    throw Error(diagnostic);
  }
}

}  // namespace

std::optional<std::int64_t> evaluate(const Expr& e, const lang::Graph& graph, const Sizes& sizes) {
  ir::Substitution values;
  for (const ir::SymbolPtr& dim : graph.dims)
    if (const auto found = sizes.find(dim->name); found != sizes.end())
      values.emplace_back(dim, ir::index(found->second));
  return ir::as_int(ir::simplify(ir::substitute(e, values)));
}

Sizes bind_sizes(const lang::Graph& graph, const std::vector<Buffer>& inputs, const Sizes& asked,
                 const std::set<std::string>& optional) {
  const std::vector<std::string> names = dim_names(graph);
  Sizes sizes;
  for (const auto& [name, value] : asked) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      usage_error("--size names no size of this operator", name, did_you_mean(name, names));
    sizes[name] = value;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (int d = 0; d < inputs[i].rank(); ++d)
      if (const ir::SymbolPtr* dim = plain_dim(graph.inputs[i].extents[d]))
        bind_size(sizes, (*dim)->name, inputs[i].extent(d), fmt::format("input '{}'", graph.inputs[i].name));
  for (const std::string& name : optional) sizes.emplace(name, 1);
  std::string missing;
  for (const std::string& name : names)
    if (!sizes.contains(name)) missing += (missing.empty() ? "" : ",") + name;
  if (!missing.empty())
    usage_error("no input fixes these sizes", missing, "--size NAME=N,... or --input NAME=FILE");
  for (std::size_t i = 0; i < inputs.size(); ++i) check_extents(graph.inputs[i], inputs[i], graph, sizes);
  return sizes;
}

std::vector<std::int64_t> extents_of(const std::vector<Expr>& extents, const std::string& name,
                                     const lang::Graph& graph, const Sizes& sizes) {
  std::vector<std::int64_t> values;
  for (const Expr& e : extents) {
    const std::optional<std::int64_t> value = evaluate(e, graph, sizes);
    if (!value || *value < 0)
      usage_error(fmt::format("'{}' has no legal extent {} for these sizes", name, e.str()), to_string(sizes),
                  "sizes that make every extent 0 or more");
    values.push_back(*value);
  }
  return values;
}

std::string to_string(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace calotype::cli
