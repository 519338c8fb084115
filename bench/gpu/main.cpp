// Figures of a GPU: measures those asked for and appends each to a file as it is had, one JSON object a line,
// so that a run that is cut short has lost only the figure at hand.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <set>

#include "calotype/error.h"
#include "gpu/figures.h"
#include "runtime/nvrtc.h"

namespace {

using calotype::Error;
using calotype::ErrorKind;
using namespace calotype::bench;
using Json = nlohmann::ordered_json;

struct Options {
  bool list = false, resume = false;
  std::string only, exact, json;

  bool wanted(const std::string& name) const {
    return name.find(only) != std::string::npos && (exact.empty() || name == exact);
  }

  double minutes = 0;
  Schedules schedules;
};

std::set<std::string> names_in(const std::string& path) {
  std::set<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    // A last line may have been cut short.
    const Json record = Json::parse(line, nullptr, false);
    if (record.is_object() && record.contains("name")) names.insert(record["name"].get<std::string>());
  }
  return names;
}

Json about_device(const calotype::cuda::Device& device) {
  int driver = 0;
  device.raw().driver->driver_version(&driver);
  return {{"device", device.raw().name}, {"arch", device.arch()}, {"driver", driver}};
}

Json about_run() {
  calotype_context context{};
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%FT%TZ", std::gmtime(&now));
  return {{"nvrtc", calotype_nvrtc_version(&context)}, {"calotype", CALOTYPE_VERSION}, {"date", date}};
}

Json measured(const GpuFigure& figure) {
  if (figure.measure_here) return figure.measure_here();
  const calotype::cuda::Device& device = calotype::cuda::Device::get();
  Json record = figure.measure(device);
  record.update(about_device(device));
  return record;
}

void append(const std::string& path, const Json& record) {
  std::ofstream file(path, std::ios::app);
  file << record.dump() << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

/// The exit code: 1 if a figure failed.
int measure(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::set<std::string> had = options.resume ? names_in(options.json) : std::set<std::string>{};
  int failures = 0;
  for (const GpuFigure& figure : gpu_figures(options.schedules)) {
    if (!options.wanted(figure.name) || had.contains(figure.name)) continue;
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (options.minutes > 0 && passed.count() > options.minutes * 60) {
      std::printf("stopped after %g minutes, before %s\n", options.minutes, figure.name.c_str());
      break;
    }
    Json record{{"name", figure.name}};
    try {
      record.update(measured(figure));
      record.update(about_run());
      if (!options.json.empty()) append(options.json, record);
    } catch (const std::exception& error) {
      const auto* own = dynamic_cast<const Error*>(&error);
      if (own && own->kind() == ErrorKind::Target) throw;  // nor will the next have a GPU
      record["error"] = error.what();
      ++failures;
    }
    std::printf("%s\n", record.dump().c_str());
    std::fflush(stdout);
  }
  return failures ? 1 : 0;
}

int list(const Options& options) {
  for (const GpuFigure& figure : gpu_figures(options.schedules))
    std::printf("%-40s %s\n", figure.name.c_str(), figure.description.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Figures of a GPU, each appended to the file as it is had");
  app.add_flag("--list", options.list, "the names of the figures");
  app.add_option("--only", options.only, "figures whose name has this in it");
  app.add_option("--exact", options.exact, "the figure of this name");
  app.add_flag("--resume", options.resume, "leave out figures that the file already has");
  app.add_option("--minutes", options.minutes, "begin no figure after this time");
  app.add_option("--json", options.json, "the file, a JSON object a line");
  app.add_option("--schedule", options.schedules.name, "@NAME or a file instead of the shipped schedule");
  app.add_option(
      "--photo", options.schedules.photo,
      "the bytes of an image of 6000 x 4000 in 3 planes for the operators on images; else random bytes");
  app.add_option("--result", options.schedules.result,
                 "where an operator on images writes its result's bytes; each figure writes it anew");
  std::vector<std::string> knobs;
  app.add_option("--set", knobs, "KNOB=V1,V2: values of a knob of the schedule, a figure for each")
      ->allow_extra_args(false)
      ->expected(1)
      ->take_all();
  CLI11_PARSE(app, argc, argv);
  if (options.resume && options.json.empty()) {
    std::fputs("--resume needs --json FILE\n", stderr);
    return 2;
  }
  try {
    options.schedules.knobs = calotype::cli::parse_knobs(knobs);
    if (options.list) return list(options);
    return measure(options);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    if (error.kind() == ErrorKind::Usage) return 2;
    return error.kind() == ErrorKind::Target ? 3 : 4;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;
  }
}
