// RDom and RVar: reduction domains.

#include <fmt/format.h>

#include <algorithm>

#include "calotype/func.h"
#include "ir/typing.h"
#include "lang/contents.h"
#include "lang/errors.h"
#include "lang/random.h"

namespace calotype {

namespace lang {

namespace {

/// Names of the axes of a domain: its own name for one, else NAME.x and on.
std::vector<std::string> axis_names(const std::string& name, std::size_t count) {
  if (count == 1) return {name};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    names.push_back(i < 4 ? fmt::format("{}.{}", name, "xyzw"[i]) : fmt::format("{}.{}", name, i));
  }
  return names;
}

std::shared_ptr<RDomContents> make_domain(const std::vector<std::pair<Expr, Expr>>& ranges,
                                          const std::vector<std::string>& names, const std::string& name) {
  if (ranges.empty())
    refuse(fmt::format("RDom '{}' has no dimensions", name), "", "", "one or more {min, extent}");
  if (ranges.size() != names.size()) {
    refuse(fmt::format("RDom '{}' has {} dimensions and {} names", name, ranges.size(), names.size()), "", "",
           "one name for each dimension");
  }
  auto domain = std::make_shared<RDomContents>();
  domain->name = name;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    require_name("RVar", names[i]);
    if (std::count(names.begin(), names.end(), names[i]) > 1) {
      refuse(fmt::format("two dimensions of an RDom are named '{}'", names[i]), "", names[i],
             "distinct names");
    }
    RDomContents::Axis axis;
    static_cast<ir::Symbol&>(axis.symbol) = *ir::make_symbol(ir::SymbolKind::RVar, names[i]);
    axis.symbol.domain = domain.get();
    axis.min = size_expr(fmt::format("the minimum of '{}'", names[i]), "", ranges[i].first, true);
    axis.extent = size_expr(fmt::format("the extent of '{}'", names[i]), "", ranges[i].second, true);
    domain->axes.push_back(std::move(axis));
  }
  return domain;
}

/// The expression with the domain's symbols exchanged for others that stand for the same.
Expr with_symbols(const RDomContents& domain, const Expr& e,
                  const std::function<ir::SymbolPtr(std::size_t)>& symbol) {
  ir::Substitution map;
  for (std::size_t i = 0; i < domain.axes.size(); ++i)
    map.emplace_back(domain.symbol(i), ir::make_var(symbol(i)));
  return ir::substitute(e, map);
}

}  // namespace

Expr RDomContents::predicate() const {
  if (!condition.defined()) return {};
  return with_symbols(*this, condition, [this](std::size_t i) { return symbol(i); });
}

std::vector<ReductionDim> RDomContents::dims() const {
  std::vector<ReductionDim> result;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    result.push_back({symbol(i), axes[i].symbol.name, axes[i].min, axes[i].extent});
  }
  return result;
}

std::shared_ptr<RDomContents> domain_of(const ir::SymbolPtr& symbol) {
  return static_cast<const RVarSymbol*>(symbol.get())->domain->shared_from_this();
}

}  // namespace lang

RVar::operator Expr() const {
  if (!symbol_) {
    lang::refuse(fmt::format("RVar '{}' names a loop and is no coordinate", name_), "", name_,
                 "a dimension of an RDom, as r.x()");
  }
  return ir::make_var(symbol_);
}

RDom::RDom(Expr min, Expr extent, const std::string& name)
    : RDom(std::vector<std::pair<Expr, Expr>>{{std::move(min), std::move(extent)}}, name) {}
RDom::RDom(const std::vector<std::pair<Expr, Expr>>& ranges, const std::string& name)
    : contents_(lang::make_domain(ranges, lang::axis_names(name, ranges.size()), name)) {}
RDom::RDom(const std::vector<std::pair<Expr, Expr>>& ranges, const std::vector<std::string>& names)
    : contents_(lang::make_domain(ranges, names, fmt::format("({})", fmt::join(names, ", ")))) {}

RDom::RDom(const std::vector<std::pair<Expr, Expr>>& ranges, std::initializer_list<const char*> names)
    : RDom(ranges, std::vector<std::string>(names.begin(), names.end())) {}

void RDom::where(Expr condition) {
  if (!condition.defined() || !condition.type().is_bool()) {
    lang::refuse(fmt::format("the condition of RDom '{}' is no bool", contents_->name), "",
                 condition.defined() ? condition.str() : "", "a comparison, or several joined by && and ||");
  }
  lang::require_determined(fmt::format("the condition of RDom '{}'", contents_->name), "", condition);
  for (const ir::SymbolPtr& symbol : ir::free_symbols(condition)) {
    if (symbol->kind == ir::SymbolKind::RVar && lang::domain_of(symbol) != contents_) {
      lang::refuse(
          fmt::format("the condition of RDom '{}' uses '{}' of another RDom", contents_->name, symbol->name),
          "", condition.str(), "coordinates of the domain itself, Vars, Dims, Params and values");
    }
  }
  const Expr borrowed = lang::with_symbols(*contents_, condition, [this](std::size_t i) {
    return ir::SymbolPtr(std::shared_ptr<void>(), &contents_->axes[i].symbol);
  });
  contents_->condition = contents_->condition.defined() ? contents_->condition && borrowed : borrowed;
}

int RDom::dimensions() const { return static_cast<int>(contents_->axes.size()); }

RVar RDom::operator[](int i) const {
  if (i < 0 || i >= dimensions()) {
    lang::refuse(fmt::format("RDom '{}' has no dimension {}", contents_->name, i), "", std::to_string(i),
                 fmt::format("0 to {}", dimensions() - 1));
  }
  return {contents_->axes[i].symbol.name, contents_->symbol(i)};
}

RDom::operator RVar() const {
  if (dimensions() != 1) {
    lang::refuse(
        fmt::format("RDom '{}' of {} dimensions is used as one coordinate", contents_->name, dimensions()),
        "", contents_->name, "one of its dimensions, as r.x() or r[0]");
  }
  return (*this)[0];
}
RDom::operator Expr() const { return static_cast<Expr>(static_cast<RVar>(*this)); }

}  // namespace calotype
