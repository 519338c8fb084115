// Definitions that must be refused, and what each refusal says.

#include "error/refusals.h"

namespace calotype::test {
namespace {

struct Row {
  const char* what;
  void (*define)();
  Refusal refusal;
};

void expect_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    expect_refused(row.define, row.refusal);
  }
}

constexpr ErrorKind kAlgorithm = ErrorKind::Algorithm;
const Var x("x"), y("y"), z("z");

Func plane(const char* name) {
  Func f(name);
  f(x, y) = cast<float>(x + y);
  return f;
}

TEST(RefusedAlgorithms, Definedness) {
  expect_rows({
      {"undefined output",
       [] { Pipeline("p", {}, {Func("f")}); },
       {kAlgorithm, "Func 'f', an output, is undefined", "f", "", "", {"f(x, y) = ..."}}},
      {"undefined Func that another uses",
       [] {
         Func g(Float(32), 1, "g"), f("f");
         f(x) = g(x);
         Pipeline("p", {}, {f});
       },
       {kAlgorithm, "Func 'g', used by 'f', is undefined", "g", "", "", {"g(x, y) = ..."}}},
      {"use before the definition",
       [] {
         Func g("g"), f("f");
         f(x) = g(x) + 1;
       },
       {kAlgorithm, "Func 'g' is used before it is defined", "g", "", "", {"its definition first"}}},
      {"cycle of two",
       [] {
         Func a(Float(32), 1, "a"), b("b");
         b(x) = a(x - 1);
         a(x) = b(x);
       },
       {kAlgorithm, "the definition of 'a' depends on itself", "a", "", "a -> b -> a", {"no cycle"}}},
      {"cycle of three, closed by an update",
       [] {
         Func a("a"), b("b"), c("c");
         a(x) = 0.0f;
         b(x) = a(x);
         c(x) = b(x);
         a(x) += c(x);
       },
       {kAlgorithm,
        "the definition of 'a' depends on itself",
        "a",
        "",
        "a -> c -> b -> a",
        {"only an update"}}},
      {"pure definition that reads itself",
       [] {
         Func f(Float(32), 1, "f");
         f(x) = f(x - 1);
       },
       {kAlgorithm, "the definition of 'f' depends on itself", "f", "", "f -> f", {"no cycle"}}},
      {"change after a Pipeline",
       [] {
         Func f = plane("f");
         Pipeline("p", {}, {f});
         f(x, y) += 1.0f;
       },
       {kAlgorithm, "'f' is changed after a Pipeline", "f", "", "", {"before the Pipeline"}}},
      {"undefined operand",
       [] { Expr() + 1; },
       {kAlgorithm, "an operand of '+' is undefined", "", "", "", {"an Expr that has a value"}}},
      {"coordinate of no domain",
       [] {
         Func f("f");
         f(x) = 0.0f;
         f(RVar("k")) = 1.0f;
       },
       {kAlgorithm, "'k'", "", "", "k", {"RDom"}}},
  });
}

TEST(RefusedAlgorithms, Ranks) {
  expect_rows({
      {"update of another arity", [] { plane("f")(x) += 1.0f; }, {kAlgorithm, "'f'", "f", "", "1", {"2"}}},
      {"call of another arity",
       [] {
         Func g("g");
         g(x) = plane("f")(x, x, x);
       },
       {kAlgorithm, "'f'", "f", "", "3", {"2"}}},
      {"input of another rank",
       [] { ImageParam(UInt(8), 2, "image")(x); },
       {kAlgorithm, "'image'", "image", "", "1", {"2"}}},
      {"definition beside its declaration",
       [] { Func(Float(32), 2, "f")(x) = 1.0f; },
       {kAlgorithm, "'f'", "f", "", "1", {"2"}}},
      {"output extents",
       [] { Pipeline("p", {}, {Output(plane("f"), {8})}); },
       {kAlgorithm,
        "output 'f' has 2 dimensions and is given 1 extents",
        "f",
        "",
        "1",
        {"2 extents, or none"}}},
  });
}

TEST(RefusedAlgorithms, Types) {
  expect_rows({
      {"value that the elements do not hold",
       [] {
         Func f("f");
         f(x) = cast<std::int32_t>(0);
         f(x) += cast<float>(x);
       },
       {kAlgorithm,
        "'f' has elements of type s32 and is given a value of type f32",
        "f",
        "",
        "f32(f(x)) + f32(x)",
        {"explicit cast"}}},
      {"literal that does not fit",
       [] { cast<std::uint8_t>(Expr(x)) + 300; },
       {kAlgorithm, "300", "", "", "300", {"0 to 255"}}},
      {"condition that is no bool",
       [] { select(Expr(x), 1, 2); },
       {kAlgorithm, "select", "", "", "s64", {"bool"}}},
      {"bits of a float", [] { cast<float>(Expr(x)) & 1; }, {kAlgorithm, "&", "", "", "f32", {"integer"}}},
      {"sum of bools",
       [] {
         Func f("f");
         f(x) += Expr(x) < 3;
       },
       {kAlgorithm, "'f' accumulates bools", "f", "", "x < 3", {"cast"}}},
  });
}

