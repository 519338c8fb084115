// ScheduleFile as a value: what a case says as a Schedule. (Cases are added in driver/schedule_file_add.cpp.)
#include "calotype/schedule_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/pipeline.h"
#include "schedule/file.h"
#include "schedule/gpu.h"
#include "schedule/loops.h"

namespace calotype {

using namespace schedule;

namespace {

[[noreturn]] void refuse(const std::string& message, const std::string& value, const std::string& legal) {
  throw Error({.kind = ErrorKind::Usage, .message = message, .value = value, .legal = legal});
}

}  // namespace

ScheduleFile::ScheduleFile(std::string operator_name, Target target)
    : operator_name_(std::move(operator_name)),
      target_(std::move(target)),
      provenance_(fmt::format("{{ \"calotype\": \"{}\", \"by\": \"hand\" }}", library_version)) {}

std::vector<std::size_t> ScheduleFile::cases_of(const FileVariant& variant) const {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < cases_.size(); i++)
    if (cases_[i].variant == variant.name) own.push_back(i);
  return own;
}

Schedule ScheduleFile::schedule(std::size_t case_index) const {
  const FileCase& c = cases_.at(case_index);
  Schedule s;
  for (const Knob& k : c.knobs) s.knob(k.name, k.value);
  for (const FileTemplate& t : templates_)
    if (t.name == c.template_name)
      for (const Directive& d : t.directives) s.append(d);
  for (const SizeRange& range : c.when) s.append(assume_directive(range));
  for (const BufferForm& form : c.buffers) s.append(assume_buffer_directive(form));
  s.set_notes({.target = target_.str(),
               .variant = c.variant,
               .template_name = c.template_name,
               .provenance = provenance_,
               .measured = c.measured});
  return s;
}

Schedule Schedule::from_json(const std::string& text, const Pipeline& pipeline, const std::string& file) {
  const ScheduleFile read = ScheduleFile::parse(text, file);
  read.check(pipeline);
  const std::vector<std::size_t> cases = read.cases_of(read.variant(pipeline));
  if (cases.size() != 1)
    refuse(fmt::format("{} has {} cases for '{}', and one Schedule is one of them",
                       file.empty() ? "the file" : file, cases.size(), pipeline.name()),
           std::to_string(cases.size()), "one case; Pipeline::compile takes a ScheduleFile of any number");
  return read.schedule(cases.front());
}

namespace schedule {

bool same_conditions(const FileCase& a, const FileCase& b) {
  return a.when.size() == b.when.size() && a.buffers.size() == b.buffers.size() &&
         std::is_permutation(a.when.begin(), a.when.end(), b.when.begin()) &&
         std::is_permutation(a.buffers.begin(), a.buffers.end(), b.buffers.begin());
}

/// Threads a block, as far as the schedule shows them: the most of any stage whose threads are constants.
static std::int64_t threads_of(const Scheduled& s) {
  std::int64_t most = 0;
  for (const lang::FuncDef& f : s.graph.funcs)
    for (int stage = 0; stage < static_cast<int>(f.stages.size()); ++stage) {
      std::int64_t threads = 0;
      for (LoopId id : s.of(f.id).stages[stage].loops) {
        if (s.loop(id).binding != ir::Binding::GpuThread) continue;
        const bool lane = s.loop(id).part == ir::ThreadPart::Lane;
        const auto extent = lane ? std::optional(warp_lanes) : constant_extent(s, f.id, stage, id);
        if (extent) threads = std::max<std::int64_t>(threads, 1) * *extent;
      }
      most = std::max(most, threads);
    }
  return most;
}

std::vector<std::pair<std::string, std::int64_t>> needs_of(const Ways& ways) {
  std::int64_t most = 0;
  for (const Way& w : ways.ways) most = std::max(most, threads_of(w.scheduled));
  if (most <= 1) return {};
  return {{"threads", most}};
}

}  // namespace schedule

}  // namespace calotype
