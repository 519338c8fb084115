#pragma once
// Tiles as instructions see them: matrices of bits gathered from the registers of a warp and from shared
// memory.

#include <vector>

#include "sim/machine.h"

namespace calotype::sim {

/// Bits of elements, each in the low part of a word: `columns` a row.
struct BitMatrix {
  int rows, columns;
  std::vector<std::uint32_t> bits;
  BitMatrix(int rows, int columns)
      : rows(rows), columns(columns), bits(static_cast<std::size_t>(rows * columns)) {}
  std::uint32_t& at(int row, int column) { return bits[static_cast<std::size_t>(row * columns + column)]; }
  const std::uint32_t* row(int r) const { return bits.data() + r * columns; }
};

/// An operand of an instruction that a warp executes.
class Tile {
 public:
  Tile(Machine& m, Warp& warp, const Instruction& i, int operand, std::int64_t first);

  int size() const { return buffer_.type.bytes(); }
  /// In registers: for each register the values of the lanes; `on(lane, register, x, y, cell)` may change
  /// them, and with `stores` they are kept.
  template <class F>
  void each_register(bool loads, bool stores, F on);
  /// Products that are under way in the registers.
  void count_products(int by, bool result);

  /// Rows of a matrix in shared memory that is described, `k` elements each, from row `from` on. `into` null:
  /// it is only looked who is in the way.
  void read_matrix(int k, int from, int rows, BitMatrix* into);
  /// What does not lie as the hardware can read it is found; dimension k has `k` elements, the other one
  /// `extent`.
  void check_matrix(int k, int extent);

  std::uint32_t bits_of(Cell cell) const;
  Cell cell_of(std::uint32_t bits) const;
  /// Elements of lanes in memory: `index` of 32.
  void access(bool stores, LaneMask lanes, const std::int64_t* index, Cell* cells, bool uniform);
  const TileOperand& operand() const { return operand_; }
  const BufferUse& buffer() const { return buffer_; }
  void report(Fault fault, const std::string& message) const;

 private:
  std::int64_t place_of(int k, int other) const;

  Machine& m_;
  Warp& warp_;
  const Instruction& instruction_;
  const TileOperand& operand_;
  const BufferUse& buffer_;
  Space& space_;
  std::int64_t first_;
  bool past_threads_;  ///< by a product of four warps
};

template <class F>
void Tile::each_register(bool loads, bool stores, F on) {
  const std::size_t of_thread = static_cast<std::size_t>(operand_.registers);
  const int first_thread = warp_.number % 4 * kWarp;
  const bool by_warp = operand_.coordinates.size() == of_thread * kWarp;
  for (int r = 0; r < operand_.registers; ++r) {
    std::array<std::int64_t, kWarp> index;
    std::array<Cell, kWarp> cells{};
    index.fill(first_ + r);
    if (loads) access(false, warp_.mask, index.data(), cells.data(), true);
    for (int lane = 0; lane < kWarp; ++lane) {
      const int thread = by_warp ? lane : first_thread + lane;
      const auto& [x, y] =
          operand_.coordinates[static_cast<std::size_t>(thread) * of_thread + static_cast<std::size_t>(r)];
      on(lane, x, y, cells[static_cast<std::size_t>(lane)]);
    }
    if (stores) access(true, warp_.mask, index.data(), cells.data(), true);
  }
}

}  // namespace calotype::sim
