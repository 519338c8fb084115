// Updates of several values by threads that meet: under locks, of any number of places.

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

#ifdef CALOTYPE_HAS_LLVM

/// For each of `bins` how many elements fall there, their sum, the largest and the bits that all have.
Pipeline statistics(int bins) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var b("b");
  RDom r({{0, W}, {0, H}}, "r");
  Func s("s"), out("out");
  s(b) = Tuple(Expr(std::int64_t{0}), cast<std::int16_t>(0), Expr(-1000), cast<std::uint8_t>(255));
  const Expr v = in(r[0], r[1]), bin = cast<std::int64_t>(v + 64) % bins;
  s(bin) = Tuple(s(bin)[0] + 1, s(bin)[1] + cast<std::int16_t>(v), max(s(bin)[2], v),
                 s(bin)[3] & cast<std::uint8_t>(v));
  out(b) = s(b);
  return Pipeline("statistics", {in}, {Output(out, {Expr(bins)})});
}

void expect_same(const Pipeline& p, const Schedule& s, int bins) {
  for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 3}, {64, 50}, {333, 37}})
    for (int repeat = 0; repeat < 3; ++repeat)
      testing::expect_matches(p, s, Target::host(), {random_buffer(Int(32), {w, h}, 10 + repeat)},
                              {Buffer(Int(64), {bins}), Buffer(Int(16), {bins}), Buffer(Int(32), {bins}),
                               Buffer(UInt(8), {bins})});
}

TEST(LockedUpdates, OfFewAndOfManyPlaces) {
  for (int bins : {1, 3, 64}) {
    Schedule rows, points, chunks;
    rows["s"].compute_root();
    rows["s"].update().atomic().parallel("r.y");
    points["s"].compute_root();
    points["s"].update().atomic().parallel("r.y").parallel("r.x");
    chunks["s"].compute_root();
    chunks["s"].update().fuse("r.x", "r.y", "t").split("t", 100).parallel("t.o").atomic();
    for (const Schedule& s : {rows, points, chunks}) expect_same(statistics(bins), s, bins);
    const std::string text = statistics(bins).compile(rows, Target::host()).show("lowered");
    EXPECT_NE(text.find("locked by s.0["), std::string::npos) << text;
  }
}

TEST(LockedUpdates, OfAnOutputInTheCallersMemory) {
  Dim N("N"), M("M");
  ImageParam in(Int(32), {N, M}, "in");
  Var x("x");
  RDom r(0, M, "r");
  Func out("out");
  out(x) = Tuple(0, 1);
  out(x) = Tuple(out(x)[0] + in(x, r), out(x)[1] * (in(x, r) * 2 + 1));
  const Pipeline p("columns", {in}, {Output(out, {N})});
  Schedule s;
  s["out"].update().reorder("x", "r").parallel("r").atomic();
  for (std::int64_t n : {1, 5, 300})
    testing::expect_matches(p, s, Target::host(), {random_buffer(Int(32), {n, 129}, 3)},
                            {Buffer(Int(32), {n}), Buffer(Int(32), {n})});
}

/// Lanes have partial results, which threads bring together under the lock.
TEST(LockedUpdates, OfWhatLanesHaveFound) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  RDom r(0, N, "r");
  Func s("s"), out("out");
  s() = Tuple(0, -1000);
  s() = Tuple(s()[0] + in(r), max(s()[1], in(r)));
  out(x) = s()[0] * 7 + s()[1] + in(x);
  const Pipeline p("both", {in}, {Output(out, {N})});
  Schedule schedule;
  schedule["s"].compute_root();
  schedule["s"].update().split("r", "ro", "ri", 64).parallel("ro").vectorize("ri", 8).atomic();
  for (std::int64_t n : {1, 63, 64, 1000, 4097})
    testing::expect_matches(p, schedule, Target::host(), {random_buffer(Int(32), {n}, 3)},
                            {Buffer(Int(32), {n})});
}

TEST(LockedUpdates, AreRefusedInLanesThatMeet) {
  Schedule s;
  s["s"].compute_root();
  s["s"].update().atomic().vectorize("r.x", 8);
  const std::vector<Diagnostic> found = s.check(statistics(4), Target::host());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].str().find("lanes cannot take turns at several values"), std::string::npos)
      << found[0].str();
}

#endif  // CALOTYPE_HAS_LLVM

}  // namespace
}  // namespace calotype
