// align_bounds.
#include "helpers.h"

namespace calotype::test {

TEST(AlignBounds, IsRecorded) {
  Schedule s;
  s["bx"].compute_root().align_bounds("x", 8).align_bounds("y", 4, 3);
  const auto applied = apply(blur(), s);
  const auto& alignments = applied.of(applied.graph.find_func("bx")->id).alignments;
  ASSERT_EQ(alignments.size(), 2u);
  EXPECT_EQ(alignments[0].modulus, 8);
  EXPECT_EQ(alignments[0].remainder, 0);
  EXPECT_EQ(alignments[1].remainder, 3);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "align_bounds", "dim": "x", "modulus": 8 })",
                  R"(s["bx"].align_bounds("x", 8);)");
  expect_spelling(blur(), s,
                  R"({ "stage": "bx", "do": "align_bounds", "dim": "y", "modulus": 4, "remainder": 3 })",
                  R"(s["bx"].align_bounds("y", 4, 3);)");
}

TEST(AlignBounds, IsRefused) {
  Schedule unknown, twice, zero, output, bounded, inlined;
  unknown["bx"].compute_root().align_bounds("z", 4);
  expect_refused(blur(), unknown, {"'bx' has no coordinate 'z'"});
  twice["bx"].compute_root().align_bounds("x", 4).align_bounds("x", 8);
  expect_refused(blur(), twice, {"'x' is aligned already, by #2 align_bounds(x, 4)"});
  zero["bx"].compute_root().align_bounds("x", 0);
  expect_refused(blur(), zero, {"'modulus' is out of range"});
  output["by"].align_bounds("x", 4);
  expect_refused(blur(), output,
                 {"'by' is an output, of which the caller chooses the region: 0 to W - 1", "bound"});
  bounded["bx"].compute_root().align_bounds("x", 4).bound("x", 2, 16);
  expect_refused(blur(), bounded, {"the bound of 'x' by #3 bound(x, 2, 16) is no such region"});
  inlined["bx"].compute_inline().align_bounds("x", 4);
  expect_refused(blur(), inlined, {"'bx' is inlined"});
}

TEST(AlignBounds, OfAnOutputThatIsAlignedIsLegal) {
  Schedule s;
  s["by"].bound("x", 0, 16).align_bounds("x", 8);
  EXPECT_TRUE(s.check(blur()).empty());
}

}  // namespace calotype::test
