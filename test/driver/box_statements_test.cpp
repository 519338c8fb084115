// Boxes that programs written by hand send out of shared memory, on the simulator and, where asked for, on a
// GPU; and what is found when one of their synchronisations is missing.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/outcome.h"
#include "support/sent_pieces.h"

namespace calotype::testing {
namespace {

using Kind = ir::SyncInfo::Kind;

std::vector<SentForm> forms() {
  std::vector<SentForm> all;
  for (const Type type : {BFloat(16), Float(32), UInt(8)})
    for (const int swizzle : {0, 32, 64, 128})
      for (const auto& [w, h] : {std::pair(256, 32), {144, 37}, {16, 1}})
        all.push_back({.type = type, .width = w, .height = h, .swizzle = swizzle});
  for (const int slots : {1, 3}) all.push_back({.width = 100, .height = 50, .slots = slots, .warps = 3});
  return all;
}
std::string text_of(const SentForm& f) {
  return fmt::format("{} {} x {}, swizzle {}, {} slots", f.type.str(), f.width, f.height, f.swizzle, f.slots);
}

TEST(BoxStatements, SendPieces) {
  for (const SentForm& form : forms())
    for (const bool random_landing : {false, true}) {
      SCOPED_TRACE(text_of(form));
      SentPieces sent(form);
      const Outcome o =
          outcome(sent.hand(), sent.body(), sent.expected(), {.random_landing = random_landing});
      EXPECT_TRUE(o.kinds.empty()) << o.text;
      EXPECT_TRUE(o.right);
    }
}

TEST(BoxStatements, OnAGpu) {
  if (std::getenv("CALOTYPE_TEST_GPU") == nullptr) GTEST_SKIP() << "CALOTYPE_TEST_GPU is not set";
  for (const SentForm& form : forms()) {
    SentPieces sent(form);
    lower::Program program = sent.hand().finish(sent.body());
    program.target = Target::cuda("sm_90a");
    EXPECT_EQ(sent.hand().result(program, *driver::make_cuda_executable(program, {})), sent.expected())
        << text_of(form);
  }
}

struct Fault {
  const char* name;
  const char* kind;  ///< that is found, maybe beside others
  ir::Stmt (*damage)(const SentPieces& sent, const ir::Stmt& body);
  friend void PrintTo(const Fault& f, std::ostream* out) { *out << f.name; }
};

ir::Stmt with_box(const ir::Stmt& body, std::size_t operand, std::int64_t by) {
  return ir::rewrite(body, [&](const ir::Stmt& s) {
    if (s->kind != ir::StmtKind::Store || !s->box()) return s;
    std::vector<Expr> exprs = s->exprs;
    exprs[operand] = exprs[operand] + number(by);
    return ir::make_stmt(s->kind, std::move(exprs), {}, s->attr);
  });
}

const Fault kFaults[] = {
    {"NoFence", "missing fence",
     [](const SentPieces&, const ir::Stmt& body) { return without(body, Kind::Fence); }},
    {"NoBarrierBehindTheWrites", "data race",
     [](const SentPieces&, const ir::Stmt& body) { return without_one(body, Kind::Warp, 1); }},
    {"NoCommit", "unfinished copy",
     [](const SentPieces&, const ir::Stmt& body) { return without(body, Kind::BoxesCommit); }},
    {"NoWait", "ring overwrite",
     [](const SentPieces&, const ir::Stmt& body) { return without(body, Kind::BoxesRead); }},
    {"NotAllAreWaitedFor", "ring overwrite",
     [](const SentPieces&, const ir::Stmt& body) {
       return with_syncs(body, Kind::BoxesRead, [](ir::SyncInfo& sync) { ++sync.pending; });
     }},
    {"NoBarrierBehindTheWait", "data race",
     [](const SentPieces&, const ir::Stmt& body) { return without_one(body, Kind::Warp, 0); }},
    {"AnotherLaneWaits", "ring overwrite",
     [](const SentPieces& sent, const ir::Stmt& body) {
       return ir::rewrite(body, [&](const ir::Stmt& s) {
         return is_sync(s, Kind::BoxesRead) ? ir::if_then(sent.lane() == number(1), s) : s;
       });
     }},
    {"TheSourceIsOverwritten", "ring overwrite",
     [](const SentPieces& sent, const ir::Stmt& body) {
       return ir::rewrite(body, [&](const ir::Stmt& s) {
         return is_sync(s, Kind::BoxesCommit)
                    ? ir::block({s, ir::store(sent.tile(), load(sent.tile(), number(0)), {number(0)})})
                    : s;
       });
     }},
    {"RowsThatBeginBetweenPieces", "illegal box",
     [](const SentPieces&, const ir::Stmt& body) { return with_box(body, 4, 1); }},
    {"PlacesThatAreNoMultiples", "illegal box",
     [](const SentPieces&, const ir::Stmt& body) { return with_box(body, 2, 4); }},
    {"MoreThanIsThere", "out of bounds",
     [](const SentPieces&, const ir::Stmt& body) { return with_box(body, 2, 1 << 20); }},
    {"PiecesOverEachOther", "unfinished copy",
     [](const SentPieces& sent, const ir::Stmt& body) {
       return ir::rewrite(body, [&](const ir::Stmt& s) {
         return is_sync(s, Kind::BoxesCommit) ? ir::block({s, sent.send(number(0), number(0)), s}) : s;
       });
     }},
};

class BoxFaults : public ::testing::TestWithParam<Fault> {};

TEST_P(BoxFaults, AreFound) {
  const Fault& fault = GetParam();
  for (const bool random_landing : {false, true}) {
    SentPieces sent({.type = BFloat(16), .width = 192, .height = 70, .swizzle = 128});
    const ir::Stmt damaged = fault.damage(sent, sent.body());
    const Outcome o = outcome(sent.hand(), damaged, sent.expected(), {.random_landing = random_landing});
    EXPECT_TRUE(o.has(fault.kind)) << o.text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, BoxFaults, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

/// A warp sends 64 elements and another one reads them back: out = in + 1, through `kept`.
struct ReadBack {
  HandProgram hand{"read_back", 64};
  std::vector<std::uint32_t> numbers, expected;
  ir::BufferPtr out = hand.output("out", Int(32), {64}), kept = hand.output("kept", Int(32), {64}),
                tile = hand.shared("tile", Int(32), 64);
  ir::TensorMapPtr map = hand.boxes({"kept.boxes", kept, {64}, 0});

  ir::Stmt body(const ir::Stmt& wait, const ir::Stmt& meet = synchronise(Kind::Block)) {
    expected.clear();
    for (std::uint32_t i = 0; i < 64; ++i) expected.push_back((i ^ 37) * 5);
    const Expr t = hand.thread();
    const ir::Stmt send =
        ir::box_store({.buffer = tile, .map = map, .out = true}, {.index = number(0), .start = {number(0)}});
    return ir::block(
        {ir::store(tile, t * number(5), {t}), ir::synchronise({.kind = Kind::Block, .fence = true}),
         ir::if_then(t == number(0), ir::block({send, synchronise(Kind::BoxesCommit), wait})), meet,
         ir::store(out, load(kept, ir::make(ir::Op::BitXor, Int(32), {t, number(37)})), {t})});
  }
  Outcome run(const ir::Stmt& body, bool random_landing = false) {
    return outcome(hand, body, expected, {.random_landing = random_landing});
  }
};

TEST(BoxStatements, AreReadBackOnceTheyAreWritten) {
  for (const bool random_landing : {false, true}) {
    ReadBack r;
    const Outcome o = r.run(r.body(synchronise(Kind::BoxesWritten)), random_landing);
    EXPECT_TRUE(o.kinds.empty()) << o.text;
    EXPECT_TRUE(o.right);
  }
}

TEST(BoxStatements, AreNotWrittenWhenTheyHaveBeenRead) {
  ReadBack r;
  const Outcome o = r.run(r.body(synchronise(Kind::BoxesRead)));
  EXPECT_TRUE(o.has("unfinished copy")) << o.text;
  EXPECT_FALSE(o.right);
}

TEST(BoxStatements, AreNotWrittenWhileOneIsUnderWay) {
  ReadBack r;
  EXPECT_TRUE(r.run(r.body(synchronise(Kind::BoxesWritten, 1))).has("unfinished copy"));
}

TEST(BoxStatements, AreReadBackBehindABarrier) {
  ReadBack r;
  const ir::Stmt body = r.body(synchronise(Kind::BoxesWritten), ir::block({}));
  bool found = false;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Outcome o = outcome(r.hand, body, r.expected, {.seed = seed});
    found |= o.has("data race");
    EXPECT_FALSE(o.kinds.empty());
  }
  EXPECT_TRUE(found);
}

TEST(BoxStatements, AreReadBackOnAGpu) {
  if (std::getenv("CALOTYPE_TEST_GPU") == nullptr) GTEST_SKIP() << "CALOTYPE_TEST_GPU is not set";
  ReadBack r;
  lower::Program program = r.hand.finish(r.body(synchronise(Kind::BoxesWritten)));
  program.target = Target::cuda("sm_90a");
  EXPECT_EQ(r.hand.result(program, *driver::make_cuda_executable(program, {})), r.expected);
}

}  // namespace
}  // namespace calotype::testing
