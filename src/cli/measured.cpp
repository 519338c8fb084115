// The `measured` object of a case.
#include "cli/measured.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "runtime/nvrtc.h"
#include "schedule/file.h"

namespace calotype::cli {
namespace {

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string text; std::getline(in, text);)
    if (text.starts_with("model name")) return text.substr(std::min(text.find(": ") + 2, text.size()));
  return "an unnamed processor";
}

// 13.0, or "" where there is no NVRTC.
std::string nvrtc_version() {
  calotype_context context{};
  const int version = calotype_nvrtc_version(&context);
  return version > 0 ? fmt::format("{}.{}", version / 1000, version % 1000 / 10) : "";
}

// A member that is a string; "" where it is missing or something else.
std::string text_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

}  // namespace

Json measured_json(const Schedule& schedule, const Target& target, const Sizes& sizes, double seconds) {
  Json at = Json::object();
  for (const auto& [name, value] : sizes) at[name] = value;
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  Json measured = {{"at", at},
                   {"us", fmt::format("{:.2f}", seconds * 1e6)},
                   {"on", target.is_gpu() ? target.str() : processor()},
                   {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(now))},
                   {"calotype", schedule::library_version}};
  measured["us"] = std::stod(measured["us"].get<std::string>());
  if (target.kind == Target::Kind::Cuda) measured["cuda"] = nvrtc_version();
  measured["template"] = schedule::template_hash(schedule);
  return measured;
}

std::string stale_text(const Json& measured, const Schedule& schedule) {
  const std::string version = text_of(measured, "calotype"), cuda = text_of(measured, "cuda"),
                    hash = text_of(measured, "template");
  if (version.empty()) return "the version that was measured is not known";
  if (version != schedule::library_version)
    return fmt::format("measured with calotype {}, and this is {}", version, schedule::library_version);
  if (!hash.empty() && hash != schedule::template_hash(schedule))
    return "its directives or knobs have changed since";
  const std::string now = cuda.empty() ? "" : nvrtc_version();
  if (!now.empty() && now != cuda) return fmt::format("measured with CUDA {}, and this is {}", cuda, now);
  return "";
}

}  // namespace calotype::cli
