#pragma once
// The algorithm: Var, Dim, RDom, Func. What is computed, with nothing about how.

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "calotype/error.h"
#include "calotype/expr.h"
#include "calotype/extern.h"
#include "calotype/tuple.h"

namespace calotype {

namespace ir {
struct Symbol;
using SymbolPtr = std::shared_ptr<const Symbol>;
}  // namespace ir
namespace lang {
struct FuncContents;
struct RDomContents;
}  // namespace lang

/// A free coordinate. Two Vars of one name are the same coordinate. Type Int(64).
class Var {
 public:
  explicit Var(const std::string& name);
  const std::string& name() const;
  operator Expr() const;
  const ir::SymbolPtr& symbol() const { return symbol_; }

 private:
  ir::SymbolPtr symbol_;
};

/// A named size, bound when a kernel is called: the extent of an input or output dimension, a reduction
/// bound. Each Dim object (and its copies) is one size; names are unique in a Pipeline. Type Int(64), at
/// least 0.
class Dim {
 public:
  explicit Dim(const std::string& name);
  const std::string& name() const;
  operator Expr() const;
  const ir::SymbolPtr& symbol() const { return symbol_; }

 private:
  ir::SymbolPtr symbol_;
};

/// A scalar argument of a Pipeline, given at each call.
class Param {
 public:
  /// `initial` is what `run` uses where the caller gives none; it must fit the type.
  Param(Type type, const std::string& name, std::optional<double> initial = std::nullopt);
  const std::string& name() const;
  Type type() const;
  std::optional<double> initial() const { return initial_; }
  /// The same Param, with values in [low, high] alone: known to the compiler, and checked at each call
  /// (Error(Argument)); NaN is in no range. Error(Algorithm) if no value of the type is in it, an end is no
  /// finite number or none that the type holds, or `initial` lies outside.
  Param range(double low, double high) const;
  std::optional<double> low() const { return low_; }
  std::optional<double> high() const { return high_; }
  operator Expr() const;
  const ir::SymbolPtr& symbol() const { return symbol_; }

 private:
  ir::SymbolPtr symbol_;
  std::optional<double> initial_, low_, high_;
};

/// One coordinate of a reduction domain. Its name differs from the arguments of the Func that uses it.
class RVar {
 public:
  /// A loop name for schedules only (as in `split(k, ko, ki, 8)`), not a coordinate of an algorithm.
  explicit RVar(const std::string& name) : name_(name) {}
  RVar(const std::string& name, ir::SymbolPtr symbol) : name_(name), symbol_(std::move(symbol)) {}
  const std::string& name() const { return name_; }
  /// The coordinate; throws Error(Algorithm) for an RVar that is only a name.
  operator Expr() const;

 private:
  std::string name_;
  ir::SymbolPtr symbol_;
};

/// A reduction domain: a box of coordinates visited in order, the first dimension innermost. Its ranges are
/// integer expressions of constants, Dims and Params. An update takes the domain as it is when the update is
/// written.
class RDom {
 public:
  /// One dimension [min, min + extent), named `name`.
  RDom(Expr min, Expr extent, const std::string& name);
  /// Several dimensions {min, extent}, named name.x, name.y, name.z, name.w (further ones name.4 and on);
  /// or with the names given.
  RDom(const std::vector<std::pair<Expr, Expr>>& ranges, const std::string& name);
  RDom(const std::vector<std::pair<Expr, Expr>>& ranges, const std::vector<std::string>& names);
  RDom(const std::vector<std::pair<Expr, Expr>>& ranges, std::initializer_list<const char*> names);

  /// Visit only the points where the condition holds (conditions accumulate). It may use the domain's
  /// coordinates, Vars of the left side, and values; where it is false nothing of the update is read or
  /// written.
  void where(Expr condition);

  int dimensions() const;
  RVar operator[](int i) const;
  RVar x() const { return (*this)[0]; }
  RVar y() const { return (*this)[1]; }
  RVar z() const { return (*this)[2]; }
  /// A domain of one dimension is its coordinate.
  operator Expr() const;
  operator RVar() const;
  const std::shared_ptr<lang::RDomContents>& contents() const { return contents_; }

 private:
  std::shared_ptr<lang::RDomContents> contents_;
};

/// `f(x, y)[i]`: one value of a Func with several, as an Expr or as the left side of an update that leaves
/// the other values at that point as they are.
class FuncComponent {
 public:
  FuncComponent(std::shared_ptr<lang::FuncContents> func, std::vector<Expr> args, int component);
  /// An update; the Func has a pure definition already.
  FuncComponent& operator=(Expr value);
  FuncComponent& operator=(const FuncComponent& value);
  FuncComponent(const FuncComponent&) = default;
  FuncComponent& operator+=(Expr value);
  FuncComponent& operator-=(Expr value);
  FuncComponent& operator*=(Expr value);
  operator Expr() const;

