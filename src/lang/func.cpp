// Func and FuncRef: the handles by which a user defines functions.

#include "calotype/func.h"

#include <fmt/format.h>

#include "ir/typing.h"
#include "lang/contents.h"
#include "lang/definition.h"
#include "lang/errors.h"

namespace calotype {

namespace {

/// A use of the Func; it needs a definition, or the declaration of what a definition will be.
Expr call(const std::shared_ptr<lang::FuncContents>& func, std::vector<Expr> args, int component) {
  if (func->state.types.empty()) {
    lang::refuse(
        fmt::format("Func '{}' is used before it is defined", func->name), func->name, "",
        "its definition first, or a declaration of its type and rank, as Func(Float(32), 2, \"f\"); a pure "
        "definition does not read its own Func");
  }
  args = lang::coordinates("Func", func->name, *func->state.rank, std::move(args));
  const int components = static_cast<int>(func->state.types.size());
  if (component < 0 || component >= components)
    lang::refuse(fmt::format("Func '{}' has no component {}", func->name, component), func->name,
                 std::to_string(component), fmt::format("0 to {}", components - 1));
  return ir::make(ir::Op::Call, func->state.types[component], std::move(args),
                  lang::callee_of(func, component));
}

/// `func(args)[component] = value`; the other components keep their values.
void update_component(const std::shared_ptr<lang::FuncContents>& func, const std::vector<Expr>& args,
                      int component, Expr value) {
  ir::require_defined(value, "an update");
  const lang::FuncState& before = func->state;
  if (!before.defined())
    lang::refuse(fmt::format("component {} of '{}' is defined before the whole", component, func->name),
                 func->name, std::to_string(component),
                 fmt::format("a definition of all values first, as {}(x) = Tuple(a, b)", func->name));
  if (component < 0 || component >= static_cast<int>(before.types.size()))
    lang::refuse(fmt::format("Func '{}' has no component {}", func->name, component), func->name,
                 std::to_string(component), fmt::format("0 to {}", before.types.size() - 1));
  std::vector<Expr> values(before.types.size());
  values[component] = std::move(value);
  lang::commit(func, lang::define_update(*func, before, args, values));
}

}  // namespace

FuncRef::FuncRef(std::shared_ptr<lang::FuncContents> func, std::vector<Expr> args)
    : func_(std::move(func)), args_(std::move(args)) {}

FuncRef::operator Expr() const {
  if (const std::size_t n = func_->state.types.size(); n > 1)
    lang::refuse(fmt::format("Func '{}' has {} values at each point and is used as one", func_->name, n),
                 func_->name, "", fmt::format("one of them, as {}(...)[0]", func_->name));
  return call(func_, args_, 0);
}

FuncRef::operator Tuple() const {
  std::vector<Expr> values{call(func_, args_, 0)};
  for (int c = 1; c < static_cast<int>(func_->state.types.size()); ++c)
    values.push_back(call(func_, args_, c));
  return Tuple(std::move(values));
}

FuncComponent FuncRef::operator[](int component) const { return {func_, args_, component}; }

FuncRef& FuncRef::operator=(Expr value) { return *this = Tuple(std::vector<Expr>{std::move(value)}); }

FuncRef& FuncRef::operator=(const Tuple& values) {
  const lang::FuncState& before = func_->state;
  lang::commit(func_, before.defined() ? lang::define_update(*func_, before, args_, values.values())
                                       : lang::define_pure(*func_, before, args_, values.values()));
  return *this;
}

// NOLINTNEXTLINE(bugprone-unhandled-self-assignment): defines the Func as what `value` reads; copies nothing
FuncRef& FuncRef::operator=(const FuncRef& value) { return *this = static_cast<Tuple>(value); }

namespace {

/// `func(args) = func(args) op value`, after defining the Func as the operation's identity where it has none.
void accumulate(const std::shared_ptr<lang::FuncContents>& func, const std::vector<Expr>& args,
                const Expr& value, int identity, Expr (*op)(Expr, Expr)) {
  ir::require_defined(value, "an update");
  if (func->frozen) lang::commit(func, func->state);  // refuses
  lang::FuncState state = func->state;
  if (!state.defined()) {
    const Type type = state.types.empty() ? value.type() : state.types.front();
    if (type.is_bool()) {
      lang::refuse(fmt::format("'{}' accumulates bools", func->name), func->name, value.str(),
                   "numbers, as cast<int>(e)");
    }
    state = lang::define_constant(*func, state, args, ir::make_const(type, identity));
  }
  // The Callee of the read is replaced by the Func's own in the definition, so a detached one of the same
  // identity serves where the Func has no type yet.
  const auto coordinates = lang::coordinates("Func", func->name, *state.rank, args);
  if (state.types.size() > 1)
    lang::refuse(fmt::format("'{}' has {} values at each point, and one is accumulated", func->name,
                             state.types.size()),
                 func->name, value.str(), fmt::format("a component, as {}(...)[0] += ...", func->name));
  const Expr old = ir::make(ir::Op::Call, state.types[0], coordinates, lang::own_callee(func, state, 0));
  lang::commit(func, lang::define_update(*func, state, coordinates, {op(old, value)}));
}

}  // namespace

FuncRef& FuncRef::operator+=(Expr value) {
  accumulate(func_, args_, value, 0, [](Expr a, Expr b) { return std::move(a) + std::move(b); });
  return *this;
}
FuncRef& FuncRef::operator-=(Expr value) {
  accumulate(func_, args_, value, 0, [](Expr a, Expr b) { return std::move(a) - std::move(b); });
  return *this;
}
FuncRef& FuncRef::operator*=(Expr value) {
  accumulate(func_, args_, value, 1, [](Expr a, Expr b) { return std::move(a) * std::move(b); });
  return *this;
}

FuncComponent::FuncComponent(std::shared_ptr<lang::FuncContents> func, std::vector<Expr> args, int component)
    : func_(std::move(func)), args_(std::move(args)), component_(component) {}

FuncComponent::operator Expr() const { return call(func_, args_, component_); }

FuncComponent& FuncComponent::operator=(Expr value) {
  update_component(func_, args_, component_, std::move(value));
  return *this;
}
// NOLINTNEXTLINE(bugprone-unhandled-self-assignment): defines the Func as what `value` reads; copies nothing
FuncComponent& FuncComponent::operator=(const FuncComponent& value) {
  return *this = static_cast<Expr>(value);
}
FuncComponent& FuncComponent::operator+=(Expr value) {
  return *this = static_cast<Expr>(*this) + std::move(value);
}
FuncComponent& FuncComponent::operator-=(Expr value) {
  return *this = static_cast<Expr>(*this) - std::move(value);
}
FuncComponent& FuncComponent::operator*=(Expr value) {
  return *this = static_cast<Expr>(*this) * std::move(value);
}

Func::Func(const std::string& name) : contents_(lang::make_func(name)) {}

Func::Func(Type type, int rank, const std::string& name) : Func(std::vector<Type>{type}, rank, name) {}

Func::Func(const std::vector<Type>& types, int rank, const std::string& name)
    : contents_(lang::make_func(name)) {
  if (types.empty())
    lang::refuse(fmt::format("Func '{}' is declared with no values", name), name, "0", "one type or more");
  for (const Type& type : types)
    if (!type.is_scalar())
      lang::refuse(fmt::format("Func '{}' is declared as a vector", name), name, type.str(), "a scalar type");
  if (rank < 0)
    lang::refuse(fmt::format("Func '{}' is declared with rank {}", name, rank), name, std::to_string(rank),
                 "0 or more");
  contents_->state.types = types;
  contents_->state.rank = rank;
}

FuncRef Func::at(std::vector<Expr> args) const {
  if (contents_->state.rank && static_cast<int>(args.size()) != *contents_->state.rank) {
    args = lang::coordinates("Func", name(), *contents_->state.rank, std::move(args));
  }
  return {contents_, std::move(args)};
}

void Func::define_extern(const std::vector<Var>& args, const std::vector<Type>& types,
                         const ExternFunction& function, const std::vector<Expr>& reads,
                         const std::vector<Expr>& scalars) {
  const ir::Extern callee{.function = function, .types = types, .reads = reads.size()};
  lang::commit(contents_, lang::define_extern(*contents_, contents_->state, {args.begin(), args.end()},
                                              callee, reads, scalars));
}

const std::string& Func::name() const { return contents_->name; }
bool Func::defined() const { return contents_->state.defined(); }

namespace {

[[noreturn]] void refuse_undefined(const Func& func, const char* what) {
  lang::refuse(fmt::format("the {} of Func '{}' is asked for before it is defined", what, func.name()),
               func.name(), "", "a definition first, or a declaration of its type and rank");
}

}  // namespace

int Func::rank() const {
  if (!contents_->state.rank) refuse_undefined(*this, "rank");
  return *contents_->state.rank;
}
Type Func::type() const { return types().front(); }
const std::vector<Type>& Func::types() const {
  if (contents_->state.types.empty()) refuse_undefined(*this, "type");
  return contents_->state.types;
}
int Func::updates() const { return defined() ? static_cast<int>(contents_->state.stages.size()) - 1 : 0; }
std::vector<Var> Func::args() const {
  if (!defined()) refuse_undefined(*this, "arguments");
  std::vector<Var> vars;
  for (const ir::SymbolPtr& symbol : contents_->state.args) vars.emplace_back(symbol->name);
  return vars;
}

std::vector<Expr> Func::values() const {
  return defined() && !contents_->state.stages.front().function() ? contents_->state.stages.front().values()
                                                                  : std::vector<Expr>{};
}

namespace {

const lang::StageDef& update_of(const Func& func, int index) {
  if (index >= 0 && index < func.updates())
    return func.contents()->state.stages[static_cast<std::size_t>(index) + 1];
  throw Error({.kind = ErrorKind::Usage,
               .message = fmt::format("'{}' has no update {}", func.name(), index),
               .func = func.name(),
               .value = std::to_string(index),
               .legal = func.updates() == 0 ? "none: it has no updates"
                                            : fmt::format("0 to {}", func.updates() - 1)});
}

}  // namespace

std::vector<Expr> Func::update_args(int index) const { return update_of(*this, index).lhs; }
std::vector<Expr> Func::update_values(int index) const { return update_of(*this, index).values(); }

}  // namespace calotype
