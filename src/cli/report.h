#pragma once
// What `run` found, for people and for programs.

#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/trial.h"
#include "schedule/scheduled.h"

namespace calotype::cli {

/// What holds for a whole `run`, whatever the trials.
struct RunFacts {
  std::string op, target, types, schedule;
  Sizes sizes;
  std::map<std::string, double> params;
  std::uint64_t seed = 0;
  int threads = 0;
  std::vector<std::string> notes;
};

/// A comparison with where its first and worst differences lie.
struct PlacedComparison {
  Comparison comparison;
  std::string first_tail, worst_tail;  ///< the splits in whose tail they lie; empty: in none
};
/// Works out the tails on the schedule as applied for this call.
std::vector<PlacedComparison> place(const std::vector<Comparison>& comparisons, const Pipeline& pipeline,
                                    const Schedule& schedule, const Target& target, const Call& call);

/// A line of the text, its label in a column.
std::string line(const char* label, const std::string& value);
/// "  first at (3, 0): got 1, expected 2" and `where`, as a line.
std::string difference_text(const char* which, const Difference& difference, const std::string& where);
Json difference_json(const Difference& difference);

Json facts_json(const RunFacts& facts);
std::string facts_text(const RunFacts& facts);
/// Adds compile_seconds, median_seconds, checked, max_abs_error, max_rel_error and, where something differs,
/// `error`; and what `--check=stages` found.
void add_trial_json(Json& object, const Trial& trial, const std::vector<PlacedComparison>& placed);
std::string trial_text(const Trial& trial, const std::vector<PlacedComparison>& placed);
/// The trials of `--set`, one a line.
std::string trials_text(const std::vector<Trial>& trials);
Json trials_json(const std::vector<Trial>& trials);

}  // namespace calotype::cli
