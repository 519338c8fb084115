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
Expr call(const std::shared_ptr<lang::FuncContents>& func, std::vector<Expr> args) {
  if (!func->state.type) {
    lang::refuse(
        fmt::format("Func '{}' is used before it is defined", func->name), func->name, "",
        "its definition first, or a declaration of its type and rank, as Func(Float(32), 2, \"f\"); a pure "
        "definition does not read its own Func");
  }
  args = lang::coordinates("Func", func->name, *func->state.rank, std::move(args));
  return ir::make(ir::Op::Call, *func->state.type, std::move(args), lang::callee_of(func));
}

}  // namespace

FuncRef::FuncRef(std::shared_ptr<lang::FuncContents> func, std::vector<Expr> args)
    : func_(std::move(func)), args_(std::move(args)) {}

FuncRef::operator Expr() const { return call(func_, args_); }

FuncRef& FuncRef::operator=(Expr value) {
  const lang::FuncState& before = func_->state;
  lang::commit(func_, before.defined() ? lang::define_update(*func_, before, args_, std::move(value))
                                       : lang::define_pure(*func_, before, args_, std::move(value)));
  return *this;
}

// NOLINTNEXTLINE(bugprone-unhandled-self-assignment): defines the Func as what `value` reads; copies nothing
FuncRef& FuncRef::operator=(const FuncRef& value) { return *this = static_cast<Expr>(value); }

namespace {

/// `func(args) = func(args) op value`, after defining the Func as the operation's identity where it has none.
void accumulate(const std::shared_ptr<lang::FuncContents>& func, const std::vector<Expr>& args,
                const Expr& value, int identity, Expr (*op)(Expr, Expr)) {
  ir::require_defined(value, "an update");
  if (func->frozen) lang::commit(func, func->state);  // refuses
  lang::FuncState state = func->state;
  if (!state.defined()) {
    const Type type = state.type.value_or(value.type());
    if (type.is_bool()) {
      lang::refuse(fmt::format("'{}' accumulates bools", func->name), func->name, value.str(),
                   "numbers, as cast<int>(e)");
    }
    state = lang::define_constant(*func, state, args, ir::make_const(type, identity));
  }
  // The Callee of the read is replaced by the Func's own in the definition, so a detached one of the same
  // identity serves where the Func has no type yet.
  const auto coordinates = lang::coordinates("Func", func->name, *state.rank, args);
  const auto callee = std::make_shared<const ir::Callee>(ir::Callee{.kind = ir::CalleeKind::Func,
                                                                    .name = func->name,
                                                                    .rank = *state.rank,
                                                                    .type = *state.type,
                                                                    .definition = func});
  const Expr old = ir::make(ir::Op::Call, *state.type, coordinates, callee);
  lang::commit(func, lang::define_update(*func, state, coordinates, op(old, value)));
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

Func::Func(const std::string& name) : contents_(lang::make_func(name)) {}

Func::Func(Type type, int rank, const std::string& name) : contents_(lang::make_func(name)) {
  if (!type.is_scalar())
    lang::refuse(fmt::format("Func '{}' is declared as a vector", name), name, type.str(), "a scalar type");
  if (rank < 0)
    lang::refuse(fmt::format("Func '{}' is declared with rank {}", name, rank), name, std::to_string(rank),
                 "0 or more");
  contents_->state.type = type;
  contents_->state.rank = rank;
}

FuncRef Func::at(std::vector<Expr> args) const {
  if (contents_->state.rank && static_cast<int>(args.size()) != *contents_->state.rank) {
    args = lang::coordinates("Func", name(), *contents_->state.rank, std::move(args));
  }
  return {contents_, std::move(args)};
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
Type Func::type() const {
  if (!contents_->state.type) refuse_undefined(*this, "type");
  return *contents_->state.type;
}
int Func::updates() const { return defined() ? static_cast<int>(contents_->state.stages.size()) - 1 : 0; }
std::vector<Var> Func::args() const {
  if (!defined()) refuse_undefined(*this, "arguments");
  std::vector<Var> vars;
  for (const ir::SymbolPtr& symbol : contents_->state.args) vars.emplace_back(symbol->name);
  return vars;
}

}  // namespace calotype
