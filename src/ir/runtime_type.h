#pragma once
// Types as the runtime writes them.

#include "calotype/runtime.h"
#include "calotype/type.h"

namespace calotype::ir {

/// The type of an element, without lanes.
calotype_type runtime_type(Type type);

}  // namespace calotype::ir
