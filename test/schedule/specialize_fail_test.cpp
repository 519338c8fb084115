// specialize_fail.
#include "helpers.h"
#include "schedule/ways.h"

namespace calotype::test {

namespace {

TEST(SpecializeFail, TurnsAwayWhatNoBranchTook) {
  Schedule s;
  s["by"].specialize("W%8 == 0").vectorize("x", 8);
  s["by"].specialize_fail("widths are multiples of 8");
  const schedule::Ways w = schedule::ways_or_throw(blur().graph(), s, Target::host());
  ASSERT_EQ(w.ways.size(), 2u);
  ASSERT_TRUE(w.ways[0].scheduled.rejection.has_value());
  EXPECT_EQ(w.ways[0].scheduled.rejection->message, "widths are multiples of 8");
  EXPECT_EQ(w.ways[0].scheduled.rejection->func, "by");
  EXPECT_FALSE(w.ways[1].scheduled.rejection.has_value());
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s,
                  R"j({ "stage": "by", "do": "specialize_fail", "message": "widths are multiples of 8" })j",
                  R"(s["by"].specialize_fail("widths are multiples of 8");)");
}

TEST(SpecializeFail, StandsInABranchToo) {
  Schedule s;
  Stage wide = s["by"].specialize("W > 100");
  wide.specialize("H > 100");
  wide.specialize_fail("wide images are tall as well");
  const schedule::Ways w = schedule::ways_or_throw(blur().graph(), s, Target::host());
  ASSERT_EQ(w.ways.size(), 3u);
  EXPECT_FALSE(w.ways[0].scheduled.rejection.has_value());
  EXPECT_TRUE(w.ways[1].scheduled.rejection.has_value());
  EXPECT_FALSE(w.ways[2].scheduled.rejection.has_value());
  expect_round_trip(blur(), s);
}

TEST(SpecializeFail, IsRefused) {
  Schedule twice, after, braces;
  twice["by"].specialize_fail("no");
  twice["by"].specialize_fail("never");
  expect_refused(blur(), twice, {"the stage has a specialize_fail already", "#2 specialize_fail(never)"});
  after["by"].specialize_fail("no");
  after["by"].specialize("W > 4");
  expect_refused(blur(), after, {"no call comes here: #1 specialize_fail(no) turns all away"});
  braces["by"].specialize_fail("not {} of them");
  expect_refused(blur(), braces, {"the message has a brace"});
}

}  // namespace

}  // namespace calotype::test
