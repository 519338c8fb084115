// Choosing a case: needs, containment, the narrowest intervals, the strictest forms of buffers, the order of
// the file.
#include "schedule/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/file.h"
#include "schedule/gpu.h"

namespace calotype::schedule {

namespace {

/// How wide a case is: one whose sizes all lie in those of another and whose buffers have all the forms of
/// the other's compares less.
struct Width {
  int endless = 0;         ///< sizes without an upper end
  long double volume = 0;  ///< log of the number of values, an endless size counting its density
  long double low = 0;     ///< log of the lower ends of endless sizes, negative
  int forms = 0;           ///< how many things are asked of buffers, negative
  long double steps = 0;   ///< log of what must divide pitches and addresses, negative

  explicit Width(const FileCase& c, const std::vector<std::string>& sizes) {
    const std::vector<SizeRange>& when = c.when;
    for (const BufferForm& f : c.buffers) {
      forms -= f.dense + (f.pitch_multiple > 1) + (f.base_align > 1);
      for (const std::int64_t step : {f.pitch_multiple, f.base_align})
        steps -= std::log(static_cast<long double>(step));
    }
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

/// The first thing that a form asks and a buffer does not have. A dimension of one element may have any
/// stride; the pitch of dense memory is the product that it is.
struct Misfit {
  enum What { None, Dense, Pitch, Base } what = None;
  std::size_t dim = 0;
  std::int64_t is = 0, wanted = 0;
};

Misfit first_misfit(const BufferForm& form, const CaseBuffer& b) {
  std::int64_t product = b.element;
  for (std::size_t d = 0; form.dense && d < b.extents.size(); d++) {
    if (b.extents[d] > 1 && b.strides[d] != product) return {Misfit::Dense, d, b.strides[d], product};
    if (d == 1 && product % form.pitch_multiple != 0) return {Misfit::Pitch, d, product, form.pitch_multiple};
    product = static_cast<std::int64_t>(static_cast<std::uint64_t>(product) *
                                        static_cast<std::uint64_t>(b.extents[d]));
  }
  for (std::size_t d = 1; !form.dense && d < b.extents.size(); d++)
    if (b.extents[d] > 1 && b.strides[d] % form.pitch_multiple != 0)
      return {Misfit::Pitch, d, b.strides[d], form.pitch_multiple};
  const bool empty = std::find(b.extents.begin(), b.extents.end(), 0) != b.extents.end();
  const std::int64_t past =
      b.address && !empty
          ? static_cast<std::int64_t>(*b.address % static_cast<std::uint64_t>(form.base_align))
          : 0;
  if (past != 0) return {Misfit::Base, 0, past, form.base_align};
  return {};
}

/// The first need of a template that a target does not meet, or "".
std::string unmet_need(const FileTemplate& t, const Target& target) {
  const std::int64_t threads = target.is_gpu() ? most_threads : 0, shared = most_shared_kb(target);
  for (const auto& [need, value] : t.needs) {
    if (need == "threads" && value > threads)
      return fmt::format("needs {} threads a block, and {} has {}", value, target.str(), threads);
    if (need == "shared_kb" && value > shared)
      return fmt::format("needs {} KB of shared memory a block, and {} has {}", value, target.str(), shared);
  }
  return "";
}

/// The first key of a case that does not fit, or "".
std::string misfit(const FileCase& c, const CaseSizes& sizes, const CaseBuffers& buffers) {
  for (const SizeRange& range : c.when) {
    const auto at = sizes.find(range.size);
    if (at == sizes.end()) return fmt::format("{} is not known", range.size);
    if (!range.contains(at->second))
      return fmt::format("{} is {}, not {}", range.size, at->second, range.str());
  }
  for (const BufferForm& form : c.buffers) {
    const auto at = buffers.find(form.buffer);
    if (at == buffers.end()) return fmt::format("how {} lies is not known", form.buffer);
    if (std::string why = schedule::misfit(form, at->second); !why.empty()) return why;
  }
  return "";
}

/// As `misfit`, for every call: without texts.
bool fits(const FileCase& c, const CaseSizes& sizes, const CaseBuffers& buffers) {
  const bool sized = std::all_of(c.when.begin(), c.when.end(), [&](const SizeRange& range) {
    const auto at = sizes.find(range.size);
    return at != sizes.end() && range.contains(at->second);
  });
  return sized && std::all_of(c.buffers.begin(), c.buffers.end(), [&](const BufferForm& form) {
           const auto at = buffers.find(form.buffer);
           return at != buffers.end() && first_misfit(form, at->second).what == Misfit::None;
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
      order.emplace_back(Width(c, named), index);
    else
      unmet_[index] = need;
  }
  std::sort(order.begin(), order.end());
  for (const auto& [width, index] : order) tried_.push_back(index);
  if (tried_.empty() || !for_all_calls(file.cases()[tried_.back()]))
    throw Error({.kind = ErrorKind::Target,
                 .message = fmt::format("the variant '{}' has no case for all sizes that {} can run",
                                        variant.name, target.str()),
                 .value = unmet_.empty() ? "no case" : unmet_.rbegin()->second,
                 .legal = "a last case with an empty 'when' whose needs the target meets"});
}

std::size_t CaseOrder::choose(const CaseSizes& sizes, const CaseBuffers& buffers) const {
  return *std::find_if(tried_.begin(), tried_.end(),
                       [&](std::size_t index) { return fits(file_.cases()[index], sizes, buffers); });
}

std::string CaseOrder::explain(const CaseSizes& sizes, const CaseBuffers& buffers) const {
  const std::size_t taken = choose(sizes, buffers);
  std::string out;
  for (const std::size_t index : all_) {
    const auto need = unmet_.find(index);
    std::string why = need == unmet_.end() ? misfit(file_.cases()[index], sizes, buffers) : need->second;
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

std::vector<std::string> CaseOrder::buffers() const {
  std::vector<std::string> names;
  for (const std::size_t index : all_)
    for (const BufferForm& form : file_.cases()[index].buffers)
      if (std::find(names.begin(), names.end(), form.buffer) == names.end()) names.push_back(form.buffer);
  return names;
}

std::string misfit(const BufferForm& form, const CaseBuffer& buffer) {
  const Misfit m = first_misfit(form, buffer);
  switch (m.what) {
    case Misfit::Dense:
      return fmt::format("{} is not dense: the stride of dimension {} is {} bytes, not {}", form.buffer,
                         m.dim, m.is, m.wanted);
    case Misfit::Pitch:
      return fmt::format("{}.pitch is {} bytes in dimension {}, not a multiple of {} bytes", form.buffer,
                         m.is, m.dim, m.wanted);
    case Misfit::Base:
      return fmt::format("{}.base is {} bytes past a multiple of {} bytes", form.buffer, m.is, m.wanted);
    case Misfit::None:
      break;
  }
  return "";
}

std::string case_text(const ScheduleFile& file, std::size_t index) {
  const FileCase& c = file.cases()[index];
  std::string when, knobs;
  for (const SizeRange& range : c.when)
    when += fmt::format("{}{} {}", when.empty() ? "" : ", ", range.size, range.str());
  for (const BufferForm& form : c.buffers) when += (when.empty() ? "" : ", ") + form.str();
  for (const Knob& k : c.knobs) knobs += fmt::format("{}{}={}", knobs.empty() ? "; " : " ", k.name, k.value);
  return fmt::format("case {}: {}; template {}{}", index, when.empty() ? "all sizes" : when, c.template_name,
                     knobs);
}

}  // namespace calotype::schedule
