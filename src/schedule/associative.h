#pragma once
// Proof that an update is an associative reduction: f(p) = combine(f(p), terms), where combining partial
// results, in the order of the RDom, gives what the update gives. What rfactor rests on.

#include <string>
#include <vector>

#include "ir/symbol.h"
#include "lang/graph.h"

namespace calotype::schedule {

struct Associative {
  /// By component. The identity: combining with it changes nothing.
  std::vector<Expr> terms, identity;
  /// The combination in terms of the symbols `left` (the earlier partial result) and `right`.
  std::vector<ir::SymbolPtr> left, right;
  std::vector<Expr> combined;
  bool commutative = true;  ///< partial results may be combined in any order
  /// Float results depend on how terms are grouped: rounding, and which of two zeros is the larger.
  bool regroups_floats = false;
  std::string unproved;  ///< why not; empty: proved

  /// The combination of the values of two partial results.
  Expr combine(const std::vector<Expr>& earlier, const std::vector<Expr>& later) const;
};

/// Recognised, component by component: f op term with op one of + * min max & | ^ && ||; the same where a
/// select keeps f or chooses the term, as in select(c, min(f, t), f); a component that keeps its value; and
/// components chosen together by one comparison of a term with its component, as in argmax: select(term >
/// f[k], term_j, f[j]) for each of them, where [k] is chosen likewise or is the min or max.
Associative prove_associative(const lang::FuncDef& func, const lang::StageDef& stage);

}  // namespace calotype::schedule
