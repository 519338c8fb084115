// Definitions of Funcs: what is legal, what is refused, and that a refusal leaves the Func as it was.

#include "helpers.h"
#include "lang/contents.h"

namespace calotype {
namespace {

using test::expect_algorithm_error;

const Var x("x"), y("y");

TEST(Definition, PureTakesTypeAndArgs) {
  Func f("f");
  EXPECT_FALSE(f.defined());
  f(x, y) = cast<std::uint8_t>(x + y);
  EXPECT_TRUE(f.defined());
  EXPECT_EQ(f.type(), UInt(8));
  EXPECT_EQ(f.rank(), 2);
  ASSERT_EQ(f.args().size(), 2u);
  EXPECT_EQ(f.args()[0].name(), "x");
  EXPECT_EQ(f.args()[1].name(), "y");
  EXPECT_EQ(f.updates(), 0);
  f(x, y) = f(x, y) + 1;
  f(x, 0) *= 2;
  EXPECT_EQ(f.updates(), 2);
}

TEST(Definition, AccumulationDefinesTheIdentity) {
  Func f("f"), g("g"), h("h");
  RDom r({{0, 4}, {0, 5}}, "r");
  f(r.x(), y) += 1.5f * r.y();
  EXPECT_EQ(f.type(), Float(32));
  ASSERT_EQ(f.args().size(), 2u);
  EXPECT_EQ(f.args()[0].name(), "_0");
  EXPECT_EQ(f.args()[1].name(), "y");
  EXPECT_EQ(f.updates(), 1);
  g(x) *= cast<std::int16_t>(r.x() + r.y());
  EXPECT_EQ(g.type(), Int(16));
  h() -= cast<double>(r.x());
  EXPECT_EQ(h.rank(), 0);
}

TEST(Definition, LiteralsTakeTheTypeAndNarrowerValuesWiden) {
  Func f(Float(16), 1, "f"), g("g");
  f(x) = 1;
  EXPECT_EQ(f.type(), Float(16));
  g(x) = 0;
  g(x) = cast<std::int8_t>(3);
  EXPECT_EQ(g.type(), Int(32));
  expect_algorithm_error("g", "type f32", [&] { g(x) = 0.5f * x; });
  EXPECT_EQ(g.updates(), 1);
  expect_algorithm_error("f", "type f32", [&] { f(x) = f(x) + cast<float>(x); });
}

TEST(Definition, DeclaredTypeAndRankHold) {
  Func f(Float(32), 2, "f");
  EXPECT_EQ(f.rank(), 2);
  EXPECT_EQ(f.type(), Float(32));
  expect_algorithm_error("f", "2 coordinates", [&] { f(x) = 1.0f; });
  expect_algorithm_error("f", "cast", [&] { f(x, y) = cast<double>(x); });
  EXPECT_FALSE(f.defined());
}

TEST(Definition, NamesAreChecked) {
  for (const char* bad : {"", "1a", "a b", ".a", "a-b", "f(x)"}) {
    expect_algorithm_error("", "cannot name", [&] { Func f(bad); });
    expect_algorithm_error("", "cannot name", [&] { Var v(bad); });
    expect_algorithm_error("", "cannot name", [&] { Dim d(bad); });
    expect_algorithm_error("", "cannot name", [&] { ImageParam i(UInt(8), 2, bad); });
    expect_algorithm_error("", "cannot name", [&] { RDom r(0, 3, bad); });
  }
  Func good("_f.1");
  EXPECT_EQ(good.name(), "_f.1");
}

TEST(Definition, UseBeforeDefinitionIsRefused) {
  Func f("f"), g("g");
  expect_algorithm_error("g", "before it is defined", [&] { f(x) = g(x); });
  EXPECT_FALSE(f.defined());
  expect_algorithm_error("f", "before it is defined", [&] { f(x) = f(x - 1) + 1; });
}

TEST(Definition, FirstDefinitionNeedsDistinctVars) {
  Func f("f");
  RDom r(0, 4, "r");
  expect_algorithm_error("f", "distinct Vars", [&] { f(x, x) = 1; });
  expect_algorithm_error("f", "distinct Vars", [&] { f(x, 0) = 1; });
  expect_algorithm_error("f", "distinct Vars", [&] { f(r) = 1; });
  EXPECT_FALSE(f.defined());
}

TEST(Definition, FreeVarsMustBeArguments) {
  Func f("f");
  expect_algorithm_error("f", "Var 'y'", [&] { f(x) = x + y; });
  f(x) = 0;
  expect_algorithm_error("f", "Var 'y'", [&] { f(x) = cast<int>(y); });
  expect_algorithm_error("f", "Var 'x'", [&] { f(0) = cast<int>(x); });
  expect_algorithm_error("f", "Var 'y'", [&] { f(y) = 1; });
  EXPECT_EQ(f.updates(), 0);
}

TEST(Definition, RankAndTypeOfCoordinates) {
  Func f("f"), g("g");
  f(x, y) = 1.0f;
  expect_algorithm_error("f", "2 dimensions", [&] { g(x) = f(x); });
  expect_algorithm_error("f", "type f32", [&] { g(x) = f(cast<float>(x), 0); });
  expect_algorithm_error("f", "type bool", [&] { g(x) = f(x > 1, 0); });
  expect_algorithm_error("f", "undefined", [&] { g(x) = f(Expr(), 0); });
  ImageParam image(UInt(8), 2, "image");
  expect_algorithm_error("image", "2 dimensions", [&] { g(x) = image(x); });
  EXPECT_FALSE(g.defined());
}

TEST(Definition, OneRDomAnUpdateAndNoneInAPureDefinition) {
  Func f("f");
  RDom r(0, 4, "r"), s(0, 5, "s");
  expect_algorithm_error("f", "RDom 'r'", [&] { f(x) = cast<int>(r + x); });
  f(x) = 0;
  expect_algorithm_error("f", "RDoms 'r' and 's'", [&] { f(x) += cast<int>(r * s); });
  RDom same(0, 4, "x");
  expect_algorithm_error("f", "both a Var and an RVar", [&] { f(x) += cast<int>(same); });
  EXPECT_EQ(f.updates(), 0);
}

TEST(Definition, RDomRanges) {
  expect_algorithm_error("", "more than sizes", [&] { RDom r(0, x, "r"); });
  expect_algorithm_error("", "type f32", [&] { RDom r(0, 2.5f, "r"); });
  expect_algorithm_error("", "no dimensions", [&] { RDom r(std::vector<std::pair<Expr, Expr>>{}, "r"); });
  expect_algorithm_error("", "names", [&] { RDom r({{0, 1}, {0, 2}}, std::vector<std::string>{"a"}); });
  expect_algorithm_error("", "named 'a'",
                         [&] { RDom r({{0, 1}, {0, 2}}, std::vector<std::string>{"a", "a"}); });
  RDom r({{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}}, "r");
  EXPECT_EQ(r.dimensions(), 5);
  EXPECT_EQ(r[0].name(), "r.x");
  EXPECT_EQ(r[3].name(), "r.w");
  EXPECT_EQ(r[4].name(), "r.4");
  expect_algorithm_error("", "no dimension 5", [&] { r[5]; });
  expect_algorithm_error("", "one coordinate", [&] { Expr e = r; });
  expect_algorithm_error("", "no bool", [&] { r.where(r.x()); });
  RDom s(0, 3, "s");
  expect_algorithm_error("", "another RDom", [&] { r.where(s > 1); });
  expect_algorithm_error("", "no coordinate", [&] { Expr e = RVar("ko") + 1; });
}

TEST(Definition, CoordinatesOutliveTheirDomain) {
  Func f("f");
  RVar k("unset");
  {
    RDom r({{2, 3}, {0, 2}}, "r");
    r.where(r.x() != r.y());
    k = r.x();
  }
  f(x) += cast<int>(k);
  const lang::StageDef& update = f.contents()->state.stages[1];
  ASSERT_EQ(update.reduction.size(), 2u);
  EXPECT_EQ(update.reduction[0].name, "r.x");
  EXPECT_TRUE(ir::is_int(update.reduction[0].min, 2));
  EXPECT_EQ(update.predicate.str(), "r.x != r.y");
}

TEST(Definition, CyclesNameTheirPath) {
  Func f(Int(32), 1, "f"), g("g"), h("h");
  g(x) = f(x) + 1;
  h(x) = g(x) * 2;
  expect_algorithm_error("f", "f -> h -> g -> f", [&] { f(x) = h(x); });
  expect_algorithm_error("f", "f -> f", [&] { f(x) = f(x - 1); });
  EXPECT_FALSE(f.defined());
  f(x) = 1;
  expect_algorithm_error("f", "f -> g -> f", [&] { f(x) += g(x); });
  RDom r(1, 4, "r");
  f(r) = f(r - 1) + 1;
  EXPECT_EQ(f.updates(), 1);
}

TEST(Definition, OwnReadsStayAlongPureDimensions) {
  Func f("f");
  RDom r(1, 4, "r");
  f(x, y) = 1;
  f(x, r) = f(x, r - 1) + 1;
  expect_algorithm_error("f", "another 'x'", [&] { f(x, r) = f(x - 1, r) + 1; });
  expect_algorithm_error("f", "another 'y'", [&] { f(r, y) = f(r, y + r) + 1; });
  EXPECT_EQ(f.updates(), 1);
}

TEST(Definition, BoolsAreNoNumbers) {
  Func f("f"), g("g");
  f(x) = x > 3;
  EXPECT_EQ(f.type(), Bool());
  expect_algorithm_error("", "bool", [&] { f(x) += x > 4; });
  expect_algorithm_error("g", "bools", [&] { g(x) += f(x); });
  g(x) = 0;
  expect_algorithm_error("g", "type bool", [&] { g(x) = f(x); });
  RDom r(0, 4, "r");
  expect_algorithm_error("any", "bools", [&] { g(x) = cast<int>(maximum(f(r), "any")); });
}

TEST(Definition, AFailedAccumulationDefinesNothing) {
  Func f("f");
  expect_algorithm_error("f", "Var 'y'", [&] { f(x) += cast<int>(y); });
  EXPECT_FALSE(f.defined());
  f(x, y) = 2;
  EXPECT_EQ(f.rank(), 2);
}

TEST(Definition, InlineReductions) {
  ImageParam a(Float(32), 2, "a");
  RDom r(0, 3, "r");
  const Expr s = sum(a(y + r, x), "s");
  ASSERT_TRUE(ir::is(s, ir::Op::Call));
  const auto func = lang::func_of(ir::callee_of(s));
  EXPECT_EQ(func->name, "s");
  EXPECT_EQ(func->state.types, std::vector<Type>{Float(32)});
  ASSERT_EQ(func->state.args.size(), 2u);
  EXPECT_EQ(func->state.args[0]->name, "y");
  EXPECT_EQ(func->state.args[1]->name, "x");
  RDom q(0, 4, "q");
  expect_algorithm_error("t", "uses no RDom", [&] { sum(a(x, y), "t"); });
  expect_algorithm_error("t", "RDoms 'r' and 'q'", [&] { sum(a(r, q), "t"); });
}

TEST(Definition, ParamsHoldTheirInitialValue) {
  EXPECT_EQ(Param(Float(32), "p", 1.5).initial(), 1.5);
  EXPECT_FALSE(Param(Int(8), "p").initial());
  expect_algorithm_error("", "does not fit", [] { Param(UInt(8), "p", 256); });
  expect_algorithm_error("", "does not fit", [] { Param(Int(8), "p", 0.5); });
  expect_algorithm_error("", "does not fit", [] { Param(Float(16), "p", 1e6); });
}

TEST(Definition, IsTold) {
  Var x("x");
  Func f("f"), pair("pair"), none("none");
  RDom r(0, 3, "r");
  f(x) = x * 2;
  f(r + 1) += cast<std::int64_t>(5);
  pair(x) = Tuple(x, 1.0f);
  pair(2 * r)[1] = 7.0f;
  EXPECT_EQ(f.args().front().name(), "x");
  ASSERT_EQ(f.values().size(), 1u);
  EXPECT_EQ(f.values()[0].str(), "x*2");
  EXPECT_EQ(f.updates(), 1);
  EXPECT_EQ(f.update_args(0)[0].str(), "r + 1");
  EXPECT_EQ(f.update_values(0)[0].str(), "f(r + 1) + 5");
  EXPECT_EQ(pair.values()[1].str(), "1.0");
  ASSERT_EQ(pair.update_values(0).size(), 2u);
  EXPECT_EQ(pair.update_values(0)[1].str(), "7.0");
  EXPECT_TRUE(none.values().empty());
  test::refused(ErrorKind::Usage, [&] { (void)f.update_args(1); });
  test::refused(ErrorKind::Usage, [&] { (void)none.update_values(0); });
}

}  // namespace
}  // namespace calotype
