// `run --profile`.
#include "cli/profile_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/report.h"

namespace calotype::cli {
namespace {

// More of the time than this in clocks, and the figures say less of the schedule than they seem to.
constexpr double kMuchInClocks = 0.1;

std::string milliseconds(double seconds) { return fmt::format("{:.3f} ms", seconds * 1e3); }

/// A number with three digits and a letter for its thousands: 12.3M.
std::string short_number(double value, double thousand) {
  const char* letters[] = {"", "K", "M", "G", "T"};
  std::size_t power = 0;
  while (value >= thousand && power + 1 < std::size(letters)) value /= thousand, ++power;
  if (power == 0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}{}", value, value < 10 ? 2 : value < 100 ? 1 : 0, letters[power]);
}

std::string elements(std::int64_t n) { return short_number(static_cast<double>(n), 1000); }
std::string bytes(std::int64_t n) { return n == 0 ? "-" : short_number(static_cast<double>(n), 1024) + "B"; }

std::string func_row(const driver::FuncProfile& f, std::size_t width) {
  const std::string over = f.needed ? fmt::format("{:.2f}", f.times_over()) : "-";
  return fmt::format("  {:<{}}{:>10.3f}{:>7.1f}%{:>9}{:>9}{:>9}{:>9}{:>9}{:>7}  {}\n", f.name, width,
                     f.seconds * 1e3, 100 * f.share, bytes(f.peak_bytes), elements(f.loads),
                     elements(f.stores), elements(f.points), f.needed ? elements(*f.needed) : "-", over,
                     f.place);
}

Json func_json(const driver::FuncProfile& f) {
  return {{"name", f.name},
          {"place", f.place},
          {"seconds", f.seconds},
          {"share", f.share},
          {"peak_bytes", f.peak_bytes},
          {"loads", f.loads},
          {"gathers", f.gathers},
          {"stores", f.stores},
          {"scalars", f.scalars},
          {"points", f.points},
          {"needed", f.needed ? Json(*f.needed) : Json(nullptr)},
          {"times_over", f.needed ? number(f.times_over()) : Json(nullptr)},
          {"warnings", f.warnings}};
}

}  // namespace

std::string profile_text(const driver::Profile& profile, double median_seconds) {
  std::string text =
      line("profile",
           fmt::format("{} a call, the fastest of {}, where the plain kernel takes {}; {} thread{}: {} in "
                       "all, {} waiting for others",
                       milliseconds(profile.call_seconds), profile.calls, milliseconds(median_seconds),
                       profile.threads, profile.threads == 1 ? "" : "s", milliseconds(profile.thread_seconds),
                       milliseconds(profile.waiting_seconds)));
  std::size_t width = 4;
  for (const driver::FuncProfile& f : profile.funcs) width = std::max(width, f.name.size());
  text += fmt::format("  {:<{}}{:>10}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>7}\n", "func", width, "ms", "share",
                      "memory", "loads", "stores", "computed", "needed", "times");
  for (const driver::FuncProfile& f : profile.funcs) text += func_row(f, width);
  if (!profile.inlined.empty()) text += fmt::format("  inlined: {}\n", fmt::join(profile.inlined, ", "));
  for (const driver::FuncProfile& f : profile.funcs)
    for (const std::string& warning : f.warnings) text += line("warning", f.name + ": " + warning);
  if (profile.clock_share > kMuchInClocks)
    text += line(
        "warning",
        fmt::format("clocks were started {} times, about {:.0f}% of the time: Funcs computed inside short "
                    "loops seem slower than they are",
                    elements(profile.clock_starts), 100 * std::min(1.0, profile.clock_share)));
  return text;
}

Json profile_json(const driver::Profile& profile) {
  Json object = {{"call_seconds", profile.call_seconds},
                 {"thread_seconds", profile.thread_seconds},
                 {"waiting_seconds", profile.waiting_seconds},
                 {"clock_starts", profile.clock_starts},
                 {"clock_share", profile.clock_share},
                 {"threads", profile.threads},
                 {"calls", profile.calls},
                 {"funcs", Json::array()},
                 {"inlined", profile.inlined}};
  for (const driver::FuncProfile& f : profile.funcs) object["funcs"].push_back(func_json(f));
  return object;
}

}  // namespace calotype::cli
