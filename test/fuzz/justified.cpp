// Refusals of calls, and the directives behind them.
#include "fuzz/justified.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/random_schedule.h"
#include "schedule/directive.h"

namespace calotype::fuzz {

namespace {

bool is_promise(const std::string& name) {
  static const std::vector<std::string> all = {"bound",  "bound_extent", "bound_storage",
                                               "assume", "align_bounds", "align_extent"};
  return std::find(all.begin(), all.end(), name) != all.end();
}

/// Tails that compute or read points outside the loop's range, or ask for a least extent.
bool has_large_tail(const schedule::Directive& d) {
  const schedule::Value* tail = schedule::find_arg(d, "tail");
  return tail && (*tail == schedule::Value("shift_inwards") || *tail == schedule::Value("round_up") ||
                  *tail == schedule::Value("predicate_stores"));
}

/// Whether the directive turned a call away with this message.
bool turned_away(const schedule::Directive& d, const std::string& message) {
  const schedule::Value* text = d.name == "specialize_fail" ? schedule::find_arg(d, "message") : nullptr;
  return text && message.find(std::get<std::string>(text->data)) != std::string::npos;
}

}  // namespace

std::string named_promise(const Schedule& schedule, const std::string& message) {
  const auto& all = schedule.directives();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool promises = is_promise(all[i].name) || has_large_tail(all[i]);
    const bool named = message.find(fmt::format("#{} {}(", i + 1, all[i].name)) != std::string::npos;
    if ((promises && named) || turned_away(all[i], message)) return all[i].name;
  }
  return "";
}

bool is_about_regions(const std::string& message) {
  for (const char* text : {"is read from", "are read inside the pipeline", "updates touch"})
    if (message.find(text) != std::string::npos) return true;
  return false;
}

Schedule with_exact_regions(const Schedule& schedule) {
  std::vector<schedule::Directive> kept;
  for (schedule::Directive d : schedule.directives()) {
    if (is_promise(d.name)) continue;
    if (has_large_tail(d)) std::erase_if(d.args, [](const auto& a) { return a.first == "tail"; });
    kept.push_back(std::move(d));
  }
  return with_directives(schedule, kept);
}

}  // namespace calotype::fuzz
