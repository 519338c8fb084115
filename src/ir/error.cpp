// Diagnostics: their text, and the names a misspelling may have meant.

#include "calotype/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace calotype {

const char* to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Usage:
      return "usage";
    case ErrorKind::Algorithm:
      return "algorithm";
    case ErrorKind::Schedule:
      return "schedule";
    case ErrorKind::Argument:
      return "argument";
    case ErrorKind::Target:
      return "target";
    case ErrorKind::Internal:
      return "internal";
    case ErrorKind::Memory:
      return "memory";
  }
  return "internal";
}

const char* to_string(Subject subject) {
  switch (subject) {
    case Subject::Func:
      return "Func";
    case Subject::Input:
      return "Input";
    case Subject::Param:
      return "Param";
    case Subject::Size:
      return "Size";
    case Subject::Pipeline:
      return "Pipeline";
  }
  return "Func";
}

std::string Diagnostic::str() const {
  std::vector<std::string> place;
  if (!func.empty()) place.push_back(fmt::format("{} '{}'", to_string(subject), func));
  if (!stage.empty() && stage != func) place.push_back(fmt::format("stage {}", stage));
  if (!directive.empty()) place.push_back(fmt::format("directive {}", directive));

  std::string text = message;
  if (!place.empty()) text += fmt::format("\n  in: {}", fmt::join(place, ", "));
  if (!value.empty()) text += fmt::format("\n  value: {}", value);
  if (!legal.empty()) text += fmt::format("\n  legal: {}", legal);
  return text;
}

Error::Error(Diagnostic diagnostic)
    : std::runtime_error(diagnostic.str()), diagnostic_(std::move(diagnostic)) {}

namespace {

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(const std::string& name, const std::vector<std::string>& candidates,
                                       std::size_t most) {
  std::vector<std::pair<std::size_t, std::size_t>> near;  // distance, then the place among the candidates
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::string& candidate = candidates[i];
    // A third of the letters may be wrong; a one-letter name resembles nothing but itself.
    const std::size_t length = std::max(name.size(), candidate.size());
    const std::size_t allowed = length < 2 ? 0 : std::max<std::size_t>(1, length / 3);
    const std::size_t distance = edit_distance(lower_case(name), lower_case(candidate));
    if (distance <= allowed) near.emplace_back(distance, i);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (const auto& [distance, i] : near) {
    const bool repeated = std::find(names.begin(), names.end(), candidates[i]) != names.end();
    if (!repeated && names.size() < most) names.push_back(candidates[i]);
  }
  return names;
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "";
  const std::vector<std::string> near = nearest_names(name, candidates);
  if (near.empty()) return fmt::format("one of: {}", fmt::join(candidates, ", "));
  std::string text = "did you mean ";
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (i > 0) text += i + 1 == near.size() ? " or " : ", ";
    text += fmt::format("'{}'", near[i]);
  }
  return text + "?";
}

}  // namespace calotype
