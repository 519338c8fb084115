#pragma once
// What the text of a program says of its buffers beside type and name.

#include <string>

#include "ir/symbol.h"

namespace calotype::ir {

/// " (streamed)", " (loads streamed)" or " (stores streamed)" where accesses pass the caches by, else
/// nothing.
std::string streaming_text(const Buffer& buffer);

}  // namespace calotype::ir
