#pragma once
// Many pairs, each from a seed of its own, and what came of them.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/property.h"
#include "fuzz/random.h"

namespace calotype::fuzz {

struct Session {
  std::uint64_t seed = 1;  ///< of the first pair; each next one has the next
  std::int64_t pairs = 300;
  Target target = Target::host();
  std::optional<std::chrono::seconds> time;  ///< stops after it
  bool counts = false;  ///< leaves out directives of every pair that ran, not of one in four
};

/// How many pairs that ran have a directive; how often it was left out, what was left was another program,
/// and was refused; and how often it was what a pair was refused for.
struct Use {
  std::int64_t used = 0, removed = 0, changed = 0, needed = 0, refused = 0;
};

struct FailedPair {
  std::uint64_t seed = 0;
  Outcome outcome;
  Pair pair;
};

struct Tally {
  std::int64_t pairs = 0;
  std::map<Verdict, std::int64_t> verdicts;
  std::map<std::string, Use> directives;
  std::map<std::string, std::int64_t> reasons;  ///< refusals, by message without names and numbers
  std::vector<FailedPair> failures;             ///< pairs that failed, and programs that were none
  std::vector<FailedPair> refusals;             ///< pairs whose schedule or call was refused

  double accepted() const;
  /// A table, and the numbers above it.
  std::string str() const;
  /// The commonest reasons of refusals.
  std::string reasons_str(std::size_t most) const;
};

/// A random program, which becomes `program`.
Pipeline draw_pipeline(Random& random, Program& program, const Target& target);

/// The pair of a seed. `checking` hears each schedule before it is checked: the last word where that crashes.
/// Errors as of a program that is no pipeline.
Pair draw_pair(std::uint64_t seed, const Target& target, const std::function<void(const Pair&)>& checking);

Tally run(const Session& session);

/// A failure as a reader wants it: the program in C++, the schedule, what happened, and the text for the
/// corpus.
std::string report(const FailedPair& failure);

}  // namespace calotype::fuzz
