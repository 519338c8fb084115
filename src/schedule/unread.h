#pragma once
// Funcs that nothing reads.

#include "schedule/scheduled.h"

namespace calotype::schedule {

/// Funcs that no output needs, since clones, inlining or conditions have taken their readers away, count as
/// inlined: they get no loops. By FuncId: whether something reads the Func. Needs `order`.
std::vector<bool> leave_out_unread(Scheduled& scheduled);

}  // namespace calotype::schedule
