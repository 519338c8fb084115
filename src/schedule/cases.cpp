// Choosing a case: needs, containment, the narrowest intervals, the order of the file.
#include "schedule/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/gpu.h"

namespace calotype::schedule {

namespace {

/// How wide a case's intervals are: a case whose sizes all lie in those of another compares less.
struct Width {
  int endless = 0;         ///< sizes without an upper end
  long double volume = 0;  ///< log of the number of values, an endless size counting its density
  long double low = 0;     ///< log of the lower ends of endless sizes, negative

  explicit Width(const std::vector<SizeRange>& when, const std::vector<std::string>& sizes) {
    for (const std::string& size : sizes) {
      const auto at =
          std::find_if(when.begin(), when.end(), [&](const SizeRange& r) { return r.size == size; });
      const SizeRange range = at == when.end() ? SizeRange{.size = size} : *at;
      if (const auto count = range.count()) {
        volume += std::log(static_cast<long double>(*count));
      } else {
        endless++;
        volume -= std::log(static_cast<long double>(range.multiple));
        low -= std::log(static_cast<long double>(range.low) + 1);
      }
    }
  }
  auto operator<=>(const Width&) const = default;
};

/// The first need of a template that a target does not meet, or "".
std::string unmet_need(const FileTemplate& t, const Target& target) {
  const std::int64_t most = target.is_gpu() ? most_threads : 0;
  for (const auto& [need, value] : t.needs)
    if (need == "threads" && value > most)
      return fmt::format("needs {} threads a block, and {} has {}", value, target.str(), most);
  return "";
}

/// The first key of a case that does not fit, or "".
std::string misfit(const FileCase& c, const CaseSizes& sizes) {
  for (const SizeRange& range : c.when) {
    const auto at = sizes.find(range.size);
    if (at == sizes.end()) return fmt::format("{} is not known", range.size);
    if (!range.contains(at->second))
      return fmt::format("{} is {}, not {}", range.size, at->second, range.str());
  }
  return "";
}

bool fits(const FileCase& c, const CaseSizes& sizes) {
  return std::all_of(c.when.begin(), c.when.end(), [&](const SizeRange& range) {
    const auto at = sizes.find(range.size);
    return at != sizes.end() && range.contains(at->second);
  });
}

const FileTemplate& template_of(const ScheduleFile& file, const FileCase& c) {
  return *std::find_if(file.templates().begin(), file.templates().end(),
                       [&](const FileTemplate& t) { return t.name == c.template_name; });
}

}  // namespace

CaseOrder::CaseOrder(const ScheduleFile& file, const FileVariant& variant, const Target& target)
    : file_(file), all_(file.cases_of(variant)) {
  std::vector<std::pair<Width, std::size_t>> order;
  const std::vector<std::string> named = sizes();
  for (const std::size_t index : all_) {
    const FileCase& c = file.cases()[index];
    const std::string need = unmet_need(template_of(file, c), target);
    if (need.empty())
      order.emplace_back(Width(c.when, named), index);
    else
      unmet_[index] = need;
  }
  std::sort(order.begin(), order.end());
  for (const auto& [width, index] : order) tried_.push_back(index);
  if (tried_.empty() || !file.cases()[tried_.back()].when.empty())
    throw Error({.kind = ErrorKind::Target,
                 .message = fmt::format("the variant '{}' has no case for all sizes that {} can run",
                                        variant.name, target.str()),
                 .value = unmet_.empty() ? "no case" : unmet_.rbegin()->second,
                 .legal = "a last case with an empty 'when' whose needs the target meets"});
}

std::size_t CaseOrder::choose(const CaseSizes& sizes) const {
  return *std::find_if(tried_.begin(), tried_.end(),
                       [&](std::size_t index) { return fits(file_.cases()[index], sizes); });
}

std::string CaseOrder::explain(const CaseSizes& sizes) const {
  const std::size_t taken = choose(sizes);
  std::string out;
  for (const std::size_t index : all_) {
    const auto need = unmet_.find(index);
    std::string why = need == unmet_.end() ? misfit(file_.cases()[index], sizes) : need->second;
    if (index == taken) why = "taken";
    if (why.empty()) why = fmt::format("fits, but case {} is narrower or stands before it", taken);
    out += fmt::format("{}: {}\n", case_text(file_, index), why);
  }
  return out;
}

std::vector<std::string> CaseOrder::sizes() const {
  std::vector<std::string> names;
  for (const std::size_t index : all_)
    for (const SizeRange& range : file_.cases()[index].when)
      if (std::find(names.begin(), names.end(), range.size) == names.end()) names.push_back(range.size);
  return names;
}

std::string case_text(const ScheduleFile& file, std::size_t index) {
  const FileCase& c = file.cases()[index];
  std::string when, knobs;
  for (const SizeRange& range : c.when)
    when += fmt::format("{}{} {}", when.empty() ? "" : ", ", range.size, range.str());
  for (const Knob& k : c.knobs) knobs += fmt::format("{}{}={}", knobs.empty() ? "; " : " ", k.name, k.value);
  return fmt::format("case {}: {}; template {}{}", index, when.empty() ? "all sizes" : when, c.template_name,
                     knobs);
}

}  // namespace calotype::schedule
