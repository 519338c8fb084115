// compute_at.
#include "calotype/math.h"
#include "helpers.h"

namespace calotype::test {

TEST(ComputeAt, FindsLoopsMadeLater) {
  Schedule s;
  s["bx"].compute_at("by", "yo");
  s["by"].split("y", "yo", "yi", 8);
  EXPECT_EQ(computed(apply(blur(), s), "bx"), "by.yo");
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "compute_at", "of": "by", "loop": "yo" })",
                  R"(s["bx"].compute_at("by", "yo");)");
}

TEST(ComputeAt, KeepsDefaultLoopsAwayFromTheConsumer) {
  Schedule s;
  s["bx"].compute_at("by", "y");
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"x", "y"}));
}

TEST(ComputeAt, FindsTheOnlyStageThatHasTheLoop) {
  Schedule s;
  s.in("A", {"acc"});
  s["A.in(acc)"].compute_at("acc", "k");
  s["acc"].compute_root();
  EXPECT_EQ(computed(apply(matmul(), s), "A.in(acc)"), "acc.update(0).k");
  expect_round_trip(matmul(), s);
}

TEST(ComputeAt, WantsTheStageWhereSeveralHaveTheLoop) {
  Schedule s;
  s.in("A", {"acc"});
  s["A.in(acc)"].compute_at("acc", "m");
  expect_refused(
      matmul(), s,
      {"the loop 'm' is found in several stages of acc", "acc.pure, acc.update(0)", "#2 compute_at(acc, m)"});
  Schedule qualified;
  qualified.in("A", {"acc"});
  qualified["A.in(acc)"].compute_at(qualified["acc"].update(), "m");
  EXPECT_EQ(computed(apply(matmul(), qualified), "A.in(acc)"), "acc.update(0).m");
  expect_round_trip(matmul(), qualified);
  Schedule pure;
  pure.in("A", {"acc"});
  pure["A.in(acc)"].compute_at("acc.pure", "m");
  expect_refused(matmul(), pure, {"'m' of acc does not enclose every consumer", "acc.update(0)"});
}

TEST(ComputeAt, IsRefusedForLoopsThatAreMissingOrGone) {
  Schedule missing, gone, stage;
  missing["bx"].compute_at("by", "yy");
  expect_refused(blur(), missing, {"there is no loop 'yy' in by", "did you mean 'y'", "x, y"});
  gone["bx"].compute_at("by", "y");
  gone["by"].split("y", "yo", "yi", 8);
  expect_refused(blur(), gone,
                 {"the loop 'y' of by is gone: yo, yi (#2 split(y, yo, yi, 8))", "#1 compute_at(by, y)"});
  stage["bx"].compute_at("bz", "y");
  expect_refused(blur(), stage, {"there is no stage 'bz'", "did you mean"});
}

TEST(ComputeAt, AMissingLoopLeavesNoPlaceWithoutALoop) {
  Schedule s;
  s["bx"].compute_at("by", "yy");
  std::vector<Diagnostic> found;
  const Pipeline p = blur();
  const schedule::Scheduled applied = schedule::apply(p.graph(), s, Target::host(), found);
  EXPECT_EQ(found.size(), 1u);
  for (const schedule::FuncSchedule& f : applied.funcs)
    EXPECT_TRUE(f.compute.kind != schedule::Place::Kind::At || f.compute.func.valid());
}

TEST(ComputeAt, IsRefusedAtAFuncThatDoesNotConsume) {
  Schedule s;
  s["bx"].compute_at("bx", "x");
  expect_refused(blur(), s, {"'bx' does not consume 'bx'", "its consumers: by"});
}

TEST(ComputeAt, IsRefusedAtAnInlinedFunc) {
  Schedule s;
  s.in("image", {"bx"});
  s["image.in(bx)"].compute_at("bx", "y");
  expect_refused(blur(), s, {"'bx' is inlined, so it has no loop", "compute_root or compute_at on 'bx'"});
}

TEST(ComputeAt, IsRefusedWhereAConsumerIsOutside) {
  Dim W("W");
  ImageParam image(Float(32), {W}, "image");
  Var x("x");
  Func f("f"), g("g"), h("h");
  f(x) = exp(image(x));
  g(x) = f(x) + 1;
  h(x) = f(x) * g(x);
  const Pipeline p("two", {image}, {{h, {W}}});
  Schedule s;
  s["g"].compute_root();
  s["f"].compute_at("g", "x");
  expect_refused(p, s,
                 {"the loop 'x' of g does not enclose every consumer of 'f': h is computed outside it"});
  Schedule legal;
  legal["g"].compute_at("h", "x");
  legal["f"].compute_at("h", "x");
  EXPECT_EQ(computed(apply(p, legal), "f"), "h.x");
  Schedule inlined;
  inlined["g"].compute_inline();
  inlined["f"].compute_at("h", "x");
  EXPECT_EQ(computed(apply(p, inlined), "f"), "h.x");
}

TEST(ComputeAt, IsRefusedForOutputsAndInsideVectors) {
  Schedule output, vector;
  output["by"].compute_at("by", "y");
  expect_refused(blur(), output, {"'by' is an output"});
  vector["by"].vectorize("x", 8);
  vector["bx"].compute_at("by", "x.v");
  expect_refused(blur(), vector, {"inside the vector loop 'x.v'", "#2 compute_at(by, x.v)"});
}

TEST(ComputeAt, ARefusedSplitIsReportedOnce) {
  Schedule s;
  s["by"].split("y", "yo", "yi", 0);
  s["by"].vectorize("yi");
  s["bx"].compute_at("by", "yo");
  expect_refused(blur(), s, {"#1 split(y, yo, yi, 0)", "'by' is out of range"});
}

}  // namespace calotype::test
