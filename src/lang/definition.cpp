// Definitions of a Func: typing and checks.

#include "lang/definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/typing.h"
#include "lang/errors.h"
#include "lang/random.h"

namespace calotype::lang {

namespace {

bool is_symbol(const Expr& e, ir::SymbolKind kind) {
  return ir::is(e, ir::Op::Variable) && ir::symbol_of(e)->kind == kind;
}

std::string names_of(const std::vector<ir::SymbolPtr>& symbols) {
  std::vector<std::string> names;
  for (const ir::SymbolPtr& s : symbols) names.push_back(s->name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string left_side(const FuncContents& func, const std::vector<Expr>& lhs) {
  std::vector<std::string> texts;
  for (const Expr& e : lhs) texts.push_back(e.defined() ? e.str() : "?");
  return fmt::format("{}({})", func.name, fmt::join(texts, ", "));
}

void require_value(const FuncContents& func, const Expr& value) {
  if (!value.defined())
    refuse(fmt::format("the value of '{}' is undefined", func.name), func.name, "", "an expression");
}

/// A value as an element of the Func: literals take its type, narrower values widen as beside an operator.
Expr as_element(const FuncContents& func, Type type, const Expr& value) {
  require_value(func, value);
  if (value.type() == type) return value;
  if (ir::is_literal(value) && ir::adopts(value, type) && !type.is_bool()) {
    return ir::adopt("=", value, type, ir::make_zero(type));
  }
  const auto widens = [](Type t) { return !t.is_bool() && !t.is_float8(); };
  const bool numbers = widens(value.type()) && widens(type);
  if (numbers && ir::common_type(type, value.type()) == type) return ir::convert(type, value);
  refuse(fmt::format("'{}' has elements of type {} and is given a value of type {}", func.name, type.str(),
                     value.type().str()),
         func.name, value.str(), fmt::format("a value of type {}, or an explicit cast to it", type.str()));
}

void require_components(const FuncContents& func, const FuncState& state, std::size_t given) {
  if (given == state.types.size()) return;
  refuse(fmt::format("the values of '{}' have {} components, and it is defined with {}", func.name,
                     state.types.size(), given),
         func.name, std::to_string(given),
         state.types.size() == 1 ? "one value" : fmt::format("a Tuple of {}", state.types.size()));
}

void require_rank(const FuncContents& func, const FuncState& state, std::size_t given) {
  if (!state.rank || static_cast<int>(given) == *state.rank) return;
  refuse(
      fmt::format("'{}' has {} dimensions and is defined with {} coordinates", func.name, *state.rank, given),
      func.name, std::to_string(given), fmt::format("{} coordinates", *state.rank));
}

/// Own reads without ownership, so that a Func does not keep itself alive.
Expr detach_self(const FuncContents& func, const FuncState& state, const Expr& e) {
  return ir::rewrite(e, [&](const Expr& node) {
    if (!ir::is(node, ir::Op::Call)) return node;
    const ir::CalleePtr& callee = ir::callee_of(node);
    if (callee->kind != ir::CalleeKind::Func || callee->definition.get() != &func) return node;
    return ir::make(ir::Op::Call, node->type, node->args, state.self[callee->component]);
  });
}

void add_producers(FuncState& state, const StageDef& stage) {
  for (const ir::CalleePtr& callee : callees(stage)) {
    const auto producer = func_of(callee);
    if (!producer ||
        std::find(state.producers.begin(), state.producers.end(), producer) != state.producers.end()) {
      continue;
    }
    state.producers.push_back(producer);
  }
}

/// The dimensions of an update whose coordinate is the Func's own argument there.
std::vector<bool> pure_dims(const FuncState& state, const std::vector<Expr>& lhs) {
  std::vector<bool> pure(lhs.size());
  for (std::size_t d = 0; d < lhs.size(); ++d) {
    pure[d] = ir::is(lhs[d], ir::Op::Variable) && ir::symbol_of(lhs[d]) == state.args[d];
  }
  return pure;
}

void check_vars(const FuncContents& func, const std::vector<ir::SymbolPtr>& allowed, const Expr& e,
                const char* where) {
  for (const ir::SymbolPtr& var : vars_in(e)) {
    if (std::find(allowed.begin(), allowed.end(), var) != allowed.end()) continue;
    refuse(fmt::format("Var '{}' is used in {} of '{}' and is no coordinate of the left side", var->name,
                       where, func.name),
           func.name, var->name, fmt::format("Vars of the left side: {}", names_of(allowed)));
  }
}

/// An update's pure loops may run in any order, so a point may read its own Func only along itself.
void check_self_reads(const FuncContents& func, const FuncState& state, const StageDef& stage,
                      const std::vector<bool>& pure) {
  const auto check = [&](const Expr& node) {
    if (!ir::is(node, ir::Op::Call)) return;
    if (std::find(state.self.begin(), state.self.end(), ir::callee_of(node)) == state.self.end()) return;
    for (std::size_t d = 0; d < pure.size(); ++d) {
      if (!pure[d] || ir::equal(node->args[d], stage.lhs[d])) continue;
      const std::string var = state.args[d]->name;
      refuse(fmt::format("an update of '{}' over all '{}' reads '{}' at another '{}'", func.name, var,
                         node.str(), var),
             func.name, node->args[d].str(),
             fmt::format("'{}' itself in dimension {}, or an RDom in place of '{}' if the order matters", var,
                         d, var));
    }
  };
  ir::visit(stage.value, check);
  ir::visit(stage.predicate, check);
  for (const Expr& e : stage.lhs) ir::visit(e, check);
}

/// The domain that an update uses; null if none.
std::shared_ptr<RDomContents> one_domain(const FuncContents& func, const std::vector<Expr>& exprs) {
  std::vector<std::shared_ptr<RDomContents>> all;
  for (const Expr& e : exprs) {
    for (const auto& domain : domains_in(e)) {
      if (std::find(all.begin(), all.end(), domain) == all.end()) all.push_back(domain);
    }
  }
  if (all.size() > 1) {
    refuse(
        fmt::format("an update of '{}' uses the RDoms '{}' and '{}'", func.name, all[0]->name, all[1]->name),
        func.name, all[1]->name, "one RDom an update, which may have several dimensions");
  }
  return all.empty() ? nullptr : all[0];
}

void check_axis_names(const FuncContents& func, const FuncState& state, const StageDef& stage) {
  for (const ReductionDim& dim : stage.reduction) {
    for (const ir::SymbolPtr& arg : state.args) {
      if (arg->name != dim.name) continue;
      refuse(fmt::format("'{}' has both a Var and an RVar named '{}'", func.name, dim.name), func.name,
             dim.name, "an RDom of another name");
    }
  }
}

ir::Callee describe(const FuncContents& func, const FuncState& state, int component) {
  return {.kind = ir::CalleeKind::Func,
          .name = func.name,
          .component = component,
          .rank = *state.rank,
          .type = state.types[component]};
}

/// What a definition stores, and where.
struct Stored {
  Expr value;
  Expr condition;  ///< undefined: everywhere
};

/// Arms of selects that are undefined become the condition under which the others are stored.
Stored stored_part(const Expr& value) {
  if (ir::is(value, ir::Op::Undef))
    return {ir::make_typed(ir::make_zero(value->type)), ir::make_zero(Bool())};
  if (!ir::is(value, ir::Op::Select)) return {value, {}};
  const Expr& condition = value->args[0];
  const Stored yes = stored_part(value->args[1]), no = stored_part(value->args[2]);
  if (!yes.condition.defined() && !no.condition.defined()) return {value, {}};
  const auto where = [](const Stored& s) {
    return s.condition.defined() ? s.condition : ir::make_one(Bool());
  };
  const auto nowhere = [](const Stored& s) { return s.condition.defined() && ir::is_zero(s.condition); };
  if (nowhere(yes)) return {no.value, !condition && where(no)};
  if (nowhere(no)) return {yes.value, condition && where(yes)};
  return {select(condition, yes.value, no.value), (condition && where(yes)) || (!condition && where(no))};
}

/// The components of a definition, with what each stores.
struct Components {
  std::vector<Stored> each;  ///< an undefined value: the component keeps its own
  Expr condition;  ///< under which all are stored, if one condition holds for all; else each has its own
};

Components checked_values(const FuncContents& func, const std::vector<Expr>& values) {
  Components found;
  for (const Expr& value : values) {
    Stored stored = value.defined() ? stored_part(value) : Stored{};
    if (value.defined()) require_defined_throughout("the value", func.name, stored.value);
    if (stored.condition.defined())
      require_determined("where the value is stored", func.name, stored.condition);
    found.each.push_back(std::move(stored));
  }
  const Expr common = found.each.front().condition;
  for (const Stored& stored : found.each)
    if (!common.defined() || !stored.value.defined() || !stored.condition.defined() ||
        !ir::equal(common, stored.condition))
      return found;
  found.condition = common;
  for (Stored& stored : found.each) stored.condition = {};
  return found;
}

/// Loops of reductions are made once, before the Func's own coordinates have values.
StageDef make_stage(const FuncContents& func, FuncState& state, std::vector<Expr> lhs,
                    const Components& components) {
  StageDef stage;
  std::vector<Expr> all = lhs;
  if (components.condition.defined()) all.push_back(components.condition);
  for (const Stored& stored : components.each)
    for (const Expr& e : {stored.value, stored.condition})
      if (e.defined()) all.push_back(e);
  if (const auto domain = one_domain(func, all)) {
    stage.reduction = domain->dims();
    stage.predicate = domain->predicate();
  }
  if (components.condition.defined())
    stage.predicate =
        stage.predicate.defined() ? stage.predicate && components.condition : components.condition;
  for (int c = static_cast<int>(state.self.size()); c < static_cast<int>(state.types.size()); ++c)
    state.self.push_back(std::make_shared<const ir::Callee>(describe(func, state, c)));
  for (Expr& e : lhs) e = detach_self(func, state, e);
  stage.lhs = std::move(lhs);
  std::vector<Expr> values;
  for (std::size_t c = 0; c < components.each.size(); ++c) {
    const auto& [value, condition] = components.each[c];
    const Expr own = ir::make(ir::Op::Call, state.types[c], stage.lhs, state.self[c]);
    const Expr next = value.defined() ? detach_self(func, state, value) : own;
    values.push_back(condition.defined() ? select(detach_self(func, state, condition), next, own) : next);
  }
  stage.value = ir::joined(values);
  if (stage.predicate.defined()) stage.predicate = detach_self(func, state, stage.predicate);
  return stage;
}

/// A path of Funcs from `from` to `to` through producers, without those already seen.
bool find_path(const FuncContents* from, const FuncContents* to, std::set<const FuncContents*>& seen,
               std::vector<std::string>& path) {
  path.push_back(from->name);
  if (from == to) return true;
  for (const auto& producer : from->state.producers) {
    if (seen.insert(producer.get()).second && find_path(producer.get(), to, seen, path)) return true;
  }
  path.pop_back();
  return false;
}

}  // namespace

bool distinct_vars(const std::vector<Expr>& args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!is_symbol(args[i], ir::SymbolKind::Var)) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (ir::symbol_of(args[i]) == ir::symbol_of(args[j])) return false;
    }
  }
  return true;
}

