// Kernel::verify and Pipeline::verify: what the simulator finds is the result, with the stage and the
// directive it comes from; a run that was cut short is never clean.

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

/// out(x) = sum of three neighbours of 2 * in, the tile in shared memory.
struct Tiles {
  Dim n{"n"};
  ImageParam in{Float(32), {n}, "in"};
  Var x{"x"};
  Func twice{"twice"}, out{"out"};
  Tiles() {
    Func edged = boundary::repeat_edge(in, "edged");
    twice(x) = edged(x) * 2.0f;
    out(x) = twice(x - 1) + twice(x) + twice(x + 1);
  }
  Pipeline pipeline() const { return Pipeline("tiles", {in}, {Output(out, {n})}); }
  static Schedule schedule() {
    Schedule s;
    s["out"].split("x", "xo", "xi", 64).gpu_blocks("xo").gpu_threads("xi");
    s["twice"].compute_at("out", "xo").store_in(Memory::Shared);
    return s;
  }
};

TEST(Verify, ACleanProgramHasFiguresOfItsStages) {
  const Tiles t;
  const Verification found =
      t.pipeline().verify(Tiles::schedule(), "sm_90a", {random_buffer(Float(32), {256}, 1)});
  EXPECT_TRUE(found.clean()) << found.str();
  ASSERT_EQ(found.kernels.size(), 1u);
  const KernelFigures& kernel = found.kernels[0];
  EXPECT_EQ(kernel.grid[0], 4);
  EXPECT_EQ(kernel.block[0], 64);
  EXPECT_EQ(kernel.blocks_at_once, 32);
  EXPECT_EQ(kernel.limited_by, "blocks");
  ASSERT_EQ(kernel.stages.size(), 2u);
  for (const StageFigures& s : kernel.stages) {
    if (s.stage == "out") {
      EXPECT_EQ(s.global_stores.bytes, 256 * 4);
      EXPECT_EQ(s.global_stores.requests, 8);
      EXPECT_EQ(s.global_stores.pieces, 32);
      EXPECT_EQ(s.shared_loads.bytes, 3 * 256 * 4);
      EXPECT_EQ(s.shared_loads.pieces, 3 * 8);
      EXPECT_EQ(s.barriers, 8);
    } else {
      EXPECT_EQ(s.stage, "twice");
      EXPECT_EQ(s.shared_stores.bytes, 4 * 66 * 4);
      EXPECT_EQ(s.shared_bytes, 66 * 4);
    }
  }
  EXPECT_NE(found.str().find("no findings"), std::string::npos);
}

TEST(Verify, SeedsAndRandomLandingsAgree) {
  const Tiles t;
  for (std::uint64_t seed = 1; seed < 6; ++seed)
    for (const bool landing : {false, true})
      for (const std::int64_t n : {1, 63, 64, 200})
        EXPECT_TRUE(t.pipeline()
                        .verify(Tiles::schedule(), "sm_90a", {random_buffer(Float(32), {n}, seed)}, {}, {},
                                {.seed = seed, .random_landing = landing})
                        .clean());
}

/// A promise that does not hold: the one thing that a legal schedule cannot mend.
TEST(Verify, ABrokenPromiseIsNamed) {
  Dim n("n"), m("m");
  ImageParam table(Float(32), {m}, "table"), places(Int(32), {n}, "places");
  Var x("x");
  Func out("out");
  out(x) = table(promise_clamped(cast(Int(64), places(x)), 0, m - 1));
  const Pipeline p("gather", {table, places}, {Output(out, {n})});
  Schedule s;
  s["out"].split("x", "xo", "xi", 32).gpu_blocks("xo").gpu_threads("xi");
  Buffer at(Int(32), {40});
  for (std::int64_t i = 0; i < 40; ++i) at.set_value({i}, static_cast<double>(i == 35 ? 1000 : i));
  const Verification found = p.compile(s, Target::interpreter("sm_90a"))
                                 .verify({random_buffer(Float(32), {40}, 1), at, Buffer(Float(32), {40})});
  ASSERT_EQ(found.findings.size(), 1u) << found.str();
  const Finding& f = found.findings[0];
  EXPECT_EQ(f.kind, "out of bounds");
  EXPECT_EQ(f.buffer, "table");
  EXPECT_EQ(f.stage, "out");
  EXPECT_EQ(f.index, 1000);
  EXPECT_EQ(f.block[0], 1);
  ASSERT_EQ(f.accesses.size(), 1u);
  EXPECT_EQ(f.accesses[0].verb, "reads");
  EXPECT_EQ(f.accesses[0].thread[0], 3);
}

/// The labels of nodes by those of their parents, of which `root` makes the place that is read: the example
/// of docs/verify.md.
Pipeline labels(Expr (*root)(Expr parent)) {
  Dim n("N");
  ImageParam seed(Float(32), {n}, "seed"), parent(UInt(8), {n}, "parent");
  Var i("i");
  RDom r(32, n - 32, "r");
  Func label("label");
  label(i) = seed(i);
  label(r) = label(root(cast(Int(64), parent(r))));
  return Pipeline("labels", {seed, parent}, {Output(label, {n})});
}

TEST(Verify, AScheduleThatRacesSinceAPromiseDoesNotHold) {
  const Pipeline promised = labels([](Expr parent) { return promise_clamped(parent, 0, 31); });
  const Pipeline clamped = labels([](Expr parent) { return clamp(parent, 0, 31); });
  const Pipeline anywhere = labels([](Expr parent) { return clamp(parent, 0, 255); });
  Schedule s;
  s["label"].split("i", "io", "ii", 64).gpu_blocks("io").gpu_threads("ii");
  s["label"].update().split("r", "ro", "ri", 64).gpu_blocks("ro").gpu_threads("ri");
  const std::vector<Buffer> inputs{random_buffer(Float(32), {256}, 1), random_buffer(UInt(8), {256}, 2)};
  const Verification found = promised.verify(s, "sm_90a", inputs);
  ASSERT_EQ(found.findings.size(), 3u) << found.str();
  EXPECT_EQ(found.findings[0].kind, "data race");
  EXPECT_EQ(found.findings[1].kind, "data race");
  EXPECT_EQ(found.findings[2].kind, "wrong result");
  EXPECT_TRUE(clamped.verify(s, "sm_90a", inputs).clean());
  const std::vector<Diagnostic> refused = s.check(anywhere, Target::interpreter("sm_90a"));
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].message.find("the reduction loop 'ri' is a race"), std::string::npos)
      << refused[0].str();
  EXPECT_TRUE(anywhere.verify({}, "sm_90a", inputs).clean());
}

TEST(Verify, ARunThatIsCutShortIsNotClean) {
  const Tiles t;
  const Verification found = t.pipeline().verify(
      Tiles::schedule(), "sm_90a", {random_buffer(Float(32), {5000}, 1)}, {}, {}, {.max_steps = 100});
  ASSERT_FALSE(found.clean());
  EXPECT_EQ(found.findings[0].kind, "step limit");
}

TEST(Verify, IsForTheSimulator) {
  const Tiles t;
  const Kernel kernel = t.pipeline().compile(Tiles::schedule(), Target::cuda("sm_90a"));
  const Buffer a(Float(32), {8});
  try {
    kernel.verify({a, a});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Usage);
    EXPECT_NE(std::string(e.what()).find("Target::interpreter"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace calotype
