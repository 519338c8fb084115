// Questions that several passes ask of an expression.
#include "ir/questions.h"

namespace calotype::ir {

std::size_t size_up_to(const Expr& e, std::size_t most) {
  std::size_t size = 1;
  for (const Expr& a : e->args) {
    if (size > most) break;
    size += size_up_to(a, most - size);
  }
  return size;
}

bool reads_memory(const Expr& e) {
  return any_of(e, [](const Expr& n) { return info(n->op).group == OpGroup::memory; });
}

bool varies_in_a_call(const Expr& node) {
  if (is(node, Op::Call) || is(node, Op::Let) || is(node, Op::Require) || is(node, Op::Print)) return true;
  if (!is(node, Op::Variable)) return false;
  const SymbolKind kind = symbol_of(node)->kind;
  return kind != SymbolKind::Dim && kind != SymbolKind::Param;
}

}  // namespace calotype::ir
