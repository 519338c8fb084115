// stage_out.
#include "helpers.h"

namespace calotype::test {

TEST(StageOut, MakesTheOutputACopy) {
  Schedule s;
  const Stage staged = s.stage_out("by");
  s[staged].compute_at("by", "y");
  const auto applied = apply(blur(), s);
  const lang::FuncDef& by = *applied.graph.find_func("by");
  EXPECT_EQ(by.stages[0].value.str(), "by.staged(x, y)");
  EXPECT_NE(applied.graph.find_func("by.staged")->stages[0].value.str().find("bx("), std::string::npos);
  EXPECT_EQ(computed(applied, "by.staged"), "by.y");
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"j({ "do": "stage_out", "of": "by", "as": "by.staged" })j",
                  R"(s.stage_out("by");)");
}

TEST(StageOut, IsAtRootUnlessToldOtherwise) {
  Schedule s;
  s.stage_out("by");
  EXPECT_EQ(computed(apply(blur(), s, gpu), "by.staged"), "root");
}

/// out(x) += in(x): an update of the output itself.
static Pipeline sums() {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x");
  Func out("out");
  out(x) = 1.0f;
  out(x) += in(x);
  return Pipeline("sums", {in}, {{out, {N}}});
}

TEST(StageOut, IsRefusedForOthers) {
  Schedule inner, twice, updates;
  inner.stage_out("bx");
  expect_refused(blur(), inner, {"'bx' is no output", "by"});
  twice.stage_out("by");
  twice.stage_out("by");
  expect_refused(blur(), twice, {"there is a Func 'by.staged' already"});
  updates.stage_out("out");
  expect_refused(sums(), updates, {"'out' is not one definition of one value"});
}

}  // namespace calotype::test
