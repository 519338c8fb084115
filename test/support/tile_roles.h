#pragma once
// A product by roles: a warp that copies boxes into a ring, and two groups of four warps that multiply what
// is in it. c(m, n) = sum of a(m, k) * b(n, k) of bf16, in tiles of 128 by 128.

#include "instr/matrix.h"
#include "ir/value.h"
#include "sim/random.h"
#include "support/hand_program.h"
#include "support/tensor_products.h"

namespace calotype::testing {

struct RoleForm {
  int steps;  ///< along k, of a tile
  int slots = 4;
  int arrivals = 8;  ///< of warps of one block, to free a slot
  bool open = true;
  int tiles = 1;  ///< of a block, one behind the other
  /// Blocks that share b: each copies a part of it for all, and frees slots of all.
  int cluster = 1;
  /// Results are of bf16 and go out as boxes of 16 rows, by each warp from two places in turn; those of the
  /// last 24 rows and 16 columns are not wanted.
  bool sent = false;
};

class RoleProduct {
 public:
  static constexpr int kSide = 128, kPart = 64, kStep = 16, kWarps = 12;

  explicit RoleProduct(RoleForm form)
      : form_(form), hand_("roles", kWarps * 32), block_(hand_.blocks(form.cluster, form.cluster)) {
    make_data();
    a_ = hand_.input("a", BFloat(16), {k(), rows()}, a_bits_);
    b_ = hand_.input("b", BFloat(16), {k(), kSide}, b_bits_);
    out_ = hand_.output("out", form.sent ? BFloat(16) : Float(32), {out_columns(), out_rows()});
    hand_.leave_to_boxes(a_);
    hand_.leave_to_boxes(b_);
    tile_a_ = hand_.shared("tile_a", BFloat(16), form.slots * kTile, 128);
    tile_b_ = hand_.shared("tile_b", BFloat(16), form.slots * kTile, 128);
    acc_ = hand_.registers("acc", Float(32), kSide / 2);
    if (form.sent) prepare_sending();
    full_ = hand_.ring({.name = "full", .slots = form.slots, .arrivals = 1});
    empty_ = hand_.ring(
        {.name = "empty", .slots = form.slots, .arrivals = form.cluster * form.arrivals, .open = form.open});
    map_a_ = hand_.boxes({"a.boxes", a_, {kPart, kSide}, 128});
    map_b_ = hand_.boxes({"b.boxes", b_, {kPart, kSide / form.cluster}, 128});
  }

  HandProgram& hand() { return hand_; }
  /// Bits of c.
  const std::vector<std::uint32_t>& expected() const { return expected_; }
  lower::Program program() { return hand_.finish(body()); }
  ir::Stmt body() const {
    const ir::Stmt roles = ir::if_then(warp() >= number(8), load(), multiply());
    if (form_.cluster == 1) return roles;
    return ir::block({synchronise(Kind::Cluster), roles, synchronise(Kind::Cluster)});
  }

  int k() const { return form_.steps * kPart; }
  Expr warp() const { return hand_.thread() / number(32); }
  Expr lane() const { return hand_.thread() % number(32); }
  const ir::BufferPtr& acc() const { return acc_; }

 private:
  using Kind = ir::SyncInfo::Kind;
  static constexpr int kTile = kSide * kPart, kRows = 16, kPiece = kRows * kPart;

  std::int64_t rows() const { return std::int64_t{form_.cluster} * form_.tiles * kSide; }
  std::int64_t out_rows() const { return rows() - (form_.sent ? 24 : 0); }
  std::int64_t out_columns() const { return kSide - (form_.sent ? 16 : 0); }

  void prepare_sending() {
    hand_.leave_to_boxes(out_);
    staged_ = hand_.shared("staged", BFloat(16), 8 * 2 * kPiece, 128);
    map_out_ = hand_.boxes({"out.boxes", out_, {kPart, kRows}, 128});
  }

  void make_data() {
    sim::Random random(static_cast<std::uint64_t>(form_.steps));
    const instr::TensorRule& rule = *this->rule();
    const auto length = static_cast<std::size_t>(k());
    for (std::int64_t i = 0; i < rows() * k(); ++i) a_bits_.push_back(random_operand(rule.a, random, 0));
    for (std::int64_t i = 0; i < kSide * k(); ++i) b_bits_.push_back(random_operand(rule.b, random, 0));
    for (std::size_t m = 0; m < static_cast<std::size_t>(out_rows()); ++m)
      for (std::size_t n = 0; n < static_cast<std::size_t>(out_columns()); ++n) {
        std::uint32_t c = 0;
        for (std::size_t at = 0; at < length; at += kStep)
          c = instr::tensor_sum(rule, {a_bits_.data() + m * length + at, kStep},
                                {b_bits_.data() + n * length + at, kStep}, c);
        expected_.push_back(form_.sent ? to_bf16(c) : c);
      }
  }
  static std::uint32_t to_bf16(std::uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    value = static_cast<float>(ir::round_float(BFloat(16), value));
    std::memcpy(&bits, &value, sizeof value);
    return bits >> 16;
  }
  const instr::TensorRule* rule() const {
    return instr::find_rule("wgmma", instr::Number::BF16, instr::Number::BF16);
  }

