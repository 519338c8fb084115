#pragma once
// JSON on standard output: one object a command, on failure too.

#include <nlohmann/json.hpp>
#include <string>

#include "calotype/error.h"

namespace calotype::cli {

using Json = nlohmann::ordered_json;

/// {kind, func, stage, directive, value, legal, message}; members that do not apply are empty strings.
Json to_json(const Diagnostic& diagnostic);
/// A number, or null for an infinity or NaN, which JSON lacks.
Json number(double value);
/// Text of one object, with a newline. Bytes that are no UTF-8 (file names) are replaced.
std::string dump(const Json& object);

/// 2 for usage, algorithm, schedule and argument; 3 for target; 4 for internal.
int exit_code(ErrorKind kind);

}  // namespace calotype::cli
