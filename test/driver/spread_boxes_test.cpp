// Boxes for several blocks of a cluster, and arrivals at their rings: on the simulator and, where asked for,
// on a GPU; and what is found when one of them is missing or not what it should be.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/outcome.h"
#include "support/spread_pieces.h"

namespace calotype::testing {
namespace {

using Kind = ir::SyncInfo::Kind;

std::vector<SpreadForm> forms() {
  std::vector<SpreadForm> all;
  for (const Type type : {BFloat(16), Float(32), UInt(8)})
    for (const int swizzle : {0, 32, 64, 128}) all.push_back({.type = type, .swizzle = swizzle});
  for (const int slots : {1, 3}) all.push_back({.swizzle = 64, .cluster = 4, .slots = slots});
  return all;
}
std::string text_of(const SpreadForm& f) {
  return fmt::format("{}, swizzle {}, {} slots, clusters of {}", f.type.str(), f.swizzle, f.slots, f.cluster);
}

TEST(SpreadBoxes, ComeToAllBlocks) {
  for (const SpreadForm& form : forms())
    for (const bool random_landing : {false, true}) {
      SCOPED_TRACE(text_of(form));
      SpreadPieces spread(form);
      const Outcome o =
          outcome(spread.hand(), spread.body(), spread.expected(), {.random_landing = random_landing});
      EXPECT_TRUE(o.kinds.empty()) << o.text;
      EXPECT_TRUE(o.right);
    }
}

TEST(SpreadBoxes, OnAGpu) {
  if (std::getenv("CALOTYPE_TEST_GPU") == nullptr) GTEST_SKIP() << "CALOTYPE_TEST_GPU is not set";
  for (const SpreadForm& form : forms()) {
    SpreadPieces spread(form);
    lower::Program program = spread.hand().finish(spread.body());
    program.target = Target::cuda("sm_90a");
    EXPECT_EQ(spread.hand().result(program, *driver::make_cuda_executable(program, {})), spread.expected())
        << text_of(form);
  }
}

struct Fault {
  const char* name;
  const char* kind;  ///< that is found, maybe beside others
  ir::Stmt (*damage)(const ir::Stmt& body);
  friend void PrintTo(const Fault& f, std::ostream* out) { *out << f.name; }
};

const Fault kFaults[] = {
    {"NoFence", "missing fence",
     [](const ir::Stmt& body) {
       return with_syncs(body, Kind::Arrive, [](ir::SyncInfo& sync) { sync.fence = false; });
     }},
    {"NoWaitForFreeSlots", "ring overwrite",
     [](const ir::Stmt& body) { return without(body, Kind::Await, "empty"); }},
    {"NoWaitForBoxes", "unfinished copy",
     [](const ir::Stmt& body) { return without(body, Kind::Await, "full"); }},
    {"SlotsAreNotGivenBack", "deadlock",
     [](const ir::Stmt& body) { return without(body, Kind::Arrive, "empty"); }},
    {"BoxesAreNotTold", "deadlock", [](const ir::Stmt& body) { return without(body, Kind::Arrive, "full"); }},
    {"GivenBackTooEarly", "ring overwrite",
     [](const ir::Stmt& body) {
       return ir::rewrite(body, [](const ir::Stmt& s) -> ir::Stmt {
         if (s->kind != ir::StmtKind::Block) return s;
         std::vector<ir::Stmt> parts = s->stmts;
         for (std::size_t i = 1; i < parts.size(); ++i)
           if (is_sync(parts[i], Kind::Arrive, "empty") && parts[i - 1]->kind == ir::StmtKind::For)
             std::swap(parts[i - 1], parts[i]);
         return ir::block(std::move(parts));
       });
     }},
    {"NoBarrierOfTheClusterAtFirst", "block not running",
     [](const ir::Stmt& body) { return without_one(body, Kind::Cluster, 0); }},
    {"NoBarrierOfTheClusterInTheEnd", "block not running",
     [](const ir::Stmt& body) { return without_one(body, Kind::Cluster, 1); }},
};

class SpreadFaults : public ::testing::TestWithParam<Fault> {};

TEST_P(SpreadFaults, AreFound) {
  const Fault& fault = GetParam();
  for (const bool random_landing : {false, true}) {
    SpreadPieces spread({.type = BFloat(16), .swizzle = 64});
    const ir::Stmt damaged = fault.damage(spread.body());
    const Outcome o = outcome(spread.hand(), damaged, spread.expected(), {.random_landing = random_landing});
    EXPECT_TRUE(o.has(fault.kind)) << o.text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpreadFaults, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

/// A ring that all warps of each block arrive at counts the bytes as well.
TEST(SpreadBoxes, AreCountedByRingsOfWholeBlocks) {
  for (const std::int64_t bytes : {256, 128, 384}) {
    HandProgram hand("whole", 64);
    const Expr block = hand.blocks(2, 2), t = hand.thread();
    std::vector<std::uint32_t> numbers, expected;
    for (std::uint32_t i = 0; i < 64; ++i) numbers.push_back(i * 3 + 1);
    for (std::uint32_t i = 0; i < 128; ++i) expected.push_back(numbers[i % 64]);
    const ir::BufferPtr in = hand.input("in", Int(32), {64}, numbers);
    hand.leave_to_boxes(in);
    const ir::BufferPtr out = hand.output("out", Int(32), {128}), tile = hand.shared("tile", Int(32), 64);
    const ir::RingPtr full = hand.ring({.name = "full"});
    const ir::TensorMapPtr map = hand.boxes({"in.boxes", in, {32}, 0});
    const Expr first = block * number(32);
    const auto at = [&](Kind kind) {
      return ir::synchronise({.kind = kind, .ring = full, .bytes = kind == Kind::Arrive ? bytes : 0},
                             number(0));
    };
    const ir::Stmt spread =
        ir::box_store({.buffer = tile, .ring = full, .common = true, .map = map},
                      {.index = first, .slot = number(0), .start = {first}, .receivers = number(3)});
    const Outcome o = outcome(
        hand,
        ir::block({synchronise(Kind::Cluster), spread, at(Kind::Arrive), at(Kind::Await),
                   ir::store(out, load(tile, t), {block * number(64) + t}), synchronise(Kind::Cluster)}),
        expected);
    EXPECT_EQ(o.right && o.kinds.empty(), bytes == 256) << o.text;
    EXPECT_EQ(o.has("deadlock"), bytes != 256) << o.text;
  }
}

}  // namespace
}  // namespace calotype::testing
