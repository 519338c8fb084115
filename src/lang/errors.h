#pragma once
// Refusals of the front end, and the names it accepts.

#include <string>

#include "calotype/error.h"

namespace calotype::lang {

/// Throws Error(Algorithm): what is wrong, in which Func, the value, and what would be legal.
[[noreturn]] void refuse(std::string message, std::string func = "", std::string value = "",
                         std::string legal = "");

/// Throws unless `name` is letters, digits, '_' and '.', starting with a letter or '_'. `what` says what is
/// named.
void require_name(const char* what, const std::string& name);

}  // namespace calotype::lang
