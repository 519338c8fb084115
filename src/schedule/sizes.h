#pragma once
// What is assumed of named sizes, by directives or by conditions that hold.

#include "schedule/scheduled.h"

namespace calotype::schedule {

/// Adds the assumption. A size of which one value is left is that constant in the whole graph. False, and
/// nothing done, where none of `least` or more is.
bool assume_size(Scheduled& scheduled, const ir::SymbolPtr& size, const SizeRange& range,
                 const std::string& origin, std::int64_t least);

}  // namespace calotype::schedule
