// partition.
#include "helpers.h"

namespace calotype::test {

TEST(Partition, IsRecorded) {
  Schedule s;
  s["by"].serial("y").partition("x", Partition::Never).partition("y", Partition::Auto);
  const auto applied = apply(blur(), s);
  const auto& by = applied.of(applied.graph.find_func("by")->id).stages[0];
  EXPECT_EQ(applied.loop(by.loops[0]).partition, ir::Partition::Never);
  EXPECT_EQ(applied.loop(by.loops[1]).partition, ir::Partition::Auto);
  EXPECT_NE(schedule::to_string(applied).find("partition never  [#2 partition(x, never)]"),
            std::string::npos);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "partition", "loop": "x", "how": "never" })",
                  R"(s["by"].partition("x", Partition::Never);)");
}

TEST(Partition, IsRefused) {
  Schedule twice, vector, gone;
  twice["by"].partition("x", Partition::Never).partition("x", Partition::Auto);
  expect_refused(blur(), twice, {"'x' has its partition already, by #1 partition(x, never)"});
  vector["by"].split("x", "xo", "xi", 8).partition("xi", Partition::Never).vectorize("xi");
  expect_refused(blur(), vector, {"the loop 'xi' is vector, and such a loop is never cut"});
  gone["by"].partition("x", Partition::Never).split("x", "xo", "xi", 8);
  expect_refused(blur(), gone, {"the loop 'x' is gone: xo, xi (#2 split(x, xo, xi, 8)) stands in its place"});
}

TEST(Partition, AlwaysWithNothingToDecideIsRefused) {
  Schedule s;
  s["by"].serial("y").partition("y", Partition::Always);
  expect_refused(blur(), s,
                 {"nothing in the loop 'y' is decided by where it stands", "#2 partition(y, always)"});
}

}  // namespace calotype::test
