// clone_in.
#include "helpers.h"

namespace calotype::test {

namespace {

bool reads(const lang::FuncDef& f, const std::string& name) {
  for (const lang::StageDef& s : f.stages)
    for (const ir::CalleePtr& c : lang::callees(s))
      if (c->name == name) return true;
  return false;
}

const lang::FuncDef& func(const schedule::Scheduled& s, const std::string& name) {
  const lang::FuncDef* f = s.graph.find_func(name);
  EXPECT_NE(f, nullptr) << name;
  return *f;
}

/// low <- mid <- (left, right), both read by out; low by left as well.
Pipeline diamond() {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  Func low("low"), mid("mid"), left("left"), right("right"), out("out");
  low(x) = in(x) * 3 + 1;
  mid(x) = low(x) * 5 - 2;
  left(x) = mid(x) + low(x);
  right(x) = mid(x) * 7;
  out(x) = left(x) - right(x);
  return Pipeline("diamond", {in}, {{out, {N}}});
}

TEST(CloneIn, CopiesAllDefinitions) {
  Schedule s;
  const Stage clone = s.clone_in("acc", {"C"});
  EXPECT_EQ(clone.name(), "acc.clone(C)");
  const auto applied = apply(matmul(), s);
  const lang::FuncDef& f = func(applied, "acc.clone(C)");
  ASSERT_EQ(f.stages.size(), 2u);
  EXPECT_TRUE(reads(f, "A"));
  EXPECT_TRUE(reads(f, "acc.clone(C)")) << "the update reads the clone itself";
  EXPECT_FALSE(reads(f, "acc"));
  EXPECT_TRUE(f.stages[1].reduce_op.has_value());
  EXPECT_TRUE(reads(func(applied, "C"), "acc.clone(C)"));
  EXPECT_FALSE(reads(func(applied, "C"), "acc"));
  EXPECT_EQ(computed(applied, "acc.clone(C)"), "root");
  EXPECT_EQ(computed(applied, "acc"), "inline") << "nothing reads it any more";
  EXPECT_EQ(loops(applied, "acc.clone(C)", 1), (Names{"k", "n.v:vector", "n.o", "m:parallel"}));
  expect_round_trip(matmul(), s);
  expect_spelling(matmul(), s, R"j({ "do": "clone_in", "of": "acc", "for": ["C"], "as": "acc.clone(C)" })j",
                  R"(s.clone_in("acc", {"C"});)");
}

TEST(CloneIn, LeavesOtherConsumersToTheFunc) {
  Schedule s;
  s["mid"].compute_root();
  s[s.clone_in("mid", {"left"})].compute_at("left", "x");
  s["left"].compute_root().serial("x");
  const auto applied = apply(diamond(), s);
  EXPECT_TRUE(reads(func(applied, "left"), "mid.clone(left)"));
  EXPECT_TRUE(reads(func(applied, "right"), "mid"));
  EXPECT_EQ(computed(applied, "mid"), "root");
  EXPECT_EQ(computed(applied, "mid.clone(left)"), "left.x");
  expect_round_trip(diamond(), s);
}

TEST(CloneIn, ReachesThroughClones) {
  Schedule s;
  s.clone_in("mid", {"left"});
  s.clone_in("low", {"mid.clone(left)", "left"});
  const auto applied = apply(diamond(), s);
  const std::string low = "low.clone(mid.clone(left),left)";
  EXPECT_TRUE(reads(func(applied, "mid.clone(left)"), low));
  EXPECT_TRUE(reads(func(applied, "left"), low));
  EXPECT_TRUE(reads(func(applied, "mid"), "low"));
  expect_round_trip(diamond(), s);
}

TEST(CloneIn, ClonesAClone) {
  Schedule s;
  s.clone_in("mid", {"left", "right"});
  s.clone_in("mid.clone(left,right)", {"right"});
  const auto applied = apply(diamond(), s);
  EXPECT_TRUE(reads(func(applied, "right"), "mid.clone(left,right).clone(right)"));
  EXPECT_TRUE(reads(func(applied, "left"), "mid.clone(left,right)"));
  EXPECT_TRUE(reads(func(applied, "mid.clone(left,right).clone(right)"), "low"))
      << "a clone computes, it does not copy";
}

TEST(CloneIn, ServesAllConsumersOfAnOutput) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  Func first("first"), second("second");
  first(x) = in(x) + 1;
  second(x) = first(x) * 2;
  const Pipeline p("two", {in}, {{first, {N}}, {second, {N}}});
  Schedule s;
  s[s.clone_in("first")].compute_inline();
  const auto applied = apply(p, s);
  EXPECT_TRUE(reads(func(applied, "second"), "first.clone"));
  EXPECT_EQ(computed(applied, "first"), "root");
  EXPECT_EQ(computed(applied, "first.clone"), "inline");
  expect_round_trip(p, s);
}

TEST(CloneIn, LeavesTheAlgorithmAlone) {
  const Pipeline p = diamond();
  const std::string before = lang::to_string(p.graph());
  Schedule s;
  s.clone_in("mid", {"left"});
  apply(p, s);
  EXPECT_EQ(lang::to_string(p.graph()), before);
}

TEST(CloneIn, IsRefused) {
  Schedule input, consumer, twice, itself, name;
  input.clone_in("A", {"acc"});
  expect_refused(matmul(), input, {"'A' is an input, which is not computed", "in(A)", "#1 clone_in(A, acc"});
  consumer.clone_in("acc", {"acc"});
  expect_refused(matmul(), consumer, {"'acc' does not consume 'acc'", "consumers of acc: C"});
  twice.clone_in("acc", {"C"});
  twice.clone_in("acc", {"C"});
  expect_refused(matmul(), twice, {"there is a copy 'acc.clone(C)' already", "clone_in(acc.clone(C))"});
  itself.clone_in("C");
  expect_refused(matmul(), itself, {"nothing consumes 'C'"});
  schedule::Value::List consumers = {"C"};
  name.append({"", "clone_in", {{"of", "acc"}, {"for", consumers}, {"as", "other"}}});
  expect_refused(matmul(), name, {"the copy cannot be named 'other'", "'acc.clone(C)'"});
}

}  // namespace

}  // namespace calotype::test