  ir::Stmt at_ring(Kind kind, const ir::RingPtr& ring, const Expr& slot, std::int64_t bytes = 0,
                   const Expr& rank = {}) const {
    return ir::synchronise({.kind = kind, .ring = ring, .bytes = bytes}, slot, rank);
  }
  ir::Stmt registers_of(int count) const {
    return ir::synchronise({.kind = Kind::Registers, .number = count});
  }
  Expr slot_of(const Expr& tile, const Expr& at) const {
    return (tile * number(form_.steps) + at) % number(form_.slots);
  }
  /// The first row of the block's tile.
  Expr row_of(const Expr& tile) const { return (tile * number(form_.cluster) + block_) * number(kSide); }

  ir::Stmt box_of_a(const Expr& tile, const Expr& at, const Expr& slot) const {
    return ir::box_store(
        {.buffer = tile_a_, .ring = full_, .map = map_a_, .of_warp = true},
        {.index = slot * number(kTile), .slot = slot, .start = {at * number(kPart), row_of(tile)}});
  }
  ir::Stmt box_of_b(const Expr& at, const Expr& slot) const {
    ir::BoxCopy box{.index = slot * number(kTile), .slot = slot, .start = {at * number(kPart), number(0)}};
    if (form_.cluster > 1) {
      const int part = kSide / form_.cluster;
      box.index = box.index + block_ * number(part * kPart);
      box.start[1] = block_ * number(part);
      box.receivers = number((1 << form_.cluster) - 1);
    }
    return ir::box_store({.buffer = tile_b_, .ring = full_, .map = map_b_, .of_warp = true}, box);
  }

  ir::Stmt load() const {
    const std::int64_t sent_bytes = form_.cluster > 1 ? 2 * kTile : 0;
    const ir::Stmt copies = serial("tile", form_.tiles, [&](const Expr& tile) {
      return serial("at", form_.steps, [&](const Expr& at) {
        const Expr slot = slot_of(tile, at);
        return ir::block({at_ring(Kind::Await, empty_, slot), box_of_a(tile, at, slot), box_of_b(at, slot),
                          at_ring(Kind::Arrive, full_, slot, sent_bytes)});
      });
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

  /// The slot, of this block and of the others.
  ir::Stmt free(const Expr& slot) const {
    std::vector<ir::Stmt> all = {at_ring(Kind::Arrive, empty_, slot)};
    for (int other = 1; other < form_.cluster; ++other)
      all.push_back(at_ring(Kind::Arrive, empty_, slot, 0, (block_ + number(other)) % number(form_.cluster)));
    return ir::block(std::move(all));
  }

  ir::Stmt multiply() const {
    const ir::Stmt tiles = serial("tile", form_.tiles, [&](const Expr& tile) {
      const ir::Stmt steps = serial("at", form_.steps, [&](const Expr& at) {
        const Expr slot = slot_of(tile, at);
        return ir::block(
            {at_ring(Kind::Await, full_, slot), synchronise(Kind::ProductFence),
             repeated(kPart / kStep, [&](std::int64_t s) { return product(at, slot, static_cast<int>(s)); }),
             synchronise(Kind::ProductCommit), synchronise(Kind::ProductWait), free(slot)});
      });
      return ir::block({steps, form_.sent ? send(tile) : keep(tile)});
    });
    return ir::block({registers_of(232), tiles});
  }

  /// Of the part of the result that is a warp's.
  Expr row_in_warp(std::int64_t e) const { return lane() / number(4) + number(e / 2 % 2 * 8); }
  Expr column(std::int64_t e) const { return lane() % number(4) * number(2) + number(e % 2 + e / 4 * 8); }

  ir::Stmt keep(const Expr& tile) const {
    return repeated(kSide / 2, [&](std::int64_t e) {
      const Expr row = row_of(tile) + warp() * number(kRows) + row_in_warp(e);
      return ir::store(out_, calotype::testing::load(acc_, number(e)), {row * number(kSide) + column(e)});
    });
  }

  /// Each half of the columns from a place of its own, once what was sent from there has been read.
  ir::Stmt send(const Expr& tile) const {
    const auto by_one = [&](ir::Stmt s) { return ir::if_then(lane() == number(0), std::move(s)); };
    return repeated(2, [&](std::int64_t half) {
      const Expr first = (warp() * number(2) + number(half)) * number(kPiece);
      const ir::Stmt fill = repeated(kSide / 4, [&](std::int64_t i) {
        const std::int64_t e = half * (kSide / 4) + i;
        const Expr at = first + row_in_warp(e) * number(kPart) + column(e) - number(half * kPart);
        return ir::store(staged_, cast(BFloat(16), calotype::testing::load(acc_, number(e))), {at});
      });
      const ir::Stmt box = ir::box_store(
          {.buffer = staged_, .map = map_out_, .out = true},
          {.index = first, .start = {number(half * kPart), row_of(tile) + warp() * number(kRows)}});
      return ir::block({by_one(synchronise(Kind::BoxesRead, 1)), synchronise(Kind::Warp), fill,
                        synchronise(Kind::Fence), synchronise(Kind::Warp),
                        by_one(ir::block({box, synchronise(Kind::BoxesCommit)}))});
    });
  }

  RoleForm form_;
  HandProgram hand_;
  Expr block_;
  std::vector<std::uint32_t> a_bits_, b_bits_, expected_;
  ir::BufferPtr a_, b_, out_, tile_a_, tile_b_, acc_, staged_;
  ir::RingPtr full_, empty_;
  ir::TensorMapPtr map_a_, map_b_, map_out_;
};

}  // namespace calotype::testing
