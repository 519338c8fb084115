#pragma once
// Errors of the command line and of the files it reads.

#include <string>

#include "calotype/error.h"

namespace calotype::cli {

/// Throws Error(Usage): what is wrong, the value, and what would be legal.
[[noreturn]] inline void usage_error(std::string message, std::string value = "", std::string legal = "") {
  Diagnostic d;
  d.kind = ErrorKind::Usage;
  d.message = std::move(message);
  d.value = std::move(value);
  d.legal = std::move(legal);
  throw Error(std::move(d));
}

}  // namespace calotype::cli
