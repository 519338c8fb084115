// in.
#include "helpers.h"

namespace calotype::test {

bool reads(const lang::FuncDef& f, const std::string& name) {
  for (const lang::StageDef& s : f.stages)
    for (const ir::CalleePtr& c : lang::callees(s))
      if (c->name == name) return true;
  return false;
}

TEST(In, CopiesAnInput) {
  Schedule s;
  const Stage As = s.in("A", {"acc"});
  EXPECT_EQ(As.name(), "A.in(acc)");
  const auto applied = apply(matmul(), s);
  const lang::FuncDef* copy = applied.graph.find_func("A.in(acc)");
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->rank(), 2);
  EXPECT_EQ(copy->type(), Float(32));
  EXPECT_EQ(copy->callee()->index, copy->id.value);
  EXPECT_TRUE(reads(*copy, "A"));
  EXPECT_FALSE(reads(*applied.graph.find_func("acc"), "A"));
  EXPECT_TRUE(reads(*applied.graph.find_func("acc"), "A.in(acc)"));
  EXPECT_TRUE(reads(*applied.graph.find_func("acc"), "B"));
  EXPECT_EQ(computed(applied, "A.in(acc)"), "root");
  EXPECT_EQ(loops(applied, "A.in(acc)"), (Names{"d0.v:vector", "d0.o", "d1:parallel"}));
  expect_round_trip(matmul(), s);
  expect_spelling(matmul(), s, R"j({ "do": "in", "of": "A", "for": ["acc"], "as": "A.in(acc)" })j",
                  R"(s.in("A", {"acc"});)");
}

TEST(In, IsMadeBeforeItsConsumers) {
  Schedule s;
  s.in("A", {"acc"});
  const auto applied = apply(matmul(), s);
  Names order;
  for (lang::FuncId id : applied.order) order.push_back(applied.graph.func(id).name);
  EXPECT_EQ(order, (Names{"A.in(acc)", "acc", "C"}));
}

TEST(In, RedirectsTheReductionTermToo) {
  Schedule s;
  s.in("A", {"acc"});
  const auto applied = apply(matmul(), s);
  const lang::StageDef& update = applied.graph.find_func("acc")->stages[1];
  EXPECT_FALSE(ir::any_of(update.reduce_term, [](const Expr& e) {
    return ir::is(e, ir::Op::Call) && ir::callee_of(e)->name == "A";
  }));
}

TEST(In, CopiesAFuncForAllItsConsumers) {
  Schedule s;
  s["bx"].compute_root();
  s[s.in("bx")].compute_at("by", "y");
  const auto applied = apply(blur(), s);
  EXPECT_TRUE(reads(*applied.graph.find_func("by"), "bx.in"));
  EXPECT_FALSE(reads(*applied.graph.find_func("by"), "bx"));
  EXPECT_EQ(loops(applied, "bx.in"), (Names{"x", "y"}));
  EXPECT_EQ(computed(applied, "bx.in"), "by.y");
  expect_round_trip(blur(), s);
}

TEST(In, LeavesTheAlgorithmAlone) {
  const Pipeline p = matmul();
  const std::string before = lang::to_string(p.graph());
  Schedule s;
  s.in("A", {"acc"});
  apply(p, s);
  EXPECT_EQ(lang::to_string(p.graph()), before);
}

TEST(In, CopiesACopy) {
  Schedule s;
  s.in("A", {"acc"});
  s.in("A.in(acc)", {"acc"});
  const auto applied = apply(matmul(), s);
  EXPECT_TRUE(reads(*applied.graph.find_func("acc"), "A.in(acc).in(acc)"));
  EXPECT_TRUE(reads(*applied.graph.find_func("A.in(acc).in(acc)"), "A.in(acc)"));
}

TEST(In, IsRefused) {
  Schedule consumer, source, twice, output;
  consumer.in("A", {"C"});
  expect_refused(matmul(), consumer,
                 {"'C' does not consume 'A'", "consumers of A: acc", "#1 in(A, C, A.in(C))"});
  source.in("AA", {"acc"});
  source["AA.in(acc)"].compute_root();
  expect_refused(matmul(), source, {"there is no Func or input 'AA'", "did you mean 'A'"});
  twice.in("A", {"acc"});
  twice.in("A", {"acc"});
  expect_refused(matmul(), twice, {"there is a copy 'A.in(acc)' already"});
  output.in("C");
  expect_refused(matmul(), output, {"nothing consumes 'C'"});
  Schedule name;
  schedule::Value::List consumers = {"acc"};
  name.append({"", "in", {{"of", "A"}, {"for", consumers}, {"as", "tile"}}});
  expect_refused(matmul(), name, {"the copy cannot be named 'tile'", "'A.in(acc)'"});
}

}  // namespace calotype::test
