// The bookkeeping of accesses against one that keeps them all.
#include "sim/shadow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace calotype::sim {
namespace {

enum class Kind { Read, Write, Update };

struct Access {
  Kind kind;
  int cluster, thread;
  int barriers, cluster_barriers;  ///< that the block, and the cluster, has passed before it
};

/// Whether an access conflicts with an earlier one: they are not of one kind that goes together, and no
/// barrier lies in between.
bool conflict(const Access& before, const Access& now, bool across_blocks) {
  if (before.kind == now.kind && now.kind != Kind::Write) return false;
  if (before.cluster != now.cluster) return across_blocks;
  if (before.thread / kBlockThreads != now.thread / kBlockThreads)
    return before.cluster_barriers == now.cluster_barriers;
  if (before.barriers != now.barriers) return false;
  return before.thread != now.thread || before.kind == Kind::Update || now.kind == Kind::Update;
}

/// A piece of memory that blocks of clusters access in random order until there is a conflict.
struct World {
  World(unsigned seed, int blocks, bool across_blocks)
      : random(seed),
        across(across_blocks),
        barriers(blocks),
        passed(blocks),
        ordered(blocks, Intervals(blocks * kBlockWarps)),
        shadow(4, 4, across_blocks) {
    begin_cluster();
  }

  int draw(int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }
  void begin_cluster() {
    ++cluster;
    clock.block_start = cluster_barrier = ++clock.now;
    std::fill(barriers.begin(), barriers.end(), clock.now);
    for (Intervals& known : ordered) std::fill(known.begin(), known.end(), clock.now);
  }
  /// Of a block with one warp.
  void pass_barrier(int block) {
    barriers[block] = ++clock.now;
    ordered[block][static_cast<std::size_t>(block * kBlockWarps)] = clock.now;
    ++passed[block];
  }
  void pass_cluster_barrier() {
    cluster_barrier = ++clock.now;
    std::fill(barriers.begin(), barriers.end(), clock.now);
    for (Intervals& known : ordered) std::fill(known.begin(), known.end(), clock.now);
    for (int& p : passed) ++p;
    ++clusters_passed;
  }

  /// Whether the shadow finds a conflict, which it does if and only if there is one.
  bool access() {
    const int block = draw(static_cast<int>(barriers.size()));
    const Access a{static_cast<Kind>(draw(3)), cluster, block * kBlockThreads + draw(3), passed[block],
                   clusters_passed};
    const std::uint32_t latest = std::exchange(clock.now, barriers[block]);
    clock.ordered = &ordered[block];
    const bool expected =
        std::any_of(all.begin(), all.end(), [&](const Access& b) { return conflict(b, a, across); });
    const auto noted = a.kind == Kind::Read    ? &Shadow::read
                       : a.kind == Kind::Write ? &Shadow::write
                                               : &Shadow::update;
    const Conflict found = (shadow.*noted)(clock, a.thread, 0, 4);
    clock.now = latest;
    EXPECT_EQ(static_cast<bool>(found), expected) << all.size() << " accesses before";
    all.push_back(a);
    return expected || found;
  }

  std::mt19937 random;
  bool across;
  Clock clock;
  int cluster = 0, clusters_passed = 0;
  std::uint32_t cluster_barrier = 0;
  std::vector<std::uint32_t> barriers;
  std::vector<int> passed;
  std::vector<Intervals> ordered;
  Shadow shadow;
  std::vector<Access> all;
};

TEST(Shadow, FindsAConflictIfAndOnlyIfThereIsOne) {
  int conflicts = 0, long_runs = 0;
  for (unsigned seed = 0; seed < 40000 && !::testing::Test::HasFailure(); ++seed) {
    const int blocks = 1 + static_cast<int>(seed % 4);
    World world(seed, blocks, seed % 3 == 0);
    bool found = false;
    for (int step = 0; step < 40 && !found; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      const int what = world.draw(12);
      if (what == 0)
        world.begin_cluster();
      else if (what < 4)
        world.pass_barrier(world.draw(blocks));
      else if (what < 6)
        world.pass_cluster_barrier();
      else
        found = world.access();
    }
    conflicts += found;
    long_runs += world.all.size() > 4;
  }
  EXPECT_GT(conflicts, 10000);
  EXPECT_GT(long_runs, 1000);
}

/// A block whose warps wait for each other in part: one tells what it has done, others learn it. What happens
/// before what is kept as it is defined, event by event.
struct PartWorld {
  static constexpr int kWarps = 4, kLanes = 3, kTold = 3;

