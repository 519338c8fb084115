// Inline reductions: each a Func of its own over the free Vars of its value.

#include <fmt/format.h>

#include <algorithm>

#include "calotype/func.h"
#include "ir/limits.h"
#include "ir/typing.h"
#include "lang/contents.h"
#include "lang/definition.h"
#include "lang/errors.h"

namespace calotype {

namespace {

struct Reduction {
  const char* stem;  ///< name of those that have none
  Expr (*initial)(Type);
  Expr (*combine)(Expr, Expr);
};

constexpr Reduction kSum = {"sum", [](Type t) { return ir::make_zero(t); },
                            [](Expr a, Expr b) { return a + b; }};
constexpr Reduction kProduct = {"product", [](Type t) { return ir::make_one(t); },
                                [](Expr a, Expr b) { return a * b; }};
constexpr Reduction kMaximum = {"maximum", ir::lowest, [](Expr a, Expr b) { return max(a, b); }};
constexpr Reduction kMinimum = {"minimum", ir::highest, [](Expr a, Expr b) { return min(a, b); }};

/// The domain of the reduction; `value` uses it and no other.
std::shared_ptr<lang::RDomContents> domain_of_value(const Expr& value, const std::string& name) {
  const auto domains = lang::domains_in(value);
  if (domains.size() == 1) return domains[0];
  if (domains.empty()) {
    lang::refuse(fmt::format("the value of '{}' uses no RDom", name), name, value.str(),
                 "a value over one RDom, as sum(image(x + r.x(), y))");
  }
  lang::refuse(
      fmt::format("the value of '{}' uses the RDoms '{}' and '{}'", name, domains[0]->name, domains[1]->name),
      name, value.str(), "a value over one RDom, which may have several dimensions");
}

/// The free Vars of the value and of its domain's condition, in order of first use.
std::vector<Expr> free_vars(const Expr& value, const lang::RDomContents& domain) {
  std::vector<ir::SymbolPtr> vars = lang::vars_in(value);
  for (const ir::SymbolPtr& var : lang::vars_in(domain.predicate())) {
    if (std::find(vars.begin(), vars.end(), var) == vars.end()) vars.push_back(var);
  }
  std::vector<Expr> args;
  for (const ir::SymbolPtr& var : vars) args.push_back(ir::make_var(var));
  return args;
}

void require_numbers(const Expr& value, const char* what, const std::string& name) {
  ir::require_defined(value, what);
  if (value.type().is_bool())
    lang::refuse(fmt::format("'{}' reduces bools", name), name, value.str(), "numbers, as cast<int>(e)");
}

Expr reduce(const Reduction& reduction, const Expr& value, const std::string& name, bool numbered) {
  require_numbers(value, reduction.stem, name);
  const std::vector<Expr> args = free_vars(value, *domain_of_value(value, name));
  const auto func = lang::make_func(name, numbered);
  lang::commit(func, lang::define_pure(*func, func->state, args, {reduction.initial(value.type())}));
  FuncRef result(func, args);
  result = reduction.combine(result, value);
  return result;
}

/// Coordinates and value of the point that beats all others.
Tuple reduce_arg(const char* stem, Expr (*initial)(Type), Expr (*beats)(Expr, Expr), const Expr& value,
                 const std::string& name, bool numbered) {
  require_numbers(value, stem, name);
  const auto domain = domain_of_value(value, name);
  const std::vector<Expr> args = free_vars(value, *domain);
  std::vector<Expr> start, found;
  for (std::size_t d = 0; d < domain->axes.size(); ++d) {
    start.push_back(ir::index(0));
    found.push_back(ir::make_var(domain->symbol(d)));
  }
  start.push_back(initial(value.type()));
  found.push_back(value);
  const auto func = lang::make_func(name, numbered);
  lang::commit(func, lang::define_pure(*func, func->state, args, start));
  FuncRef result(func, args);
  const Tuple best = result;
  result = select(beats(value, best[best.size() - 1]), Tuple(found), best);
  return result;
}

Tuple arg_largest(const Expr& value, const std::string& name, bool numbered) {
  return reduce_arg("argmax", ir::lowest, [](Expr a, Expr b) { return a > b; }, value, name, numbered);
}

Tuple arg_smallest(const Expr& value, const std::string& name, bool numbered) {
  return reduce_arg("argmin", ir::highest, [](Expr a, Expr b) { return a < b; }, value, name, numbered);
}

}  // namespace

Expr sum(Expr value, const std::string& name) { return reduce(kSum, value, name, false); }
Expr product(Expr value, const std::string& name) { return reduce(kProduct, value, name, false); }
Expr maximum(Expr value, const std::string& name) { return reduce(kMaximum, value, name, false); }
Expr minimum(Expr value, const std::string& name) { return reduce(kMinimum, value, name, false); }
Expr sum(Expr value) { return reduce(kSum, value, kSum.stem, true); }
Expr product(Expr value) { return reduce(kProduct, value, kProduct.stem, true); }
Expr maximum(Expr value) { return reduce(kMaximum, value, kMaximum.stem, true); }
Expr minimum(Expr value) { return reduce(kMinimum, value, kMinimum.stem, true); }

Tuple argmax(Expr value, const std::string& name) { return arg_largest(value, name, false); }
Tuple argmin(Expr value, const std::string& name) { return arg_smallest(value, name, false); }
Tuple argmax(Expr value) { return arg_largest(value, "argmax", true); }
Tuple argmin(Expr value) { return arg_smallest(value, "argmin", true); }

}  // namespace calotype
