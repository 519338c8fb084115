// Cases added to a schedule file, and schedules written as files of one. They stand in this layer because
// what a case needs of a device is known only once it is lowered, and schedules know nothing of lowering.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "calotype/pipeline.h"
#include "calotype/schedule_file.h"
#include "driver/device_needs.h"
#include "schedule/file.h"

namespace calotype {

using namespace schedule;

namespace {

template <class Named>
auto find_named(std::vector<Named>& all, const std::string& name) {
  return std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
}

/// The element types of the inputs, each once, as "u8" or "bf16_f32"; "none" without inputs.
std::string type_names(const lang::Graph& graph) {
  std::vector<std::string> types;
  for (const lang::InputDef& input : graph.inputs)
    if (std::find(types.begin(), types.end(), input.type.str()) == types.end())
      types.push_back(input.type.str());
  return types.empty() ? "none" : fmt::format("{}", fmt::join(types, "_"));
}

[[noreturn]] void refuse(const std::string& message, const std::string& value, const std::string& legal) {
  throw Error({.kind = ErrorKind::Usage, .message = message, .value = value, .legal = legal});
}

/// Conditions that a file can hold, each on a size of its own.
void require_conditions(const std::vector<SizeRange>& when) {
  for (const SizeRange& r : when) {
    const bool sound = r.multiple >= 1 && r.low >= 0 && (r.low > 0 || r.high || r.multiple > 1) &&
                       intersect(r, {.size = r.size, .low = 1}).count() != 0;
    if (!sound)
      refuse(fmt::format("the condition on '{}' holds for every size or for none", r.size),
             fmt::format("{} to {}, multiples of {}", r.low, r.high ? std::to_string(*r.high) : "any",
                         r.multiple),
             "low of 0 or more, high of 1 or more, multiple of 1 or more, and a size that they leave out");
    const auto same = [&](const SizeRange& other) { return other.size == r.size; };
    if (std::count_if(when.begin(), when.end(), same) > 1)
      refuse(fmt::format("two conditions on '{}'", r.size), r.size, "one a size");
  }
}

/// What is asked of buffers, each of which stands there once.
void require_forms(const std::vector<BufferForm>& buffers) {
  for (const BufferForm& f : buffers) {
    if (f.pitch_multiple < 1 || f.base_align < 1 || f == BufferForm{.buffer = f.buffer})
      refuse(fmt::format("the condition on '{}' holds for every buffer or for none", f.buffer), f.str(),
             "dense, or a pitch_multiple or base_align of 2 or more");
    const auto same = [&](const BufferForm& other) { return other.buffer == f.buffer; };
    if (std::count_if(buffers.begin(), buffers.end(), same) > 1)
      refuse(fmt::format("two conditions on '{}'", f.buffer), f.buffer, "one a buffer");
  }
}

/// The name of the template that has these directives, or of a new one.
std::string place_template(std::vector<FileTemplate>& all, const Schedule& schedule, const NewCase& as,
                           const std::string& variant) {
  if (!as.template_name.empty()) {
    const auto at = find_named(all, as.template_name);
    if (at == all.end())
      all.push_back({.name = as.template_name, .directives = schedule.directives()});
    else if (at->directives != schedule.directives())
      refuse(fmt::format("the file has another template '{}'", as.template_name), as.template_name,
             "a name that is not taken");
    return as.template_name;
  }
  for (const FileTemplate& t : all)
    if (t.directives == schedule.directives()) return t.name;
  std::string name = all.empty() ? "main" : variant;
  for (int i = 2; find_named(all, name) != all.end(); i++) name = fmt::format("{}_{}", variant, i);
  all.push_back({.name = name, .directives = schedule.directives()});
  return name;
}

std::string place_variant(std::vector<FileVariant>& all, const lang::Graph& graph, const NewCase& as) {
  for (const FileVariant& v : all)
    if (v.structure == graph.fingerprint) return v.name;
  const std::string types = type_names(graph);
  std::string name = as.variant.empty() ? types : as.variant;
  for (int i = 2; as.variant.empty() && find_named(all, name) != all.end(); i++)
    name = fmt::format("{}_{}", types, i);
  if (find_named(all, name) != all.end())
    refuse(fmt::format("the file has another variant '{}'", name), name, "a name that is not taken");
  all.push_back(bind_names(graph, name));
  return name;
}

/// Before the variant's case for all calls, which stays the last.
void place_case(std::vector<FileCase>& all, FileCase added) {
  for (FileCase& c : all)
    if (c.variant == added.variant && same_conditions(c, added)) {
      c = std::move(added);
      return;
    }
  auto at = all.end();
  for (auto c = all.begin(); c != all.end() && !for_all_calls(added); ++c)
    if (c->variant == added.variant && for_all_calls(*c)) at = c;
  all.insert(at, std::move(added));
}

/// A JSON object as files write it, so that what is read back has the same bytes.
std::string normal(const std::string& json) {
  return json.empty() ? json : one_line(parse_json(json, {"measured"}));
}

/// Templates stand in the order in which cases use them first; those that no case uses any more go.
void order_templates(std::vector<FileTemplate>& templates, const std::vector<FileCase>& cases) {
  std::vector<FileTemplate> ordered;
  for (const FileCase& c : cases) {
    if (find_named(ordered, c.template_name) != ordered.end()) continue;
    ordered.push_back(*find_named(templates, c.template_name));
  }
  templates = std::move(ordered);
}

/// What lowering refuses runs on no device; `check` and `compile` say why.
std::vector<std::pair<std::string, std::int64_t>> needs_of_case(const Ways& applied) {
  try {
    return driver::device_needs(applied);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Internal) throw;
    return needs_of(applied);
  }
}

}  // namespace

