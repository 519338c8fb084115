// Asynchronous stores: they happen when they have been waited for, and what comes too early is found.

#include "layout/swizzle.h"
#include "sim/kernel_maker.h"

namespace calotype::sim {
namespace {

using ir::MemorySpace;
using Kind = ir::SyncInfo::Kind;

/// A block of 64 threads that copy `in` to a tile of two slots and write what they read of it.
struct Copies : KernelMaker {
  ir::BufferPtr in, out, tile;
  Expr t;
  std::vector<float> values = whole_numbers(128, 7), result = std::vector<float>(128, 0);

  Copies() : KernelMaker("copies") {
    in = argument("in", Float(32));
    out = argument("out", Float(32));
    tile = storage("tile", Float(32), MemorySpace::Shared, 128);
    t = thread();
  }
  /// The thread's element of a slot, and that of the thread on the other side.
  ir::Stmt copy(int slot) const {
    return ir::async_store(ir::store(tile, load(in, t + slot * 64), {t + slot * 64}));
  }
  ir::Stmt read(int slot, bool own = false) const {
    const Expr from = own ? t + slot * 64 : ir::index(63 + slot * 64) - t;
    return ir::store(out, load(tile, from), {t + slot * 64});
  }
  static ir::Stmt sync(Kind kind, int pending = 0) {
    return ir::synchronise({.kind = kind, .pending = pending});
  }
  Report run_parts(const std::vector<ir::Stmt>& parts, std::uint64_t seed = 1) {
    function.body = ir::allocate(tile, ir::block(parts));
    return run({{1, 1, 1}, {64, 1, 1}, {}, {memory_of(values), memory_of(result)}}, {.seed = seed});
  }
};

TEST(AsyncStores, ArriveWithTheirGroup) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Copies k;
    const Report report =
        k.run_parts({k.copy(0), k.sync(Kind::Commit), k.copy(1), k.sync(Kind::Commit), k.sync(Kind::Wait, 1),
                     k.sync(Kind::Block), k.read(0), k.sync(Kind::Wait), k.sync(Kind::Block), k.read(1)},
                    seed);
    EXPECT_TRUE(report.clean()) << to_string(report);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(k.result[i], k.values[i / 64 * 64 + 63 - i % 64]);
  }
}

/// Of the given kind alone.
void expect_found(const Report& report, const std::string& kind) {
  EXPECT_GE(count_kind(report, kind), 1) << to_string(report);
  EXPECT_EQ(count_kind(report, kind), static_cast<std::int64_t>(report.findings.size())) << to_string(report);
}

TEST(AsyncStores, AreNotThereBeforeTheWait) {
  Copies early, uncommitted, latest;
  const auto block = Copies::sync(Kind::Block), commit = Copies::sync(Kind::Commit),
             wait = Copies::sync(Kind::Wait);
  expect_found(early.run_parts({early.copy(0), commit, block, early.read(0)}), "unfinished copy");
  expect_found(uncommitted.run_parts({uncommitted.copy(0), wait, block, uncommitted.read(0)}),
               "unfinished copy");
  expect_found(latest.run_parts({latest.copy(0), commit, latest.copy(1), commit, Copies::sync(Kind::Wait, 1),
                                 block, latest.read(0), latest.read(1)}),
               "unfinished copy");
  // A value that shows: all bits set, no number.
  EXPECT_NE(early.result[5], early.result[5]);
}

TEST(AsyncStores, OfOtherThreadsNeedABarrierToo) {
  Copies k, own;
  const auto commit = Copies::sync(Kind::Commit), wait = Copies::sync(Kind::Wait);
  bool found = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    found |= !k.run_parts({k.copy(0), commit, wait, k.read(0)}, seed).clean();
  EXPECT_TRUE(found);
  EXPECT_TRUE(own.run_parts({own.copy(0), commit, wait, own.read(0, true)}).clean());
}

TEST(AsyncStores, DoNotOverwriteWhatIsReadOrUnderWay) {
  Copies after_read, twice;
  const auto block = Copies::sync(Kind::Block), commit = Copies::sync(Kind::Commit),
             wait = Copies::sync(Kind::Wait);
  const Report raced = after_read.run_parts(
      {after_read.copy(0), commit, wait, block, after_read.read(0), after_read.copy(0), commit, wait});
  EXPECT_GE(count_kind(raced, "data race"), 1) << to_string(raced);
  expect_found(twice.run_parts({twice.copy(0), commit, twice.copy(0), commit, wait}), "unfinished copy");
}

TEST(AsyncStores, OfOneBlockAreGoneInTheNext) {
  Copies k;
  k.function.body = ir::allocate(k.tile, ir::block({k.copy(0), ir::barrier(""), k.copy(1)}));
  const Report report = k.run({{3, 1, 1}, {64, 1, 1}, {}, {memory_of(k.values), memory_of(k.result)}});
  EXPECT_TRUE(report.clean()) << to_string(report);
}

TEST(Swizzles, AreOneToOneWithinRows) {
  for (const std::int64_t row : {32, 64, 128})
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      const std::int64_t elements = row / bytes;
      std::vector<bool> taken(static_cast<std::size_t>(elements * 32), false);
      for (std::int64_t i = 0; i < elements * 32; ++i) {
        const std::int64_t at = layout::swizzled(i, row, bytes);
        EXPECT_EQ(at / elements, i / elements);
        EXPECT_EQ(layout::swizzled(at, row, bytes), i);
        EXPECT_EQ(at % (16 / bytes), i % (16 / bytes)) << "pieces stay whole";
        // On byte addresses: bits 4 to 6 by bits 7 to 9, as many as the row has.
        const std::int64_t a = i * bytes, mask = row == 128 ? 0x70 : row == 64 ? 0x30 : 0x10;
        EXPECT_EQ(at * bytes, a ^ (a >> 3 & mask));
        taken[static_cast<std::size_t>(at)] = true;
      }
      EXPECT_TRUE(std::all_of(taken.begin(), taken.end(), [](bool t) { return t; }));
    }
}

// A warp that reads a column of pieces: of 16 bytes by 8 lanes at a time, in 32 banks of 4 bytes.
TEST(Swizzles, SpreadAColumnOverTheBanks) {
  for (const std::int64_t row : {32, 64, 128})
    for (std::int64_t piece = 0; piece < row / 16; ++piece) {
      std::vector<int> plain(32, 0), moved(32, 0);
      for (std::int64_t r = 0; r < 8; ++r)
        for (std::int64_t word = 0; word < 4; ++word) {
          const std::int64_t index = r * row / 4 + piece * 4 + word;
          ++plain[static_cast<std::size_t>(index % 32)];
          ++moved[static_cast<std::size_t>(layout::swizzled(index, row, 4) % 32)];
        }
      EXPECT_EQ(*std::max_element(moved.begin(), moved.end()), 1) << row << " " << piece;
      EXPECT_EQ(*std::max_element(plain.begin(), plain.end()), row / 16);
    }
}

TEST(Swizzles, MoveWhatIsStored) {
  Copies k;
  ir::Buffer b = *k.tile;
  b.swizzle = 128;
  k.tile = ir::make_buffer(std::move(b));
  const Report report =
      k.run_parts({k.copy(0), k.copy(1), Copies::sync(Kind::Commit), Copies::sync(Kind::Wait),
                   Copies::sync(Kind::Block), k.read(0), k.read(1)});
  EXPECT_TRUE(report.clean()) << to_string(report);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(k.result[i], k.values[i / 64 * 64 + 63 - i % 64]);
}

}  // namespace
}  // namespace calotype::sim
