// calotype_planted: planted faults on a GPU, for tools that look for them there.
//
//   calotype_planted --list [--json]               the damaged programs, and what the simulator finds in each
//   calotype_planted --run SUBJECT DAMAGE SITE     runs one on this machine's GPU; `none 0`: the undamaged
//   one
//
// Exit code of --run: 0 the results are those of the reference, 1 they are not, 2 the call failed; it ends by
// a signal after --limit seconds.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "planted/trial.h"

namespace calotype::test {
namespace {

const std::string kUndamaged = "none";

struct Options {
  bool list = false, json = false;
  std::tuple<std::string, std::string, int> run;
  unsigned limit = 60;
};

/// A row of the list.
struct Row {
  std::string subject, damage;
  int site;
  std::vector<std::string> kinds;
};

/// The undamaged programs too, and no places that are not passed.
std::vector<Row> rows() {
  std::vector<Row> all;
  for (const Subject& subject : subjects()) {
    Trial trial(subject);
    all.push_back({subject.name(), kUndamaged, 0, trial.kinds(trial.program())});
    for (const Planted& p : plant_all(subject, trial))
      if (p.passed && shows_on_gpu(p.damage))
        all.push_back({subject.name(), to_string(p.damage), p.site, p.kinds});
  }
  return all;
}

void list(bool as_json) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Row& r : rows()) {
    if (as_json)
      json.push_back({{"subject", r.subject}, {"damage", r.damage}, {"site", r.site}, {"found", r.kinds}});
    else
      fmt::print("{} {} {}: {}\n", r.subject, r.damage, r.site, fmt::join(r.kinds, ", "));
  }
  if (as_json) fmt::print("{}\n", json.dump(1));
}

const Subject& find_subject(const std::string& name) {
  const auto found =
      std::find_if(subjects().begin(), subjects().end(), [&](const Subject& s) { return s.name() == name; });
  if (found == subjects().end()) throw std::runtime_error("--list does not have a program " + name);
  return *found;
}

/// By the names of the list.
lower::Program find_program(const Subject& subject, const Trial& trial, const std::string& damage, int site) {
  if (damage == kUndamaged) return trial.program();
  const auto kind = std::find_if(all_damages().begin(), all_damages().end(),
                                 [&](Damage d) { return to_string(d) == damage; });
  std::optional<lower::Program> program;
  if (kind != all_damages().end())
    program = damaged(trial.program(), *kind, site, subject.any_number_does, Passing::Silent);
  if (!program) throw std::runtime_error(fmt::format("--list does not have {} {}", damage, site));
  return std::move(*program);
}

bool run(const std::string& name, const std::string& damage, int site) {
  const Subject& subject = find_subject(name);
  Trial trial(subject);
  const lower::Program program = find_program(subject, trial, damage, site);
  trial.run(program, *driver::make_cuda_executable(program, {}));
  const bool equal = trial.is_equal();
  fmt::print("{}\n", equal ? "results equal" : "results differ");
  return equal;
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Planted faults on a GPU");
  app.add_flag("--list", options.list, "print the damaged programs, and what the simulator finds in them");
  app.add_flag("--json", options.json, "print the list as JSON");
  const CLI::Option* one =
      app.add_option("--run", options.run, "run one of the list on this machine's GPU: SUBJECT DAMAGE SITE");
  app.add_option("--limit", options.limit, "seconds after which a run ends: what waits on a GPU may hang");
  CLI11_PARSE(app, argc, argv);
  if (options.list == (one->count() > 0)) {
    fmt::print(stderr, "either --list or --run SUBJECT DAMAGE SITE\n");
    return 2;
  }
  if (options.list) {
    list(options.json);
    return 0;
  }
  alarm(options.limit);
  const auto& [subject, damage, site] = options.run;
  return run(subject, damage, site) ? 0 : 1;
}

}  // namespace
}  // namespace calotype::test

int main(int argc, char** argv) {
  try {
    return calotype::test::main_of(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
