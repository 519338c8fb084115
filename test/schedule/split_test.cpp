// split.
#include "helpers.h"

namespace calotype::test {

TEST(Split, MakesTwoLoops) {
  Schedule s;
  s["by"].split("x", "xo", "xi", 8, Tail::ShiftInwards).split("y", 4);
  const auto applied = apply(blur(), s);
  EXPECT_EQ(loops(applied, "by"), (Names{"xi", "xo", "y.i", "y.o"}));
  const auto& t = applied.of(applied.graph.find_func("by")->id).stages[0].transforms;
  ASSERT_EQ(t.size(), 2u);
  EXPECT_EQ(t[0].factor, 8);
  EXPECT_EQ(t[0].tail, Tail::ShiftInwards);
  EXPECT_EQ(applied.loop(t[0].old).name, "x");
  EXPECT_EQ(applied.loop(t[0].outer).name, "xo");
  EXPECT_EQ(applied.loop(t[0].inner).origin, "#1 split(x, xo, xi, 8, shift_inwards)");
  EXPECT_EQ(applied.loop(t[0].old).replaced_by, "xo, xi (#1 split(x, xo, xi, 8, shift_inwards))");
  EXPECT_EQ(t[1].tail, Tail::Guard);
  expect_round_trip(blur(), s);
  expect_spelling(
      blur(), s,
      R"({ "stage": "by", "do": "split", "loop": "x", "into": ["xo", "xi"], "by": 8, "tail": "shift_inwards" })",
      R"(s["by"].split("x", "xo", "xi", 8, Tail::ShiftInwards);)");
}

TEST(Split, AutoTailsMaskVectorsAndThreads) {
  Schedule s;
  s["by"].split("x", "xo", "xi", 32).split("xi", "xm", "xv", 8).vectorize("xv").split("y", "yo", "yi", 4);
  const auto applied = apply(blur(), s);
  const auto& t = applied.of(applied.graph.find_func("by")->id).stages[0].transforms;
  EXPECT_EQ(t[0].tail, Tail::Predicate);
  EXPECT_EQ(t[1].tail, Tail::Predicate);
  EXPECT_EQ(t[2].tail, Tail::Guard);
}

TEST(Split, ReductionsKeepTheirOrder) {
  Schedule s;
  s["acc"].update().split("k", "ko", "ki", 16);
  const auto applied = apply(matmul(), s);
  EXPECT_EQ(loops(applied, "acc", 1), (Names{"ki", "ko", "n", "m"}));
  EXPECT_TRUE(applied.numerics.reassociates.empty());
  expect_round_trip(matmul(), s);
  EXPECT_TRUE(has_line(s.str(), R"(s["acc"].update(0).split("k", "ko", "ki", 16);)")) << s.str();
}

TEST(Split, TakesAKnob) {
  Schedule s;
  const Knob B = s.knob("B", 8);
  s["by"].split("x", "xo", "xi", B);
  s.set("B", 16);
  EXPECT_EQ(apply(blur(), s).of(lang::FuncId{1}).stages[0].transforms[0].factor, 16);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s,
                  R"({ "stage": "by", "do": "split", "loop": "x", "into": ["xo", "xi"], "by": "B" })",
                  R"(s["by"].split("x", "xo", "xi", B);)");
  s.set("B", 0);
  expect_refused(blur(), s, {"'by' is out of range", "0", "1 to 2147483647"});
}

TEST(Split, IsRefusedForBadFactors) {
  Schedule zero, negative;
  zero["by"].split("x", "xo", "xi", 0);
  expect_refused(blur(), zero, {"#1 split(x, xo, xi, 0)", "'by' is out of range", "1 to 2147483647"});
  negative["by"].split("x", "xo", "xi", -4);
  expect_refused(blur(), negative, {"#1 split(x, xo, xi, -4)", "-4"});
}

