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

}  // namespace
}  // namespace calotype
