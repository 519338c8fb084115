// eager_inline.
#include "helpers.h"

namespace calotype::test {

namespace {

/// out <- total, the sum of a row of twice <- in.
Pipeline doubled_sum() {
  Dim N("N"), R("R");
  ImageParam in(Int(32), {N, R}, "in");
  Var x("x"), y("y");
  RDom k(0, N, "k");
  Func twice("twice"), total("total"), out("out");
  twice(x, y) = in(x, y) * 2;
  total(y) += twice(k, y);
  out(y) = total(y) + 1;
  return Pipeline("doubled_sum", {in}, {{out, {R}}});
}

const lang::StageDef& update(const schedule::Scheduled& s, const std::string& name) {
  return s.graph.find_func(name)->stages[1];
}

TEST(EagerInline, PutsTheDefinitionInPlace) {
  Schedule s;
  s.eager_inline("twice");
  const auto applied = apply(doubled_sum(), s);
  const lang::StageDef& u = update(applied, "total");
  EXPECT_NE(u.value.str().find("in(k, y)"), std::string::npos) << u.value.str();
  EXPECT_EQ(u.value.str().find("twice"), std::string::npos) << u.value.str();
  EXPECT_NE(u.reduce_term.str().find("in(k, y)"), std::string::npos) << u.reduce_term.str();
  EXPECT_EQ(computed(applied, "twice"), "inline");
  expect_round_trip(doubled_sum(), s);
  expect_spelling(doubled_sum(), s, R"j({ "do": "eager_inline", "of": "twice" })j",
                  R"(s.eager_inline("twice");)");
}

TEST(EagerInline, IsSeenByWhatFollows) {
  Schedule s;
  s.eager_inline("twice");
  s.in("in", {"total"});
  s["total"].update().rfactor({{"k", "lane"}}, "part");
  const auto applied = apply(doubled_sum(), s);
  EXPECT_NE(applied.graph.find_func("in.in(total)"), nullptr);
  expect_round_trip(doubled_sum(), s);
  Schedule late;
  late.in("in", {"total"});
  late.eager_inline("twice");
  expect_refused(doubled_sum(), late, {"'total' does not consume 'in'"});
}

TEST(EagerInline, WorksOnTuplesAndCopies) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  Func pair("pair"), out("out");
  pair(x) = Tuple(in(x) + 1, in(x) * 3);
  out(x) = pair(x)[1] - pair(x)[0];
  const Pipeline p("pairs", {in}, {{out, {N}}});
  Schedule s;
  s.in("pair", {"out"});
  s.eager_inline("pair.in(out)");
  s.eager_inline("pair");
  const auto applied = apply(p, s);
  EXPECT_EQ(applied.graph.find_func("out")->stages[0].value.str(), "in(x)*3 - (in(x) + 1)");
}

TEST(EagerInline, IsRefused) {
  Schedule updates, output, input, scheduled, later, unread;
  updates.eager_inline("acc");
  expect_refused(matmul(), updates, {"'acc' has updates", "#1 eager_inline(acc)"});
  output.eager_inline("out");
  expect_refused(doubled_sum(), output, {"'out' is an output"});
  input.eager_inline("in");
  expect_refused(doubled_sum(), input, {"'in' is an input, which has no definition"});
  scheduled["twice"].compute_root();
  scheduled.eager_inline("twice");
  expect_refused(doubled_sum(), scheduled, {"'twice' is scheduled already, by #1 compute_root()"});
  later.eager_inline("twice");
  later["twice"].compute_root();
  expect_refused(doubled_sum(), later, {"'twice' has its place already, by #1 eager_inline(twice)"});
  Schedule loops;
  loops.eager_inline("twice");
  loops["twice"].split("x", 8);
  expect_refused(doubled_sum(), loops, {"'twice' is inlined by #1 eager_inline(twice)"});
  unread.eager_inline("twice");
  unread.eager_inline("twice");
  expect_refused(doubled_sum(), unread, {"'twice' is scheduled already"});
}

}  // namespace

}  // namespace calotype::test