std::vector<std::shared_ptr<RDomContents>> domains_in(const Expr& e) {
  std::vector<std::shared_ptr<RDomContents>> domains;
  if (!e.defined()) return domains;
  for (const ir::SymbolPtr& symbol : ir::free_symbols(e)) {
    if (symbol->kind != ir::SymbolKind::RVar) continue;
    auto domain = domain_of(symbol);
    if (std::find(domains.begin(), domains.end(), domain) == domains.end())
      domains.push_back(std::move(domain));
  }
  return domains;
}

std::vector<ir::SymbolPtr> vars_in(const Expr& e) {
  if (!e.defined()) return {};
  std::vector<ir::SymbolPtr> vars = ir::free_symbols(e);
  std::erase_if(vars, [](const ir::SymbolPtr& s) { return s->kind != ir::SymbolKind::Var; });
  return vars;
}

namespace {

/// The values as elements of the Func, which they define where it has no types yet.
std::vector<Expr> as_elements(const FuncContents& func, FuncState& state, const std::vector<Expr>& values) {
  if (state.types.empty()) {
    for (const Expr& value : values) {
      require_value(func, value);
      if (!value.type().is_scalar())
        refuse(fmt::format("the value of '{}' is a vector", func.name), func.name, value.type().str(),
               "a scalar");
      state.types.push_back(value.type());
    }
    return values;
  }
  require_components(func, state, values.size());
  std::vector<Expr> elements;
  for (std::size_t c = 0; c < values.size(); ++c)
    elements.push_back(as_element(func, state.types[c], values[c]));
  return elements;
}

}  // namespace

