// The defaults, version 1.
#include "helpers.h"

namespace calotype::test {

TEST(Defaults, AreLegalForEveryPipeline) {
  for (const Target& target : {Target::host(), Target::interpreter()})
    for (const Pipeline& p : {blur(), matmul(), histogram(), recurrence(), column_scan()})
      for (const Diagnostic& d : Schedule{}.check(p, target)) ADD_FAILURE() << d.str();
}

TEST(Defaults, InlineCheapFuncsAndKeepReductions) {
  const auto b = apply(blur(), {});
  EXPECT_EQ(computed(b, "bx"), "inline");
  EXPECT_EQ(computed(b, "by"), "root");
  const auto m = apply(matmul(), {});
  EXPECT_EQ(computed(m, "acc"), "root");
  EXPECT_EQ(m.of(m.graph.find_func("acc")->id).compute_origin, "default");
}

/// out reads f at `reads` points; f costs `operations`.
Pipeline chain(int reads, int operations) {
  Dim W("W");
  ImageParam image(Float(32), {W + reads}, "image");
  Var x("x");
  Func f("f"), out("out");
  Expr e = image(x);
  for (int i = 0; i < operations; i++) e = e * static_cast<float>(i + 2);
  f(x) = e;
  Expr sum = f(x);
  for (int i = 1; i < reads; i++) sum = sum + f(x + i);
  if (reads == 1) sum = f(x) + 1;
  out(x) = sum;
  return Pipeline("chain", {image}, {{out, {W}}});
}

TEST(Defaults, InlineOneUseWhateverItCosts) { EXPECT_EQ(computed(apply(chain(1, 40), {}), "f"), "inline"); }

TEST(Defaults, InlineSeveralUsesUpTo16Operations) {
  EXPECT_EQ(computed(apply(chain(3, 16), {}), "f"), "inline");
  EXPECT_EQ(computed(apply(chain(3, 17), {}), "f"), "root");
}

Pipeline bordered(int radius) {
  Dim W("W"), H("H");
  ImageParam image(Float(32), {W, H}, "image");
  Var x("x"), y("y");
  const Func edge = boundary::repeat_edge(image, "edge");
  Func out("out");
  Expr sum = edge(x, y);
  for (int i = 1; i < radius; i++) sum = sum + edge(x + i, y);
  out(x, y) = sum;
  return Pipeline("bordered", {image}, {{out, {W, H}}});
}

TEST(Defaults, KeepBoundariesThatAreReadMoreThan4Times) {
  EXPECT_EQ(computed(apply(bordered(4), {}), "edge"), "inline");
  EXPECT_EQ(computed(apply(bordered(5), {}), "edge"), "root");
}

TEST(Defaults, HostVectorisesAndParallelises) {
  EXPECT_EQ(loops(apply(blur(), {}), "by"), (Names{"x.v:vector", "x.o", "y:parallel"}));
  EXPECT_EQ(apply(blur(), {}).of(lang::FuncId{1}).stages[0].transforms[0].factor, 16) << "64 bytes of f32";
  EXPECT_EQ(loops(apply(matmul(), {}), "acc", 1), (Names{"k", "n.v:vector", "n.o", "m:parallel"}));
  EXPECT_EQ(loops(apply(recurrence(), {}), "s", 1), (Names{"r.x", "r.y"}));
  EXPECT_EQ(loops(apply(histogram(), {}), "hist", 1), (Names{"r.x", "r.y"}));
  EXPECT_EQ(loops(apply(column_scan(), {}), "scan", 1), (Names{"k", "x.v:vector", "x.o:parallel"}));
}

TEST(Defaults, GpuFusesAndCutsIntoBlocks) {
  const auto b = apply(blur(), {}, Target::interpreter());
  EXPECT_EQ(loops(b, "by"), (Names{"x.y.t:gpu_threadx", "x.y.b:gpu_blockx"}));
  EXPECT_EQ(b.of(b.graph.find_func("by")->id).stages[0].transforms.back().factor, 256);
  EXPECT_EQ(loops(apply(matmul(), {}, Target::interpreter()), "acc", 1),
            (Names{"k", "n.m.t:gpu_threadx", "n.m.b:gpu_blockx"}));
  EXPECT_EQ(loops(apply(recurrence(), {}, Target::interpreter()), "s", 1), (Names{"r.x", "r.y"}))
      << "one block of one thread";
}

TEST(Defaults, DoNotDependOnTheSchedule) {
  Schedule s;
  s["bx"].compute_root();
  s.in("bx", {"by"});
  const auto applied = apply(blur(), s);
  EXPECT_EQ(computed(applied, "bx.in(by)"), "root") << "made by a directive";
  EXPECT_EQ(loops(applied, "by"), (Names{"x.v:vector", "x.o", "y:parallel"}));
}

TEST(Defaults, LeaveDirectedStagesAlone) {
  Schedule s;
  s["acc"].update().unroll("k", 4);
  const auto applied = apply(matmul(), s);
  EXPECT_EQ(loops(applied, "acc", 0), (Names{"n.v:vector", "n.o", "m:parallel"}));
  EXPECT_EQ(loops(applied, "acc", 1), (Names{"k.u:unrolled", "k.o", "n", "m"}));
}

}  // namespace calotype::test
