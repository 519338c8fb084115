// Refusals of calls, and the directives behind them.
#include "fuzz/justified.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuzz/random_schedule.h"
#include "schedule/directive.h"

namespace calotype::fuzz {

namespace {

bool is_promise(const std::string& name) {
  static const std::vector<std::string> all = {"bound",  "bound_extent",  "bound_storage", "align_bounds",
                                               "assume", "assume_buffer", "align_extent"};
  return std::find(all.begin(), all.end(), name) != all.end();
}

bool is_box_copy(const schedule::Directive& d) {
  const schedule::Value* how = d.name == "copy" ? schedule::find_arg(d, "how") : nullptr;
  return how && schedule::text_of(*how) == schedule::text_of(Copy::Tma);
}

/// Tails that compute points outside the loop's range, or ask for a least extent.
bool has_large_tail(const schedule::Directive& d) {
  const schedule::Value* tail = schedule::find_arg(d, "tail");
  static const std::vector<schedule::Value> large = {"shift_inwards", "round_up", "predicate_stores"};
  return tail && std::find(large.begin(), large.end(), *tail) != large.end();
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
    const bool promises = is_promise(all[i].name) || has_large_tail(all[i]) || is_box_copy(all[i]);
    const bool named = message.find(fmt::format("#{} {}(", i + 1, all[i].name)) != std::string::npos;
    if ((promises && named) || turned_away(all[i], message)) return all[i].name;
  }
  return "";
}

bool copies_boxes(const Schedule& schedule) {
  const auto& all = schedule.directives();
  return std::any_of(all.begin(), all.end(), is_box_copy);
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
