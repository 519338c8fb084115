#pragma once
// Boxes for all blocks of a cluster: each block copies its piece of 16 rows to all, which write down what has
// come and tell each other that they have.

#include "sim/random.h"
#include "support/hand_program.h"

namespace calotype::testing {

struct SpreadForm {
  Type type = Float(32);
  int swizzle = 0;  ///< of the pieces, whose rows have as many bytes; 0: rows of 48 bytes
  int cluster = 2, turns = 5, slots = 2;
};

class SpreadPieces {
 public:
  static constexpr int kRows = 16, kWarps = 2, kAbove = 3;

  explicit SpreadPieces(SpreadForm form)
      : form_(form),
        columns_((form.swizzle ? form.swizzle : 48) / form.type.bytes()),
        hand_("spread", 32 * kWarps),
        block_(hand_.blocks(2 * form.cluster, form.cluster)) {
    sim::Random random(static_cast<std::uint64_t>(form.swizzle + form.cluster));
    std::vector<std::uint32_t> elements;
    for (std::int64_t i = 0; i < width() * height(); ++i) elements.push_back(element(random));
    in_ = hand_.input("in", form.type, {width(), height()}, elements);
    out_ = hand_.output("out", form.type, {2 * form.cluster * form.turns * of_slot()});
    hand_.leave_to_boxes(in_);
    tile_ = hand_.shared("tile", form.type, form.slots * of_slot(), form.swizzle);
    full_ = hand_.ring({.name = "full", .slots = form.slots, .arrivals = 1});
    empty_ =
        hand_.ring({.name = "empty", .slots = form.slots, .arrivals = form.cluster * kWarps, .open = true});
    map_ = hand_.boxes({"in.boxes", in_, {columns_, kRows}, form.swizzle});
    expect(elements);
  }

  HandProgram& hand() { return hand_; }
  const std::vector<std::uint32_t>& expected() const { return expected_; }

  ir::Stmt body() const {
    const ir::Stmt turns = serial("turn", form_.turns, [&](const Expr& turn) {
      const Expr slot = turn % number(form_.slots);
      const ir::Stmt copy = ir::block({at_ring(Kind::Await, empty_, slot), spread(turn, slot),
                                       at_ring(Kind::Arrive, full_, slot, of_slot() * form_.type.bytes())});
      return ir::block({ir::if_then(hand_.thread() < number(32), copy), at_ring(Kind::Await, full_, slot),
                        keep(turn, slot), free(slot)});
    });
    return ir::block({synchronise(Kind::Cluster), turns, synchronise(Kind::Cluster)});
  }

 private:
  using Kind = ir::SyncInfo::Kind;

  std::int64_t piece() const { return std::int64_t{columns_} * kRows; }
  std::int64_t of_slot() const { return form_.cluster * piece(); }
  /// Of the tensor, which ends inside of boxes.
  std::int64_t width() const { return std::int64_t{form_.turns} * columns_ - 16 / form_.type.bytes(); }
  std::int64_t height() const { return std::int64_t{form_.cluster} * kRows - kAbove - 5; }

  /// Whole numbers, which are no NaN.
  std::uint32_t element(sim::Random& random) const {
    const auto value = static_cast<float>(1 + random.below(200));
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    if (form_.type == Float(32)) return bits;
    return form_.type == BFloat(16) ? bits >> 16 : static_cast<std::uint32_t>(value);
  }
  void expect(const std::vector<std::uint32_t>& elements) {
    for (std::int64_t block = 0; block < 2 * form_.cluster; ++block)
      for (std::int64_t turn = 0; turn < form_.turns; ++turn)
        for (std::int64_t e = 0; e < of_slot(); ++e) {
          const std::int64_t x = turn * columns_ + e % columns_, y = e / columns_ - kAbove;
          const bool inside = x < width() && y >= 0 && y < height();
          expected_.push_back(inside ? elements[static_cast<std::size_t>(y * width() + x)] : 0);
        }
  }

  Expr rank() const { return block_ % number(form_.cluster); }
  ir::Stmt at_ring(Kind kind, const ir::RingPtr& ring, const Expr& slot, std::int64_t bytes = 0) const {
    return ir::synchronise({.kind = kind, .ring = ring, .bytes = bytes}, slot);
  }
  ir::Stmt spread(const Expr& turn, const Expr& slot) const {
    return ir::box_store({.buffer = tile_, .ring = full_, .map = map_, .of_warp = true},
                         {.index = slot * number(of_slot()) + rank() * number(piece()),
                          .slot = slot,
                          .start = {turn * number(columns_), rank() * number(kRows) - number(kAbove)},
                          .receivers = number((1 << form_.cluster) - 1)});
  }
  ir::Stmt keep(const Expr& turn, const Expr& slot) const {
    return serial("i", of_slot() / (32 * kWarps), [&](const Expr& i) {
      const Expr at = i * number(32 * kWarps) + hand_.thread();
      const Expr first = (block_ * number(form_.turns) + turn) * number(of_slot());
      return ir::store(out_, load(tile_, slot * number(of_slot()) + at), {first + at});
    });
  }
  /// At the rings of all blocks of the cluster, this one among them.
  ir::Stmt free(const Expr& slot) const {
    return repeated(form_.cluster, [&](std::int64_t other) {
      return ir::synchronise({.kind = Kind::Arrive, .ring = empty_, .fence = true}, slot, number(other));
    });
  }

  SpreadForm form_;
  int columns_;
  HandProgram hand_;
  Expr block_;
  std::vector<std::uint32_t> expected_;
  ir::BufferPtr in_, out_, tile_;
  ir::RingPtr full_, empty_;
  ir::TensorMapPtr map_;
};

}  // namespace calotype::testing