 private:
  std::shared_ptr<lang::FuncContents> func_;
  std::vector<Expr> args_;
  int component_;
};

/// `f(x, y)`: a use of a Func as an Expr (or Tuple), or the left side of a definition.
class FuncRef {
 public:
  FuncRef(std::shared_ptr<lang::FuncContents> func, std::vector<Expr> args);
  /// The pure definition if the Func has none (all arguments are then distinct Vars); else an update.
  ///
  /// The value becomes an element as an operand of an operator would: literals take the Func's type, narrower
  /// values widen; any other type needs an explicit cast. In an update a coordinate that is the Func's own
  /// Var there is a pure dimension; other Vars are not allowed, and reads of the Func itself have the same
  /// Var in that dimension (use an RDom where the order matters). A definition that would make the Func
  /// depend on itself through others is an error that names the path.
  FuncRef& operator=(Expr value);
  /// All values at once: a definition of a Func whose values are Tuples, or an update. In an update every
  /// value is computed from what was there before.
  FuncRef& operator=(const Tuple& values);
  FuncRef& operator=(const FuncRef& value);
  FuncRef(const FuncRef&) = default;
  /// Updates. On a Func without a definition they first define it as the identity (0, or 1 for *=), with a
  /// pure argument for each coordinate (in place of an RVar or expression in dimension i: `_i`).
  FuncRef& operator+=(Expr value);
  FuncRef& operator-=(Expr value);
  FuncRef& operator*=(Expr value);
  /// The value; of a Func with several, an error that names them.
  operator Expr() const;
  /// All values; of a Func with one, a Tuple of that one.
  operator Tuple() const;
  FuncComponent operator[](int component) const;

 private:
  std::shared_ptr<lang::FuncContents> func_;
  std::vector<Expr> args_;
};

/// A pure function over integer coordinates with optional ordered updates.
/// A name may be defined once; updates follow in program order. Once a Pipeline was made from it a Func can
/// no longer be changed.
class Func {
 public:
  /// Names: letters, digits, '_' and '.', starting with a letter or '_'.
  explicit Func(const std::string& name);
  /// Declares element type and rank; a definition that differs is an error.
  Func(Type type, int rank, const std::string& name);
  /// The same for a Func whose values are Tuples.
  Func(const std::vector<Type>& types, int rank, const std::string& name);

  template <class... Args>
  FuncRef operator()(Args&&... args) const {
    return at({Expr(std::forward<Args>(args))...});
  }
  FuncRef at(std::vector<Expr> args) const;
  FuncRef operator()(std::vector<Expr> args) const { return at(std::move(args)); }

  /// Defines the Func by a function that computes its values box by box: at `args`, of these element types
  /// (several: the values are Tuples).
  ///
  /// `reads` says of what: uses of Funcs and inputs at coordinates in terms of `args`, of one RDom's
  /// coordinates, of sizes and Params, as a definition would write them. A stencil of three columns reads
  /// g(x - 1, y), g(x, y) and g(x + 1, y); a transform of rows reads g(r, y) for an RDom r over the row. The
  /// function is given, for each Func and input among them in the order of first use, a buffer with at least
  /// the elements that the box of values reads by them: one for each value that is read of a Func of several.
  /// `scalars` are values of sizes and Params, passed on.
  ///
  /// The Func has no updates, and neither it nor what it reads is computed inline; its stage has no loops, so
  /// that of directives those on places and storage apply. Host targets alone: elsewhere compile refuses it.
  /// A function that fails ends the call with Error(Argument), which names the Func, the function and the
  /// number returned. Error(Algorithm) for a Func that is defined already or of another rank or types, no
  /// function, and reads or scalars that are none.
  void define_extern(const std::vector<Var>& args, const std::vector<Type>& types,
                     const ExternFunction& function, const std::vector<Expr>& reads,
                     const std::vector<Expr>& scalars = {});

  const std::string& name() const;
  bool defined() const;
  int rank() const;
  /// Of the values; of the first component where there are several.
  Type type() const;
  const std::vector<Type>& types() const;
  int updates() const;
  std::vector<Var> args() const;
  /// The values of the pure definition, one for each component, in terms of `args()`; none if the Func has no
  /// definition, or one by a function.
  std::vector<Expr> values() const;
  /// Of update `index`, from 0: the coordinates that it writes, and the values, where a component that it
  /// leaves as it is has its own read. Error(Usage) where there is no such update.
  std::vector<Expr> update_args(int index) const;
  std::vector<Expr> update_values(int index) const;
  const std::shared_ptr<lang::FuncContents>& contents() const { return contents_; }

 private:
  friend class FuncRef;
  std::shared_ptr<lang::FuncContents> contents_;
};

/// Inline reductions over the RDom that `value` uses. Each is a Func of its own named `name`, whose arguments
/// are the free Vars of `value` in order of first use, so that a schedule can reach it. `value` may use one
/// RDom only. The element type is that of `value`; an empty domain gives 0, 1, the lowest or the highest
/// value of the type (for floats an infinity).
Expr sum(Expr value, const std::string& name);
Expr product(Expr value, const std::string& name);
Expr maximum(Expr value, const std::string& name);
Expr minimum(Expr value, const std::string& name);
/// Without a name: each Pipeline names its own "sum", "sum.1" and on, in the order in which they were
/// written.
Expr sum(Expr value);
Expr product(Expr value);
Expr maximum(Expr value);
Expr minimum(Expr value);

/// Where `value` is largest (or smallest) over its RDom: the coordinates in the RDom, one for each of its
/// dimensions (Int(64)), then the value. Of equal ones the first in the RDom's order; a NaN is never chosen.
/// Where there is nothing to choose from: zeros, then the lowest (or highest) value of the type.
Tuple argmax(Expr value, const std::string& name);
Tuple argmin(Expr value, const std::string& name);
Tuple argmax(Expr value);
Tuple argmin(Expr value);

}  // namespace calotype
