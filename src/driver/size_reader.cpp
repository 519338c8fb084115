// Named sizes from the arguments of a call.
#include "driver/size_reader.h"

#include <algorithm>

#include "ir/simplify.h"

namespace calotype::driver {

SizeReader::SizeReader(const lang::Graph& graph, const std::vector<std::string>& names) {
  std::size_t before = 0;
  do {  // an extent tells one size, given those that are known already
    before = sources_.size();
    add_all(graph);
  } while (sources_.size() > before);
  keep_needed(names);
}

void SizeReader::add_all(const lang::Graph& graph) {
  int argument = 0;
  const auto add_extents = [&](const std::vector<Expr>& extents) {
    for (std::size_t d = 0; d < extents.size(); ++d) add(extents[d], argument, static_cast<int>(d));
    ++argument;
  };
  for (const lang::Graph::ArgumentRef& a : graph.arguments)
    add_extents(a.is_param ? std::vector<Expr>{} : graph.inputs[a.index].extents);
  for (const lang::OutputDef& output : graph.outputs) add_extents(output.extents);
}

bool SizeReader::known(const ir::SymbolPtr& s) const {
  return std::any_of(sources_.begin(), sources_.end(), [&](const Source& k) { return k.size == s; });
}

void SizeReader::add(const Expr& extent, int argument, int dim) {
  std::vector<ir::SymbolPtr> unknown;
  for (const ir::SymbolPtr& s : ir::free_symbols(extent))
    if (!known(s)) unknown.push_back(s);
  if (unknown.size() != 1) return;
  if (ir::is(extent, ir::Op::Variable)) {
    sources_.push_back({unknown[0], argument, dim});
    return;
  }
  const std::optional<ir::LinearIn> line = ir::linear_in(ir::simplify(extent), unknown[0]);
  if (line && line->coefficient != 0)
    sources_.push_back({unknown[0], argument, dim, line->coefficient, line->rest});
}

void SizeReader::keep_needed(const std::vector<std::string>& names) {
  std::vector<Source> kept;
  for (auto s = sources_.rbegin(); s != sources_.rend(); ++s) {
    const bool used = std::any_of(kept.begin(), kept.end(), [&](const Source& k) {
      return k.rest.defined() && ir::uses(k.rest, s->size);
    });
    if (used || std::find(names.begin(), names.end(), s->size->name) != names.end()) kept.push_back(*s);
  }
  sources_.assign(kept.rbegin(), kept.rend());
}

std::map<std::string, std::int64_t> SizeReader::read(std::span<const Arg> args) const {
  std::map<std::string, std::int64_t> values;
  ir::Substitution known;
  for (const Source& s : sources_) {
    if (s.argument >= static_cast<int>(args.size())) continue;
    const Buffer* buffer = std::get_if<Buffer>(&args[s.argument].value());
    if (!buffer || !buffer->defined() || s.dim >= buffer->rank()) continue;
    std::int64_t value = buffer->extent(s.dim);
    if (s.rest.defined()) {
      const std::optional<std::int64_t> rest = ir::as_int(ir::simplify(ir::substitute(s.rest, known)));
      if (!rest || (value - *rest) % s.coefficient != 0) continue;
      value = (value - *rest) / s.coefficient;
    }
    values[s.size->name] = value;
    known.emplace_back(s.size, ir::index(value));
  }
  return values;
}

}  // namespace calotype::driver
