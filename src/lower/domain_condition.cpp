// Conditions of reduction domains, taken apart.
#include "lower/domain_condition.h"

#include "ir/expr_node.h"
#include "lower/loop_tree.h"

namespace calotype::lower {

namespace {

void add(Expr& all, const Expr& part) { all = all.defined() ? all && part : part; }

void take_apart(const Expr& condition, DomainCondition& parts) {
  if (ir::is(condition, ir::Op::And)) {
    for (const Expr& side : condition->args) take_apart(side, parts);
    return;
  }
  const bool reads = ir::any_of(condition, [](const Expr& n) { return ir::is(n, ir::Op::Call); });
  add(reads ? parts.reading : parts.plain, condition);
}

}  // namespace

DomainCondition parts_of(const Expr& condition) {
  DomainCondition parts;
  if (condition.defined()) take_apart(condition, parts);
  return parts;
}

void for_each_read(const lang::StageDef& stage,
                   const std::function<void(const Expr& call, const Expr& condition)>& f) {
  lang::StageDef inside = stage;
  inside.predicate = {};
  for (const Expr& call : calls_in(inside)) f(call, stage.predicate);
  const DomainCondition parts = parts_of(stage.predicate);
  if (!parts.reading.defined()) return;
  lang::StageDef condition;
  condition.predicate = parts.reading;
  for (const Expr& call : calls_in(condition)) f(call, parts.plain);
}

}  // namespace calotype::lower
