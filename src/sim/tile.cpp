// Operands of tiles: registers of a warp, rows that lanes point at, matrices that are described.
//
// A described matrix is eight rows of 16 bytes at a time, as PTX's "Matrix descriptor" has them: which is
// next along k and along the other dimension follows from what is dense, the width of the swizzle and two
// distances. Pieces of swizzled rows change places by the address itself.

#include "sim/tile.h"

#include <fmt/format.h>

#include "layout/swizzle.h"

namespace calotype::sim {
namespace {

constexpr int kPiece = 16, kRows = 8;  // bytes of a row, and rows, of a core matrix
constexpr std::int64_t kDistances = 1 << 18;

}  // namespace

Tile::Tile(Machine& m, Warp& warp, const Instruction& i, int operand, std::int64_t first)
    : m_(m),
      warp_(warp),
      instruction_(i),
      operand_(m.code.tiles[static_cast<std::size_t>(i.target)].operands[static_cast<std::size_t>(operand)]),
      buffer_(m.code.buffers[static_cast<std::size_t>(
          m.code.accesses[static_cast<std::size_t>(operand_.access)].buffer)]),
      space_(*m.spaces[static_cast<std::size_t>(
          m.code.accesses[static_cast<std::size_t>(operand_.access)].buffer)]),
      first_(first),
      past_threads_(i.run == run_wide_product) {}

std::uint32_t Tile::bits_of(Cell cell) const {
  std::uint32_t bits = 0;
  encode(buffer_.type, cell, &bits);
  return bits;
}

Cell Tile::cell_of(std::uint32_t bits) const { return decode(buffer_.type, &bits); }

void Tile::access(bool stores, LaneMask lanes, const std::int64_t* index, Cell* cells, bool uniform) {
  WarpAccess access{m_, warp_, instruction_, lanes, index, uniform, cells};
  access.site = operand_.access;
  access.past_threads = past_threads_;
  if (stores)
    space_.store(access);
  else
    space_.load(access);
}

void Tile::count_products(int by, bool result) {
  PrivateArray& array = warp_.privates[static_cast<std::size_t>(buffer_.slot)];
  array.results.resize(static_cast<std::size_t>(buffer_.elements));
  array.operands.resize(static_cast<std::size_t>(buffer_.elements));
  std::vector<std::uint16_t>& counts = result ? array.results : array.operands;
  for (int r = 0; r < operand_.registers; ++r) {
    const std::int64_t e = first_ + r;
    if (e < 0 || e >= buffer_.elements) continue;  // is found where it is used
    counts[static_cast<std::size_t>(e)] =
        static_cast<std::uint16_t>(counts[static_cast<std::size_t>(e)] + by);
  }
  array.products += by * operand_.registers;
}

void Tile::report(Fault fault, const std::string& message) const {
  m_.findings.add(fault, m_.place(instruction_), [&] {
    const std::string& text = m_.code.accesses[static_cast<std::size_t>(operand_.access)].text;
    return Finding{
        .message = fmt::format("{} reads {} by tensor cores, {}", m_.who(m_.thread(warp_, 0)), text, message),
        .buffer = buffer_.name,
        .block = m_.block,
        .threads = {m_.coordinates(m_.thread(warp_, 0))},
        .index = first_,
        .accesses = {m_.access_of(warp_, 0, instruction_, "reads", text)}};
  });
}

// ---- Matrices that are described

void Tile::check_matrix(int k, int extent) {
  const ir::OperandUse& use = operand_.use;
  const std::int64_t start = buffer_.offset + first_ * size(), width = use.swizzle;
  if (start % kPiece != 0)
    report(Fault::Misaligned, fmt::format("at byte {}, no multiple of {}", start, kPiece));
  for (const std::int64_t distance : {use.leading, use.stride})
    if (distance % kPiece != 0 || distance < 0 || distance >= kDistances)
      report(Fault::IllegalMatrix, fmt::format("whose parts lie {} bytes apart, no multiple of {} below {}",
                                               distance, kPiece, kDistances));
  if (width == 0) return;
  const std::int64_t inside = start % width, along = (use.transposed ? extent : k) * size();
  // Along k an instruction has 32 bytes, which a row must hold; the other dimension goes on in the next panel
  // only from the beginning of one.
  const bool crosses = use.transposed ? inside > 0 && inside + along > width : inside + along > width;
  if (crosses)
    report(
        Fault::IllegalMatrix,
        fmt::format("which begins {} bytes inside a row of {} and goes on in the next panel", inside, width));
}

/// The byte of an element behind the first one, before pieces change places.
std::int64_t Tile::place_of(int k, int other) const {
  const ir::OperandUse& use = operand_.use;
  const int piece = kPiece / size();  // elements
  if (use.swizzle != 0 && !use.transposed)
    return other / kRows * use.stride + other % kRows * use.swizzle + k * size();
  if (use.swizzle != 0) {
    const int panel = use.swizzle / size();
    return other / panel * use.leading + k / kRows * use.stride + k % kRows * use.swizzle +
           other % panel * size();
  }
  if (!use.transposed)
    return k / piece * use.leading + other / kRows * use.stride + other % kRows * kPiece + k % piece * size();
  return k / kRows * use.leading + other / piece * use.stride + k % kRows * kPiece + other % piece * size();
}

void Tile::read_matrix(int k, int from, int rows, BitMatrix* into) {
  const std::int64_t start = buffer_.offset + first_ * size(), width = operand_.use.swizzle;
  std::array<std::int64_t, kWarp> index{};
  std::array<Cell, kWarp> cells{};
  const int total = k * rows;
  for (int done = 0; done < total; done += kWarp) {
    const int count = std::min(kWarp, total - done);
    for (int lane = 0; lane < count; ++lane) {
      const int e = done + lane;
      const std::int64_t byte = start + place_of(e % k, from + e / k);
      const std::int64_t there = width == 0 ? byte : layout::swizzled(byte, width, 1);
      index[static_cast<std::size_t>(lane)] =
          layout::swizzled((there - buffer_.offset) / size(), buffer_.swizzle, size());
    }
    const LaneMask lanes = count == kWarp ? ~LaneMask{0} : (LaneMask{1} << count) - 1;
    access(false, lanes, index.data(), cells.data(), false);
    for (int lane = 0; into && lane < count; ++lane)
      into->at((done + lane) / k, (done + lane) % k) = bits_of(cells[static_cast<std::size_t>(lane)]);
  }
}

}  // namespace calotype::sim
