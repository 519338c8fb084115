// The values of stages: stored in full whatever the storage is like, compared with the reference, and the
// stage that is wrong named. Every schedule of schedules_test.cpp and tails_test.cpp is checked there too.

#include <algorithm>

#include "driver/kernel_impl.h"
#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using driver::StageComparison;
using testing::compared_stages;
using testing::random_buffer;
using testing::targets;

/// out <- sums <- taps, a stencil of two stages; `wrong` is added to sums.
Pipeline two_stages(double wrong = 0) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func taps("taps"), sums("sums"), out("out");
  Func edged = boundary::repeat_edge(in, "edged");
  taps(x, y) = edged(x - 1, y) * 2.0f + edged(x + 1, y);
  sums(x, y) = taps(x, y - 1) + taps(x, y + 1) + static_cast<float>(wrong);
  out(x, y) = sums(x, y) * 3.0f;
  return Pipeline("two_stages", {in}, {Output(out, {W, H})});
}

Schedule all_at_root() {
  Schedule s;
  s["edged"].compute_inline();
  s["taps"].compute_root();
  s["sums"].compute_root();
  return s;
}

const StageComparison& stage(const std::vector<StageComparison>& all, const std::string& name) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const StageComparison& c) { return c.name == name; });
  if (at == all.end()) throw std::logic_error("no stage " + name);
  return *at;
}

std::string first_that_differs(const std::vector<StageComparison>& all) {
  for (const StageComparison& c : all)
    if (!c.passed()) return c.name;
  return "";
}

#ifdef CALOTYPE_HAS_LLVM
TEST(StageValues, OfARing) {
  Schedule s;
  s["edged"].compute_inline();
  s["sums"].compute_inline();
  s["taps"].store_root().compute_at("out", "y");
  s["out"].compute_root().serial("y");
  const auto found =
      compared_stages(two_stages(), s, Target::host(), {random_buffer(Float(32), {23, 17}, 1)});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(first_that_differs(found), "");
  // 17 rows and the one on either side, though the ring holds 4.
  EXPECT_EQ(stage(found, "taps").elements, 23 * 19);
  EXPECT_EQ(stage(found, "taps").box, 23 * 19);
}
#endif

TEST(StageValues, OfReductionsAndWhatSchedulesMake) {
  const Pipeline pipeline = testing::row_sums();
  for (const Target& target : targets()) {
    Schedule s;
    s["total"].compute_root();
    s["total"].update().split("k", "ko", "ki", 8);
    Stage lanes = s["total"].update().rfactor({{"ki", "lane"}}, "lanes");
    s[lanes].compute_root();
    s[s.in("in", {"lanes"})].compute_root();
    if (target.is_gpu()) {
      for (Stage stage : {s["total"], s["total"].update()}) stage.gpu_blocks("y");
      s[lanes].reorder("lane", "y").gpu_blocks("y").gpu_threads("lane");
      s[lanes].update().reorder("ko", "lane", "y").gpu_blocks("y").gpu_threads("lane");
    }
    const auto found = compared_stages(pipeline, s, target, {random_buffer(Float(32), {37, 5}, 2)});
    ASSERT_EQ(found.size(), 4u) << target.str();
    EXPECT_EQ(first_that_differs(found), "") << target.str();
    EXPECT_EQ(found[0].name, "in.in(lanes)");
    EXPECT_EQ(stage(found, "lanes").elements, 8 * 5);
    EXPECT_EQ(stage(found, "total").elements, 5);
  }
}

TEST(StageValues, OfScansAndScatters) {
  Dim W("W"), H("H");
  ImageParam in(UInt(8), {W, H}, "in");
  Var x("x"), y("y"), b("b");
  RDom r({{0, W}, {0, H}}, "r"), k(1, H - 1, "k");
  Func hist("hist"), scan("scan"), out("out");
  hist(b) = cast<std::int32_t>(0);
  hist(cast<std::int64_t>(in(r.x(), r.y()))) += 1;
  scan(x, y) = cast<std::int32_t>(in(x, y));
  scan(x, k) += scan(x, k - 1);
  out(x, y) = scan(x, y) + hist(cast<std::int64_t>(in(x, y)));
  const Pipeline pipeline("scans", {in}, {Output(out, {W, H})});
  for (const Target& target : targets()) {
    Schedule s;
    s["hist"].compute_root();
    s["scan"].compute_root();
    const auto found = compared_stages(pipeline, s, target, {random_buffer(UInt(8), {19, 7}, 3)});
    EXPECT_EQ(first_that_differs(found), "") << target.str();
    EXPECT_EQ(stage(found, "hist").elements, 256);
    EXPECT_EQ(stage(found, "scan").elements, 19 * 7);
  }
}

