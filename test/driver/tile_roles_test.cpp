// Products by roles on the simulator and, where asked for, on a GPU; and what is found when one of their
// synchronisations is missing, too early or not what it should be.

#include "support/tile_roles.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/outcome.h"
#include "support/tile_products.h"

namespace calotype::testing {
namespace {

using Kind = ir::SyncInfo::Kind;

template <class F>
ir::Stmt with_instructions(const ir::Stmt& body, F change) {
  return ir::rewrite(body,
                     [&](const ir::Stmt& s) { return s->kind == ir::StmtKind::Instruction ? change(s) : s; });
}

TEST(Roles, MultiplyWhatARingHolds) {
  for (const int steps : {1, 3, 4, 5, 9})
    for (const bool random_landing : {false, true}) {
      SCOPED_TRACE(fmt::format("{} steps", steps));
      RoleProduct product({.steps = steps});
      const Outcome o =
          outcome(product.hand(), product.body(), product.expected(), {.random_landing = random_landing});
      EXPECT_TRUE(o.kinds.empty()) << o.text;
      EXPECT_TRUE(o.right);
    }
}

/// The runner tells how long one tile of 128 by 128 by 64 takes.
TEST(Roles, OneStepIsSimulatedInLittleTime) {
  RoleProduct product({.steps = 1});
  std::vector<std::uint32_t> bits;
  const Verification found = simulated(product.hand(), product.program(), bits);
  EXPECT_TRUE(found.clean()) << found.str();
  EXPECT_EQ(bits, product.expected());
}

TEST(Roles, OnAGpu) {
  if (std::getenv("CALOTYPE_TEST_GPU") == nullptr) GTEST_SKIP() << "CALOTYPE_TEST_GPU is not set";
  for (const int steps : {1, 3, 4, 5, 9, 64}) {
    RoleProduct product({.steps = steps});
    lower::Program program = product.program();
    program.target = Target::cuda("sm_90a");
    EXPECT_EQ(product.hand().result(program, *driver::make_cuda_executable(program, {})), product.expected())
        << steps;
  }
}

struct Fault {
  const char* name;
  const char* kind;  ///< that is found, maybe beside others
  ir::Stmt (*damage)(const RoleProduct& product, const ir::Stmt& body);
  int arrivals = 8;
  bool open = true;
  friend void PrintTo(const Fault& f, std::ostream* out) { *out << f.name; }
};

const Fault kFaults[] = {
    {"NoFenceOfProducts", "missing fence",
     [](const RoleProduct&, const ir::Stmt& body) { return without(body, Kind::ProductFence); }},
    {"NoWaitForProducts", "unfinished product",
     [](const RoleProduct&, const ir::Stmt& body) { return without(body, Kind::ProductWait); }},
    {"NotAllAreWaitedFor", "unfinished product",
     [](const RoleProduct&, const ir::Stmt& body) {
       return ir::rewrite(body, [](const ir::Stmt& s) {
         return is_sync(s, Kind::ProductWait) ? synchronise(Kind::ProductWait, 1) : s;
       });
     }},
    {"OperandsAloneAreWaitedFor", "unfinished product",
     [](const RoleProduct&, const ir::Stmt& body) {
       return ir::rewrite(body, [](const ir::Stmt& s) {
         return is_sync(s, Kind::ProductWait) ? synchronise(Kind::ProductRead) : s;
       });
     }},
    {"ReleasedBeforeTheWait", "ring overwrite",
     [](const RoleProduct&, const ir::Stmt& body) {
       return ir::rewrite(body, [](const ir::Stmt& s) -> ir::Stmt {
         if (s->kind != ir::StmtKind::Block) return s;
         std::vector<ir::Stmt> parts = s->stmts;
         for (std::size_t i = 0; i + 1 < parts.size(); ++i)
           if (is_sync(parts[i], Kind::ProductWait) && is_sync(parts[i + 1], Kind::Arrive))
             std::swap(parts[i], parts[i + 1]);
         return ir::block(std::move(parts));
       });
     }},
    {"NoWaitForCopies", "unfinished copy",
     [](const RoleProduct&, const ir::Stmt& body) { return without(body, Kind::Await, "full"); }},
    {"NoWaitForFreeSlots", "ring overwrite",
     [](const RoleProduct&, const ir::Stmt& body) { return without(body, Kind::Await, "empty"); }},
    {"SlotsAreNotGivenBack", "deadlock",
     [](const RoleProduct&, const ir::Stmt& body) { return without(body, Kind::Arrive, "empty"); }},
    {"CopiesAreNotTold", "deadlock",
     [](const RoleProduct&, const ir::Stmt& body) { return without(body, Kind::Arrive, "full"); }},
    {"SlotsAreNotFreeAtFirst", "deadlock", [](const RoleProduct&, const ir::Stmt& body) { return body; }, 8,
     false},
    {"TooFewArrivals", "deadlock", [](const RoleProduct&, const ir::Stmt& body) { return body; }, 4},
    {"MoreRegistersThanThereAre", "deadlock",
     [](const RoleProduct&, const ir::Stmt& body) {
       return ir::rewrite(body, [](const ir::Stmt& s) {
         return is_sync(s, Kind::Registers) && s->sync().number == 232
                    ? ir::synchronise({.kind = Kind::Registers, .number = 240})
                    : s;
       });
     }},
    {"OneWarpMultipliesLess", "barrier divergence",
     [](const RoleProduct& product, const ir::Stmt& body) {
       int seen = 0;
       return with_instructions(body, [&](const ir::Stmt& s) {
         return seen++ == 2 ? ir::if_then(product.warp() != number(3), s) : s;
       });
     }},
    {"ResultsAreUsedBeforeTheWait", "unfinished product",
     [](const RoleProduct& product, const ir::Stmt& body) {
       int seen = 0;
       return with_instructions(body, [&](const ir::Stmt& s) {
         const Expr first = load(product.acc(), number(0));
         return seen++ == 3 ? ir::block({s, ir::store(product.acc(), first * 2.0f, {number(0)})}) : s;
       });
     }},
};

class RoleFaults : public ::testing::TestWithParam<Fault> {};

TEST_P(RoleFaults, AreFound) {
  const Fault& fault = GetParam();
  RoleProduct product({.steps = 9, .arrivals = fault.arrivals, .open = fault.open});
  const Outcome o = outcome(product.hand(), fault.damage(product, product.body()), product.expected());
  EXPECT_TRUE(o.has(fault.kind)) << o.text;
}

INSTANTIATE_TEST_SUITE_P(All, RoleFaults, ::testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- Operands

const instr::TensorRule& bf16() {
  return *instr::find_rule("wgmma", instr::Number::BF16, instr::Number::BF16);
}

Outcome changed(TileProduct& product, const std::function<ir::Stmt(const ir::Stmt&)>& change) {
  ir::Stmt body = product.program().functions[0].body;
  while (body->kind == ir::StmtKind::Allocate) body = body->body();
  return outcome(product.hand(), ir::rewrite(body, change), product.data().d);
}

/// The statement with other operands.
ir::Stmt moved(const ir::Stmt& s, std::size_t operand, std::int64_t by) {
  std::vector<Expr> exprs = s->exprs;
  exprs[operand] = exprs[operand] + number(by);
  return ir::make_stmt(s->kind, std::move(exprs), {}, s->attr);
}
ir::Stmt used_otherwise(const ir::Stmt& s, const std::function<void(ir::InstructionUse&)>& change) {
  ir::InstructionUse use = s->instruction();
  change(use);
  return ir::instruction(std::move(use), s->exprs);
}
bool is_product(const ir::Stmt& s) {
  return s->kind == ir::StmtKind::Instruction && s->instruction().record->rule != nullptr;
}

TEST(TileFaults, WritesBeforeProductsNeedAFence) {
  TileProduct product({.rule = &bf16(), .n = 64, .a = {false, 128}, .b = {false, 128}, .steps = 4});
  const Outcome o = changed(product, [](const ir::Stmt& s) {
    return is_sync(s, Kind::Block) ? ir::synchronise({.kind = Kind::Block}) : s;
  });
  EXPECT_TRUE(o.has("missing fence")) << o.text;
}

TEST(TileFaults, WritesBeforeProductsNeedABarrier) {
  TileProduct product({.rule = &bf16(), .n = 64, .a = {false, 128}, .b = {false, 128}, .steps = 4});
  const Outcome o = changed(
      product, [](const ir::Stmt& s) { return is_sync(s, Kind::Block) ? synchronise(Kind::Fence) : s; });
  EXPECT_TRUE(o.has("data race")) << o.text;
}

TEST(TileFaults, OtherSwizzlesGiveOtherProducts) {
  for (const int swizzle : {0, 32, 64}) {
    TileProduct product({.rule = &bf16(), .n = 64, .a = {false, 128}, .b = {false, 128}, .steps = 4});
    const Outcome o = changed(product, [&](const ir::Stmt& s) {
      if (!is_product(s)) return s;
      return used_otherwise(s, [&](ir::InstructionUse& use) { use.operands[2].swizzle = swizzle; });
    });
    EXPECT_FALSE(o.right);
  }
}

TEST(TileFaults, AMatrixBeginsAtMultiplesOf16Bytes) {
  TileProduct product({.rule = &bf16(), .n = 64, .a = {false, 128}, .b = {false, 128}, .steps = 4});
  const Outcome o = changed(product, [](const ir::Stmt& s) { return is_product(s) ? moved(s, 2, 4) : s; });
  EXPECT_TRUE(o.has("misaligned access")) << o.text;
}

TEST(TileFaults, ATransposedMatrixEndsInThePanelThatItBeginsIn) {
  TileProduct product({.rule = &bf16(), .n = 64, .a = {false, 128}, .b = {true, 128}, .steps = 4});
  const Outcome o = changed(product, [](const ir::Stmt& s) { return is_product(s) ? moved(s, 2, 8) : s; });
  EXPECT_TRUE(o.has("illegal matrix")) << o.text;
}

TEST(TileFaults, RowsOfMovesBeginAtMultiplesOf16Bytes) {
  const instr::TensorRule& rule = *instr::find_rule("mma.sync", instr::Number::BF16, instr::Number::BF16);
  TileProduct product({.rule = &rule, .a = {false, 64}, .b = {false, 64}, .by_moves = true});
  const Outcome o = changed(product, [](const ir::Stmt& s) {
    return s->kind == ir::StmtKind::Instruction && !is_product(s) ? moved(s, 1, 1) : s;
  });
  EXPECT_TRUE(o.has("misaligned access")) << o.text;
}

TEST(TileFaults, OperandsInRegistersStayUntilTheWait) {
  TileProduct product({.rule = &bf16(), .n = 64, .a_in_registers = true, .b = {false, 128}, .steps = 4});
  bool first = true;
  const Outcome overwritten = changed(product, [&](const ir::Stmt& s) {
    if (!is_product(s) || !std::exchange(first, false)) return s;
    const ir::BufferPtr& a = s->instruction().operands[1].buffer;
    return ir::block({s, ir::store(a, load(a, number(1)), {number(0)})});
  });
  EXPECT_TRUE(overwritten.has("unfinished product")) << overwritten.text;
}

// ---- Barriers of some warps

/// Warps 0 and 1 write, 2 and 3 read what they have written: t[i] of thread 64 + i.
struct Meeting {
  HandProgram hand{"meeting", 128};
  ir::BufferPtr out = hand.output("out", Int(32), {64}), tile = hand.shared("tile", Int(32), 64);
  std::vector<std::uint32_t> expected;

  ir::Stmt body(const ir::Stmt& writers, const ir::Stmt& readers) {
    expected.clear();
    for (std::uint32_t i = 0; i < 64; ++i) expected.push_back(3 * (i ^ 5));
    const Expr t = hand.thread(), other = t - number(64);
    const Expr from = ir::make(ir::Op::BitXor, Int(32), {other, number(5)});
    return ir::if_then(t < number(64), ir::block({ir::store(tile, t * number(3), {t}), writers}),
                       ir::block({readers, ir::store(out, load(tile, from), {other})}));
  }
  static ir::Stmt some(Kind kind, int number, int threads) {
    return ir::synchronise({.kind = kind, .number = number, .threads = threads});
  }
};

TEST(Meetings, OrderWhatWarpsHaveDone) {
  Meeting m;
  const ir::Stmt body = m.body(Meeting::some(Kind::SomeArrive, 2, 128), Meeting::some(Kind::Some, 2, 128));
  const Outcome o = outcome(m.hand, body, m.expected);
  EXPECT_TRUE(o.kinds.empty()) << o.text;
  EXPECT_TRUE(o.right) << o.text;
}

TEST(Meetings, OfFewerWarpsOrderNothing) {
  Meeting m;
  const ir::Stmt body = m.body(ir::block({}), Meeting::some(Kind::Some, 2, 64));
  EXPECT_TRUE(outcome(m.hand, body, m.expected).has("data race"));
}

TEST(Meetings, AtWhichNotAllComeAreADeadlock) {
  Meeting m;
  const ir::Stmt body = m.body(ir::block({}), Meeting::some(Kind::Some, 2, 128));
  EXPECT_TRUE(outcome(m.hand, body, m.expected).has("deadlock"));
}

TEST(Meetings, OfTwoSizesAreMisused) {
  Meeting m;
  const ir::Stmt body = m.body(Meeting::some(Kind::SomeArrive, 2, 96), Meeting::some(Kind::Some, 2, 128));
  EXPECT_TRUE(outcome(m.hand, body, m.expected).has("phase misuse"));
}

TEST(Meetings, LanesOfAWarpMeetAtABarrierOfTheirOwn) {
  for (const bool meet : {false, true}) {
    HandProgram hand("lanes", 32);
    const ir::BufferPtr out = hand.output("out", Int(32), {32}), tile = hand.shared("tile", Int(32), 32);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < 32; ++i) expected.push_back(31 - i);
    const Expr t = hand.thread();
    const ir::Stmt body = ir::block({ir::store(tile, t, {t}), meet ? synchronise(Kind::Warp) : ir::block({}),
                                     ir::store(out, load(tile, number(31) - t), {t})});
    const Outcome o = outcome(hand, body, expected);
    EXPECT_EQ(o.has("data race"), !meet) << o.text;
    EXPECT_TRUE(o.right);
  }
}

}  // namespace
}  // namespace calotype::testing
