// Registers that other threads read, at random: layouts of what is held and of those who read it, drawn from
// the directives, against the reference; refused or right.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "calotype/calotype.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::random_buffer;

const Var x("x"), y("y");

/// Loops of x and y bound to threads, lanes, warps, vectors and registers, whole or cut up.
void deal_out(Stage stage, const std::string& first, const std::string& second, std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<std::string> loops;
  for (const std::string& loop : {first, second}) {
    if (below(2)) {
      loops.push_back(loop);
      continue;
    }
    const int factors[] = {2, 3, 4, 8, 32};
    const Tail tails[] = {Tail::Auto, Tail::Guard, Tail::Predicate, Tail::PredicateLoads, Tail::RoundUp};
    stage.split(loop, loop + ".q", loop + ".r", factors[below(5)], tails[below(5)]);
    loops.push_back(loop + ".r");
    loops.push_back(loop + ".q");
  }
  if (below(3) == 0 && loops.size() > 2) {
    stage.vectorize(loops[0]);
    loops.erase(loops.begin());
  }
  std::shuffle(loops.begin(), loops.end(), random);
  std::size_t bound = 1;
  switch (below(4)) {
    case 0:
      stage.gpu_lanes(loops[0]);
      break;
    case 1:
      stage.gpu_lanes(loops[0]).gpu_warps(loops[1]);
      bound = 2;
      break;
    case 2:
      stage.gpu_threads(loops[0]);
      break;
    default:
      stage.gpu_threads(loops[0], loops[1]);
      bound = 2;
  }
  for (; bound < loops.size(); ++bound)
    if (below(2)) stage.unroll(loops[bound]);
}

TEST(LaneReadsAtRandom, OfAnyLayouts) {
  std::mt19937 random(20);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int ran = 0, shuffled = 0, shared = 0;
  for (int round = 0; round < 200; ++round) {
    Dim W("W"), H("H");
    ImageParam in(Int(32), {W, H}, "in");
    Func edged = boundary::repeat_edge(in, "edged"), f("f"), out("out");
    f(x, y) = edged(x, y) * 3 + cast<int>(x);
    Expr sum = f(x, y);
    for (int reads = 1 + below(3); reads > 0; --reads) {
      const int dx = below(5) - 2, dy = below(3) - 1;
      sum = below(4) == 0 ? select(x % 3 == 0, f(x + dx, y + dy), sum) : sum * 2 + f(x + dx, y + dy);
    }
    out(x, y) = sum;
    const Pipeline p("random", {in}, {Output(out, {W, H})});
    const int width = 1 + below(40), height = 1 + below(6);
    Schedule s;
    s["edged"].compute_inline();
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", width, height).gpu_blocks("xo", "yo");
    s["f"].compute_at("out", "xo").store_in(Memory::Register);
    deal_out(s["out"], "xi", "yi", random);
    deal_out(s["f"], "x", "y", random);
    const Target target = Target::interpreter("sm_90a");
    const std::vector<Diagnostic> refused = s.check(p, target);
    if (!refused.empty()) {
      EXPECT_EQ(refused[0].kind, ErrorKind::Schedule) << refused[0].str();
      continue;
    }
    ++ran;
    const std::string tiles = p.compile(s, target).show("tiles");
    shuffled += tiles.find("f: converted by shuffles for out") != std::string::npos ? 1 : 0;
    shared += tiles.find("f: converted through shared memory for out") != std::string::npos ? 1 : 0;
    for (const auto& [w, h] : std::vector<std::pair<int, int>>{{1, 1}, {below(90) + 1, below(12) + 1}})
      expect_matches(p, s, target, {random_buffer(Int(32), {w, h}, static_cast<unsigned>(round))},
                     {Buffer(Int(32), {w, h})});
  }
  EXPECT_GT(ran, 60);
  EXPECT_GT(shuffled, 20);
  EXPECT_GT(shared, 20);
}

}  // namespace
}  // namespace calotype
