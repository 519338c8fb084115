#pragma once
// What the handles of the front end (Func, RDom, ImageParam) share.
//
// Ownership follows use: a Call's Callee keeps the definition that it refers to alive, so an Expr is complete
// in itself. Nothing owns itself: reads of a Func in its own updates carry a Callee without a definition, and
// a domain's condition refers to the domain's coordinates without owning them.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/expr_node.h"
#include "lang/graph.h"

namespace calotype::lang {

struct FuncContents;
struct RDomContents;

/// The definitions of a Func so far. A definition makes a new state and replaces the old one only when all is
/// well.
struct FuncState {
  std::vector<Type> types;  ///< declared or defined: of each component; empty: not known yet
  std::optional<int> rank;
  std::vector<ir::SymbolPtr> args;
  std::vector<StageDef> stages;  ///< Callees as the front end makes them; reductions not yet recognised
  std::vector<std::shared_ptr<FuncContents>> producers;  ///< Funcs that the stages call, without this one
  std::vector<ir::CalleePtr> self;  ///< by component: what reads of the Func in its own updates carry
  bool defined() const { return !stages.empty(); }
};

struct FuncContents {
  std::string name;
  bool numbered = false;     ///< an inline reduction without a name: each Pipeline numbers its own
  std::uint64_t serial = 0;  ///< order of creation
  FuncState state;
  std::atomic<bool> frozen = false;                      ///< a Pipeline was made from it
  std::vector<std::weak_ptr<const ir::Callee>> callees;  ///< by component, of those made so far
};

struct ImageContents {
  std::string name;
  Type type;
  std::vector<Expr> extents;
  std::weak_ptr<const ir::Callee> callee;
};

/// A Func without definitions. Names of numbered Funcs are only the stem.
std::shared_ptr<FuncContents> make_func(const std::string& name, bool numbered = false);
/// What a Call of the Func carries; one object for all Calls that are alive.
ir::CalleePtr callee_of(const std::shared_ptr<FuncContents>& func, int component = 0);
ir::CalleePtr callee_of(const std::shared_ptr<ImageContents>& image);
/// The Func that a Callee refers to; null for inputs and for own reads in an update.
std::shared_ptr<FuncContents> func_of(const ir::CalleePtr& callee);

/// A coordinate of a reduction domain: a Symbol that knows its domain.
struct RVarSymbol : ir::Symbol {
  RDomContents* domain = nullptr;
};

struct RDomContents : std::enable_shared_from_this<RDomContents> {
  struct Axis {
    RVarSymbol symbol;
    Expr min, extent;
  };
  std::string name;
  std::vector<Axis> axes;  ///< fixed once made: symbols are referred to by address
  Expr condition;          ///< in symbols that do not own the domain; undefined: always

  /// The symbol of an axis; keeps the domain alive.
  ir::SymbolPtr symbol(std::size_t axis) const { return {shared_from_this(), &axes[axis].symbol}; }
  /// The condition in symbols that own the domain.
  Expr predicate() const;
  std::vector<ReductionDim> dims() const;
};

/// The domain that a symbol of kind RVar belongs to.
std::shared_ptr<RDomContents> domain_of(const ir::SymbolPtr& symbol);

/// Coordinates as Int(64). Throws Error(Algorithm) for another number of them than `rank` and for those that
/// are no integers; `what` is "Func" or "input".
std::vector<Expr> coordinates(const char* what, const std::string& name, int rank, std::vector<Expr> args);

/// A size: an integer expression of constants, Dims and (if allowed) Params, as Int(64). Throws
/// Error(Algorithm).
Expr size_expr(const std::string& what, const std::string& owner, const Expr& e, bool params_allowed);

}  // namespace calotype::lang