  explicit PartWorld(unsigned seed) : random(seed), shadow(4, 4, false, kWarps) {
    clock.block_start = now = 1;
    known.assign(kWarps, Intervals(kBlockWarps, 1));
    told.assign(kTold, Intervals(kBlockWarps, 1));
    at.assign(kWarps, 1);
    seen.resize(kWarps * kLanes);
    told_seen.resize(kTold);
  }

  int draw(int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); }

  /// All lanes of the warp come to it.
  void tell(int warp, int to) {
    known[warp][static_cast<std::size_t>(warp)] = at[warp] = ++now;
    raise(told[to], known[warp]);
    std::set<int> all;
    for (int lane = 0; lane < kLanes; ++lane) all.merge(std::set<int>(seen[warp * kLanes + lane]));
    for (int lane = 0; lane < kLanes; ++lane) seen[warp * kLanes + lane] = all;
    told_seen[to].merge(std::set<int>(all));
  }
  void learn(int warp, int from) {
    raise(known[warp], told[from]);
    for (int lane = 0; lane < kLanes; ++lane)
      seen[warp * kLanes + lane].merge(std::set<int>(told_seen[from]));
  }

  bool access() {
    const int warp = draw(kWarps), lane = draw(kLanes), thread = warp * 32 + lane;
    const Kind kind = draw(4) == 0 ? Kind::Write : Kind::Read;
    std::set<int>& before = seen[warp * kLanes + lane];
    bool expected = false;
    for (std::size_t i = 0; i < all.size(); ++i)
      expected |= (all[i] == Kind::Write || kind == Kind::Write) && !before.contains(static_cast<int>(i));
    clock.now = at[warp];
    clock.ordered = &known[warp];
    const Conflict found =
        kind == Kind::Read ? shadow.read(clock, thread, 0, 4) : shadow.write(clock, thread, 0, 4);
    EXPECT_EQ(static_cast<bool>(found), expected) << all.size() << " accesses before";
    before.insert(static_cast<int>(all.size()));
    all.push_back(kind);
    return expected || found;
  }

  static void raise(Intervals& to, const Intervals& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
  }

  std::mt19937 random;
  Clock clock;
  std::uint32_t now;
  std::vector<Intervals> known, told;
  std::vector<std::uint32_t> at;
  std::vector<std::set<int>> seen, told_seen;  ///< the accesses that a thread is ordered after
  std::vector<Kind> all;
  Shadow shadow;
};

TEST(Shadow, KnowsWhatWarpsTellEachOther) {
  int conflicts = 0, long_runs = 0;
  for (unsigned seed = 0; seed < 40000 && !::testing::Test::HasFailure(); ++seed) {
    PartWorld world(seed);
    bool found = false;
    for (int step = 0; step < 60 && !found; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      const int what = world.draw(12);
      if (what < 4)
        world.tell(world.draw(PartWorld::kWarps), world.draw(PartWorld::kTold));
      else if (what < 9)
        world.learn(world.draw(PartWorld::kWarps), world.draw(PartWorld::kTold));
      else
        found = world.access();
    }
    conflicts += found;
    long_runs += world.all.size() > 4;
  }
  EXPECT_GT(conflicts, 10000);
  EXPECT_GT(long_runs, 1000);
}

}  // namespace
}  // namespace calotype::sim
