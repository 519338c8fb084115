#pragma once
// A copy by boxes that go out: each warp puts pieces of 16 rows together in shared memory, and sends one
// while it fills the next.

#include "sim/random.h"
#include "support/hand_program.h"

namespace calotype::testing {

struct SentForm {
  Type type = Float(32);
  std::int64_t width = 64, height = 32;
  int swizzle = 0;  ///< of the pieces, whose rows have as many bytes; 0: rows of 48 bytes
  int slots = 2, warps = 2;
};

class SentPieces {
 public:
  static constexpr int kRows = 16;

  explicit SentPieces(SentForm form)
      : form_(form),
        columns_((form.swizzle ? form.swizzle : 48) / form.type.bytes()),
        hand_("sent", std::int64_t{32} * form.warps) {
    sim::Random random(static_cast<std::uint64_t>(form.width + form.swizzle));
    for (std::int64_t i = 0; i < form.width * form.height; ++i) expected_.push_back(element(random));
    in_ = hand_.input("in", form.type, {form.width, form.height}, expected_);
    out_ = hand_.output("out", form.type, {form.width, form.height});
    hand_.leave_to_boxes(out_);
    tile_ = hand_.shared("tile", form.type, std::int64_t{form.warps} * form.slots * elements(), form.swizzle);
    map_ = hand_.boxes({"out.boxes", out_, {columns_, kRows}, form.swizzle});
  }

  HandProgram& hand() { return hand_; }
  const std::vector<std::uint32_t>& expected() const { return expected_; }
  const ir::BufferPtr& tile() const { return tile_; }
  Expr lane() const { return hand_.thread() % number(32); }

  ir::Stmt body() const {
    const std::int64_t turns = (across() * down() + form_.warps - 1) / form_.warps;
    return serial("turn", turns, [&](const Expr& turn) {
      const Expr piece = turn * number(form_.warps) + hand_.thread() / number(32);
      const Expr slot = hand_.thread() / number(32) * number(form_.slots) + turn % number(form_.slots);
      const Expr first = slot * number(elements());
      return ir::if_then(
          piece < number(across() * down()),
          ir::block({by_one(synchronise(Kind::BoxesRead, form_.slots - 1)), synchronise(Kind::Warp),
                     fill(piece, first), synchronise(Kind::Fence), synchronise(Kind::Warp),
                     by_one(ir::block({send(piece, first), synchronise(Kind::BoxesCommit)}))}));
    });
  }
  /// Of each warp.
  ir::Stmt by_one(ir::Stmt s) const { return ir::if_then(lane() == number(0), std::move(s)); }

  ir::Stmt send(const Expr& piece, const Expr& first) const {
    return ir::box_store({.buffer = tile_, .map = map_, .out = true},
                         {.index = first, .start = {column(piece), row(piece)}});
  }

 private:
  using Kind = ir::SyncInfo::Kind;

  /// Whole numbers, which are no NaN.
  std::uint32_t element(sim::Random& random) const {
    const auto value = static_cast<float>(random.below(200));
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    if (form_.type == Float(32)) return bits;
    return form_.type == BFloat(16) ? bits >> 16 : static_cast<std::uint32_t>(value);
  }
  std::int64_t elements() const { return std::int64_t{columns_} * kRows; }
  std::int64_t across() const { return (form_.width + columns_ - 1) / columns_; }
  std::int64_t down() const { return (form_.height + kRows - 1) / kRows; }
  Expr column(const Expr& piece) const { return piece % number(across()) * number(columns_); }
  Expr row(const Expr& piece) const { return piece / number(across()) * number(kRows); }

  /// What lies outside of the output is put together too.
  ir::Stmt fill(const Expr& piece, const Expr& first) const {
    return serial("i", elements() / 32, [&](const Expr& i) {
      const Expr at = i * number(32) + lane();
      const Expr x = column(piece) + at % number(columns_), y = row(piece) + at / number(columns_);
      const Expr inside = ir::make(ir::Op::And, Bool(), {x < number(form_.width), y < number(form_.height)});
      const Expr value = ir::make(ir::Op::LoadIf, form_.type, {inside, y * number(form_.width) + x}, in_);
      return ir::store(tile_, value, {first + at});
    });
  }
  SentForm form_;
  int columns_;
  HandProgram hand_;
  std::vector<std::uint32_t> expected_;
  ir::BufferPtr in_, out_, tile_;
  ir::TensorMapPtr map_;
};

}  // namespace calotype::testing