// Only even points are read one by one; the reference evaluates their hull.
TEST(StageValues, PointsThatTheScheduleDoesNotComputeAreLeftOut) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  Func mid("mid"), out("out");
  mid(x) = in(min(x, N - 1)) * 3;
  out(x) = mid(x * 2);
  const Pipeline pipeline("even", {in}, {Output(out, {N})});
  for (const Target& target : targets()) {
    Schedule s;
    s["out"].split("x", "xo", "xi", 32);
    if (target.is_gpu()) s["out"].gpu_blocks("xo").gpu_threads("xi");
    s["mid"].compute_at("out", "xi");
    const auto found = compared_stages(pipeline, s, target, {random_buffer(Int(32), {40}, 4)});
    EXPECT_EQ(first_that_differs(found), "") << target.str();
    EXPECT_EQ(stage(found, "mid").elements, 40) << target.str();
    EXPECT_EQ(stage(found, "mid").box, 79);
  }
}

TEST(StageValues, BlocksThatComputeAPointTwice) {
  Schedule s;
  s["edged"].compute_inline();
  s["sums"].compute_inline();
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s["taps"].compute_at("out", "xo").store_in(Memory::Shared);
  const auto found = compared_stages(two_stages(), s, Target::interpreter("sm_90a"),
                                     {random_buffer(Float(32), {21, 11}, 5)});
  EXPECT_EQ(first_that_differs(found), "");
  EXPECT_EQ(stage(found, "taps").elements, 21 * 13);
}

TEST(StageValues, RegistersOfABlock) {
  const Pipeline pipeline = testing::product();
  Schedule s;
  s["C"].tile("j", "i", "jo", "io", "ji", "ii", 16, 16).tile("ji", "ii", "jt", "it", "jr", "ir", 2, 4);
  s["C"].gpu_blocks("jo", "io").gpu_threads("jt", "it").unroll("jr").unroll("ir");
  s["acc"].compute_at("C", "jo").store_in(Memory::Register);
  for (Stage stage : {s["acc"], s["acc"].update()})
    stage.tile("j", "i", "jt", "it", "jr", "ir", 2, 4).gpu_threads("jt", "it").unroll("jr").unroll("ir");
  s["acc"].update().reorder("jr", "ir", "r", "jt", "it");
  const auto found =
      compared_stages(pipeline, s, Target::interpreter("sm_90a"),
                      {random_buffer(Float(32), {9, 37}, 6), random_buffer(Float(32), {21, 9}, 7)});
  EXPECT_EQ(first_that_differs(found), "");
  EXPECT_EQ(stage(found, "acc").elements, 21 * 37);
}

TEST(StageValues, AWrongStageIsNamedBeforeThoseThatReadIt) {
  const Pipeline right = two_stages(), miscompiled = two_stages(0.25);
  for (const Target& target : targets()) {
    const schedule::Scheduled scheduled =
        schedule::apply_or_throw(miscompiled.graph(), all_at_root(), target);
    const std::vector<lang::FuncId> stages = driver::realised_stages(scheduled);
    const driver::StageArguments arguments{{random_buffer(Float(32), {9, 8}, 8)}, {}, {}};
    const auto found = driver::compare_stages(
        driver::run_stages(miscompiled.graph(), scheduled, stages, arguments),
        driver::reference_stages(right.graph(),
                                 schedule::apply_or_throw(right.graph(), all_at_root(), target), stages,
                                 arguments));
    EXPECT_TRUE(stage(found, "taps").passed());
    EXPECT_EQ(first_that_differs(found), "sums") << target.str();
    EXPECT_FALSE(stage(found, "out").passed());
    EXPECT_EQ(stage(found, "sums").different, 72);
  }
}

TEST(StageValues, ATamperedElementIsFoundWhereItIs) {
  const Pipeline pipeline = two_stages();
  const Target target = targets().front();
  const schedule::Scheduled scheduled = schedule::apply_or_throw(pipeline.graph(), all_at_root(), target);
  const std::vector<lang::FuncId> stages = driver::realised_stages(scheduled);
  const driver::StageArguments arguments{{random_buffer(Float(32), {9, 8}, 9)}, {}, {}};
  const auto values = driver::run_stages(pipeline.graph(), scheduled, stages, arguments);
  auto reference = driver::reference_stages(pipeline.graph(), scheduled, stages, arguments);
  ASSERT_EQ(values[0].name, "taps");
  reference[0].values.set_value({3, -1}, 99);
  reference[0].exact.set_value({3, -1}, 99);
  const auto found = driver::compare_stages(values, reference);
  EXPECT_EQ(first_that_differs(found), "taps");
  EXPECT_EQ(found[0].different, 1);
  EXPECT_EQ(found[0].first.at, (std::vector<std::int64_t>{3, -1}));
  EXPECT_EQ(found[0].worst.expected, 99);
}

TEST(StageValues, AnOrdinaryKernelHasNoOtherArguments) {
  const Pipeline pipeline = two_stages();
  for (const Target& target : targets()) {
    const Kernel kernel = pipeline.compile(all_at_root(), target);
    EXPECT_EQ(kernel.impl().dense().program.arguments.size(), 2u);
    EXPECT_EQ(kernel.show("lowered").find("taps.stored"), std::string::npos);
  }
}

}  // namespace
}  // namespace calotype
