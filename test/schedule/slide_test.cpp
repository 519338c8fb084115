// slide.
#include "helpers.h"

namespace calotype::test {

static Schedule split_rows() {
  Schedule s;
  s["by"].split("y", "yo", "yi", 4);
  s["bx"].store_root().compute_at("by", "yi");
  return s;
}

TEST(Slide, IsRecorded) {
  Schedule s = split_rows();
  s["bx"].slide("by", "y", 2);
  const auto applied = apply(blur(), s);
  const auto& slide = applied.of(applied.graph.find_func("bx")->id).slide;
  ASSERT_TRUE(slide);
  EXPECT_EQ(applied.loop(slide->dim).name, "y");
  EXPECT_EQ(slide->depth, 2);
  EXPECT_NE(to_string(applied).find("  slides along y of by, 2 ahead"), std::string::npos)
      << to_string(applied);
  EXPECT_TRUE(s.check(blur()).empty()) << s.check(blur())[0].str();
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "slide", "of": "by", "dim": "y", "depth": 2 })",
                  R"(s["bx"].slide("by", "y", 2);)");
}

TEST(Slide, IsRefused) {
  Schedule output, twice = split_rows(), unstored, unknown = split_rows(), updates;
  output["by"].slide("by", "y");
  expect_refused(blur(), output, {"'by' is an output"});
  twice["bx"].slide("by", "y").slide("by", "x");
  expect_refused(blur(), twice, {"the window of 'bx' moves already"});
  unstored["bx"].compute_at("by", "y").slide("by", "y");
  expect_refused(blur(), unstored, {"'bx' is stored where it is computed, so nothing is kept"});
  unknown["bx"].slide("by", "yo");
  expect_refused(blur(), unknown, {"'by' has no coordinate 'yo'"});
  updates["acc"].slide("C", "i");
  expect_refused(matmul(), updates, {"'acc' has updates"});
}

TEST(Slide, IsRefusedWhereItIsNotProved) {
  Schedule fused, outside, inside, shifted, swapped;
  fused["by"].fuse("x", "y", "xy");
  fused["bx"].store_root().compute_at("by", "xy").slide("by", "y");
  expect_refused(blur(), fused, {"was fused into 'xy'"});
  outside["by"].split("y", "yo", "yi", 4);
  outside["bx"].store_root().compute_at("by", "yo").slide("by", "x");
  expect_refused(blur(), outside, {"'bx' is computed outside every loop of 'x'"});
  inside["by"].split("y", "yo", "yi", 4);
  inside["bx"].store_at("by", "yo").compute_at("by", "yi").slide("by", "y");
  expect_refused(blur(), inside, {"'bx' is stored inside the loop 'yo'"});
  shifted["by"].split("y", "yo", "yi", 4, Tail::ShiftInwards);
  shifted["bx"].store_root().compute_at("by", "yi").slide("by", "y");
  expect_refused(blur(), shifted, {"never moves backwards along 'yo'"});
  swapped["by"].split("y", "yo", "yi", 4).reorder("x", "yo", "yi");
  swapped["bx"].store_root().compute_at("by", "yo").slide("by", "y");
  expect_refused(blur(), swapped, {"never moves backwards along 'yi'"});
}

}  // namespace calotype::test
