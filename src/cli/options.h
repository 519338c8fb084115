#pragma once
// What the user asked for: the command line as values.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "calotype/target.h"
#include "calotype/verification.h"

namespace calotype::cli {

/// NAME=VALUE as given, in order.
using Pairs = std::vector<std::pair<std::string, std::string>>;
/// One value for each of some knobs, and several values for each.
using Knobs = std::vector<std::pair<std::string, std::int64_t>>;
using KnobValues = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

/// What names an algorithm and how it runs: common to run, show and schedule.
struct Selection {
  std::string op;
  std::string schedule;  ///< file, "best", "@NAME", or empty: the empty schedule
  std::string target = "host";
  std::string type;  ///< empty: from the inputs, else the first
  std::map<std::string, std::int64_t> sizes;
  KnobValues knobs;  ///< --set, each with its values
};

enum class CheckMode { None, Values, Stages };

struct RunOptions {
  Selection select;
  Pairs inputs, outputs, dumps;
  std::map<std::string, double> params;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: as many as the machine has
  int repeat = 0;   ///< 0: chosen from the time of a call
  CheckMode check = CheckMode::None;
  std::string save_best;
  bool dense = false;
  bool explain = false;
  bool profile = false;
};

struct ShowOptions {
  Selection select;
  std::string level;     ///< empty: timings or html instead
  bool timings = false;  ///< what each step of the compilation took
  bool html = false;     ///< a page
  std::string output;
};

struct ExplainOptions {
  Selection select;
  std::map<std::string, double> params;
  std::string device;    ///< empty: no bounds, unless bandwidth and rate are given
  double bandwidth = 0;  ///< GB/s; 0: the device's
  double rate = 0;       ///< GFLOP/s; 0: the device's
  bool run = false;      ///< time it too, on random numbers
};

struct VerifyCommand {
  RunOptions run;  ///< what is verified, with which inputs
  VerifyOptions how;
};

struct ScheduleOptions {
  std::string action;  ///< check, print, diff, save, rebind, status
  Selection select;
  std::string file, other;
  std::vector<std::string> files;  ///< of status
};

/// A parsed command line: `command` is list, run, show, explain, verify or schedule.
struct Options {
  std::string command;
  bool json = false;
  RunOptions run;
  ShowOptions show;
  ExplainOptions explain;
  VerifyCommand verify;
  ScheduleOptions schedule;
  std::string help;  ///< text to print instead of running a command
};

/// Error(Usage) for a command line that cannot be right.
Options parse_options(int argc, const char* const* argv);
/// The values of --set, each text as KNOB=V1,V2.
KnobValues parse_knobs(const std::vector<std::string>& texts);

}  // namespace calotype::cli
