// One reduction over many blocks: what each of them has found is reduced by one more block, or goes to one
// place by atomic updates.

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

const Target gpu = Target::interpreter("sm_90a");
constexpr int kBlocks = 5, kThreads = 32, kVector = 4;

/// `best` of a vector, by an update that `rfactor` takes.
Pipeline reduced(Type type, bool sum) {
  Dim N("N");
  ImageParam x(type, {N}, "x");
  RDom k(0, N, "k");
  Func best("best"), out("out");
  if (sum)
    best() += x(k);
  else {
    best() = cast(type, 0);
    best() = max(best(), x(k));
  }
  out() = best() * cast(type, 2);
  return Pipeline("reduced", {x}, {Output(out, {})});
}

/// Loops kv in ko in kt in kb: each thread takes vectors that stand as far apart as there are threads.
Stage spread(Schedule& s) {
  s["best"].compute_root();
  return s["best"]
      .update()
      .split("k", "kq", "kv", kVector)
      .split("kq", "ko", "kl", kBlocks * kThreads)
      .split("kl", "kb", "kt", kThreads);
}

/// What the threads of a block find, each in lanes of its own, in shared memory at loop `block` of `at`.
void in_block(Schedule& s, const Stage& blocks, const Stage& at, const LoopName& block) {
  Stage parts = s[blocks].update().rfactor({{"kt", "thread"}}, "parts");
  s[parts].compute_at(at, block).store_in(Memory::Shared).gpu_threads("thread");
  s[parts].update().reorder("kv", "ko", "thread", "block").gpu_threads("thread").vectorize("kv");
}

Schedule two_kernels() {
  Schedule s;
  Stage blocks = spread(s).rfactor({{"kb", "block"}}, "blocks");
  Stage found = s.in("blocks", {"best"});
  s[found].compute_root().gpu_blocks("block");
  s[blocks].compute_at(found, "block").store_in(Memory::Register);
  in_block(s, blocks, found, "block");
  return s;
}

Schedule one_block_at_last() {
  Schedule s = two_kernels();
  s["best"].update().split("kb", "kbo", "kbt", 4);
  Stage slots = s["best"].update().rfactor({{"kbt", "slot"}}, "slots");
  s["best"].update().split("kbt", "one", "kbi", 4).gpu_blocks("one");
  s[slots].compute_at(s["best"].update(), "one").store_in(Memory::Shared).gpu_threads("slot");
  s[slots].update().gpu_threads("slot");
  return s;
}

Schedule one_place() {
  Schedule s;
  Stage blocks = spread(s).rfactor({{"kb", "block"}}, "blocks");
  s["best"].update().gpu_blocks("kb").atomic();
  s[blocks].compute_at(s["best"].update(), "kb").store_in(Memory::Register);
  in_block(s, blocks, s["best"].update(), "kb");
  return s;
}

TEST(SplitReductions, OverBlocksGiveTheWhole) {
  for (const Schedule& s : {two_kernels(), one_block_at_last(), one_place()})
    for (const bool sum : {true, false})
      for (Type type : {Int(32), Float(32), Int(64)})
        for (std::int64_t n : {1, 3, 4, 127, 640, 641, 1283, 2561}) {
          const Pipeline p = reduced(type, sum);
          testing::expect_matches(p, s, gpu, {random_buffer(type, {n}, 8)}, {Buffer(type, {})});
        }
}

TEST(SplitReductions, HaveAKernelForTheBlocksAndOneForWhatTheyFound) {
  const std::string plan = reduced(Float(32), true).compile(one_block_at_last(), gpu).show("plan");
  int launches = 0;
  for (std::size_t at = plan.find("launch "); at != std::string::npos; at = plan.find("launch ", at + 1))
    ++launches;
  EXPECT_EQ(launches, 4) << plan;  // the blocks, the start of the sum, their sum, the output
  EXPECT_NE(plan.find("grid (5, 1, 1) block (32, 1, 1)"), std::string::npos) << plan;
}

}  // namespace
}  // namespace calotype
