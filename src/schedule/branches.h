#pragma once
// The branches of a schedule's stages, by text, and which directives count in one way through them.

#include <optional>
#include <string>
#include <vector>

#include "schedule/state.h"

namespace calotype::schedule {

/// A stage, or a branch of it.
struct BranchNode {
  struct Choice {
    int condition = 0;  ///< position among the conditions
    int directive = 0;
    int node = 0;
  };
  std::string name;             ///< "C", "C[N % 8 == 0]"
  int parent = -1;              ///< -1: a stage
  std::vector<Choice> choices;  ///< in the order in which they are tried
  int fail = -1;                ///< the directive that turns away what no choice took; -1: none
};

class Branches {
 public:
  /// Every specialize and specialize_fail of the schedule. What is wrong with branches by their texts alone
  /// is appended to `refusals`.
  Branches(const Schedule& schedule, std::vector<Refusal>& refusals);

  const std::vector<std::string>& conditions() const { return conditions_; }
  /// The first directive with each condition.
  const std::vector<int>& origins() const { return origins_; }

  /// The condition that must be decided next, where those in `holds` are (-1: not decided); none: all that
  /// matter are.
  std::optional<int> undecided(const std::vector<int>& holds) const;
  /// Whether each directive counts where the conditions are decided so.
  std::vector<bool> active(const std::vector<int>& holds) const;
  /// The specialize_fail that is met; -1: none.
  int failure(const std::vector<int>& holds) const;

 private:
  void add(int directive, std::vector<Refusal>& refusals);
  int find(const std::string& name) const;
  int make(const std::string& name, int parent);
  int condition(const std::string& text, int directive);
  /// From a stage down to what is taken; `open` gets a condition that is not decided yet.
  std::vector<int> path(int root, const std::vector<int>& holds, int* open) const;
  bool counts(int directive, const std::vector<std::vector<int>>& paths) const;

  const Schedule& schedule_;
  std::vector<BranchNode> nodes_;
  std::vector<std::string> conditions_;
  std::vector<int> origins_;
};

}  // namespace calotype::schedule
