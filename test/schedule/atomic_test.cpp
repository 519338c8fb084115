// atomic.
#include "helpers.h"

namespace calotype::test {

namespace {

/// acc(n) takes terms in an order that matters: each step halves what was there.
Pipeline halving() {
  Dim N("N"), K("K");
  ImageParam in(Float(32), {N, K}, "in");
  Var n("n");
  RDom k(0, K, "k");
  Func acc("acc");
  acc(n) = 0.0f;
  acc(n) = acc(n) * 0.5f + in(n, k);
  return Pipeline("halving", {in}, {Output(acc, {N})});
}

Pipeline pair_of_sums() {
  Dim N("N"), K("K");
  ImageParam in(Float(32), {N, K}, "in");
  Var n("n");
  RDom k(0, K, "k");
  Func acc("acc");
  acc(n) = Tuple(0.0f, 0.0f);
  acc(n) = Tuple(acc(n)[0] + in(n, k), acc(n)[1] * in(n, k));
  return Pipeline("pair_of_sums", {in}, {Output(acc, {N})});
}

schedule::Sharing sharing(const schedule::Scheduled& s, const std::string& func, const std::string& loop) {
  for (const schedule::LoopId id : s.of(s.graph.find_func(func)->id).stages[1].loops)
    if (s.loop(id).name == loop) return s.loop(id).sharing;
  ADD_FAILURE() << "no loop " << loop;
  return {};
}

}  // namespace

TEST(Atomic, LetsReductionLoopsRunAtOneTime) {
  for (const bool first : {true, false}) {
    Schedule s;
    if (first) s["acc"].update().atomic();
    s["acc"].update().parallel("k");
    if (!first) s["acc"].update().atomic();
    const auto applied = apply(matmul(), s);
    EXPECT_EQ(loops(applied, "acc", 1), (Names{"k:parallel", "n", "m"}));
    EXPECT_EQ(sharing(applied, "acc", "k"), schedule::Sharing::Atomic);
    EXPECT_EQ(applied.numerics.reassociates, Names{"acc.k"});
    EXPECT_NE(schedule::to_string(applied).find("for k: parallel, reduction, atomic"), std::string::npos);
    expect_round_trip(matmul(), s);
  }
  Schedule s;
  s["acc"].update().atomic().parallel("k");
  expect_spelling(matmul(), s, R"json({ "stage": "acc.update(0)", "do": "atomic" })json",
                  "s[\"acc\"].update(0).atomic();");
}

TEST(Atomic, IsForThoseThatMeet) {
  Schedule alone, lanes, scatter;
  alone["acc"].update().atomic();
  EXPECT_EQ(sharing(apply(matmul(), alone), "acc", "k"), schedule::Sharing::Apart);
  EXPECT_TRUE(apply(matmul(), alone).numerics.reassociates.empty());
  lanes["acc"].update().atomic().split("k", 8).parallel("k.o").vectorize("k.i");
  EXPECT_EQ(sharing(apply(matmul(), lanes), "acc", "k.i"), schedule::Sharing::Partial);
  EXPECT_EQ(sharing(apply(matmul(), lanes), "acc", "k.o"), schedule::Sharing::Atomic);
  scatter["hist"].update().atomic().parallel("r.y").vectorize("r.x", 8);
  EXPECT_EQ(sharing(apply(histogram(), scatter), "hist", "r.y"), schedule::Sharing::Atomic);
  EXPECT_EQ(sharing(apply(histogram(), scatter), "hist", "r.x.v"), schedule::Sharing::Atomic);
}

TEST(Atomic, IsForSeveralValuesOnAHost) {
  Schedule s, lanes, largest;
  s["acc"].update().atomic().parallel("k");
  EXPECT_EQ(sharing(apply(pair_of_sums(), s), "acc", "k"), schedule::Sharing::Atomic);
  EXPECT_EQ(apply(pair_of_sums(), s).numerics.reassociates, Names{"acc.k"});
  expect_round_trip(pair_of_sums(), s);
  lanes["acc"].update().atomic().vectorize("k", 8);
  EXPECT_EQ(sharing(apply(pair_of_sums(), lanes), "acc", "k.v"), schedule::Sharing::Partial);
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var n("n");
  RDom k(0, N, "k");
  Func best("best"), out("out");
  best() = Tuple(Expr(std::int64_t{0}), in(0));
  best() = select(in(k) > best()[1], Tuple(Expr(k), in(k)), best());
  out(n) = best()[0];
  largest["best"].compute_root();
  largest["best"].update().atomic().parallel("k");
  expect_refused(Pipeline("largest", {in}, {Output(out, {N})}), largest,
                 {"of equal terms 'best.update(0)' keeps the first", "rfactor, by which the first stays"});
}

TEST(Atomic, IsRefusedForOtherUpdates) {
  Schedule pure, order, tuple, twice;
  pure["acc"].atomic();
  expect_refused(matmul(), pure, {"'acc' is a pure definition", "an update"});
  order["acc"].update().atomic().parallel("k");
  expect_refused(halving(), order, {"'acc.update(0)' is not of the form acc(...) op term", "#1 atomic()"});
  tuple["acc"].update().atomic().gpu_blocks("n");
  expect_refused(pair_of_sums(), tuple, {"updates several values at once", "a host target", "rfactor"}, gpu);
  twice["acc"].update().atomic().atomic();
  expect_refused(matmul(), twice, {"'acc.update(0)' is atomic already, by #1 atomic()"});
}

}  // namespace calotype::test
