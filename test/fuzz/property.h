#pragma once
// What must hold of a pipeline and a schedule: compiled and run it equals the reference and touches nothing
// else, or it is refused with a directive named; its file gives it back.

#include <string>

#include "calotype/schedule.h"
#include "fuzz/program.h"

namespace calotype::fuzz {

struct Pair {
  Program program;
  Schedule schedule;
  Target target;
};

enum class Verdict {
  Accepted,     ///< ran, equal
  Refused,      ///< with kind Schedule and a directive named
  CallRefused,  ///< a promise of the schedule, which is named, does not hold for the sizes of a call; or an
                ///< argument holds all that the algorithm needs, and a directive enlarges that
  BadProgram,   ///< the generator's fault: no pipeline, or one that the reference cannot run
  Failed,
};

struct Outcome {
  Verdict verdict = Verdict::Accepted;
  std::string what;            ///< a few words: failures are alike where these are
  std::string detail;          ///< what was found, in full
  std::string directive = {};  ///< of a refusal: the directive that is at fault
};

/// Runs in this process: a fault ends it.
Outcome try_pair(const Pair& pair);

/// As the corpus holds it, legal or not.
std::string text(const Pair& pair);
/// std::runtime_error for what `text` has not written.
Pair pair_of(const std::string& text);

}  // namespace calotype::fuzz
