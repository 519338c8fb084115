// rfactor: the graph it makes, its meaning, its refusals.
#include <functional>
#include <random>

#include "helpers.h"
#include "interpreter.h"

namespace calotype::test {

/// Random non-zero elements that depend on name and point alone.
std::int64_t element(const std::string& name, const Point& at) {
  std::uint64_t seed = static_cast<unsigned char>(name[0]);
  for (std::int64_t c : at) seed = seed * 1000003 + static_cast<std::uint64_t>(c);
  std::mt19937_64 random(seed);
  const std::int64_t v = static_cast<std::int64_t>(random() % 199) - 99;
  return v == 0 ? 7 : v;
}

/// The same output points with the schedule and without, for sizes that do and do not divide.
void expect_same(const Pipeline& p, const Schedule& s, const std::string& output,
                 std::vector<std::string> dims) {
  const auto plain = apply(p, Schedule{}), factored = apply(p, s);
  for (std::int64_t size : {1, 2, 7, 8, 13}) {
    std::map<std::string, std::int64_t> sizes;
    for (const std::string& d : dims) sizes[d] = size + (d == "H" ? 1 : 0);
    Interpreter before(plain.graph, sizes, element, 0, 16), after(factored.graph, sizes, element, 0, 16);
    EXPECT_EQ(before.values(output), after.values(output)) << "size " << size;
  }
}

/// total() = op over a domain [2, 2 + W) x [0, H) of an input, with a condition.
Pipeline total(ir::Op op) {
  Dim W("W"), H("H");
  ImageParam image(Int(32), {W + 2, H}, "image");
  Var i("i");
  RDom r({{2, W}, {0, H}}, "r");
  r.where((r.x() + r.y()) % 3 != 1);
  Func total("total"), out("out");
  const Expr e = image(r.x(), r.y());
  total(i) = cast<std::int32_t>(i);
  if (op == ir::Op::Add) total(i) += e * cast<std::int32_t>(i + 1);
  if (op == ir::Op::Mul) total(i) *= e % 5 + 1;
  if (op == ir::Op::Min) total(i) = min(total(i), e);
  if (op == ir::Op::Max) total(i) = max(total(i), e);
  out(i) = total(i);
  return Pipeline("total", {image}, {{out, {16}}});
}

TEST(Rfactor, MakesThePartialFunc) {
  Schedule s;
  s["acc"].update().split("k", "ko", "ki", 8);
  const Stage part = s["acc"].update().rfactor({{"ki", "u"}}, "part");
  EXPECT_EQ(part.name(), "part");
  s["part"].compute_at("C", "n");
  s["acc"].compute_at("C", "n");
  const auto applied = apply(matmul(), s);
  const lang::FuncDef* f = applied.graph.find_func("part");
  ASSERT_NE(f, nullptr);
  ASSERT_EQ(f->rank(), 3);
  EXPECT_EQ(f->args[2]->name, "u");
  EXPECT_EQ(f->stages.size(), 2u);
  EXPECT_EQ(loops(applied, "part", 1), (Names{"ko", "n", "m", "u"}));
  EXPECT_EQ(loops(applied, "acc", 1), (Names{"ki", "n", "m"}));
  EXPECT_TRUE(f->stages[1].predicate.defined()) << "8 may not divide K";
  EXPECT_EQ(applied.numerics.reassociates, (Names{"acc.k"}));
  expect_round_trip(matmul(), s);
  expect_spelling(
      matmul(), s,
      R"j({ "stage": "acc.update(0)", "do": "rfactor", "loops": ["ki"], "into": ["u"], "as": "part" })j",
      R"j(s["acc"].update(0).rfactor({{"ki", "u"}}, "part");)j");
}

TEST(Rfactor, IntegersAreNotListed) {
  Schedule s;
  s["acc"].update().split("k", "ko", "ki", 8).rfactor({{"ki", "u"}}, "part");
  EXPECT_TRUE(apply(matmul(Int(32)), s).numerics.reassociates.empty());
}

TEST(Rfactor, ADividingSplitNeedsNoCondition) {
  Dim W("W");
  ImageParam image(Int(32), {64, W}, "image");
  Var y("y");
  RDom k(0, 64, "k");
  Func row("row"), out("out");
  row(y) += image(k, y);
  out(y) = row(y);
  const Pipeline p("rows", {image}, {{out, {W}}});
  Schedule s;
  s["row"].update().split("k", "ko", "ki", 8).rfactor({{"ki", "u"}}, "part");
  EXPECT_FALSE(apply(p, s).graph.find_func("part")->stages[1].predicate.defined());
}

// That of the inner split says it all.
TEST(Rfactor, ASplitOfASplitNeedsOneCondition) {
  Schedule s;
  s["acc"].update().split("k", "ko", "ki", 8).split("ko", "koo", "koi", 4);
  s["acc"].update().rfactor({{"ki", "u"}, {"koi", "t"}}, "part");
  const Expr condition = apply(matmul(), s).graph.find_func("part")->stages[1].predicate;
  ASSERT_TRUE(condition.defined());
  EXPECT_FALSE(ir::any_of(condition, [](const Expr& e) { return ir::is(e, ir::Op::And); }))
      << ir::to_string(condition);
}

TEST(Rfactor, KeepsTheValueOfEveryOperation) {
  for (ir::Op op : {ir::Op::Add, ir::Op::Mul, ir::Op::Min, ir::Op::Max}) {
    const Pipeline p = total(op);
    Schedule whole, inner, outer, both, nested, fused, twice;
    whole["total"].update().rfactor({{"r.y", "u"}}, "part");
    inner["total"].update().split("r.x", "xo", "xi", 4).rfactor({{"xi", "u"}}, "part");
    outer["total"].update().split("r.x", "xo", "xi", 4).rfactor({{"xo", "u"}}, "part");
    both["total"].update().split("r.x", "xo", "xi", 4).split("r.y", "yo", "yi", 3);
    both["total"].update().rfactor({{"xi", "u"}, {"yo", "v"}}, "part");
    nested["total"].update().split("r.x", "xo", "xi", 3).split("xo", "xoo", "xoi", 2);
    nested["total"].update().rfactor({{"xi", "u"}, {"xoi", "v"}}, "part");
    fused["total"].update().fuse("r.x", "r.y", "f").split("f", "fo", "fi", 5).rfactor({{"fi", "u"}}, "part");
    twice["total"].update().rfactor({{"r.y", "u"}}, "part");
    twice["part"].update().split("r.x", "xo", "xi", 4).rfactor({{"xo", "v"}}, "part2");
    for (const Schedule* s : {&whole, &inner, &outer, &both, &nested, &fused, &twice}) {
      expect_same(p, *s, "out", {"W", "H"});
      expect_round_trip(p, *s);
    }
  }
}

// The coordinate of partial results has as many values as the loop that split made.
TEST(Rfactor, TheNewCoordinateHasTheExtentOfItsLoop) {
  const auto with = [](const std::function<void(Schedule&)>& edit) {
    Schedule s;
    s["acc"].update().split("k", "ko", "ki", 8).rfactor({{"ki", "u"}}, "part");
    edit(s);
    return s;
  };
  for (const Schedule& s :
       {with([](Schedule& t) { t["part"].reorder("u", "n", "m").vectorize("u"); }),
        with([](Schedule& t) { t["part"].compute_root().unroll("u").update().vectorize("u"); })}) {
    EXPECT_NO_THROW(apply(matmul(), s));
    expect_round_trip(matmul(), s);
  }
  // By the outer loop their number depends on a size; by a rounded region it is another one.
  Schedule outer;
  outer["acc"].update().split("k", "ko", "ki", 8).rfactor({{"ko", "u"}}, "part");
  outer["part"].compute_root().vectorize("u");
  expect_refused(matmul(), outer, {"the extent of 'u' is not a constant"});
  expect_refused(matmul(), with([](Schedule& t) { t["part"].align_extent("u", 3).vectorize("u"); }),
                 {"the extent of 'u' is not a constant"});
}

TEST(Rfactor, KeepsTheValueOfTermsUnderACondition) {
  Dim W("W"), H("H");
  ImageParam image(Int(32), {W, H}, "image");
  Var i("i");
  RDom r({{0, W}, {0, H}}, "r");
  Func total("total"), out("out");
  const Expr e = image(r.x(), r.y());
  total(i) = cast<std::int32_t>(i);
  total(i) = select(e > 5 && r.x() != i, min(total(i), e * 3), total(i));
  out(i) = total(i);
  const Pipeline p("least", {image}, {{out, {16}}});
  Schedule inner, both;
  inner["total"].update().split("r.x", "xo", "xi", 4).rfactor({{"xi", "u"}}, "part");
  both["total"].update().split("r.x", "xo", "xi", 4).rfactor({{"xo", "u"}, {"r.y", "v"}}, "part");
  for (const Schedule& s : {inner, both}) expect_same(p, s, "out", {"W", "H"});
  EXPECT_EQ(apply(p, inner).graph.find_func("part")->stages[0].value.str(), "2147483647");
}

TEST(Rfactor, WorksOnUpdatesThatScatter) {
  Schedule s;
  s["hist"].update().rfactor({{"r.y", "u"}}, "part");
  const auto applied = apply(histogram(), s);
  EXPECT_EQ(loops(applied, "part", 1), (Names{"r.x", "u:parallel"}));
  EXPECT_EQ(loops(applied, "hist", 1), (Names{"r.y", "b"}));
}

TEST(Rfactor, KeepsPureLoopsAndBindings) {
  Schedule s;
  s["acc"].update().vectorize("n", 8).split("k", "ko", "ki", 4).unroll("ki").split("ko", "kp", "kq", 2);
  s["acc"].update().rfactor({{"kp", "u"}}, "part");
  const auto applied = apply(matmul(), s);
  EXPECT_EQ(loops(applied, "acc", 1), (Names{"kp", "n.v:vector", "n.o", "m"}));
  EXPECT_EQ(loops(applied, "part", 1), (Names{"ki:unrolled", "kq", "n", "m", "u"}));
}

TEST(Rfactor, WhatMovesIsBoundByItsOwnDirective) {
  Schedule s;
  s["acc"].compute_at("C", "m");
  s["C"].gpu_blocks("m");
  s["acc"].update().gpu_lanes("k", 8).split("k.o", "ko", "ki", 4).rfactor({{"ki", "q"}}, "part");
  const std::vector<Diagnostic> found = s.check(matmul(), gpu);
  ASSERT_FALSE(found.empty());
  EXPECT_NE(found[0].str().find("#3 gpu_lanes(k, 8)"), std::string::npos) << found[0].str();
  s["part"].compute_at("C", "m").store_in(Memory::Register);
  const auto applied = apply(matmul(), s, gpu);
  for (const schedule::Loop& l : applied.loops)
    EXPECT_TRUE(l.name != "k.l" || l.part == ir::ThreadPart::Lane) << l.replaced_by;
}

TEST(Rfactor, MakesAParallelReductionLegal) {
  Schedule s;
  s["acc"].update().split("k", "ko", "ki", 64).rfactor({{"ko", "u"}}, "part");
  s["part"].update().parallel("u");
  EXPECT_EQ(loops(apply(matmul(), s), "part", 1), (Names{"ki", "n", "m", "u:parallel"}));
}

TEST(Rfactor, IsRefused) {
  Schedule order, pure, name, coordinate, counts, moved;
  order["s"].update().rfactor({{"r.y", "u"}}, "part");
  expect_refused(recurrence(), order,
                 {"s.update(0) is not proved to be associative",
                  "is no reduction of terms that do not depend on 's'", "#1 rfactor(r.y, u, part)"});
  pure["acc"].update().rfactor({{"n", "u"}}, "part");
  expect_refused(matmul(), pure, {"'n' is no reduction loop"});
  name["acc"].update().rfactor({{"k", "u"}}, "C");
  expect_refused(matmul(), name, {"there is a Func or input 'C' already"});
  coordinate["acc"].update().rfactor({{"k", "n"}}, "part");
  expect_refused(matmul(), coordinate, {"'acc' has a coordinate 'n' already"});
  const schedule::Value::List one = {"k"}, two = {"u", "v"};
  counts["acc"].update().record("rfactor", {{"loops", one}, {"into", two}, {"as", "part"}});
  expect_refused(matmul(), counts, {"1 loops and 2 coordinates"});
  moved["acc"].update().split("k", "ko", "ki", 8).rfactor({{"ki", "u"}}, "part");
  moved["acc"].update().unroll("ko", 2);
  expect_refused(matmul(), moved, {"the loop 'ko' is gone: a loop of part"});
}

/// Where a row is largest; `first`: of equal values the first is chosen.
Pipeline largest(bool first) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var y("y");
  RDom k(0, W, "k");
  Func most("most"), out("out");
  most(y) = Tuple(cast<std::int64_t>(-1), cast<std::int32_t>(-1000));
  const Expr value = in(k, y), best = most(y)[1];
  most(y) = select(first ? value > best : value >= best, Tuple(k, value), Tuple(most(y)[0], most(y)[1]));
  out(y) = cast<std::int32_t>(most(y)[0]) + most(y)[1];
  return Pipeline("largest", {in}, {{out, {H}}});
}

