// What a schedule needs of a device.
#include "driver/device_needs.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/kernel_impl.h"
#include "schedule/file.h"

namespace calotype::driver {

namespace {

/// What a block needs of a device.
struct Block {
  std::int64_t threads = 0, shared_bytes = 0;
};

/// The most that a block of any kernel has. Of a block whose size the arguments decide the most it may have.
Block largest_block(const schedule::Scheduled& scheduled) {
  const lower::Program program =
      lower::lower(scheduled, lower_options(scheduled, {}, dense_class(scheduled, {})));
  Block most;
  for (const lower::Function& f : program.functions) {
    most.threads = std::max(most.threads, f.max_threads);
    most.shared_bytes = std::max(most.shared_bytes, f.shared_bytes);
  }
  return most;
}

}  // namespace

std::vector<std::pair<std::string, std::int64_t>> device_needs(const schedule::Ways& ways) {
  std::vector<std::pair<std::string, std::int64_t>> needs = schedule::needs_of(ways);
  if (!ways.ways.front().scheduled.target.is_gpu()) return needs;
  Block most{.threads = needs.empty() ? 0 : needs.front().second};
  for (const schedule::Way& way : ways.ways) {
    const Block block = largest_block(way.scheduled);
    most.threads = std::max(most.threads, block.threads);
    most.shared_bytes = std::max(most.shared_bytes, block.shared_bytes);
  }
  needs.clear();
  if (most.threads > 1) needs.emplace_back("threads", most.threads);
  if (most.shared_bytes > 0) needs.emplace_back("shared_kb", (most.shared_bytes + 1023) / 1024);
  return needs;
}

std::optional<Diagnostic> misstated_need(const schedule::FileTemplate& listed,
                                         const std::map<std::string, std::int64_t>& needed, bool all_cases) {
  std::map<std::string, std::int64_t> stated(listed.needs.begin(), listed.needs.end());
  for (const auto& [need, value] : needed) stated.emplace(need, 0);
  for (const auto& [need, number] : stated) {
    const auto at = needed.find(need);
    const std::int64_t value = at == needed.end() ? 0 : at->second;
    if (number == value || (number > value && !all_cases)) continue;
    return Diagnostic{.kind = ErrorKind::Usage,
                      .message = fmt::format("the template '{}' needs {} {}, and the file says {}",
                                             listed.name, value, need, number),
                      .value = std::to_string(number),
                      .legal = std::to_string(value)};
  }
  return std::nullopt;
}

}  // namespace calotype::driver
