// The branches of a schedule's stages.
#include "schedule/branches.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "schedule/spelling.h"
#include "schedule/ways.h"

namespace calotype::schedule {

std::string branch_name(const std::string& stage, const std::string& condition) {
  return fmt::format("{}[{}]", stage, condition);
}

std::string stage_of_branch(const std::string& text) { return text.substr(0, text.find('[')); }

namespace {

bool is_branch(const std::string& text) { return text.find('[') != std::string::npos; }

Refusal refusal(const Schedule& schedule, int directive, std::string message, std::string value,
                std::string legal) {
  const Directive& d = schedule.directives()[directive];
  return {{.kind = ErrorKind::Schedule,
           .message = std::move(message),
           .func = State::func_named({.stage = stage_of_branch(d.stage), .name = d.name, .args = d.args}),
           .stage = d.stage,
           .directive = text(d, directive),
           .value = std::move(value),
           .legal = std::move(legal)},
          directive};
}

/// The text argument of a directive, if it has the form that it should.
const std::string* argument(const Directive& d, const char* name) {
  const Value* value = find_arg(d, name);
  return value ? std::get_if<std::string>(&value->data) : nullptr;
}

/// Whether a directive may address a branch: those on loops, which leave the graph as it is.
bool fits_branch(const DirectiveSpec& spec) {
  if (spec.addresses != Addresses::Stage) return false;
  return std::none_of(spec.args.begin(), spec.args.end(),
                      [](const ArgSpec& a) { return a.kind == ArgKind::NewFunc; });
}

}  // namespace

Branches::Branches(const Schedule& schedule, std::vector<Refusal>& refusals) : schedule_(schedule) {
  for (std::size_t i = 0; i < schedule.directives().size(); i++) add(static_cast<int>(i), refusals);
}

void Branches::add(int directive, std::vector<Refusal>& refusals) {
  const Directive& d = schedule_.directives()[directive];
  const DirectiveSpec* spec = find_directive(d.name);
  const auto refuse = [&](std::string message, std::string value, std::string legal) {
    refusals.push_back(refusal(schedule_, directive, std::move(message), std::move(value), std::move(legal)));
  };
  if (is_branch(d.stage)) {
    if (find(d.stage) < 0) {
      std::vector<std::string> names;
      for (const BranchNode& n : nodes_)
        if (n.parent >= 0) names.push_back(n.name);
      return refuse(fmt::format("there is no branch '{}' here", d.stage), d.stage,
                    name_choices(d.stage, names, "branches that specialize has made before"));
    }
    if (spec && !fits_branch(*spec))
      return refuse(fmt::format("'{}' is for all branches of '{}'", d.name, stage_of_branch(d.stage)),
                    d.stage,
                    fmt::format("'{}' on the stage itself; a branch takes directives on its loops", d.name));
  }
  if (d.name == "specialize") {
    const std::string* condition_text = argument(d, "when");
    if (!condition_text) return;
    int at = find(d.stage);
    if (at < 0) at = make(d.stage, -1);
    const std::string name = branch_name(d.stage, *condition_text);
    if (find(name) >= 0)
      return refuse(fmt::format("'{}' has a branch for '{}' already", d.stage, *condition_text),
                    *condition_text, "each condition once; directives on the branch that is there");
    if (nodes_[at].fail >= 0)
      return refuse(fmt::format("no call comes here: {} turns all away",
                                text(schedule_.directives()[nodes_[at].fail], nodes_[at].fail)),
                    *condition_text, "specialize before specialize_fail");
    const int made = make(name, at);
    nodes_[at].choices.push_back({condition(*condition_text, directive), directive, made});
  } else if (d.name == "specialize_fail") {
    int at = find(d.stage);
    if (at < 0) at = make(d.stage, -1);
    if (nodes_[at].fail >= 0)
      return refuse("the stage has a specialize_fail already", d.stage, "one a stage");
    nodes_[at].fail = directive;
  }
}

int Branches::find(const std::string& name) const {
  for (std::size_t i = 0; i < nodes_.size(); i++)
    if (nodes_[i].name == name) return static_cast<int>(i);
  return -1;
}

int Branches::make(const std::string& name, int parent) {
  nodes_.push_back({.name = name, .parent = parent, .choices = {}});
  return static_cast<int>(nodes_.size()) - 1;
}

int Branches::condition(const std::string& text, int directive) {
  const auto at = std::find(conditions_.begin(), conditions_.end(), text);
  if (at != conditions_.end()) return static_cast<int>(at - conditions_.begin());
  conditions_.push_back(text);
  origins_.push_back(directive);
  return static_cast<int>(conditions_.size()) - 1;
}

std::vector<int> Branches::path(int root, const std::vector<int>& holds, int* open) const {
  std::vector<int> path = {root};
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const BranchNode::Choice& c : nodes_[path.back()].choices) {
      if (holds[c.condition] < 0 && open) *open = c.condition;
      if (holds[c.condition] < 0) return path;
      if (holds[c.condition] == 0) continue;
      path.push_back(c.node);
      deeper = true;
      break;
    }
  }
  return path;
}

std::optional<int> Branches::undecided(const std::vector<int>& holds) const {
  for (std::size_t i = 0; i < nodes_.size(); i++) {
    int open = -1;
    if (nodes_[i].parent < 0) path(static_cast<int>(i), holds, &open);
    if (open >= 0) return open;
  }
  return std::nullopt;
}

std::vector<bool> Branches::active(const std::vector<int>& holds) const {
  std::vector<std::vector<int>> paths;
  for (std::size_t i = 0; i < nodes_.size(); i++)
    if (nodes_[i].parent < 0) paths.push_back(path(static_cast<int>(i), holds, nullptr));
  std::vector<bool> active;
  for (std::size_t i = 0; i < schedule_.directives().size(); i++)
    active.push_back(counts(static_cast<int>(i), paths));
  return active;
}

/// What a stage, or a branch that is taken, was told before its own branch that is taken was made.
bool Branches::counts(int directive, const std::vector<std::vector<int>>& paths) const {
  const Directive& d = schedule_.directives()[directive];
  const DirectiveSpec* spec = find_directive(d.name);
  const int node = find(d.stage);
  if (node < 0) return !is_branch(d.stage);
  if (spec && spec->addresses != Addresses::Stage) return !is_branch(d.stage);
  for (const std::vector<int>& path : paths) {
    const auto at = std::find(path.begin(), path.end(), node);
    if (at == path.end()) continue;
    if (at + 1 == path.end()) return true;
    for (const BranchNode::Choice& c : nodes_[node].choices)
      if (c.node == *(at + 1)) return directive <= c.directive;
  }
  return false;
}

int Branches::failure(const std::vector<int>& holds) const {
  for (std::size_t i = 0; i < nodes_.size(); i++) {
    if (nodes_[i].parent >= 0) continue;
    const int taken = path(static_cast<int>(i), holds, nullptr).back();
    if (nodes_[taken].fail >= 0) return nodes_[taken].fail;
  }
  return -1;
}

}  // namespace calotype::schedule