void ScheduleFile::add(const Pipeline& pipeline, const Schedule& schedule, const NewCase& as) {
  const lang::Graph& graph = pipeline.graph();
  if (graph.name != operator_name_)
    refuse(fmt::format("the file is for the operator '{}', not for '{}'", operator_name_, graph.name),
           graph.name, operator_name_);
  require_conditions(as.when);
  require_forms(as.buffers);
  Schedule whole = schedule;
  for (const SizeRange& range : as.when) whole.append(assume_directive(range));
  for (const BufferForm& form : as.buffers) whole.append(assume_buffer_directive(form));
  const Ways applied = ways_or_throw(graph, whole, target_);
  const Numerics& numerics = applied.ways.front().scheduled.numerics;
  ScheduleFile next = *this;
  next.source_ = nullptr;
  const std::string variant = place_variant(next.variants_, graph, as);
  const std::string body = place_template(next.templates_, schedule, as, variant);
  place_case(next.cases_, {.variant = variant,
                           .when = as.when,
                           .buffers = as.buffers,
                           .template_name = body,
                           .knobs = schedule.knobs(),
                           .measured = normal(as.measured)});
  order_templates(next.templates_, next.cases_);
  FileTemplate& t = *find_named(next.templates_, body);
  for (const auto& [need, value] : needs_of_case(applied)) {
    const auto at = std::find_if(t.needs.begin(), t.needs.end(),
                                 [&, name = need](const auto& one) { return one.first == name; });
    if (at == t.needs.end())
      t.needs.emplace_back(need, value);
    else
      at->second = std::max(at->second, value);
  }
  for (const std::string& entry : numerics.reassociates)
    if (std::find(next.numerics_.reassociates.begin(), next.numerics_.reassociates.end(), entry) ==
        next.numerics_.reassociates.end())
      next.numerics_.reassociates.push_back(entry);
  next.numerics_.contract = numerics.contract;
  *this = std::move(next);
}

std::string Schedule::to_json(const Pipeline& pipeline, const Target& target) const {
  ScheduleFile file(pipeline.name(), target);
  file.add(pipeline, *this,
           {.variant = notes_.variant, .template_name = notes_.template_name, .measured = notes_.measured});
  if (!notes_.provenance.empty()) file.set_provenance(notes_.provenance);
  return file.str();
}

void Schedule::save(const std::string& path, const Pipeline& pipeline, const Target& target) const {
  write_atomically(path, to_json(pipeline, target));
}

}  // namespace calotype