TEST(RefusedAlgorithms, Coordinates) {
  expect_rows({
      {"Var that is not on the left",
       [] {
         Func f("f");
         f(x) = x + z;
       },
       {kAlgorithm, "Var 'z' is used in the value of 'f'", "f", "", "z", {"Vars of the left side: x"}}},
      {"second pure definition",
       [] { plane("f")(x, z) = 1.0f; },
       {kAlgorithm,
        "Var 'z' is used in a coordinate of an update of 'f'",
        "f",
        "",
        "z",
        {"Vars of the left side: x"}}},
      {"coordinate that is no Var",
       [] { Func("f")(x + 1) = 1.0f; },
       {kAlgorithm, "not distinct Vars", "f", "", "f(x + 1)", {"a pure definition on distinct Vars first"}}},
      {"one Var twice",
       [] { Func("f")(x, x) = 1.0f; },
       {kAlgorithm, "not distinct Vars", "f", "", "f(x, x)", {"distinct Vars"}}},
      {"domain in a pure definition",
       [] { Func("f")(x) = Expr(RDom(0, 8, "k")); },
       {kAlgorithm, "the pure definition of 'f' uses the RDom 'k'", "f", "", "k", {"sum(e)"}}},
      {"two domains",
       [] { plane("f")(RDom(0, 8, "j"), RDom(0, 8, "k")) += 1.0f; },
       {kAlgorithm, "the RDoms 'j' and 'k'", "f", "", "k", {"one RDom an update"}}},
      {"domain named as a Var",
       [] { plane("f")(x, RDom(0, 8, "x")) += 1.0f; },
       {kAlgorithm, "both a Var and an RVar named 'x'", "f", "", "x", {"another name"}}},
      {"pure dimension read elsewhere",
       [] {
         Func f = plane("f");
         f(x, y) = f(x - 1, y);
       },
       {kAlgorithm, "reads 'f(x - 1, y)' at another 'x'", "f", "", "x - 1", {"an RDom in place of 'x'"}}},
  });
}

TEST(RefusedAlgorithms, Pipelines) {
  expect_rows({
      {"no outputs",
       [] { Pipeline("p", {}, {}); },
       {kAlgorithm, "Pipeline 'p' has no outputs", "", "", "", {"one or more"}}},
      {"output twice",
       [] {
         Func f = plane("f");
         Pipeline("p", {}, {f, f});
       },
       {kAlgorithm, "'f' is listed twice among the outputs", "f", "", "f", {"each output once"}}},
      {"input that is not listed",
       [] {
         ImageParam a(Float(32), 1, "a"), b(Float(32), 1, "b");
         Func f("f");
         f(x) = a(x) + b(x);
         Pipeline("p", {a}, {f});
       },
       {kAlgorithm, "'f' uses input 'b'", "f", "", "b", {"listed inputs: a"}}},
      {"Param that is not listed",
       [] {
         Param gain(Float(32), "gain");
         Func f("f");
         f(x) = cast<float>(x) * gain;
         Pipeline("p", {}, {f});
       },
       {kAlgorithm, "'f' uses Param 'gain'", "f", "", "gain", {"listed Params"}}},
      {"input that is not used",
       [] { Pipeline("p", {ImageParam(Float(32), 1, "a")}, {plane("f")}); },
       {kAlgorithm,
        "input 'a' is among the inputs of Pipeline 'p' and is not used",
        "",
        "",
        "a",
        {"depend on"}}},
      {"two things of one name",
       [] {
         ImageParam a(Float(32), 2, "f");
         Func f("f");
         f(x, y) = a(x, y);
         Pipeline("p", {a}, {f});
       },
       {kAlgorithm, "two things named 'f'", "f", "", "f", {"names that differ"}}},
      {"bad name",
       [] { Func("2d"); },
       {kAlgorithm, "'2d' cannot name a Func", "", "", "2d", {"starting with a letter"}}},
  });
}

// What only a compilation can know.
TEST(RefusedAlgorithms, SizesAndRegions) {
  expect_rows({
      {"size that follows from nothing",
       [] {
         Func f("f");
         f(x) = sum(cast<float>(RDom(0, Dim("K"), "k")));
         Pipeline("p", {}, {Output(f, {8})}).compile({}, gpu);
       },
       {kAlgorithm,
        "the size 'K' does not follow from any argument",
        "sum",
        "",
        "K",
        {"an input or output with a dimension of that extent"}}},
      {"read without bounds",
       [] {
         ImageParam at(Int(32), 1, "at");
         Func f = plane("f"), g("g");
         g(x) = f(cast<std::int64_t>(at(x)), 0);
         Pipeline p("p", {at}, {Output(g, {8})});
         Schedule s;
         s["f"].compute_root();
         p.compile(s, gpu);
       },
       {kAlgorithm,
        "dimension 0 at which 'f' is read have no bounds",
        "f",
        "",
        "f(s64(at(x)), 0)",
        {"clamp()"}}},
  });
}

TEST(RefusedAlgorithms, LeaveTheFuncAsItWas) {
  Func f(Float(32), 2, "f");
  EXPECT_THROW(f(x) = 1.0f, Error);
  EXPECT_THROW(f(x, x) = 1.0f, Error);
  EXPECT_THROW(f(x, y) = f(x, y), Error);
  EXPECT_FALSE(f.defined());
  f(x, y) = cast<float>(x);
  EXPECT_THROW(f(x) += 1.0f, Error);
  EXPECT_THROW(f(x, z) += 1.0f, Error);
  EXPECT_THROW((f(x, y) = f(x + 1, y)), Error);
  EXPECT_EQ(f.updates(), 0);
  f(x, y) += 2.0f;
  EXPECT_THROW(Pipeline("p", {ImageParam(Float(32), 1, "unused")}, {f}), Error);
  f(x, y) += 3.0f;  // a Pipeline that was refused froze nothing
  const Evaluation result = Pipeline("p", {}, {Output(f, {4, 4})}).evaluate({});
  EXPECT_EQ(result.outputs[0].value({3, 1}), 8);
}

}  // namespace
}  // namespace calotype::test
