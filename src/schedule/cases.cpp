// Choosing a case: needs, containment, the narrowest intervals, the strictest forms of buffers, the order of
// the file. A case that copies boxes of a buffer is for calls that pass a tensor there, though its keys do
// not say so.
#include "schedule/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "schedule/file.h"
#include "schedule/forms.h"
#include "schedule/gpu.h"
#include "schedule/spelling.h"
#include "schedule/ways.h"

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

  Width(const FileCase& c, std::size_t tensors, const std::vector<std::string>& sizes) {
    const std::vector<SizeRange>& when = c.when;
    forms -= static_cast<int>(tensors);
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

/// The first thing that a form asks, or boxes do, and a buffer does not have. A dimension of one element may
/// have any stride; the pitch of dense memory is the product that it is.
struct Misfit {
  enum What { None, Dense, Pitch, Base, Apart, Far, Long } what = None;
  std::size_t dim = 0;
  std::int64_t is = 0, wanted = 0;
};

/// How many bytes the first element lies past a multiple.
std::int64_t past_multiple(const CaseBuffer& b, std::int64_t multiple) {
  const bool empty = std::find(b.extents.begin(), b.extents.end(), 0) != b.extents.end();
  return b.address && !empty ? static_cast<std::int64_t>(*b.address % static_cast<std::uint64_t>(multiple))
                             : 0;
}

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
  const std::int64_t past = past_multiple(b, form.base_align);
  if (past != 0) return {Misfit::Base, 0, past, form.base_align};
  return {};
}

/// What boxes of a tensor ask of a buffer.
Misfit first_misfit_of_tensor(const CaseBuffer& b) {
  for (std::size_t d = 0; d < b.extents.size(); d++) {
    if (b.extents[d] > kTensorExtent) return {Misfit::Long, d, b.extents[d], kTensorExtent};
    if (b.extents[d] <= 1) continue;
    if (d == 0 && b.strides[d] != b.element) return {Misfit::Apart, d, b.strides[d], b.element};
    if (d > 0 && b.strides[d] % kTensorBytes != 0) return {Misfit::Pitch, d, b.strides[d], kTensorBytes};
    if (b.strides[d] <= 0 || b.strides[d] >= kTensorStride)
      return {Misfit::Far, d, b.strides[d], kTensorStride};
  }
  const std::int64_t past = past_multiple(b, kTensorBytes);
  if (past != 0) return {Misfit::Base, 0, past, kTensorBytes};
  return {};
}

std::string text_of(const Misfit& m, const std::string& buffer) {
  switch (m.what) {
    case Misfit::Dense:
      return fmt::format("{} is not dense: the stride of dimension {} is {} bytes, not {}", buffer, m.dim,
                         m.is, m.wanted);
    case Misfit::Pitch:
      return fmt::format("{}.pitch is {} bytes in dimension {}, not a multiple of {} bytes", buffer, m.is,
                         m.dim, m.wanted);
    case Misfit::Base:
      return fmt::format("{}.base is {} bytes past a multiple of {} bytes", buffer, m.is, m.wanted);
    case Misfit::Apart:
      return fmt::format(
          "elements of {} lie {} bytes apart in dimension 0, not {}, and boxes are copied of it", buffer,
          m.is, m.wanted);
    case Misfit::Far:
      return fmt::format("{}.pitch is {} bytes in dimension {}, not from 16 to below {}", buffer, m.is, m.dim,
                         m.wanted);
    case Misfit::Long:
      return fmt::format("the extent of {} in dimension {} is {}, more than {}, and boxes are copied of it",
                         buffer, m.dim, m.is, m.wanted);
    case Misfit::None:
      break;
  }
  return "";
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

const FileTemplate& template_of(const ScheduleFile& file, const FileCase& c) {
  return *std::find_if(file.templates().begin(), file.templates().end(),
                       [&](const FileTemplate& t) { return t.name == c.template_name; });
}

}  // namespace

