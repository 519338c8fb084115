// rename.
#include "helpers.h"

namespace calotype::test {

TEST(Rename, GivesALoopAnotherName) {
  Schedule s;
  s["by"].rename("y", "row").split("row", "ro", "ri", 4).rename("ri", "inner").vectorize("x", 8);
  s["bx"].compute_at("by", "inner");
  const auto applied = apply(blur(), s);
  EXPECT_EQ(loops(applied, "by"), (Names{"x.v:vector", "x.o", "inner", "ro"}));
  EXPECT_EQ(computed(applied, "bx"), "by.inner");
  EXPECT_TRUE(s.check(blur()).empty());
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "rename", "loop": "y", "into": "row" })",
                  R"(s["by"].rename("y", "row");)");
}

TEST(Rename, IsRefused) {
  Schedule taken, unknown, gone, far;
  taken["by"].rename("y", "x");
  expect_refused(blur(), taken, {"by has or had a loop 'x' already"});
  unknown["by"].rename("z", "w");
  expect_refused(blur(), unknown, {"there is no loop 'z' in by"});
  gone["by"].rename("y", "row").unroll("y", 2);
  expect_refused(blur(), gone, {"the loop 'y' is gone: row (#1 rename(y, row)) stands in its place"});
  far["by"].rename("y", "row");
  far["bx"].compute_at("by", "y");
  expect_refused(blur(), far, {"the loop 'y' of by is gone: row (#1 rename(y, row)) stands in its place"});
}

}  // namespace calotype::test
