// Which conditions of a schedule hold for a call.
#include "driver/condition_reader.h"

#include <algorithm>

#include "ir/simplify.h"

namespace calotype::driver {

namespace {

/// The symbols of all conditions, each once.
std::vector<ir::SymbolPtr> symbols_of(const std::vector<Expr>& conditions) {
  std::vector<ir::SymbolPtr> all;
  for (const Expr& c : conditions)
    for (const ir::SymbolPtr& s : ir::free_symbols(c))
      if (std::find(all.begin(), all.end(), s) == all.end()) all.push_back(s);
  return all;
}

std::vector<std::string> size_names(const std::vector<Expr>& conditions) {
  std::vector<std::string> names;
  for (const ir::SymbolPtr& s : symbols_of(conditions))
    if (s->kind == ir::SymbolKind::Dim) names.push_back(s->name);
  return names;
}

}  // namespace

ConditionReader::ConditionReader(const lang::Graph& graph, const schedule::Ways& ways)
    : conditions_(ways.conditions), sizes_(graph, size_names(ways.conditions)) {
  for (const ir::SymbolPtr& s : symbols_of(conditions_)) add(graph, ways, s);
}

void ConditionReader::add(const lang::Graph& graph, const schedule::Ways& ways, const ir::SymbolPtr& symbol) {
  if (symbol->kind == ir::SymbolKind::Dim) {
    sources_.push_back({.kind = Source::Kind::Size, .symbol = symbol});
    return;
  }
  std::string stride;
  for (const auto& [name, known] : ways.strides)
    if (known == symbol) stride = name;
  int position = 0;
  const auto add_strides = [&](const std::string& name, std::size_t rank) {
    for (std::size_t d = 0; d < rank; ++d)
      if (name + ".stride." + std::to_string(d) == stride)
        sources_.push_back({Source::Kind::Stride, symbol, position, static_cast<int>(d)});
  };
  for (const lang::Graph::ArgumentRef& a : graph.arguments) {
    if (a.is_param && graph.params[a.index].symbol == symbol)
      sources_.push_back({Source::Kind::Param, symbol, position});
    if (!a.is_param) add_strides(graph.inputs[a.index].name, graph.inputs[a.index].extents.size());
    ++position;
  }
  for (const lang::OutputDef& o : graph.outputs) {
    add_strides(graph.output_name(o), o.extents.size());
    ++position;
  }
}

Expr ConditionReader::value(const Source& source, std::span<const Arg> args,
                            const std::map<std::string, std::int64_t>& sizes) const {
  if (source.kind == Source::Kind::Size) {
    const auto at = sizes.find(source.symbol->name);
    return at == sizes.end() ? Expr() : ir::index(at->second);
  }
  if (source.argument >= static_cast<int>(args.size())) return {};
  const std::variant<Buffer, double>& arg = args[source.argument].value();
  if (source.kind == Source::Kind::Param) {
    const double* number = std::get_if<double>(&arg);
    const Type type = source.symbol->type;
    if (!number) return {};
    return type.is_float() ? ir::make_float(type, *number)
                           : ir::make_int(type, static_cast<std::int64_t>(*number));
  }
  const Buffer* buffer = std::get_if<Buffer>(&arg);
  if (!buffer || !buffer->defined() || source.dim >= buffer->rank()) return {};
  return ir::index(buffer->stride(source.dim));
}

std::vector<bool> ConditionReader::holds(std::span<const Arg> args) const {
  const std::map<std::string, std::int64_t> sizes = sizes_.read(args);
  ir::Substitution known;
  for (const Source& s : sources_)
    if (const Expr v = value(s, args, sizes); v.defined()) known.emplace_back(s.symbol, v);
  std::vector<bool> holds;
  for (const Expr& c : conditions_) holds.push_back(ir::is_one(ir::simplify(ir::substitute(c, known))));
  return holds;
}

}  // namespace calotype::driver
