// Bulk copies on the interpreter: they happen when a slot of their ring is complete and somebody has waited
// for it; what comes too early, and what nobody completes, is found.

#include "sim/kernel_maker.h"

namespace calotype::sim {
namespace {

using ir::MemorySpace;
using Kind = ir::SyncInfo::Kind;

/// A block of 64 threads that copy rows of `in` to a tile of two slots and write what they read of it.
struct Rows : KernelMaker {
  ir::BufferPtr in, out, tile;
  ir::RingPtr ring = std::make_shared<const ir::Ring>(ir::Ring{"full", 2, 1024});
  Expr t;
  bool landing = false;
  std::vector<float> values = whole_numbers(128, 7), result = std::vector<float>(128, 0);

  Rows() : KernelMaker("rows") {
    in = argument("in", Float(32));
    out = argument("out", Float(32));
    tile = storage("tile", Float(32), MemorySpace::Shared, 128);
    t = thread();
    function.rings = {ring};
    function.shared_bytes = 1152;
  }
  ir::Stmt copy(int slot, int count = 64) const {
    const Expr first = ir::index(64 * slot), one = ir::index(1);
    return ir::bulk_store({tile, ring, true}, {.load = load(in, first),
                                               .index = first,
                                               .count = ir::index(count),
                                               .step = one,
                                               .slot = ir::index(slot)});
  }
  /// The element of the thread on the other side.
  ir::Stmt read(int slot) const {
    return ir::store(out, load(tile, ir::index(63 + slot * 64) - t), {t + slot * 64});
  }
  ir::Stmt at(Kind kind, int slot) const {
    return ir::synchronise({.kind = kind, .ring = ring}, ir::index(slot));
  }
  ir::Stmt arrive(int slot) const { return at(Kind::Arrive, slot); }
  ir::Stmt await(int slot) const { return at(Kind::Await, slot); }
  Report run_parts(const std::vector<ir::Stmt>& parts, std::uint64_t seed = 1) {
    function.body = ir::allocate(tile, ir::block(parts));
    return run({{1, 1, 1}, {64, 1, 1}, {}, {memory_of(values), memory_of(result)}},
               {.seed = seed, .random_landing = landing});
  }
};

void expect_found(const Report& report, const std::string& kind) {
  EXPECT_GE(count_kind(report, kind), 1) << to_string(report);
  EXPECT_EQ(count_kind(report, kind), static_cast<std::int64_t>(report.findings.size())) << to_string(report);
}

const ir::Stmt kBarrier = ir::barrier(""), kFence = ir::synchronise({.fence = true});

TEST(BulkStores, ArriveWithTheirSlot) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Rows k;
    const Report report = k.run_parts({k.copy(0), k.arrive(0), k.copy(1), k.arrive(1), k.await(0), kBarrier,
                                       k.read(0), k.await(1), kBarrier, k.read(1)},
                                      seed);
    EXPECT_TRUE(report.clean()) << to_string(report);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(k.result[i], k.values[i / 64 * 64 + 63 - i % 64]);
  }
}

TEST(BulkStores, SlotsAreUsedAgain) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Rows k;
    std::vector<ir::Stmt> parts;
    for (int round = 0; round < 3; ++round)
      for (const ir::Stmt& s : {k.copy(0), k.arrive(0), k.await(0), kBarrier, k.read(0), kFence})
        parts.push_back(s);
    EXPECT_TRUE(k.run_parts(parts, seed).clean());
  }
}

TEST(BulkStores, AreNotThereBeforeTheWait) {
  Rows early, other, overtaken;
  expect_found(early.run_parts({early.copy(0), early.arrive(0), kBarrier, early.read(0)}), "unfinished copy");
  expect_found(other.run_parts({other.copy(0), other.arrive(0), other.copy(1), other.arrive(1),
                                other.await(1), kBarrier, other.read(1), other.read(0)}),
               "unfinished copy");
  const Report twice =
      overtaken.run_parts({overtaken.copy(0), overtaken.arrive(0), overtaken.await(0), kBarrier,
                           overtaken.read(0), overtaken.copy(0), overtaken.arrive(0)});
  EXPECT_GE(count_kind(twice, "ring overwrite"), 1) << to_string(twice);
}

/// A barrier alone does not keep copies behind what threads have done.
TEST(BulkStores, NeedAFenceBehindTheThreads) {
  Rows read, written;
  const Report again =
      read.run_parts({read.copy(0), read.arrive(0), read.await(0), kBarrier, read.read(0), kBarrier,
                      read.copy(0), read.arrive(0), read.await(0), kBarrier, read.read(0)});
  expect_found(again, "missing fence");
  EXPECT_NE(again.findings.front().message.find("has read with no fence"), std::string::npos)
      << to_string(again);
  const Expr zero = ir::make_const(Float(32), 0.0);
  expect_found(written.run_parts({ir::store(written.tile, zero, {written.t}), kBarrier, written.copy(0),
                                  written.arrive(0), written.await(0), kBarrier, written.read(0)}),
               "missing fence");
}

/// Whenever copies land, what is waited for is there, and what is not is found.
TEST(BulkStores, LandAtAnyMoment) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rows good, early;
    good.landing = early.landing = true;
    EXPECT_TRUE(
        good.run_parts({good.copy(0), good.arrive(0), good.await(0), kBarrier, good.read(0)}, seed).clean());
    for (int i = 0; i < 64; ++i) EXPECT_EQ(good.result[i], good.values[63 - i]);
    expect_found(early.run_parts({early.copy(0), early.arrive(0), kBarrier, early.read(0)}, seed),
                 "unfinished copy");
  }
}

TEST(BulkStores, OfAShorterRow) {
  Rows k;
  expect_found(k.run_parts({k.copy(0, 60), k.arrive(0), k.await(0), kBarrier, k.read(0)}),
               "uninitialised read");
}

TEST(Rings, NobodyArrives) {
  Rows k;
  const ir::Stmt half = ir::if_then(k.t < 32, k.arrive(0));
  expect_found(k.run_parts({half, k.arrive(1), k.await(1), ir::if_then(k.t < 32, k.await(0))}), "deadlock");
}

TEST(Rings, PhasesFollowEachOther) {
  Rows twice, again;
  const Report report = twice.run_parts({twice.arrive(0), twice.arrive(0), twice.await(0)});
  EXPECT_GE(count_kind(report, "phase misuse"), 1) << to_string(report);
  expect_found(again.run_parts(
                   {again.copy(0), again.arrive(0), again.await(0), again.await(0), kBarrier, again.read(0)}),
               "phase misuse");
}

TEST(Rings, AreReachedByWholeWarps) {
  Rows k;
  const Report report = k.run_parts({ir::if_then(k.t % 2 == 0, k.arrive(0)), k.arrive(1), k.await(1)});
  EXPECT_GE(count_kind(report, "barrier divergence"), 1) << to_string(report);
}

}  // namespace
}  // namespace calotype::sim
