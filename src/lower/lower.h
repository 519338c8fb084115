#pragma once
// Lowering: from a scheduled algorithm to a Program.

#include <string>
#include <utility>
#include <vector>

#include "lower/passes.h"

namespace calotype::lower {

/// What the driver of the passes records: the text after each level (where asked for) and the seconds of each
/// pass.
struct Trace {
  bool keep_text = false;
  std::vector<std::pair<std::string, std::string>> levels;
  std::vector<std::pair<std::string, double>> seconds;
};

/// Run every pass. Errors: Schedule, Algorithm, each naming the Func and what would be legal.
Program lower(Scheduled scheduled, const Options& options, Trace* trace = nullptr);

}  // namespace calotype::lower