TEST(Rfactor, OfTuplesMakesOneFunc) {
  Schedule s;
  s["most"].update().split("k", "ko", "ki", 8).rfactor({{"ko", "u"}}, "part");
  const auto applied = apply(largest(true), s);
  const lang::FuncDef* part = applied.graph.find_func("part");
  ASSERT_NE(part, nullptr);
  EXPECT_EQ(part->types, (std::vector<Type>{Int(64), Int(32)}));
  EXPECT_EQ(part->stages[0].values()[0].str(), "0");
  EXPECT_EQ(part->stages[0].values()[1].str(), "-2147483648");
  EXPECT_TRUE(applied.numerics.reassociates.empty());
}

TEST(Rfactor, KeepsTheOrderOfWhatIsChosenFirst) {
  Schedule inner, last;
  inner["most"].update().split("k", "ko", "ki", 8).rfactor({{"ki", "u"}}, "part");
  expect_refused(largest(true), inner,
                 {"of equal terms the first is chosen", "'ki' would be combined out of the order of 'ko'",
                  "reduction loops outside 'ko'"});
  last["most"].update().split("k", "ko", "ki", 8).rfactor({{"ko", "u"}}, "part");
  expect_refused(largest(false), last, {"is not proved to be associative", "component 0"});
}

}  // namespace calotype::test
