// compute_root.
#include "helpers.h"

namespace calotype::test {

TEST(ComputeRoot, PutsTheFuncAtRoot) {
  Schedule s;
  s["bx"].compute_root();
  const auto applied = apply(blur(), s);
  EXPECT_EQ(computed(applied, "bx"), "root");
  EXPECT_EQ(stored(applied, "bx"), "root");
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "compute_root" })", R"(s["bx"].compute_root();)");
}

TEST(ComputeRoot, IsRefusedASecondTime) {
  Schedule s;
  s["bx"].compute_root();
  s["bx"].compute_inline();
  expect_refused(blur(), s, {"'bx' has its place already, by #1 compute_root()", "#2 compute_inline()"});
}

TEST(ComputeRoot, NamesUnknownFuncs) {
  Schedule s;
  s["bxx"].compute_root();
  expect_refused(blur(), s, {"there is no Func 'bxx'", "did you mean 'bx'", "by"});
  Schedule input;
  input["image"].compute_root();
  expect_refused(blur(), input, {"'image' is an input", "in(image)"});
}

}  // namespace calotype::test
