#pragma once
// Calling the function of an extern stage, for compiled code and for the reference evaluator.

#include <optional>
#include <string>
#include <vector>

#include "calotype/runtime.h"
#include "ir/expr_node.h"

namespace calotype::ir {

/// The function's arguments: `scalars` as calotype_argument holds them. What went wrong, as a sentence that
/// names the Func `func` and the function; nothing if all is well.
std::optional<std::string> call_extern(const Extern& callee, const std::string& func,
                                       const std::vector<calotype_buffer>& outputs,
                                       const std::vector<calotype_buffer>& inputs,
                                       const std::vector<std::int64_t>& scalars);

}  // namespace calotype::ir