FuncState define_pure(const FuncContents& func, const FuncState& before, const std::vector<Expr>& args,
                      const std::vector<Expr>& values) {
  if (!distinct_vars(args)) {
    refuse(
        fmt::format("the first definition of '{}' is on coordinates that are not distinct Vars", func.name),
        func.name, left_side(func, args),
        "a pure definition on distinct Vars first, as f(x, y) = 0; then updates");
  }
  require_rank(func, before, args.size());
  FuncState after = before;
  after.rank = static_cast<int>(args.size());
  for (const Expr& arg : args) after.args.push_back(ir::symbol_of(arg));
  for (const Expr& value : values) require_value(func, value);
  const Components components = checked_values(func, values);
  std::vector<Expr> stored;
  for (const Stored& component : components.each) {
    if (component.condition.defined())
      refuse(fmt::format("a component of the pure definition of '{}' is undefined where another has a value",
                         func.name),
             func.name, component.condition.str(), "undef for all components alike, or values");
    if (const auto domains = domains_in(component.value); !domains.empty()) {
      refuse(fmt::format("the pure definition of '{}' uses the RDom '{}'", func.name, domains[0]->name),
             func.name, component.value.str(), "an update, or an inline reduction as sum(e)");
    }
    check_vars(func, after.args, component.value, "the value");
    stored.push_back(component.value);
  }
  check_vars(func, after.args, components.condition, "the value");
  StageDef stage;
  stage.lhs = args;
  stage.value = ir::joined(as_elements(func, after, stored));
  stage.predicate = components.condition;
  add_producers(after, stage);
  after.stages.push_back(std::move(stage));
  return after;
}

