// Tails of stages inside a consumer's loop, where regions are small, slide, or are split again: each runs right or is
// refused with what would be legal.

#include "support/run.h"

namespace calotype {
namespace {

#ifdef CALOTYPE_HAS_LLVM

struct Stencil {
  Stencil() {
    Dim W("W"), H("H");
    ImageParam in(Float(32), {W, H}, "in");
    Var x("x"), y("y");
    Func edged = boundary::repeat_edge(in, "edged");
    Func bx("bx"), out("out");
    bx(x, y) = edged(x - 1, y) + edged(x, y) * 2.0f + edged(x + 1, y);
    out(x, y) = bx(x, y - 1) + bx(x, y) * 3.0f + bx(x, y + 1) - in(x, y);
    pipeline.emplace("stencil", std::vector<Input>{in}, std::vector<Output>{Output(out, {W, H})});
    schedule["edged"].compute_inline();
    schedule["out"].serial("y");
    schedule["bx"].compute_at("out", "y");
  }

  void expect_right() {
    for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{19, 11}, {7, 3}, {1, 1}}) {
      const Buffer in = testing::random_buffer(Float(32), {w, h}, 1);
      testing::expect_matches(*pipeline, schedule, Target::host(), {in}, {Buffer(Float(32), {w, h})});
      testing::expect_stages_match(*pipeline, schedule, Target::host(), {in});
    }
  }

  std::optional<Pipeline> pipeline;
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

TEST(Tails, ShiftingAWindowThatMayBeSmallerIsRefused) {
  Stencil s;
  s.schedule["bx"].store_root().split("y", "yo", "yi", 4, Tail::ShiftInwards);
  try {
    s.pipeline->compile(s.schedule, Target::host());
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
