// Boxes that go out of shared memory: values of the reference on all types, swizzles, ragged ends and several
// dimensions; under way while others are put together; and what is refused.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>

#include "calotype/calotype.h"
#include "support/hand_program.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

const Target target = Target::interpreter("sm_90a");

/// out = 2 * in + 1, tiles put together by threads.
struct Sent {
  Type type = Float(32);
  int width = 32, height = 8, swizzle = 0, slots = 1, parts = 1;
  bool persistent = false;

  Pipeline pipeline() const {
    Dim W("W"), H("H"), D("D");
    ImageParam in(type, {W, H, D}, "in");
    Var x("x"), y("y"), z("z");
    Func out("out");
    out(x, y, z) = cast(type, in(x, y, z) * cast(type, 2) + cast(type, 1));
    return Pipeline("sent", {in}, {Output(out, {W, H, D})});
  }

  Schedule schedule() const {
    Schedule s;
    const Stage staged = s.stage_out("out");
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", width * parts, height).split("xi", "part", "xj", width);
    s["out"].reorder("xj", "yi", "part", "xo", "yo", "z").gpu_blocks("xo", "yo", "z").copy(Copy::Tma);
    if (parts > 1) s["out"].unroll("part");
    if (persistent) s["out"].persistent();
    s[staged].compute_at("out", "part").store_in(Memory::Shared).gpu_threads("x", 16);
    if (slots > 1) s[staged].hoist_storage("out", "xo").ring_buffer(slots);
    if (swizzle > 0) s[staged].swizzle(swizzle);
    return s;
  }

  void check(std::int64_t w, std::int64_t h, std::int64_t d) const {
    SCOPED_TRACE(fmt::format("{} {} x {} x {}, tiles of {} x {}, swizzle {}, {} slots, {} parts", type.str(),
                             w, h, d, width, height, swizzle, slots, parts));
    const std::vector<Buffer> inputs = {random_buffer(type, {w, h, d}, 1)};
    for (const bool early : {false, true}) {
      const Verification found =
          pipeline().verify(schedule(), "sm_90a", inputs, {}, {}, {.random_landing = early});
      EXPECT_TRUE(found.clean()) << found.str();
    }
    testing::expect_matches(pipeline(), schedule(), target, inputs, {Buffer(type, {w, h, d})});
  }
};

TEST(SentBoxes, HaveAllTypes) {
  for (const Type type :
       {UInt(8), Int(8), UInt(16), Int(16), Float(16), BFloat(16), Int(32), UInt(32), Float(32)})
    Sent{.type = type}.check(64, 16, 2);
}

TEST(SentBoxes, AreCutOffAtTheEndsOfTheOutput) {
  for (const auto& [w, h, d] : {std::tuple(4, 1, 1), {68, 19, 3}, {100, 7, 2}, {32, 8, 1}})
    Sent{}.check(w, h, d);
}

TEST(SentBoxes, AreSwizzled) {
  for (const int swizzle : {32, 64, 128})
    Sent{.type = BFloat(16), .width = swizzle / 2, .swizzle = swizzle}.check(136, 11, 2);
}

TEST(SentBoxes, LeaveWhileOthersAreMade) {
  for (const int slots : {1, 2, 3})
    for (const int parts : {2, 3, 4}) {
      Sent{.slots = slots, .parts = parts}.check(200, 11, 1);
      Sent{.slots = slots, .parts = parts, .persistent = true}.check(500, 11, 2);
    }
}

/// The thread that the statement's condition elects sends the box.
TEST(SentBoxes, AreSentByWhomTheConditionElects) {
  using testing::number;
  testing::HandProgram hand("elected", 64);
  const ir::BufferPtr out = hand.output("out", Float(32), {32}), tile = hand.shared("tile", Float(32), 32);
  hand.leave_to_boxes(out);
  const ir::TensorMapPtr map = hand.boxes({"out.boxes", out, {32}});
  const Expr value = cast(Float(32), hand.thread()) + ir::make_float(Float(32), 1.0);
  const ir::Stmt send =
      ir::block({ir::box_store({.buffer = tile, .map = map, .out = true},
                               {.index = number(0), .slot = number(0), .start = {number(0)}}),
                 ir::synchronise({.kind = ir::SyncInfo::Kind::BoxesCommit})});
  const lower::Program program =
      hand.finish(ir::block({ir::if_then(hand.thread() < number(32), ir::store(tile, value, {hand.thread()})),
                             ir::synchronise({.kind = ir::SyncInfo::Kind::Block, .fence = true}),
                             ir::if_then(hand.thread() == number(40), send)}));
  std::vector<std::uint32_t> bits;
  const Verification found = testing::simulated(hand, program, bits);
  EXPECT_TRUE(found.clean()) << found.str();
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(std::bit_cast<float>(bits[i]), static_cast<float>(i + 1));
}

void expect_refused(const Pipeline& p, const Schedule& s, const std::vector<std::string>& parts) {
  try {
    p.compile(s, target);
    ADD_FAILURE() << "compiled";
  } catch (const Error& e) {
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << "\nin\n" << e.what();
  }
}

TEST(SentBoxes, NeedATileInSharedMemory) {
  const Sent sent;
  Schedule plain;
  plain["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8).gpu_blocks("xo", "yo", "z").copy(Copy::Tma);
  expect_refused(sent.pipeline(), plain, {"no copy of a Func in shared memory", "stage_out(out)"});
  Schedule rows;
  const Stage staged = rows.stage_out("out");
  rows["out"].copy(Copy::Bulk);
  expect_refused(sent.pipeline(), rows, {"'out' is an output"});
  Schedule narrow = Sent{.width = 2}.schedule();
  expect_refused(sent.pipeline(), narrow, {"rows of the box take 8 bytes, no multiple of 16"});
}

/// A call whose rows do not begin at multiples of 16 bytes is refused, by name.
TEST(SentBoxes, AskForThePitchOfTensors) {
  const Sent sent;
  const Kernel kernel = sent.pipeline().compile(sent.schedule(), target);
  const Buffer in = random_buffer(Float(32), {33, 8, 1}, 1), out(Float(32), {33, 8, 1});
  try {
    kernel(in, out);
    ADD_FAILURE() << "ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Argument);
    EXPECT_NE(std::string(e.what()).find("out"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace calotype
