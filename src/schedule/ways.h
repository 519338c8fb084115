#pragma once
// The ways through the conditions of a schedule. A call decides every condition of `specialize` before
// anything runs, so a schedule with conditions is several plain ones: one for each combination of branches
// that a call can take. Each is applied, lowered and compiled as a whole, with what its conditions say of
// sizes, Params and strides known everywhere.
//
// A branch is addressed by the text of its stage and its condition: "C[N % 8 == 0]", "acc.update(0)[K < 64]",
// and one inside it "C[N % 8 == 0][M == 1]".

#include "schedule/apply.h"

namespace calotype::schedule {

/// One combination of branches.
struct Way {
  /// For each condition of the schedule: 1 it holds, 0 it does not, -1 no branch of this way depends on it.
  std::vector<int> holds;
  Scheduled scheduled;

  bool fits(const std::vector<bool>& conditions) const;
};

struct Ways {
  std::vector<std::string> texts;  ///< of the conditions, each once, in the order of the schedule
  std::vector<Expr> conditions;    ///< the same, in terms of the graph's sizes and Params
  StrideSymbols strides;           ///< that they name
  std::vector<Way> ways;           ///< first the one where no condition holds

  /// The way of a call: the first if no other fits.
  std::size_t choose(const std::vector<bool>& holds) const;
  /// "N % 8 == 0, not K < 64"; "" where nothing depends on a condition.
  std::string text(const Way& way) const;
};

/// Applies the schedule for every way. Refusals are appended, each once; with one the result is meaningless.
/// `numerics` of every way are those of all.
Ways apply_ways(const lang::Graph& graph, const Schedule& schedule, const Target& target,
                std::vector<Refusal>& refusals);
/// The same; throws the first refusal as Error.
Ways ways_or_throw(const lang::Graph& graph, const Schedule& schedule, const Target& target);

/// Text of level `schedule`; of several ways each under its conditions.
std::string to_string(const Ways& ways);

/// The most ways that a schedule may have.
constexpr std::size_t most_ways = 64;

/// "C[N % 8 == 0]" of a stage, or of a branch, and a condition.
std::string branch_name(const std::string& stage, const std::string& condition);
/// The stage that a branch is of; a stage itself as it is.
std::string stage_of_branch(const std::string& text);

}  // namespace calotype::schedule
