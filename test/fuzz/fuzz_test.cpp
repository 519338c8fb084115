// Random pipelines under random schedules: always the same ones, or those of CALOTYPE_FUZZ_SEED.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "fuzz/propose.h"
#include "fuzz/recipes.h"
#include "fuzz/session.h"
#include "fuzz/shrink.h"
#include "schedule/directive.h"

namespace calotype::fuzz {
namespace {

/// The same pairs every time, so that a change is judged by what it changes; CALOTYPE_FUZZ_SEED draws others.
std::uint64_t first_seed() {
  const char* seed = std::getenv("CALOTYPE_FUZZ_SEED");
  return seed ? std::strtoull(seed, nullptr, 10) : 2078700000;
}

void expect_good(const Target& target, std::int64_t pairs) {
  const Session session{.seed = first_seed(), .pairs = pairs, .target = target, .time = {}};
  std::cout << "CALOTYPE_FUZZ_SEED=" << session.seed << "\n";
  const Tally tally = run(session);
  std::cout << tally.str();
  EXPECT_EQ(tally.pairs, pairs);
  EXPECT_GE(tally.accepted(), 0.7) << "most schedules are to be legal";
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

TEST(Fuzz, GpuSchedulesGiveWhatTheReferenceGives) { expect_good(Target::interpreter(), 220); }

/// Whether the recipe makes a legal kernel for one of some random programs.
bool is_legal_somewhere(const Recipe& recipe) {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    Random random(seed);
    Program program;
    const Target target = Target::interpreter();
    const Pipeline pipeline = draw_pipeline(random, program, target);
    Draft draft(random, program, pipeline, target);
    if (recipe.draw(draft) && draft.schedule().check(pipeline, target).empty()) return true;
  }
  return false;
}

TEST(Fuzz, EveryRecipeIsLegalSomewhere) {
  for (const Recipe& recipe : recipes()) EXPECT_TRUE(is_legal_somewhere(recipe)) << recipe.name;
}

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