FuncState define_update(const FuncContents& func, const FuncState& before, std::vector<Expr> lhs,
                        const std::vector<Expr>& values) {
  if (const ir::Extern* function = before.stages.front().function())
    refuse(fmt::format("'{}' is computed by the function '{}' and has no updates", func.name,
                       function->function.name),
           func.name, left_side(func, lhs), "a Func of its own that reads it");
  FuncState after = before;
  lhs = coordinates("Func", func.name, *before.rank, std::move(lhs));
  for (const Expr& e : lhs) require_determined("a coordinate of an update", func.name, e);
  require_components(func, before, values.size());
  if (values.size() == 1) require_value(func, values.front());
  Components components = checked_values(func, values);
  for (std::size_t c = 0; c < values.size(); ++c)
    if (Expr& value = components.each[c].value; value.defined())
      value = as_element(func, before.types[c], value);
  StageDef stage = make_stage(func, after, std::move(lhs), components);

  const std::vector<bool> pure = pure_dims(after, stage.lhs);
  std::vector<ir::SymbolPtr> allowed;
  for (std::size_t d = 0; d < pure.size(); ++d) {
    if (pure[d]) allowed.push_back(after.args[d]);
  }
  for (const Expr& e : stage.lhs) check_vars(func, allowed, e, "a coordinate of an update");
  check_vars(func, allowed, stage.value, "the value of an update");
  check_vars(func, allowed, stage.predicate, "the condition of an update");
  check_axis_names(func, after, stage);
  check_self_reads(func, after, stage, pure);
  add_producers(after, stage);
  after.stages.push_back(std::move(stage));
  return after;
}

ir::CalleePtr own_callee(const std::shared_ptr<FuncContents>& func, const FuncState& state, int component) {
  ir::Callee callee = describe(*func, state, component);
  callee.definition = func;
  return std::make_shared<const ir::Callee>(std::move(callee));
}

FuncState define_constant(const FuncContents& func, const FuncState& before, const std::vector<Expr>& lhs,
                          Expr value) {
  std::set<std::string> taken;
  for (const Expr& e : lhs) {
    if (!e.defined()) continue;
    for (const ir::SymbolPtr& symbol : ir::free_symbols(e)) taken.insert(symbol->name);
  }
  std::vector<Expr> args;
  for (std::size_t i = 0; i < lhs.size(); ++i) {
    std::vector<Expr> with_this = args;
    with_this.push_back(lhs[i]);
    if (distinct_vars(with_this)) {
      args.push_back(lhs[i]);
      continue;
    }
    std::string name = fmt::format("_{}", i);
    while (taken.contains(name)) name += '_';
    args.push_back(ir::make_var(ir::var_symbol(name)));
  }
  return define_pure(func, before, args, {std::move(value)});
}

void commit(const std::shared_ptr<FuncContents>& func, FuncState after) {
  if (func->frozen) {
    refuse(fmt::format("'{}' is changed after a Pipeline was made from it", func->name), func->name, "",
           "all definitions before the Pipeline, or another Func");
  }
  for (const auto& producer : after.producers) {
    std::set<const FuncContents*> seen;
    std::vector<std::string> path{func->name};
    if (!find_path(producer.get(), func.get(), seen, path)) continue;
    refuse(fmt::format("the definition of '{}' depends on itself", func->name), func->name,
           fmt::format("{}", fmt::join(path, " -> ")),
           "no cycle: only an update may read its own Func, and only directly");
  }
  func->state = std::move(after);
}

}  // namespace calotype::lang
