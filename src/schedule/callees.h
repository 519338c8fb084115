#pragma once
// What a directive names that is read: a Func or an input.

#include "schedule/state.h"

namespace calotype::schedule {

/// The Func or input that the argument names; refused if there is none.
ir::CalleePtr find_callee(const Application& a, const std::string& arg);

}  // namespace calotype::schedule
