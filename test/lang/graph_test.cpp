// From definitions to a Graph: order, Callees, recognised reductions, names, what is refused, text and
// fingerprint.

#include "lang/graph.h"

#include "helpers.h"
#include "lang/contents.h"

namespace calotype {
namespace {

using test::expect_algorithm_error;

const Var x("x"), y("y");

struct Matmul {
  Dim M{"M"}, N{"N"}, K{"K"};
  ImageParam A{Float(32), {K, M}, "A"}, B{Float(32), {N, K}, "B"};
  Func acc{"acc"}, C{"C"};
  Matmul() {
    Var n("n"), m("m");
    RDom k(0, K, "k");
    acc(n, m) += A(k, m) * B(n, k);
    C(n, m) = acc(n, m) * 2.0f;
  }
  Pipeline pipeline() const { return Pipeline("matmul", {A, B}, {C}); }
};

TEST(Graph, IsTypedAndOrdered) {
  const Pipeline p = Matmul().pipeline();
  const lang::Graph& g = p.graph();
  EXPECT_EQ(g.func_names(), (std::vector<std::string>{"acc", "C"}));
  ASSERT_EQ(g.inputs.size(), 2u);
  EXPECT_EQ(g.arguments[1].index, 1);
  const lang::FuncDef& acc = g.funcs[0];
  ASSERT_EQ(acc.stages.size(), 2u);
  EXPECT_EQ(lang::stage_name(acc, 1), "acc.update(0)");
  EXPECT_EQ(acc.stages[1].reduce_op, ir::Op::Add);
  EXPECT_EQ(acc.stages[1].reduce_term.str(), "A(k, m)*B(n, k)");
  EXPECT_FALSE(acc.stages[0].reduce_op);
  for (const lang::FuncDef& f : g.funcs) {
    for (const lang::StageDef& s : f.stages) {
      for (const ir::CalleePtr& callee : lang::callees(s)) {
        EXPECT_EQ(callee->definition, nullptr);
        const ir::CalleePtr& mine = callee->kind == ir::CalleeKind::Func ? g.funcs[callee->index].callee()
                                                                         : g.inputs[callee->index].callee;
        EXPECT_EQ(callee, mine);
      }
    }
  }
  std::vector<std::string> dims;
  for (const auto& d : g.dims) dims.push_back(d->name);
  EXPECT_EQ(dims, (std::vector<std::string>{"K", "M", "N", "C.extent.0", "C.extent.1"}));
  ASSERT_EQ(g.outputs.size(), 1u);
  EXPECT_FALSE(g.outputs[0].sized);
  EXPECT_EQ(ir::symbol_of(g.outputs[0].mins[1])->kind, ir::SymbolKind::MinCoord);
}

TEST(Graph, SizedOutputsStartAtZero) {
  Dim W("W");
  ImageParam in(Float(32), {W}, "in");
  Func f("f");
  f(x) = in(x + 1);
  const Pipeline p("p", {in}, {{f, {W - 1}}});
  EXPECT_TRUE(p.graph().outputs[0].sized);
  EXPECT_TRUE(ir::is_zero(p.graph().outputs[0].mins[0]));
  expect_algorithm_error("f", "1 dimensions", [&] { Pipeline("p", {in}, {{f, {W, W}}}); });
  expect_algorithm_error("f", "more than sizes", [&] { Pipeline("p", {in}, {{f, {x}}}); });
}

TEST(Graph, RecognisesReductions) {
  Func f("f");
  RDom r(0, 4, "r");
  f(x) = cast<float>(x);
  f(x) = max(f(x), cast<float>(r));
  f(x) = 2.0f + f(x);
  f(r) = f(r) * f(r);      // the term reads f
  f(r) = f(r - 1) + 1.0f;  // another point
  f(x) = f(x) - 1.0f;
  f(x) = min(cast<float>(r), f(x));
  f(x) *= cast<float>(r);
  const Pipeline p("p", {}, {f});
  const auto& stages = p.graph().funcs[0].stages;
  EXPECT_EQ(stages[1].reduce_op, ir::Op::Max);
  EXPECT_EQ(stages[2].reduce_op, ir::Op::Add);
  EXPECT_FALSE(stages[3].reduce_op);
  EXPECT_FALSE(stages[4].reduce_op);
  EXPECT_FALSE(stages[5].reduce_op);
  EXPECT_EQ(stages[6].reduce_op, ir::Op::Min);
  EXPECT_EQ(stages[7].reduce_op, ir::Op::Mul);
}

TEST(Graph, RefusesOpenAlgorithms) {
  ImageParam in(Float(32), 1, "in"), other(Float(32), 1, "other");
  Param gain(Float(32), "gain"), unused(Float(32), "unused");
  Func f("f"), g(Float(32), 1, "g"), h("h");
  f(x) = in(x)*gain;
  h(x) = g(x);
  expect_algorithm_error("f", "not among the inputs", [&] { Pipeline("p", {gain}, {f}); });
  expect_algorithm_error("f", "Param 'gain'", [&] { Pipeline("p", {in}, {f}); });
  expect_algorithm_error("", "'other'", [&] { Pipeline("p", {in, gain, other}, {f}); });
  expect_algorithm_error("", "'unused'", [&] { Pipeline("p", {in, gain, unused}, {f}); });
  expect_algorithm_error("", "twice", [&] { Pipeline("p", {in, gain, in}, {f}); });
  expect_algorithm_error("f", "twice", [&] { Pipeline("p", {in, gain}, {f, f}); });
  expect_algorithm_error("g", "used by 'h'", [&] { Pipeline("p", {}, {h}); });
  expect_algorithm_error("k", "an output", [&] { Pipeline("p", {}, {Func("k")}); });
  expect_algorithm_error("", "no outputs", [&] { Pipeline("p", {}, {}); });
  Pipeline("p", {in, gain}, {f});
}

TEST(Graph, RefusesEqualNames) {
  Dim W("W"), W2("W");
  ImageParam a(Float(32), {W}, "a"), a2(Float(32), {W2}, "a"), b(Float(32), {W2}, "b");
  Func f("f"), f2("f"), g("g"), fa("a");
  f(x) = a(x);
  f2(x) = f(x);
  fa(x) = a(x);
  expect_algorithm_error("f", "named 'f'", [&] { Pipeline("p", {a}, {f2}); });
  expect_algorithm_error("a", "named 'a'", [&] { Pipeline("p", {a}, {fa}); });
  g(x) = a(x) + b(x);
  expect_algorithm_error("W", "named 'W'", [&] { Pipeline("p", {a, b}, {g}); });
  Func h("h");
  h(x) = a(x) + a2(x);
  expect_algorithm_error("a", "named 'a'", [&] { Pipeline("p", {a, a2}, {h}); });
}

TEST(Graph, FreezesItsFuncsOnlyOnSuccess) {
  ImageParam in(Float(32), 1, "in");
  Func f("f"), g("g");
  f(x) = in(x);
  g(x) = f(x);
  expect_algorithm_error("f", "not among", [&] { Pipeline("p", {}, {g}); });
  f(x) += 1.0f;
  Pipeline p("p", {in}, {g});
  expect_algorithm_error("f", "after a Pipeline", [&] { f(x) += 1.0f; });
  expect_algorithm_error("g", "after a Pipeline", [&] { g(0) = 1.0f; });
  Pipeline again("q", {in}, {g});
  EXPECT_EQ(p.fingerprint(), again.fingerprint());
}

TEST(Graph, NumbersUnnamedReductionsByPipeline) {
  for (int round = 0; round < 2; ++round) {
    ImageParam in(Float(32), 1, "in");
    RDom r(0, 3, "r");
    Func f("f");
    const Expr first = sum(in(x + r)), second = sum(in(x - r)), third = maximum(in(x + r), "sum.2");
    f(x) = second + third + first + sum(in(x + 2 * r));
    const Pipeline p("p", {in}, {f});
    const auto find = [&](const char* name) { return p.graph().find_func(name); };
    ASSERT_NE(find("sum"), nullptr);
    EXPECT_NE(find("sum")->stages[1].value.str().find("x + r"), std::string::npos);
    ASSERT_NE(find("sum.1"), nullptr);
    EXPECT_NE(find("sum.1")->stages[1].value.str().find("x - r"), std::string::npos);
    EXPECT_NE(find("sum.2"), nullptr);
    EXPECT_NE(find("sum.3"), nullptr);
  }
}

TEST(Graph, TextShowsEverything) {
  const std::string text = Matmul().pipeline().str();
  EXPECT_NE(text.find("matmul(A: f32[K, M], B: f32[N, K]) -> C: f32[C.extent.0, C.extent.1]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("acc(n, m) = acc(n, m) + A(k, m)*B(n, k) for k in [0, K)"), std::string::npos) << text;
}

/// A blur with everything named by the caller.
Pipeline blur(const std::string& prefix, int distance, Type type = Float(32)) {
  Dim W(prefix + "W"), H(prefix + "H");
  ImageParam in(type, {W, H}, prefix + "in");
  Var u(prefix + "u"), v(prefix + "v");
  RDom r(-distance, 2 * distance + 1, prefix + "r");
  Func clamped = boundary::repeat_edge(in, prefix + "clamped");
  Func blurred(prefix + "blurred");
  blurred(u, v) += clamped(u + r, v);
  return Pipeline(prefix + "blur", {in}, {{blurred, {W, H}}});
}

TEST(Graph, FingerprintLeavesNamesOut) {
  const std::string print = blur("a", 1).fingerprint();
  EXPECT_EQ(print.size(), 19u);
  EXPECT_EQ(print.substr(0, 3), "h1:");
  EXPECT_EQ(blur("b", 1).fingerprint(), print);
  EXPECT_NE(blur("a", 2).fingerprint(), print);
  EXPECT_NE(blur("a", 1, Float(64)).fingerprint(), print);
}

TEST(Graph, FingerprintTellsSizesApart) {
  const auto product = [](bool square) {
    Dim M("M"), N("N");
    ImageParam a(Float(32), {M, square ? M : N}, "a");
    Func f("f");
    f(x, y) = a(x, y);
    return Pipeline("p", {a}, {f}).fingerprint();
  };
  EXPECT_NE(product(true), product(false));
}

TEST(Graph, FingerprintDoesNotDependOnSharing) {
  const auto build = [](bool shared) {
    ImageParam in(Float(32), 1, "in");
    Func f("f");
    const Expr e = in(x) * 2.0f;
    f(x) = shared ? e + e : e + in(x) * 2.0f;
    return Pipeline("p", {in}, {f}).fingerprint();
  };
  EXPECT_EQ(build(true), build(false));
}

TEST(Graph, FingerprintTellsSourcesApart) {
  const auto build = [](bool same) {
    Dim W("W");
    ImageParam a(Float(32), {W}, "a"), b(Float(32), {W}, "b");
    Func f("f"), g("g");
    g(x) = b(x) + 1.0f;
    f(x) = a(x) + a(x + 1) + (same ? a(x + 2) : b(x + 2)) + g(x);
    return Pipeline("p", {a, b}, {f}).fingerprint();
  };
  EXPECT_NE(build(true), build(false));
}

TEST(Graph, DefinitionsDoNotKeepThemselvesAlive) {
  std::weak_ptr<lang::FuncContents> func;
  std::weak_ptr<lang::RDomContents> domain;
  {
    Func f("f");
    RDom r(0, 4, "r");
    r.where(r > 1);
    f(x) += cast<int>(r);
    f(r) = f(r + 1) * 2;
    func = f.contents();
    domain = r.contents();
    Pipeline p("p", {}, {f});
    EXPECT_FALSE(domain.expired());
  }
  EXPECT_TRUE(func.expired());
  EXPECT_TRUE(domain.expired());
}

}  // namespace
}  // namespace calotype
