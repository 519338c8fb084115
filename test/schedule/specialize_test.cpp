// specialize: branches, the ways through them, and conditions as text.
#include "helpers.h"
#include "schedule/ways.h"

namespace calotype::test {

namespace {

Pipeline scaled() {
  Dim N("N"), M("M");
  ImageParam in(Float(32), {N, M}, "in"), other(Float(32), {N, M}, "other");
  Param gain(Int(32), "gain", 1.0), bias(Float(32), "bias", 0.0), on(Bool(), "on", 1.0);
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = select(gain > 2, in(x, y) * cast<float>(gain), other(x, y)) + select(on, bias, 0.0f);
  return Pipeline("scaled", {in, other, gain, bias, on}, {{out, {N, M}}});
}

schedule::Ways ways(const Pipeline& p, const Schedule& s, const Target& target = Target::host()) {
  return schedule::ways_or_throw(p.graph(), s, target);
}

std::vector<std::string> texts(const schedule::Ways& w) {
  std::vector<std::string> all;
  for (const schedule::Way& way : w.ways) all.push_back(w.text(way));
  return all;
}

TEST(Specialize, MakesABranchOfTheScheduleSoFar) {
  Schedule s;
  s["out"].split("y", "yo", "yi", 4);
  Stage branch = s["out"].specialize("N%8 == 0");
  branch.vectorize("x", 8).parallel("yo");
  s["out"].vectorize("x", 4);
  EXPECT_EQ(branch.name(), "out[N%8 == 0]");
  const schedule::Ways w = ways(scaled(), s);
  EXPECT_EQ(texts(w), (Names{"not N%8 == 0", "N%8 == 0"}));
  EXPECT_EQ(loops(w.ways[0].scheduled, "out"), (Names{"x.v:vector", "x.o", "yi", "yo"}));
  EXPECT_EQ(loops(w.ways[1].scheduled, "out"), (Names{"x.v:vector", "x.o", "yi", "yo:parallel"}));
  EXPECT_EQ(
      w.ways[1].scheduled.of(w.ways[1].scheduled.graph.find_func("out")->id).stages[0].transforms[1].factor,
      8);
  expect_round_trip(scaled(), s);
  expect_spelling(scaled(), s, R"j({ "stage": "out", "do": "specialize", "when": "N%8 == 0" })j",
                  R"(s["out"].specialize("N%8 == 0");)");
  expect_spelling(scaled(), s, R"j({ "stage": "out[N%8 == 0]", "do": "vectorize", "loop": "x", "by": 8 })j",
                  R"(s["out[N%8 == 0]"].vectorize("x", 8);)");
}

TEST(Specialize, TakesTheFirstConditionThatHolds) {
  Schedule s;
  s["out"].specialize("N == 64").unroll("x", 2);
  s["out"].specialize("M > 3 || N < 5").unroll("y", 2);
  const schedule::Ways w = ways(scaled(), s);
  EXPECT_EQ(texts(w), (Names{"not N == 64, not M > 3 || N < 5", "not N == 64, M > 3 || N < 5", "N == 64"}));
  EXPECT_EQ(w.choose({true, true}), 2u);
  EXPECT_EQ(w.choose({true, false}), 2u);
  EXPECT_EQ(w.choose({false, true}), 1u);
  EXPECT_EQ(w.choose({false, false}), 0u);
  expect_round_trip(scaled(), s);
}

TEST(Specialize, BranchesHaveBranches) {
  Schedule s;
  Stage big = s["out"].specialize("N >= 8");
  big.split("x", "xo", "xi", 4);
  big.specialize("M == 1").vectorize("xi");
  big.unroll("xi");
  const schedule::Ways w = ways(scaled(), s);
  EXPECT_EQ(texts(w), (Names{"not N >= 8", "N >= 8, not M == 1", "N >= 8, M == 1"}));
  EXPECT_EQ(loops(w.ways[1].scheduled, "out"), (Names{"xi:unrolled", "xo", "y"}));
  EXPECT_EQ(loops(w.ways[2].scheduled, "out"), (Names{"xi:vector", "xo", "y"}));
  expect_round_trip(scaled(), s);
}

TEST(Specialize, TheDefaultLoopsStayWhereNothingElseIsSaid) {
  Schedule s;
  s["out"].specialize("N == 1").serial("y");
  const schedule::Ways w = ways(scaled(), s);
  EXPECT_EQ(loops(w.ways[0].scheduled, "out"), (Names{"x.v:vector", "x.o", "y:parallel"}));
  EXPECT_EQ(loops(w.ways[1].scheduled, "out"), (Names{"x", "y"}));
}

TEST(Specialize, OneConditionOfSeveralStagesIsDecidedOnce) {
  Schedule s;
  s["acc"].compute_root();
  s["acc"].specialize("K > 8").vectorize("n", 8);
  s["acc"].update().specialize("K > 8").vectorize("n", 8);
  s["C"].specialize("N%2 == 0").vectorize("n", 2);
  EXPECT_EQ(ways(matmul(), s).ways.size(), 4u);
  expect_round_trip(matmul(), s);
}

TEST(Specialize, WhatFollowsFromAnotherConditionMakesNoWay) {
  Schedule s;
  s["acc"].specialize("N%16 == 0").vectorize("n", 16);
  s["C"].specialize("N%8 == 0").vectorize("n", 8);
  EXPECT_EQ(texts(ways(matmul(), s)),
            (Names{"not N%16 == 0, not N%8 == 0", "not N%16 == 0, N%8 == 0", "N%16 == 0, N%8 == 0"}));
}

TEST(Specialize, AConditionIsWrittenAsAnExpr) {
  Dim N("N");
  Param gain(Int(32), "gain");
  Schedule s;
  EXPECT_EQ(s["out"].specialize(N % 8 == 0).name(), "out[N%8 == 0]");
  EXPECT_EQ(s["out"].specialize(stride_of("in", 0) == 1 && extent_of("in", 1) > 4).name(),
            "out[in.stride.0 == 1 && 4 < in.extent.1]");
  EXPECT_EQ(s["out"].specialize(gain > 2).name(), "out[2 < gain]");
  expect_round_trip(scaled(), s);
}

TEST(Specialize, ConditionsReadAsTheyArePrinted) {
  const Pipeline p = scaled();
  for (const std::string text :
       {"N%8 == 0", "2 < gain", "N*(M + 1) - 3 <= N/2", "on", "!on || N != 3 && M > 1",
        "(on || N == 3) && M == 1", "bias == 0.5", "-gain < 3", "min(N, M) >= 4", "in.stride.1%4 == 0",
        "out.stride.0 == 1", "in.extent.0 == 7", "s64(gain) < N", "true", "max(N, 3) - (M - 1) == 4",
        "bias < 1e-05"}) {
    schedule::StrideSymbols strides;
    const Expr e = schedule::parse_condition(text, p.graph(), strides);
    const Expr again = schedule::parse_condition(e.str(), p.graph(), strides);
    EXPECT_TRUE(ir::equal(e, again)) << text << " reads as " << e.str() << ", that as " << again.str();
  }
}

TEST(Specialize, AConditionThatIsNoneIsRefused) {
  const auto refused = [](const std::string& condition, const std::vector<std::string>& parts) {
    Schedule s;
    s["out"].specialize(condition);
    expect_refused(scaled(), s, parts);
  };
  refused("K == 3",
          {"names 'K', which no call gives", "sizes and Params: N, M, gain", "#1 specialize(K == 3)"});
  refused("x > 3", {"names 'x', which no call gives"});
  refused("N + 1", {"'N + 1' is no condition but a value of type s64"});
  refused("N ==", {"needs a value at ''"});
  refused("(N == 3", {"needs a ')' before ''"});
  refused("N == 3 M", {"does not go on with 'M'"});
  refused("in(3, 4) > 0", {"may not call"});
  refused("in.stride.2 == 1", {"'in' has 2 dimensions", "dimensions 0 to 1"});
  refused("on + 1 == 2", {"specialize(on + 1 == 2)"});
}

TEST(Specialize, IsRefused) {
  Schedule unknown, root, graph, twice, early, illegal;
  unknown.append({"out[N == 3]", "serial", {{"loop", "x"}}});
  expect_refused(scaled(), unknown, {"there is no branch 'out[N == 3]' here"});
  root["out"].specialize("N == 3").compute_root();
  expect_refused(scaled(), root, {"'compute_root' is for all branches of 'out'"});
  graph["acc"].update().specialize("K == 8").rfactor({{"k", "q"}}, "part");
  expect_refused(matmul(), graph, {"'rfactor' is for all branches of 'acc.update(0)'"});
  twice["out"].specialize("N == 3");
  twice["out"].specialize("N == 3");
  expect_refused(scaled(), twice, {"'out' has a branch for 'N == 3' already", "#2 specialize"});
  early.append({"out[N == 3]", "serial", {{"loop", "x"}}});
  early["out"].specialize("N == 3");
  expect_refused(scaled(), early, {"there is no branch 'out[N == 3]' here", "#1 serial(x)"});
  illegal["out"].specialize("N == 3").vectorize("z", 8);
  expect_refused(scaled(), illegal, {"there is no loop 'z' in out", "out[N == 3]", "#2 vectorize(z, 8)"});
  Schedule gone;
  gone["bx"].compute_at("by", "yi");
  gone["by"].specialize("H > 4").serial("x");
  gone["by"].split("y", "yo", "yi", 4);
  expect_refused(blur(), gone, {"there is no loop 'yi' in by", "#1 compute_at(by, yi)"});
  Schedule inlined;
  inlined["bx"].compute_inline();
  inlined["bx"].specialize("H > 4");
  expect_refused(blur(), inlined, {"'bx' is inlined by #1 compute_inline()"});
}

TEST(Specialize, TooManyProgramsAreRefused) {
  Schedule s;
  for (int n = 2; n < 70; n++) s["out"].specialize("N == " + std::to_string(n));
  expect_refused(scaled(), s, {"the conditions of the schedule make more than 64 programs"});
}

TEST(Specialize, AConditionThatHoldsLeavesOutWhatItRulesOut) {
  Schedule s;
  s["out"].specialize("gain > 2 && on");
  const schedule::Ways w = ways(scaled(), s);
  const auto value = [&](int way) {
    return w.ways[way].scheduled.graph.find_func("out")->stages[0].value.str();
  };
  EXPECT_EQ(value(1), "in(x, y)*f32(gain) + bias");
  EXPECT_NE(value(0).find("select"), std::string::npos) << value(0);
  Schedule exact;
  exact["out"].specialize("gain == 3");
  const schedule::Ways e = ways(scaled(), exact);
  EXPECT_EQ(e.ways[1].scheduled.graph.find_func("out")->stages[0].value.str(),
            "in(x, y)*f32(3) + select(on, bias, 0.0)");
}

}  // namespace

}  // namespace calotype::test
