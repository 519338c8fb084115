// The fuzzer's own parts: it finds what is planted, and it draws the same pair from the same seed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "fuzz/child.h"
#include "fuzz/guarded.h"
#include "fuzz/justified.h"
#include "fuzz/session.h"
#include "fuzz/shrink.h"
#include "schedule/directive.h"

namespace calotype::fuzz {
namespace {

TEST(Child, SaysHowItEnded) {
  std::vector<std::string> heard;
  const auto hear = [&](const std::string& m) { heard.push_back(m); };
  EXPECT_TRUE(in_child([](const Say& say) { say("one"), say(""); }, hear).finished);
  EXPECT_EQ(heard, (std::vector<std::string>{"one", ""}));
  const Ending ending = in_child([](const Say&) { std::raise(SIGKILL); }, hear);
  EXPECT_FALSE(ending.finished);
  EXPECT_NE(ending.how.find("signal 9"), std::string::npos) << ending.how;
}

TEST(Child, IsStoppedInTime) {
  const Ending ending = in_child(
      [](const Say&) {
        allow_seconds(1);
        for (volatile int n = 0;;) n = n + 1;
      },
      [](const std::string&) {});
  EXPECT_EQ(ending.how, "no end in the time allowed");
}

TEST(Guarded, MarginsShowAWrite) {
  Random random(1);
  for (int i = 0; i < 20; ++i) {
    const Guarded g(random, Int(16), {3, 4});
    EXPECT_TRUE(g.margins_whole());
    Buffer inside = g.buffer();
    inside.fill(7);
    EXPECT_TRUE(g.margins_whole());
  }
}

/// A byte on either side of a buffer is in its margin or cannot be touched.
TEST(Guarded, NeighboursAreMarginsOrFaults) {
  for (const int side : {-1, 1}) {
    Random random(3);
    const Guarded g(random, UInt(8), {5});
    auto* at = static_cast<unsigned char*>(g.buffer().data()) + (side < 0 ? -1 : 5);
    bool seen = false;
    const Ending ending = in_child(
        [&](const Say& say) {
          std::signal(SIGSEGV, SIG_DFL);  // sanitizers have a handler of their own
          *at = 1;
          if (!g.margins_whole()) say("seen");
        },
        [&](const std::string&) { seen = true; });
    EXPECT_TRUE(seen || ending.how.find("signal 11") != std::string::npos) << side << " " << ending.how;
  }
}

Schedule with_bound() {
  Schedule s;
  s["f"].bound("x", 0, 8).split("y", "yo", "yi", 4, Tail::RoundUp);
  s["g"].compute_root();
  return s;
}

TEST(Justified, ByThePromiseThatIsNamed) {
  const Schedule s = with_bound();
  EXPECT_EQ(named_promise(s, "fuzz: the schedule's #1 bound(x, 0, 8) fits only an extent of 8"), "bound");
  EXPECT_EQ(named_promise(s, "#2 split(y, yo, yi, 4, round_up) needs an extent of at least 4"), "split");
  EXPECT_EQ(named_promise(s, "#3 compute_root() is no promise"), "");
  EXPECT_EQ(named_promise(s, "the schedule's #4 bound(x, 0, 8)"), "");
  EXPECT_TRUE(is_about_regions("fuzz: dimension 0 is read from 1 to 33 but holds 0 to 29"));
  EXPECT_FALSE(is_about_regions("fuzz: dimension 0 has extent 3"));
}

TEST(Justified, ExactRegionsPromiseNothing) {
  const Schedule exact = with_exact_regions(with_bound());
  ASSERT_EQ(exact.directives().size(), 2u);
  EXPECT_EQ(exact.directives()[0].name, "split");
  EXPECT_EQ(schedule::find_arg(exact.directives()[0], "tail"), nullptr);
  EXPECT_TRUE(with_exact_regions(exact) == exact);
}

/// f(x) = (x, 2x), then out = f[0] + f[1] * 3.
TEST(Programs, HaveFuncsOfSeveralValues) {
  const Pair pair = pair_of(
      "(pair (target cuda-interpreter) (program (data 1) (sizes (W 5)) (input in0 s32 (of W) 0 9 whole)"
      " (func f0 (def (of x) (tuple (in0 x) (* (in0 x) (const s32 2))) (of)))"
      " (func f1 (def (of x) (+ (f0.0 x) (mux (f0.1 x) (f0.0 x) (saturating_cast s8 (f0.1 x)) (const s32 "
      "3))) (of)))"
      " (output f0 (of W) whole) (output f1 (of W) whole)) (schedule (do 'f0 compute_root)))");
  EXPECT_EQ(components(*pair.program.func("f0")), 2);
  EXPECT_EQ(components(*pair.program.func("f1")), 1);
  const Outcome outcome = try_pair(pair);
  EXPECT_EQ(outcome.verdict, Verdict::Accepted) << outcome.detail;
  const std::string text = cpp(pair.program);
  EXPECT_NE(text.find("f0(x) = Tuple(in0(x), (in0(x) * cast(Type::parse(\"s32\"), 2)));"), std::string::npos)
      << text;
  EXPECT_NE(text.find("mux(f0(x)[1], {f0(x)[0], "), std::string::npos) << text;
}

TEST(Drawing, OneSeedGivesOnePair) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const auto draw = [&] { return text(draw_pair(seed, Target::interpreter(), [](const Pair&) {})); };
    EXPECT_EQ(draw(), draw());
  }
}

TEST(Drawing, ProgramsSurviveTheirText) {
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    const Pair pair = draw_pair(seed, Target::interpreter(), [](const Pair&) {});
    const Pair again = pair_of(text(pair));
    EXPECT_EQ(build(again.program).fingerprint(), build(pair.program).fingerprint());
    EXPECT_TRUE(again.schedule == pair.schedule);
  }
}

/// A program whose reference cannot be had stands for a failure: what is left is what it takes.
TEST(Shrinking, LeavesWhatTheFailureNeeds) {
  Pair pair;
  for (std::uint64_t seed = 1; pair.program.funcs.size() < 4; ++seed)
    pair = draw_pair(seed, Target::interpreter(), [](const Pair&) {});
  const std::string lone =
      "(pair (target cuda-interpreter) (program (data 1) (sizes (W 9)) (input a s32 (of W) 0 5 whole)"
      " (func f (def (of x) (+ (a (+ x 1)) (* (a x) (const s32 3))) (of)))"
      " (func g (def (of x) (+ (f x) (f (* x 2))) (of))) (output g (of W) whole)) (schedule"
      " (do 'g gpu_threads (loops (of 'x)) (by 4)) (do 'g gpu_blocks (loops (of 'x.o)))))";
  const Pair failing = pair_of(lone);
  const Outcome outcome = try_in_child(failing);
  ASSERT_EQ(static_cast<int>(outcome.verdict), static_cast<int>(Verdict::BadProgram)) << outcome.detail;
  const Pair small = shrunk(failing, outcome, 300);
  EXPECT_TRUE(small.schedule.directives().empty());
  EXPECT_EQ(small.program.funcs.size(), 1u) << text(small);
  EXPECT_EQ(small.program.runs[0].at("W"), 1) << text(small);
}

}  // namespace
}  // namespace calotype::fuzz