CaseTensors tensors_of_cases(const lang::Graph& graph, const ScheduleFile& file, const FileVariant& variant,
                             const Target& target) {
  CaseTensors tensors;
  for (const std::size_t index : file.cases_of(variant)) {
    const FileTemplate& t = template_of(file, file.cases()[index]);
    const bool asks = std::any_of(t.directives.begin(), t.directives.end(), [](const Directive& d) {
      const DirectiveSpec* spec = find_directive(d.name);
      return spec && spec->asks_of_calls && spec->asks_of_calls(d);
    });
    if (!asks || !unmet_need(t, target).empty()) continue;
    std::vector<std::string>& names = tensors[index];
    for (const Way& way : ways_or_throw(graph, file.schedule(index), target).ways)
      for (const FormAssumption& f : way.scheduled.forms)
        if (f.tensor && std::find(names.begin(), names.end(), f.form.buffer) == names.end())
          names.push_back(f.form.buffer);
  }
  return tensors;
}

CaseOrder::CaseOrder(const ScheduleFile& file, const FileVariant& variant, const Target& target,
                     CaseTensors tensors)
    : file_(file), tensors_(std::move(tensors)), all_(file.cases_of(variant)) {
  std::vector<std::pair<Width, std::size_t>> order;
  const std::vector<std::string> named = sizes();
  for (const std::size_t index : all_) {
    const FileCase& c = file.cases()[index];
    const std::string need = unmet_need(template_of(file, c), target);
    if (need.empty())
      order.emplace_back(Width(c, tensors_.contains(index) ? tensors_.at(index).size() : 0, named), index);
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
  const auto first = std::find_if(tried_.begin(), tried_.end(),
                                  [&](std::size_t index) { return fits(index, sizes, buffers); });
  return first == tried_.end() ? general() : *first;
}

/// The first key of a case that does not fit, or "".
std::string CaseOrder::misfit(std::size_t index, const CaseSizes& sizes, const CaseBuffers& buffers) const {
  const FileCase& c = file_.cases()[index];
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
  const auto tensors = tensors_.find(index);
  if (tensors == tensors_.end()) return "";
  for (const std::string& name : tensors->second) {
    const auto at = buffers.find(name);
    if (at == buffers.end()) return fmt::format("how {} lies is not known", name);
    if (std::string why = text_of(first_misfit_of_tensor(at->second), name); !why.empty()) return why;
  }
  return "";
}

/// As `misfit`, for every call: without texts.
bool CaseOrder::fits(std::size_t index, const CaseSizes& sizes, const CaseBuffers& buffers) const {
  const FileCase& c = file_.cases()[index];
  const bool sized = std::all_of(c.when.begin(), c.when.end(), [&](const SizeRange& range) {
    const auto at = sizes.find(range.size);
    return at != sizes.end() && range.contains(at->second);
  });
  const auto lies = [&](const std::string& name, auto first_misfit) {
    const auto at = buffers.find(name);
    return at != buffers.end() && first_misfit(at->second).what == Misfit::None;
  };
  const auto has_form = [&](const BufferForm& form) {
    return lies(form.buffer, [&](const CaseBuffer& b) { return first_misfit(form, b); });
  };
  if (!sized || !std::all_of(c.buffers.begin(), c.buffers.end(), has_form)) return false;
  const auto tensors = tensors_.find(index);
  return tensors == tensors_.end() ||
         std::all_of(tensors->second.begin(), tensors->second.end(),
                     [&](const std::string& name) { return lies(name, first_misfit_of_tensor); });
}

std::string CaseOrder::explain(const CaseSizes& sizes, const CaseBuffers& buffers) const {
  const std::size_t taken = choose(sizes, buffers);
  std::string out;
  for (const std::size_t index : all_) {
    const auto need = unmet_.find(index);
    std::string why = need == unmet_.end() ? misfit(index, sizes, buffers) : need->second;
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
  for (const auto& [index, tensors] : tensors_)
    for (const std::string& name : tensors)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::string misfit(const BufferForm& form, const CaseBuffer& buffer) {
  return text_of(first_misfit(form, buffer), form.buffer);
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
