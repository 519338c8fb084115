// Shuffles, and clusters of blocks: what they compute, and the faults that are found.

#include "sim/kernel_maker.h"

namespace calotype::sim {
namespace {

using ir::MemorySpace;
using ir::Op;

Expr shuffle_xor(const Expr& e, int bits) {
  return ir::make(Op::ShuffleXor, e.type(), {e, ir::make_int(Int(32), bits)});
}
Expr shuffle(const Expr& e, const Expr& lane) { return ir::make(Op::Shuffle, e.type(), {e, lane}); }

struct Threads : KernelMaker {
  ir::BufferPtr out = argument("out", Int(64));
  Expr t = thread();
  std::vector<std::int64_t> result;

  explicit Threads(int n) : KernelMaker("threads"), result(static_cast<std::size_t>(n), -1) {}

  Report run_body(const ir::Stmt& body) {
    function.body = body;
    return run({{1, 1, 1}, {static_cast<std::int64_t>(result.size()), 1, 1}, {}, {memory_of(result)}});
  }
};

TEST(Shuffles, ReadOtherLanes) {
  for (const int bits : {1, 2, 16, 31}) {
    Threads k(64);
    EXPECT_TRUE(k.run_body(ir::store(k.out, shuffle_xor(k.t * 3, bits), {k.t})).clean());
    for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(k.result[static_cast<std::size_t>(i)], (i ^ bits) * 3);
  }
  Threads k(64);
  EXPECT_TRUE(k.run_body(ir::store(k.out, shuffle(k.t * 3, (k.t + 5) % 32), {k.t})).clean());
  for (std::int64_t i = 0; i < 64; ++i)
    EXPECT_EQ(k.result[static_cast<std::size_t>(i)], (i / 32 * 32 + (i + 5) % 32) * 3);
}

TEST(Shuffles, NotReachedByEveryLaneAreFound) {
  Threads k(64);
  const Report report = k.run_body(ir::if_then(k.t % 32 < 8, ir::store(k.out, shuffle_xor(k.t, 1), {k.t})));
  ASSERT_EQ(report.findings.size(), 1u) << to_string(report);
  EXPECT_EQ(first(report).kind, "barrier divergence");
  EXPECT_NE(first(report).message.find("is not reached by thread (8, 0, 0)"), std::string::npos)
      << first(report).message;
  EXPECT_EQ(first(report).count, 2);
}

TEST(Shuffles, OfLanesThatDoNotTakePartAreFound) {
  Threads some(40);
  const Report report = some.run_body(ir::store(some.out, shuffle_xor(some.t, 8), {some.t}));
  ASSERT_FALSE(report.clean());
  EXPECT_NE(first(report).message.find("reads lane 8, which does not take part"), std::string::npos)
      << first(report).message;
  EXPECT_EQ(first(report).count, 8);
  Threads beyond(32);
  EXPECT_NE(first(beyond.run_body(ir::store(beyond.out, shuffle(beyond.t, beyond.t + 1), {beyond.t})))
                .message.find("reads lane 32"),
            std::string::npos);
}

/// A thread has two elements in registers, some threads the first alone; others read them.
struct Elements : Threads {
  ir::BufferPtr own = storage("own", Int(64), MemorySpace::Register, 2);
  Expr two = t % 4 != 3;  ///< who has the second

  Elements() : Threads(32) {}
  Report read(const Expr& slot, const Expr& lane) {
    return run_body(ir::allocate(own, ir::block({ir::store(own, t * 10, {ir::index(0)}),
                                                 ir::if_then(two, ir::store(own, t * 10 + 1, {ir::index(1)})),
                                                 ir::store(out, shuffle(load(own, slot), lane), {t})})));
  }
};

TEST(Shuffles, OfWhatAHolderHasInRegisters) {
  Elements first;
  EXPECT_TRUE(first.read(ir::index(0), ir::index(31) - first.t).clean());
  for (std::int64_t i = 0; i < 32; ++i) EXPECT_EQ(first.result[static_cast<std::size_t>(i)], (31 - i) * 10);
  // Nobody asks lanes 3, 7, ... for what they have not.
  Elements second;
  EXPECT_TRUE(second.read(ir::index(1), second.t / 4 * 4).clean());
  for (std::int64_t i = 0; i < 32; ++i) EXPECT_EQ(second.result[static_cast<std::size_t>(i)], i / 4 * 40 + 1);
}

TEST(Shuffles, OfWhatTheHolderHasNotAreFound) {
  Elements k;
  const Report report = k.read(ir::index(1), k.t / 8 * 8 + 3);
  ASSERT_EQ(report.findings.size(), 1u) << to_string(report);
  EXPECT_EQ(first(report).kind, "uninitialised read");
  EXPECT_EQ(first(report).buffer, "own");
  EXPECT_NE(first(report).message.find("thread (3, 0, 0)"), std::string::npos) << first(report).message;
  EXPECT_EQ(first(report).count, 4);
}

TEST(Shuffles, LanesThatNeedNothingReadNothing) {
  Elements k;
  const Report report = k.read(ir::index(1), select(k.t < 16, k.t / 4 * 4, ir::index(-1)));
  EXPECT_TRUE(report.clean()) << to_string(report);
  EXPECT_EQ(k.result[15], 121);
  EXPECT_EQ(k.result[16], -1);
  Elements beyond;
  EXPECT_FALSE(beyond.read(ir::index(0), ir::index(-2)).clean());
}

TEST(Shuffles, OfVectorsAreOnesOfTheirComponents) {
  Elements k;
  const Expr slots = ramp(ir::index(0), 2);
  const Report report = k.run_body(ir::allocate(
      k.own, ir::block({ir::store(k.own, broadcast(k.t, 2) * 10 + slots, {slots}),
                        ir::store(k.out,
                                  ir::make(Op::ReduceAdd, Int(64),
                                           {shuffle(load(k.own, slots), ramp((k.t + 1) % 16, 2, 16))}),
                                  {k.t})})));
  EXPECT_TRUE(report.clean()) << to_string(report);
  for (std::int64_t i = 0; i < 32; ++i)
    EXPECT_EQ(k.result[static_cast<std::size_t>(i)], (i + 1) % 16 * 10 + ((i + 1) % 16 + 16) * 10 + 1);
}

/// Each block writes its number to the next one of the cluster, and reads what it was given.
struct Ring : KernelMaker {
  static constexpr int kBlocks = 12, kCluster = 4, kThreads = 40;
  ir::BufferPtr out, slots;
  Expr t, b;
  std::vector<std::int64_t> result = std::vector<std::int64_t>(kBlocks * kThreads, -1);

