#pragma once
// The commands of the command line. Each computes its outcome and prints nothing, so that text and JSON say
// the same.

#include <string>

#include "cli/json.h"
#include "cli/options.h"

namespace calotype::cli {

struct Outcome {
  int code = 0;      ///< exit code: 0 good, 1 a check found something
  std::string text;  ///< for people
  Json json;         ///< for programs
};

Outcome list_command();
Outcome run_command(const RunOptions& options);
Outcome show_command(const ShowOptions& options);
Outcome explain_command(const ExplainOptions& options);
Outcome verify_command(const VerifyCommand& options);
Outcome schedule_command(const ScheduleOptions& options);

/// The whole command line: parses, runs, prints to stdout and stderr, returns the exit code.
int command_line(int argc, const char* const* argv);

}  // namespace calotype::cli
