#pragma once
// The condition of a reduction domain, by what it takes to test it. A part that reads values is tested only
// where the others hold: an rfactor or a where() bounds coordinates that are then safe to read at.

#include <functional>

#include "lang/graph.h"

namespace calotype::lower {

/// Both together are the condition; either may be undefined.
struct DomainCondition {
  Expr plain;    ///< of coordinates and sizes alone: tested first
  Expr reading;  ///< with reads of Funcs and inputs: tested where `plain` holds
};
DomainCondition parts_of(const Expr& condition);

/// Calls `f` with each read of the stage and the condition known to hold where it is carried out: all of the
/// domain's (undefined if it has none), or for reads in that condition what is tested before.
void for_each_read(const lang::StageDef& stage,
                   const std::function<void(const Expr& call, const Expr& condition)>& f);

}  // namespace calotype::lower
