#pragma once
// Definitions of a Func: each takes the state so far and gives the next one, or throws Error(Algorithm).

#include "lang/contents.h"

namespace calotype::lang {

/// The pure definition `func(args) = values`, one for each component. The args are distinct Vars.
FuncState define_pure(const FuncContents& func, const FuncState& before, const std::vector<Expr>& args,
                      const std::vector<Expr>& values);
/// An update `func(lhs) = values` of a Func with a pure definition. Components whose value is undefined keep
/// theirs.
FuncState define_update(const FuncContents& func, const FuncState& before, std::vector<Expr> lhs,
                        const std::vector<Expr>& values);
/// The definition `func(args) = function(reads, scalars)`, of values of these types.
FuncState define_extern(const FuncContents& func, const FuncState& before, const std::vector<Expr>& args,
                        const ir::Extern& function, const std::vector<Expr>& reads,
                        const std::vector<Expr>& scalars);
/// A Callee that stands for the Func itself in an update under construction; no definition keeps it.
ir::CalleePtr own_callee(const std::shared_ptr<FuncContents>& func, const FuncState& state, int component);
/// A pure definition as a constant, with an argument for each coordinate: the coordinate itself where it is a
/// Var, a fresh one elsewhere.
FuncState define_constant(const FuncContents& func, const FuncState& before, const std::vector<Expr>& lhs,
                          Expr value);

/// Makes `after` the state of the Func. Throws if the Func is frozen or would depend on itself.
void commit(const std::shared_ptr<FuncContents>& func, FuncState after);

/// Whether all are Vars, each another one.
bool distinct_vars(const std::vector<Expr>& args);
/// The domains whose coordinates an expression uses, in order of first use.
std::vector<std::shared_ptr<RDomContents>> domains_in(const Expr& e);
/// The Vars of an expression in order of first use.
std::vector<ir::SymbolPtr> vars_in(const Expr& e);

}  // namespace calotype::lang