  Ring() : KernelMaker("ring") {
    out = argument("out", Int(64));
    slots = storage("slots", Int(64), MemorySpace::Shared, kThreads);
    t = thread();
    b = block();
    function.cluster = kCluster;
  }
  ir::Stmt send() const { return ir::remote_store(slots, b * 100 + t, t, (b + 1) % kCluster); }
  ir::Stmt receive() const {
    return ir::store(out, load(slots, ir::index(kThreads - 1) - t), {b * kThreads + t});
  }
  static ir::Stmt cluster_barrier() { return ir::barrier("sent", ir::SyncInfo::Kind::Cluster); }
  /// Blocks that write to each other have all begun.
  Report run_parts(std::vector<ir::Stmt> parts, std::uint64_t seed, bool begin_together = true) {
    if (begin_together) parts.insert(parts.begin(), cluster_barrier());
    function.body = ir::allocate(slots, ir::block(std::move(parts)));
    return run({{kBlocks, 1, 1}, {kThreads, 1, 1}, {}, {memory_of(result)}}, {.seed = seed});
  }
};

TEST(Clusters, BlocksWriteToEachOther) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Ring k;
    const Report report = k.run_parts({k.send(), k.cluster_barrier(), k.receive()}, seed);
    EXPECT_TRUE(report.clean()) << to_string(report);
    EXPECT_EQ(report.blocks, Ring::kBlocks);
    for (std::int64_t b = 0; b < Ring::kBlocks; ++b)
      for (std::int64_t t = 0; t < Ring::kThreads; ++t) {
        const std::int64_t from = b / 4 * 4 + (b + 3) % 4;
        EXPECT_EQ(k.result[static_cast<std::size_t>(b * Ring::kThreads + t)],
                  from * 100 + Ring::kThreads - 1 - t);
      }
  }
}

TEST(Clusters, BlocksThatMayNotRunAreFound) {
  int ended = 0;  // when it happens so
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Ring early, late;
    EXPECT_GE(
        count_kind(early.run_parts({early.send(), Ring::cluster_barrier(), early.receive()}, seed, false),
                   "block not running"),
        1);
    // A block that waits for nobody may end before others write to it.
    const Report report = late.run_parts({ir::if_then(late.b % 4 != 1, late.send())}, seed);
    ended += count_kind(report, "block not running") > 0 ? 1 : 0;
  }
  EXPECT_GE(ended, 5);
}

TEST(Clusters, AMissingBarrierIsARace) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Ring none, of_block;
    found += none.run_parts({none.send(), none.receive()}, seed).clean() ? 0 : 1;
    // That of a block orders nothing between blocks.
    const Report report = of_block.run_parts({of_block.send(), ir::barrier("own"), of_block.receive()}, seed);
    found += report.clean() ? 0 : 1;
  }
  EXPECT_EQ(found, 20);
}

TEST(Clusters, WritingAgainBeforeAllHaveReadIsARace) {
  const auto twice = [](bool barrier, std::uint64_t seed) {
    Ring k;
    std::vector<ir::Stmt> parts{k.send(), Ring::cluster_barrier(), k.receive()};
    if (barrier) parts.push_back(Ring::cluster_barrier());
    parts.insert(parts.end(), {k.send(), Ring::cluster_barrier(), k.receive()});
    return k.run_parts(std::move(parts), seed);
  };
  int races = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_TRUE(twice(true, seed).clean());
    races += count_kind(twice(false, seed), "data race") > 0 ? 1 : 0;
  }
  EXPECT_EQ(races, 10);
}

TEST(Clusters, ARankThatThereIsNoneOfIsFound) {
  Ring k;
  const Report report =
      k.run_parts({ir::remote_store(k.slots, k.t, k.t, ir::index(4)), Ring::cluster_barrier()}, 1);
  EXPECT_EQ(first(report).kind, "out of bounds");
  EXPECT_NE(first(report).message.find("of the block of rank 4 in a cluster of 4"), std::string::npos)
      << first(report).message;
}

TEST(Clusters, OneBlockThatDoesNotWaitIsFound) {
  Ring k;
  const Report report = k.run_parts({ir::if_then(k.b % 4 < 3, Ring::cluster_barrier())}, 1);
  EXPECT_EQ(first(report).kind, "barrier divergence") << to_string(report);
}

}  // namespace
}  // namespace calotype::sim
