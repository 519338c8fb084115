// Tails of stages inside a consumer's loop, where regions are small, slide, or are split again: each runs
// right or is refused with what would be legal.

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

#ifdef CALOTYPE_HAS_LLVM

struct Stencil {
  Stencil() {
    schedule["edged"].compute_inline();
    schedule["out"].serial("y");
    schedule["bx"].compute_at("out", "y");
  }

  void expect_right() {
    for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{19, 11}, {7, 3}, {1, 1}}) {
      const Buffer in = testing::random_buffer(Float(32), {w, h}, 1);
      testing::expect_matches(pipeline, schedule, Target::host(), {in}, {Buffer(Float(32), {w, h})});
      testing::expect_stages_match(pipeline, schedule, Target::host(), {in});
    }
  }

  Pipeline pipeline = testing::stencil();
  Schedule schedule;
};

TEST(Tails, OfARegionInsideALoop) {
  for (Tail tail : {Tail::Guard, Tail::Predicate, Tail::RoundUp, Tail::ShiftInwards}) {
    Stencil s;
    s.schedule["bx"].split("y", "yo", "yi", 4, tail);
    s.expect_right();
  }
}

TEST(Tails, OfARegionThatSlides) {
  for (Tail tail : {Tail::Guard, Tail::Predicate, Tail::RoundUp}) {
    Stencil s;
    s.schedule["bx"].store_root().split("y", "yo", "yi", 4, tail);
    s.expect_right();
  }
}

TEST(Tails, OfASplitOfASplit) {
  for (Tail tail : {Tail::Guard, Tail::Predicate, Tail::RoundUp}) {
    Stencil s;
    s.schedule["bx"].split("x", "xo", "xi", 6).split("xi", "xa", "xb", 4, tail);
    s.expect_right();
  }
}

TEST(Tails, OfASplitWhoseOuterLoopIsInside) {
  for (Tail tail : {Tail::Guard, Tail::Predicate}) {
    Stencil s;
    s.schedule["out"].split("x", "xo", "xi", 4, tail).reorder("xo", "xi", "y");
    s.schedule["bx"].split("x", "xo", "xi", 3, tail).reorder("xo", "y", "xi");
    s.expect_right();
  }
}

TEST(Tails, ShiftingAWindowThatMayBeSmallerIsRefused) {
  Stencil s;
  s.schedule["bx"].store_root().split("y", "yo", "yi", 4, Tail::ShiftInwards);
  try {
    s.pipeline.compile(s.schedule, Target::host());
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Schedule);
    EXPECT_EQ(e.diagnostic().func, "bx");
    EXPECT_NE(std::string(e.what()).find("the region here may be smaller"), std::string::npos) << e.what();
    EXPECT_NE(e.diagnostic().legal.find("guard"), std::string::npos);
  }
}

#endif  // CALOTYPE_HAS_LLVM

// The tile that has moved back writes what the one before it writes too, maybe as other threads at the same
// time; both write the same values.
TEST(Tails, ThatMoveBackOnAGpu) {
  for (const Target& target : testing::targets()) {
    if (!target.is_gpu()) continue;
    const Tail shift = Tail::ShiftInwards;
    std::vector<Schedule> schedules(5);
    schedules[0]["out"].gpu_blocks("y").gpu_threads("x", 16, shift);
    schedules[1]["out"].split("y", "yo", "yi", 4, shift).gpu_blocks("yo").gpu_threads("x", 16);
    schedules[2]["out"]
        .split("y", "yo", "yi", 4, shift)
        .split("x", "xo", "xi", 16, shift)
        .reorder("xo", "yi", "xi", "yo")
        .gpu_blocks("yo")
        .gpu_threads("xi");
    schedules[3]["out"].split("x", "xo", "xi", 16, shift).split("xi", "xa", "v", 4).vectorize("v");
    schedules[3]["out"].reorder("v", "xo", "xa", "y").gpu_blocks("y").gpu_threads("xa");
    schedules[4]["bx"].compute_root().gpu_blocks("y").gpu_threads("x", 16, shift);
    schedules.emplace_back();
    schedules[5]["out"].gpu_blocks("y");
    schedules[5]["bx"].compute_at("out", "x").gpu_threads("x", 2, shift);
    for (Schedule& s : schedules)
      for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{37, 11}, {16, 4}}) {
        const Buffer in = testing::random_buffer(Float(32), {w, h}, 1);
        testing::expect_matches(testing::stencil(), s, target, {in}, {Buffer(Float(32), {w, h})});
        testing::expect_stages_match(testing::stencil(), s, target, {in});
      }
  }
}

}  // namespace
}  // namespace calotype
