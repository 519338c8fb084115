#pragma once
// The reference page of the directives, made from their specs.

#include <string>

namespace calotype::schedule {

/// The whole of docs/directives.md.
std::string reference_markdown();

}  // namespace calotype::schedule
