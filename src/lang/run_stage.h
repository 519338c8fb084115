#pragma once
// Running a stage's bytecode over its loops.

#include "lang/bytecode.h"
#include "lang/storage.h"

namespace calotype::lang {

/// All values by the Callees' indices; those of a Func by component.
struct Stores {
  std::vector<Storage> inputs;
  std::vector<std::vector<Storage>> funcs;
  const Storage& of(const ir::Callee& callee) const {
    return callee.kind == ir::CalleeKind::Func ? funcs[callee.index][callee.component] : inputs[callee.index];
  }
};

/// Computes one stage of a Func into its storage. Pure loops are outside the reduction loops, whose dimension
/// 0 is innermost; points along one pure dimension, which do not depend on each other, are computed together.
void run_stage(const FuncDef& func, int stage, const StageLoops& loops, const Bytecode& code, Stores& stores);

}  // namespace calotype::lang
