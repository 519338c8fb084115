// Random pipelines under random schedules: other ones every day, or those of CALOTYPE_FUZZ_SEED.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "fuzz/propose.h"
#include "fuzz/session.h"
#include "fuzz/shrink.h"
#include "schedule/directive.h"

namespace calotype::fuzz {
namespace {

/// Seeds of a day are far from those of the next.
std::uint64_t todays_seed() {
  if (const char* seed = std::getenv("CALOTYPE_FUZZ_SEED")) return std::strtoull(seed, nullptr, 10);
  const auto days = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  return static_cast<std::uint64_t>(days.time_since_epoch().count()) * 100000;
}

void expect_good(const Target& target, std::int64_t pairs) {
  const Session session{.seed = todays_seed(), .pairs = pairs, .target = target, .time = {}};
  std::cout << "CALOTYPE_FUZZ_SEED=" << session.seed << "\n";
  const Tally tally = run(session);
  std::cout << tally.str();
  EXPECT_EQ(tally.pairs, pairs);
  EXPECT_GT(tally.accepted(), 0.6) << "most schedules are to be legal";
  for (std::size_t i = 0; i < tally.failures.size(); ++i) {
    FailedPair failure = tally.failures[i];
    if (i == 0 && !failure.pair.program.funcs.empty())
      failure.pair = shrunk(failure.pair, failure.outcome, 200);
    ADD_FAILURE() << report(failure);
  }
}

#ifdef CALOTYPE_HAS_LLVM
TEST(Fuzz, HostSchedulesGiveWhatTheReferenceGives) { expect_good(Target::host(), 150); }
#endif

TEST(Fuzz, GpuSchedulesGiveWhatTheReferenceGives) { expect_good(Target::interpreter(), 150); }

TEST(Fuzz, EveryDirectiveHasAProposer) {
  for (const schedule::DirectiveSpec& d : schedule::directives())
    EXPECT_TRUE(std::any_of(proposers().begin(), proposers().end(),
                            [&](const Proposer& p) { return p.directive == d.name; }))
        << "'" << d.name << "' is missing in test/fuzz/propose.cpp";
  for (const Proposer& p : proposers())
    EXPECT_NE(schedule::find_directive(p.directive), nullptr) << p.directive;
}

}  // namespace
}  // namespace calotype::fuzz
