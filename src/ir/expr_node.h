#pragma once
// The one node type of expressions. Nodes are immutable and shared; a structural hash is computed when a node
// is made, so comparing unequal trees is cheap. Adding an operation: one line in ops.def, its typing rule in
// `make`'s callers, its folding in simplify, its text in each code generator.

#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "calotype/extern.h"
#include "ir/symbol.h"

namespace calotype::ir {

enum class Op : std::uint8_t {
#define OP(name, arity, text, group) name,
#include "ir/ops.def"
#undef OP
};

enum class OpGroup : std::uint8_t { leaf, arith, compare, logic, bits, misc, math, memory, vector };

struct OpInfo {
  const char* name;
  int arity;
  const char* text;
  OpGroup group;
};
const OpInfo& info(Op op);

using TextPtr = std::shared_ptr<const std::string>;

/// What computes the values of an extern stage.
struct Extern {
  ExternFunction function;
  std::vector<Type> types;  ///< of the values
  std::size_t reads = 0;    ///< how many operands, from the first, are reads; the others are scalars
};
using ExternPtr = std::shared_ptr<const Extern>;

using Attr =
    std::variant<std::monostate, std::int64_t, double, SymbolPtr, CalleePtr, BufferPtr, TextPtr, ExternPtr>;

struct ExprNode {
  Op op;
  Type type;
  std::uint64_t hash;  ///< of the structure: op, type, attr identity, operands
  Attr attr;
  std::vector<Expr> args;
  /// Const only: made by an explicit cast, so it keeps its type beside other operands (a literal takes
  /// theirs). No part of the structure.
  bool typed = false;
};

/// A node as given, with no checking of types beyond the arity. `make` is the only constructor of nodes.
Expr make(Op op, Type type, std::vector<Expr> args, Attr attr = {});

// Leaves
// (of a vector type: a Broadcast)
Expr make_int(Type type, std::int64_t value);  ///< wraps to the type; for UInt(64) the bits of the int64
Expr make_float(Type type, double value);      ///< rounds to the type
Expr make_typed(const Expr& constant);         ///< the same constant as an explicit cast leaves it
Expr make_zero(Type type);
Expr make_one(Type type);
Expr make_const(Type type, double value);  ///< integer or float constant; broadcast if the type is a vector
Expr make_var(const SymbolPtr& symbol);
/// Several values as one Tuple; one value as it is.
Expr joined(const std::vector<Expr>& values);
inline Expr index(std::int64_t value) { return make_int(Int(64), value); }

// Accessors: what a node is
inline bool is(const Expr& e, Op op) { return e.defined() && e->op == op; }
inline bool is_const(const Expr& e) { return is(e, Op::Const); }
std::optional<std::int64_t> as_int(
    const Expr& e);  ///< value of an integer or bool constant (or broadcast of one)
std::optional<double> as_float(const Expr& e);  ///< value of a float constant (or broadcast of one)
bool is_int(const Expr& e, std::int64_t value);
bool is_zero(const Expr& e);  ///< 0, false or +0.0
bool is_one(const Expr& e);
const SymbolPtr& symbol_of(const Expr& e);  ///< of a Variable or Let
const CalleePtr& callee_of(const Expr& e);  ///< of a Call
const BufferPtr& buffer_of(const Expr& e);  ///< of a Load or LoadIf
const TextPtr& text_of(const Expr& e);      ///< of a Require or Print
const ExternPtr& extern_of(const Expr& e);  ///< of an Extern

// Structure
bool equal(const Expr& a, const Expr& b);  ///< same structure; symbols, callees and buffers by identity
bool equal(const std::vector<Expr>& a, const std::vector<Expr>& b);
/// Total order by structure, deterministic across runs.
int compare(const Expr& a, const Expr& b);

// Visiting
/// The same node with other operands; returns `e` itself if none differs.
Expr with_args(const Expr& e, std::vector<Expr> args);
/// Apply `f` to each operand and rebuild if any changed.
Expr map_args(const Expr& e, const std::function<Expr(const Expr&)>& f);
/// Bottom-up rewriting: operands first, then `f` on the rebuilt node. Shared nodes are rewritten once.
Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& f);
/// Every node once, operands before users; shared nodes once.
void visit(const Expr& e, const std::function<void(const Expr&)>& f);
/// Replace variables by expressions of the same type. Shared nodes are rewritten once. Symbols are unique, so
/// nothing is captured.
using Substitution = std::vector<std::pair<SymbolPtr, Expr>>;
Expr substitute(const Expr& e, const Substitution& map);
bool uses(const Expr& e, const SymbolPtr& symbol);
bool any_of(const Expr& e, const std::function<bool(const Expr&)>& f);
std::vector<SymbolPtr> free_symbols(
    const Expr& e);  ///< in order of first use; without those that a Let inside binds

/// Readable text with minimal parentheses.
std::string to_string(const Expr& e);

/// Fold one operation on constants by the semantics of the language (used by the simplifier, the evaluator
/// and the simulator alike). Operands are scalar constants; returns undefined if the op has no constant
/// folding.
Expr fold(Op op, Type type, const std::vector<Expr>& constants);

}  // namespace calotype::ir
