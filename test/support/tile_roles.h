#pragma once
// A product by roles: a warp that copies boxes into a ring, and two groups of four warps that multiply what
// is in it. c(m, n) = sum of a(m, k) * b(n, k), 128 by 128, of bf16.

#include "instr/matrix.h"
#include "sim/random.h"
#include "support/hand_program.h"
#include "support/tensor_products.h"

namespace calotype::testing {

class RoleProduct {
 public:
  static constexpr int kSide = 128, kPart = 64, kStep = 16, kWarps = 12;

  explicit RoleProduct(int steps, int slots = 4, int arrivals = 8, bool open = true)
      : steps_(steps), slots_(slots), hand_("roles", kWarps * 32) {
    make_data();
    a_ = hand_.input("a", BFloat(16), {k(), kSide}, a_bits_);
    b_ = hand_.input("b", BFloat(16), {k(), kSide}, b_bits_);
    out_ = hand_.output("out", Float(32), {kSide, kSide});
    hand_.leave_to_boxes(a_);
    hand_.leave_to_boxes(b_);
    tile_a_ = hand_.shared("tile_a", BFloat(16), slots_ * kTile, 128);
    tile_b_ = hand_.shared("tile_b", BFloat(16), slots_ * kTile, 128);
    acc_ = hand_.registers("acc", Float(32), kSide / 2);
    full_ = hand_.ring({.name = "full", .slots = slots_, .arrivals = 1});
    empty_ = hand_.ring({.name = "empty", .slots = slots_, .arrivals = arrivals, .open = open});
    map_a_ = hand_.boxes({"a.boxes", a_, {kPart, kSide}, 128});
    map_b_ = hand_.boxes({"b.boxes", b_, {kPart, kSide}, 128});
  }

  HandProgram& hand() { return hand_; }
  /// Bits of c.
  const std::vector<std::uint32_t>& expected() const { return expected_; }
  lower::Program program() { return hand_.finish(body()); }
  ir::Stmt body() const { return ir::if_then(warp() >= number(8), load(), multiply()); }

  int k() const { return steps_ * kPart; }
  Expr warp() const { return hand_.thread() / number(32); }
  Expr lane() const { return hand_.thread() % number(32); }
  const ir::BufferPtr& acc() const { return acc_; }

 private:
  using Kind = ir::SyncInfo::Kind;
  static constexpr int kTile = kSide * kPart;

  void make_data() {
    sim::Random random(static_cast<std::uint64_t>(steps_));
    const instr::TensorRule& rule = *this->rule();
    const auto length = static_cast<std::size_t>(k());
    for (std::size_t i = 0; i < kSide * length; ++i) {
      a_bits_.push_back(random_operand(rule.a, random, 0));
      b_bits_.push_back(random_operand(rule.b, random, 0));
    }
    for (std::size_t m = 0; m < kSide; ++m)
      for (std::size_t n = 0; n < kSide; ++n) {
        std::uint32_t c = 0;
        for (std::size_t at = 0; at < length; at += kStep)
          c = instr::tensor_sum(rule, {a_bits_.data() + m * length + at, kStep},
                                {b_bits_.data() + n * length + at, kStep}, c);
        expected_.push_back(c);
      }
  }
  const instr::TensorRule* rule() const {
    return instr::find_rule("wgmma", instr::Number::BF16, instr::Number::BF16);
  }

  ir::Stmt at_ring(Kind kind, const ir::RingPtr& ring, const Expr& slot) const {
    return ir::synchronise({.kind = kind, .ring = ring}, slot);
  }
  ir::Stmt registers_of(int count) const {
    return ir::synchronise({.kind = Kind::Registers, .number = count});
  }
  ir::Stmt box(const ir::BufferPtr& to, const ir::TensorMapPtr& map, const Expr& at, const Expr& slot) const {
    return ir::box_store(
        {to, full_, false, map, true},
        {.index = slot * number(kTile), .slot = slot, .start = {at * number(kPart), number(0)}});
  }

  ir::Stmt load() const {
    const ir::Stmt copies = serial("at", steps_, [&](const Expr& at) {
      const Expr slot = at % number(slots_);
      return ir::block({at_ring(Kind::Await, empty_, slot), box(tile_a_, map_a_, at, slot),
                        box(tile_b_, map_b_, at, slot), at_ring(Kind::Arrive, full_, slot)});
    });
    return ir::block({registers_of(40), ir::if_then(warp() == number(8), copies)});
  }

  ir::Stmt product(const Expr& at, const Expr& slot, int step) const {
    const instr::Instruction& record = instr::product(*rule(), {.n = kSide});
    const Expr first = slot * number(kTile) + number(step * kStep);
    const Expr rows = warp() / number(4) * number(kTile / 2);
    const Expr adds = step > 0 ? ir::make_int(Bool(), 1) : at > number(0);
    return ir::instruction(
        {&record, record.name, {{acc_}, {tile_a_, false, 128, 16, 1024}, {tile_b_, false, 128, 16, 1024}}},
        {number(0), first + rows, first, adds});
  }

  ir::Stmt multiply() const {
    const ir::Stmt steps = serial("at", steps_, [&](const Expr& at) {
      const Expr slot = at % number(slots_);
      return ir::block(
          {at_ring(Kind::Await, full_, slot), synchronise(Kind::ProductFence),
           repeated(kPart / kStep, [&](std::int64_t s) { return product(at, slot, static_cast<int>(s)); }),
           synchronise(Kind::ProductCommit), synchronise(Kind::ProductWait),
           at_ring(Kind::Arrive, empty_, slot)});
    });
    const ir::Stmt keep = repeated(kSide / 2, [&](std::int64_t e) {
      const Expr row = warp() * number(16) + lane() / number(4) + number(e / 2 % 2 * 8);
      const Expr column = lane() % number(4) * number(2) + number(e % 2 + e / 4 * 8);
      return ir::store(out_, calotype::testing::load(acc_, number(e)), {row * number(kSide) + column});
    });
    return ir::block({registers_of(232), steps, keep});
  }

  int steps_, slots_;
  HandProgram hand_;
  std::vector<std::uint32_t> a_bits_, b_bits_, expected_;
  ir::BufferPtr a_, b_, out_, tile_a_, tile_b_, acc_;
  ir::RingPtr full_, empty_;
  ir::TensorMapPtr map_a_, map_b_;
};

}  // namespace calotype::testing
