// gpu_threads.
#include "helpers.h"

namespace calotype::test {

TEST(GpuThreads, BindsBlocksAndThreads) {
  const Schedule s = tiled();
  const auto applied = apply(blur(), s, gpu);
  EXPECT_EQ(loops(applied, "by"),
            (Names{"xi:gpu_threadx", "yi:gpu_thready", "xo:gpu_blockx", "yo:gpu_blocky"}));
  EXPECT_EQ(applied.of(applied.graph.find_func("by")->id).stages[0].transforms[0].tail, Tail::Predicate);
  expect_round_trip(blur(), s, gpu);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "gpu_blocks", "loops": ["xo", "yo"] })",
                  R"(s["by"].gpu_blocks("xo", "yo");)", gpu);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "gpu_threads", "loops": ["xi", "yi"] })",
                  R"(s["by"].gpu_threads("xi", "yi");)", gpu);
  EXPECT_NE(s.to_json(blur(), gpu).find(R"("needs": { "threads": 256 })"), std::string::npos);
}

TEST(GpuThreads, SplitsByAFactor) {
  Schedule s;
  s["by"].gpu_blocks("y").gpu_threads("x", 64, Tail::Predicate);
  EXPECT_EQ(loops(apply(blur(), s, gpu), "by"), (Names{"x.t:gpu_threadx", "x.o", "y:gpu_blockx"}));
  expect_round_trip(blur(), s, gpu);
  expect_spelling(blur(), s,
                  R"({ "stage": "by", "do": "gpu_threads", "loops": ["x"], "by": 64, "tail": "predicate" })",
                  R"(s["by"].gpu_threads("x", 64, Tail::Predicate);)", gpu);
}

TEST(GpuThreads, ComputesProducersInsideBlocksAndThreads) {
  Schedule block = tiled(), thread = tiled();
  block["bx"].compute_at("by", "xo").store_in(Memory::Shared).gpu_threads("x", "y");
  EXPECT_EQ(computed(apply(blur(), block, gpu), "bx"), "by.xo");
  expect_round_trip(blur(), block, gpu);
  thread["bx"].compute_at("by", "xi").store_in(Memory::Register);
  EXPECT_EQ(computed(apply(blur(), thread, gpu), "bx"), "by.xi");
}

TEST(GpuThreads, IsRefusedOnAHost) {
  Schedule threads;
  threads["by"].gpu_threads("x", 32);
  expect_refused(blur(), threads, {"the target host has no GPU blocks and threads", "#1 gpu_threads(x, 32)"});
}

TEST(GpuThreads, IsRefusedForRaces) {
  Schedule s;
  s["acc"].update().gpu_blocks("m").gpu_threads("k", 32);
  expect_refused(matmul(), s, {"gpu_threads over the reduction loop 'k.t' is a race", "rfactor"}, gpu);
}

/// acc = the sums of C, each by a block.
Schedule sums_in_registers() {
  Schedule s;
  s["C"].gpu_blocks("n", "m");
  s["acc"].compute_at("C", "n").store_in(Memory::Register);
  return s;
}

TEST(GpuThreads, TakesReductionsInRegisters) {
  Schedule s = sums_in_registers();
  s["acc"].update().gpu_threads("k", 32);
  const auto applied = apply(matmul(), s, gpu);
  EXPECT_EQ(loops(applied, "acc", 1), (Names{"k.t:gpu_threadx", "k.o", "n", "m"}));
  EXPECT_EQ(applied.numerics.reassociates, (Names{"acc.k"}));
  EXPECT_NE(schedule::to_string(applied).find("for k.t: gpu_thread x, reduction of partial results"),
            std::string::npos);
  EXPECT_TRUE(apply(matmul(Int(32)), s, gpu).numerics.reassociates.empty());
  expect_round_trip(matmul(), s, gpu);
}

TEST(GpuThreads, IsRefusedForPartialResults) {
  Schedule inside = sums_in_registers(), memory;
  memory["C"].gpu_blocks("n", "m");
  memory["acc"].compute_at("C", "n").store_in(Memory::Shared).update().gpu_threads("k", 32);
  expect_refused(matmul(), memory, {"is a race", "store_in(register) of 'acc' at block level"}, gpu);
  inside["acc"].update().reorder("n", "k").gpu_threads("k", 32);
  expect_refused(matmul(), inside, {"'n' lies inside the bound reduction loop 'k.t'", "reorder"}, gpu);
}

/// f = 2 f + in, and the first place of a row's largest value.
Pipeline in_order(bool first_place) {
  Dim K("K"), N("N");
  ImageParam in(Int(32), {K, N}, "in");
  Var y("y");
  RDom k(0, K, "k");
  Func f("f"), out("out");
  const Expr term = in(k, y);
  if (first_place) {
    f(y) = Tuple(0, 0);
    f(y) =
        Tuple(select(term > f(y)[0], term, f(y)[0]), select(term > f(y)[0], cast<std::int32_t>(k), f(y)[1]));
    out(y) = f(y)[1];
  } else {
    f(y) = 0;
    f(y) = f(y) * 2 + term;
    out(y) = f(y);
  }
  return Pipeline("in_order", {in}, {{out, {N}}});
}

TEST(GpuThreads, IsRefusedWhereTheOrderCounts) {
  Schedule s;
  s["out"].gpu_blocks("y");
  s["f"].compute_at("out", "y").store_in(Memory::Register);
  Schedule stretches = s, lanes = s;
  s["f"].update().gpu_threads("k", 32);
  expect_refused(in_order(false), s, {"is a race", "is no reduction of terms"}, gpu);
  lanes["f"].update().vectorize("k", 4).gpu_threads("k.o", 32);
  expect_refused(in_order(true), lanes, {"of equal terms the first counts", "no lanes"}, gpu);
  stretches["f"].update().split("k", "kt", "ki", 8).gpu_threads("kt", 32);
  expect_round_trip(in_order(true), stretches, gpu);
}

TEST(GpuThreads, IsRefusedForTooManyThreads) {
  Schedule many, z, factor;
  many["by"].tile("x", "y", "xo", "yo", "xi", "yi", 64, 32).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  expect_refused(blur(), many, {"a block of 2048 threads", "at most 1024 threads", "gpu_threads(xi, yi)"},
                 gpu);
  z["by"].tile("x", "y", "xo", "yo", "xi", "yi", 4, 128).split("xi", "xa", "xb", 2);
  z["by"].gpu_blocks("xo", "yo").gpu_threads("xb", "xa", "yi");
  expect_refused(blur(), z, {"128 threads along z", "at most 64 along z"}, gpu);
  factor["by"].gpu_blocks("y").gpu_threads("x", 2048);
  expect_refused(blur(), factor, {"'by' is out of range", "1 to 1024"}, gpu);
}

TEST(GpuThreads, WantsBlocksAround) {
  Schedule s;
  s["by"].gpu_threads("x", 32);
  expect_refused(blur(), s, {"the threads of by are in no block", "gpu_blocks", "#1 gpu_threads(x, 32)"},
                 gpu);
}

TEST(GpuThreads, IsRefusedInsideThreads) {
  Schedule s = tiled();
  s["bx"].compute_at("by", "xi").gpu_threads("x");
  expect_refused(blur(), s, {"bx is computed inside a thread already"}, gpu);
}

}  // namespace calotype::test