TEST(Split, IsRefusedForBadLoops) {
  Schedule missing, gone, bound, stage;
  missing["by"].split("xx", 8);
  expect_refused(blur(), missing, {"there is no loop 'xx' in by", "did you mean 'x'", "loops of by: x, y"});
  gone["by"].split("x", "xo", "xi", 8).split("x", "xp", "xq", 4);
  expect_refused(blur(), gone, {"the loop 'x' is gone: xo, xi (#1 split(x, xo, xi, 8)) stands in its place"});
  bound["by"].vectorize("x", 8).split("x.v", 4);
  expect_refused(blur(), bound, {"the loop 'x.v' is bound already, by #1 vectorize(x, 8)"});
  stage["acc"].update(1).split("k", 8);
  expect_refused(matmul(), stage, {"there is no stage 'acc.update(1)'", "did you mean 'acc.update(0)'"});
}

TEST(Split, IsRefusedForNamesThatAreTaken) {
  Schedule same, taken, twice, bad;
  same["by"].split("x", "x", "xi", 8);
  expect_refused(blur(), same, {"by has or had a loop 'x' already"});
  taken["by"].split("x", "y", "xi", 8);
  expect_refused(blur(), taken,
                 {"by has or had a loop 'y' already", "a name that no loop of the stage has had"});
  twice["by"].split("x", "z", "z", 8);
  expect_refused(blur(), twice, {"'z' is made twice in one directive"});
  bad["by"].split("x", "x o", "xi", 8);
  expect_refused(blur(), bad, {"'x o' is no name"});
}

TEST(Split, IsRefusedForTailsThatDoNotFit) {
  Schedule shift, update, up, output, input;
  shift["acc"].update().split("k", 8, Tail::ShiftInwards);
  expect_refused(matmul(), shift, {"shift_inwards computes points twice, which a reduction may not"});
  update["acc"].update().split("n", 8, Tail::ShiftInwards);
  expect_refused(matmul(), update, {"shift_inwards computes points twice, which an update may not"});
  up["acc"].update().split("k", 8, Tail::RoundUp);
  expect_refused(matmul(), up, {"round_up runs past the end, which a reduction may not"});
  output["C"].split("n", 8, Tail::RoundUp);
  expect_refused(matmul(), output, {"round_up writes past the end, which an output may not"});
  input[input.in("A")].split("d0", 8, Tail::RoundUp);
  expect_refused(matmul(), input, {"round_up reads past the end of the input"});
}

TEST(Split, IsRefusedForMasksOfOneSideThatDoNotFit) {
  Schedule reduction, output, input, part, again, fused;
  reduction["acc"].update().split("k", 8, Tail::PredicateStores);
  expect_refused(matmul(), reduction,
                 {"predicate_stores runs past the end, which a reduction may not", "guard, predicate"});
  output["C"].split("n", 8, Tail::PredicateLoads);
  expect_refused(matmul(), output,
                 {"predicate_loads writes past the end, which an output may not", "predicate_stores"});
  input[input.in("A")].split("d0", 8, Tail::PredicateStores);
  expect_refused(matmul(), input, {"predicate_stores reads past the end of the input", "predicate_loads"});
  part["by"].split("x", "xo", "xi", 12).split("xi", "xa", "xb", 8, Tail::PredicateStores);
  expect_refused(blur(), part,
                 {"predicate_stores runs past the end of 'xi', which is a part of a coordinate",
                  "a factor that divides 12"});
  again["by"].split("x", "xo", "xi", 16, Tail::PredicateStores).split("xi", "xa", "xb", 4);
  expect_refused(blur(), again,
                 {"#1 split(x, xo, xi, 16, predicate_stores)", "predicate_stores is for the innermost split",
                  "the loop 'xi' was cut up once more"});
  fused["by"].split("x", "xo", "xi", 16, Tail::PredicateStores).reorder("xi", "y", "xo").fuse("xi", "y", "f");
  expect_refused(blur(), fused, {"predicate_stores is for the innermost split"});
  Schedule good;
  good["by"].split("x", "xo", "xi", 12).vectorize("xi", 4, Tail::PredicateStores).split("xo", 2);
  good["bx"].compute_root().vectorize("x", 8, Tail::PredicateLoads);
  expect_round_trip(blur(), good);
}

}  // namespace calotype::test
