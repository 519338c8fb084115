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
