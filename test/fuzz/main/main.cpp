// calotype_fuzz: random pipelines under random schedules, for as long as one likes.
//
//   calotype_fuzz --pairs N --seed S --target host|cuda-interpreter|both [--minutes M] [--tries N] [--counts]
//   calotype_fuzz --pair FILE... [--show LEVEL...]     tries pairs of the corpus
//   calotype_fuzz --draw --seed S --pairs N --target T     prints pairs as the corpus holds them
//
// Exit code 1: something failed; each failure is shrunk and printed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "fuzz/corpus.h"
#include "fuzz/session.h"
#include "fuzz/shrink.h"

namespace calotype::fuzz {
namespace {

struct Options {
  std::int64_t pairs = 1000, seed = 1, minutes = 0, tries = 600;
  std::size_t most = 1;  ///< failures of one kind that are shrunk
  std::size_t reasons = 0, refusals = 0;
  std::string target = "host";
  bool counts = false, draw = false;
  std::vector<std::string> files, levels;
};

void print_failure(FailedPair failure, int tries) {
  if (!failure.pair.program.funcs.empty()) failure.pair = shrunk(failure.pair, failure.outcome, tries);
  if (const Outcome o = try_in_child(failure.pair); o.what == failure.outcome.what) failure.outcome = o;
  fmt::print("{}\n", report(failure));
}

/// Failures of one kind are most often of one cause.
void print_failures(const Tally& tally, const Options& options) {
  std::map<std::string, std::vector<const FailedPair*>> kinds;
  for (const FailedPair& f : tally.failures) kinds[f.outcome.what].push_back(&f);
  for (const auto& [what, all] : kinds) {
    fmt::print("---- {}: {} times; seeds", what, all.size());
    for (const FailedPair* f : all) fmt::print(" {}", f->seed);
    fmt::print("\n");
    for (std::size_t i = 0; i < std::min(options.most, all.size()); ++i)
      print_failure(*all[i], static_cast<int>(options.tries));
    std::fflush(stdout);
  }
}

bool run_target(const Options& options, const Target& target) {
  Session session{.seed = static_cast<std::uint64_t>(options.seed),
                  .pairs = options.pairs,
                  .target = target,
                  .time = {},
                  .counts = options.counts};
  if (options.minutes > 0) session.time = std::chrono::minutes(options.minutes);
  const Tally tally = run(session);
  fmt::print("{}, from seed {}\n{}", target.str(), options.seed, tally.str());
  if (options.reasons > 0) fmt::print("refused because\n{}", tally.reasons_str(options.reasons));
  for (std::size_t i = 0; i < std::min(options.refusals, tally.refusals.size()); ++i)
    fmt::print("---- refusal {}: {}\n", i + 1, report(tally.refusals[i]));
  std::fflush(stdout);
  print_failures(tally, options);
  return tally.failures.empty();
}

void draw_pairs(const Options& options, const Target& target) {
  for (std::int64_t i = 0; i < options.pairs; ++i)
    fmt::print("{}\n",
               text(draw_pair(static_cast<std::uint64_t>(options.seed + i), target, [](const Pair&) {})));
}

void show(const Pair& pair, const std::vector<std::string>& levels) {
  const Kernel kernel = build(pair.program).compile(pair.schedule, pair.target);
  for (const std::string& level : levels) fmt::print("{}\n", kernel.show(level));
}

bool run_files(const Options& options) {
  bool good = true;
  for (const std::string& path : options.files) {
    FailedPair f{.pair = load_pair(path)};
    if (!options.levels.empty()) show(f.pair, options.levels);
    f.outcome = try_in_child(f.pair);
    fmt::print("{}: {} {}\n", path, f.outcome.verdict == Verdict::Accepted ? "ran" : f.outcome.what,
               f.outcome.detail);
    const bool failed = f.outcome.verdict == Verdict::Failed || f.outcome.verdict == Verdict::BadProgram;
    if (failed) print_failure(f, static_cast<int>(options.tries));
    good = good && !failed;
  }
  return good;
}

int main_of(int argc, char** argv) {
  Options options;
  CLI::App app("Random pipelines under random schedules");
  app.add_option("--pairs", options.pairs, "how many for each target");
  app.add_option("--seed", options.seed, "of the first pair");
  app.add_option("--target", options.target, "host, cuda-interpreter or both");
  app.add_option("--minutes", options.minutes, "stop after them, for each target");
  app.add_option("--tries", options.tries, "pairs tried while a failure is shrunk");
  app.add_option("--shrink", options.most, "failures of one kind that are shrunk and printed");
  app.add_option("--reasons", options.reasons, "how many reasons of refusals to print");
  app.add_option("--refusals", options.refusals, "how many refused pairs to print in full");
  app.add_flag("--draw", options.draw, "print the pairs as the corpus holds them, and try none");
  app.add_flag("--counts", options.counts, "leave out directives of every pair that ran, for the table");
  app.add_option("--pair", options.files, "files of the corpus to try instead");
  app.add_option("--show", options.levels, "levels of the programs of these pairs to print, as lowered");
  CLI11_PARSE(app, argc, argv);
  if (!options.files.empty()) return run_files(options) ? 0 : 1;
  bool good = true;
  for (const Target& t : {Target::host(), Target::interpreter()}) {
    if (options.target != "both" && options.target != t.str()) continue;
    if (options.draw)
      draw_pairs(options, t);
    else
      good = run_target(options, t) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace calotype::fuzz

int main(int argc, char** argv) {
  try {
    return calotype::fuzz::main_of(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
