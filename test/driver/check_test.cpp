// Schedule::check finds what only lowering refuses: the same fault that compile throws.

#include "support/run.h"

namespace calotype {
namespace {

const Target kGpu = Target::interpreter("sm_90a");

Pipeline stencil() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), bx("bx"), out("out");
  bx(x, y) = edged(x - 1, y) + edged(x + 1, y);
  out(x, y) = bx(x, y - 1) + bx(x, y + 1);
  return Pipeline("stencil", {in}, {Output(out, {W, H})});
}

/// One diagnostic, of a Func, with these parts, which compile throws too.
void expect_found(const Schedule& schedule, const Target& target, const std::string& func,
                  const std::vector<std::string>& parts) {
  const Pipeline pipeline = stencil();
  const std::vector<Diagnostic> found = schedule.check(pipeline, target);
  ASSERT_EQ(found.size(), 1u) << schedule.str();
  EXPECT_EQ(found[0].kind, ErrorKind::Schedule);
  EXPECT_EQ(found[0].func, func);
  EXPECT_FALSE(found[0].directive.empty()) << found[0].str();
  EXPECT_FALSE(found[0].legal.empty()) << found[0].str();
  for (const std::string& part : parts)
    EXPECT_NE(found[0].str().find(part), std::string::npos) << found[0].str();
  try {
    pipeline.compile(schedule, target);
    ADD_FAILURE() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.diagnostic().str(), found[0].str());
  }
}

Schedule tiles(int width, int height) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", width, height).gpu_blocks("xo", "yo");
  return s;
}

TEST(Check, ThreadLoopsWithoutAConstantExtent) {
  Schedule s;
  s["edged"].compute_inline();
  s["bx"].compute_inline();
  s["out"].gpu_blocks("y").gpu_threads("x");
  expect_found(s, kGpu, "out",
               {"thread loop 'x' has no constant bound", "gpu_threads(x)", "split it by a constant"});
}

TEST(Check, ShiftingInwardsWithoutRoom) {
  Schedule s;
  s["edged"].compute_inline();
  s["bx"].store_root().compute_at("out", "y").split("y", "yo", "yi", 4, Tail::ShiftInwards);
  s["out"].serial("y");
  expect_found(s, Target::host(), "bx", {"the region here may be smaller", "shift_inwards", "guard"});
}

TEST(Check, RegistersReadAcrossThreadsAreNoFault) {
  Schedule s = tiles(16, 4);
  s["out"].gpu_threads("xi", "yi");
  s["bx"].compute_at("out", "xo").store_in(Memory::Register).gpu_threads("x", "y");
  EXPECT_TRUE(s.check(stencil(), kGpu).empty());
}

TEST(Check, SharedMemoryThatIsTooLarge) {
  Schedule s = tiles(64, 1024);
  s["out"].split("yi", "yr", "yt", 4).reorder("yr", "xi", "yt", "xo", "yo").gpu_threads("xi", "yt");
  s["bx"].compute_at("out", "xo").store_in(Memory::Shared);
  expect_found(s, kGpu, "bx", {"262656 bytes of shared memory", "at most 232448"});
}

TEST(Check, ALegalScheduleHasNoFaults) {
  Schedule s = tiles(16, 4);
  s["out"].gpu_threads("xi", "yi");
  s["bx"].compute_at("out", "xo").store_in(Memory::Shared);
  for (const Diagnostic& d : s.check(stencil(), kGpu)) ADD_FAILURE() << d.str();
}

}  // namespace
}  // namespace calotype
