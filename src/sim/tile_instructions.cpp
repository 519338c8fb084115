// Instructions of tiles: moves between shared memory and registers, products of a warp, and products of four
// warps, each of which computes its own 16 rows when it waits for them, as late as it may.

#include <fmt/format.h>

#include <utility>

#include "instr/tensor_sum.h"
#include "sim/tile.h"

namespace calotype::sim {
namespace {

using instr::Operand;

constexpr int kRowsOfWarp = 16;

const TileSite& site_of(const Machine& m, const Instruction& i) {
  return m.code.tiles[static_cast<std::size_t>(i.target)];
}

std::int64_t value_of(const Warp& warp, Register r) {
  return warp.read(r)[r.uniform ? 0 : std::countr_zero(warp.mask)].i;
}

/// The first element of each operand.
std::vector<std::int64_t> beginnings(const Machine& m, const Warp& warp, const Instruction& i) {
  std::vector<std::int64_t> all;
  for (const TileOperand& operand : site_of(m, i).operands) all.push_back(value_of(warp, operand.first));
  return all;
}

bool adds(const Warp& warp, const Instruction& i) { return (true_lanes(warp, i.c) & warp.mask) != 0; }

std::int64_t extent_of(const instr::Instruction& record, std::size_t loop) {
  return record.loops[loop].second;
}

// ---- Moves

/// The rows that lanes point at.
class Rows {
 public:
  Rows(Machine& m, Warp& warp, const Instruction& i, int operand)
      : m_(m), warp_(warp), instruction_(i), tile_(m, warp, i, operand, 0) {
    const int rows = static_cast<int>(extent_of(*site_of(m, i).record, 1));
    lanes_ = rows == kWarp ? ~LaneMask{0} : (LaneMask{1} << rows) - 1;
    const Register first = tile_.operand().first;
    for (int lane = 0; lane < kWarp; ++lane)
      first_[static_cast<std::size_t>(lane)] = warp.read(first)[first.uniform ? 0 : lane].i;
  }

  void check_places() {
    const Space& space = *m_.spaces[static_cast<std::size_t>(access().buffer)];
    for_lanes(lanes_, [&](int lane) {
      const std::int64_t byte = space.address(first_[static_cast<std::size_t>(lane)]);
      if (byte % 16 == 0) return;
      m_.findings.add(Fault::Misaligned, m_.place(instruction_), [&] {
        return Finding{.message = fmt::format("{} has a row of {} at byte {}, no multiple of 16",
                                              m_.who(m_.thread(warp_, lane)), access().text, byte),
                       .buffer = tile_.buffer().name,
                       .block = m_.block,
                       .threads = {m_.coordinates(m_.thread(warp_, lane))},
                       .index = first_[static_cast<std::size_t>(lane)]};
      });
    });
  }

  void count(int columns, bool stores) {
    if (!m_.figures) return;
    std::vector<Figures::Elements> elements;
    for (int c = 0; c < columns; ++c) {
      Figures::Elements& e = elements.emplace_back();
      e.lanes = lanes_;
      for_lanes(lanes_, [&](int lane) {
        e.address[static_cast<std::size_t>(lane)] =
            m_.spaces[static_cast<std::size_t>(access().buffer)]->address(
                first_[static_cast<std::size_t>(lane)] + c);
      });
    }
    m_.figures->request(instruction_, elements, stores);
  }

  void move(bool stores, BitMatrix& rows) {
    count(rows.columns, stores);
    for (int c = 0; c < rows.columns; ++c) {
      std::array<std::int64_t, kWarp> index = first_;
      for (std::int64_t& at : index) at += c;
      std::array<Cell, kWarp> cells{};
      if (stores)
        for_lanes(lanes_,
                  [&](int lane) { cells[static_cast<std::size_t>(lane)] = tile_.cell_of(rows.at(lane, c)); });
      tile_.access(stores, lanes_, index.data(), cells.data(), false);
      if (!stores)
        for_lanes(lanes_,
                  [&](int lane) { rows.at(lane, c) = tile_.bits_of(cells[static_cast<std::size_t>(lane)]); });
    }
  }

 private:
  const AccessSite& access() const {
    return m_.code.accesses[static_cast<std::size_t>(tile_.operand().access)];
  }

  Machine& m_;
  Warp& warp_;
  const Instruction& instruction_;
  Tile tile_;
  LaneMask lanes_;
  std::array<std::int64_t, kWarp> first_;
};

}  // namespace

void run_move(Machine& m, Warp& warp, const Instruction& i) {
  const TileSite& site = site_of(m, i);
  m.require_whole(warp, i, site.record->name);
  const bool stores = site.operands[0].place == Operand::Place::Rows;
  const int of_rows = stores ? 0 : 1, of_registers = 1 - of_rows;
  BitMatrix bits(static_cast<int>(extent_of(*site.record, 1)), static_cast<int>(extent_of(*site.record, 0)));
  Rows rows(m, warp, i, of_rows);
  rows.check_places();
  Tile fragment(m, warp, i, of_registers,
                value_of(warp, site.operands[static_cast<std::size_t>(of_registers)].first));
  if (!stores) rows.move(false, bits);
  fragment.each_register(stores, !stores, [&](int, int column, int row, Cell& cell) {
    if (stores)
      bits.at(row, column) = fragment.bits_of(cell);
    else
      cell = fragment.cell_of(bits.at(row, column));
  });
  if (stores) rows.move(true, bits);
}

// ---- Products

namespace {

/// Of the warp's rows: row `first_row` is the first of them.
void gather(Tile& tile, int first_row, int k, BitMatrix& into) {
  if (tile.operand().place == Operand::Place::Matrix) return tile.read_matrix(k, first_row, into.rows, &into);
  tile.each_register(true, false, [&](int, int along_k, int row, Cell& cell) {
    into.at(row - first_row, along_k) = tile.bits_of(cell);
  });
}

void multiply(Machine& m, Warp& warp, const Instruction& i, const std::vector<std::int64_t>& first,
              bool added) {
  const instr::Instruction& record = *site_of(m, i).record;
  const int k = static_cast<int>(extent_of(record, 0)), n = static_cast<int>(extent_of(record, 1));
  const int first_row = record.threads > kWarp ? warp.number % 4 * kRowsOfWarp : 0;
  BitMatrix a(kRowsOfWarp, k), b(n, k);
  Tile d(m, warp, i, 0, first[0]), tile_a(m, warp, i, 1, first[1]), tile_b(m, warp, i, 2, first[2]);
  gather(tile_a, first_row, k, a);
  gather(tile_b, 0, k, b);
  const auto length = static_cast<std::size_t>(k);
  d.each_register(added, true, [&](int, int column, int row, Cell& cell) {
    const std::uint32_t c = added ? d.bits_of(cell) : 0;
    cell = d.cell_of(tensor_sum(*record.rule, {a.row(row - first_row), length}, {b.row(column), length}, c));
  });
}

/// Registers that the warp itself has used since its last fence of products.
void check_fence(Machine& m, const Warp& warp, const Instruction& i, const Tile& tile) {
  const PrivateArray& array = warp.privates[static_cast<std::size_t>(tile.buffer().slot)];
  if (warp.product_fence > 0 && array.touched <= warp.product_fence) return;
  m.findings.add(Fault::MissingFence, m.place(i), [&] {
    return Finding{
        .message = fmt::format("{} multiplies with registers of {}, which it has used with no fence "
                               "of products in between",
                               m.who(m.thread(warp, 0)), tile.buffer().name),
        .buffer = tile.buffer().name,
        .block = m.block,
        .threads = {m.coordinates(m.thread(warp, 0))}};
  });
}

/// What is read meanwhile: nobody may be writing it, now and when it is waited for.
void start_operand(Machine& m, Warp& warp, const Instruction& i, int number, std::int64_t first) {
  const instr::Instruction& record = *site_of(m, i).record;
  Tile tile(m, warp, i, number, first);
  const int k = static_cast<int>(extent_of(record, 0));
  if (tile.operand().place == Operand::Place::Registers) {
    check_fence(m, warp, i, tile);
    return tile.count_products(1, number == 0);
  }
  const bool is_a = number == 1;
  const int extent = static_cast<int>(extent_of(record, is_a ? 2 : 1));
  const int rows = is_a ? kRowsOfWarp : extent;
  tile.check_matrix(k, extent);
  tile.read_matrix(k, is_a ? warp.number % 4 * kRowsOfWarp : 0, rows, nullptr);
  if (m.figures)
    m.figures->bulk(i, m.code.accesses[static_cast<std::size_t>(tile.operand().access)].buffer,
                    std::int64_t{k} * rows * tile.size(), false);
}

}  // namespace

void run_product(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, site_of(m, i).record->name);
  multiply(m, warp, i, beginnings(m, warp, i), adds(warp, i));
}

void run_wide_product(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, site_of(m, i).record->name);
  Product product{&i, beginnings(m, warp, i), adds(warp, i), false, warp.product_groups};
  for (std::size_t k = 0; k < product.first.size(); ++k)
    start_operand(m, warp, i, static_cast<int>(k), product.first[k]);
  warp.products.push_back(std::move(product));
  warp.started_products.push_back(m.place(i));
}

void Machine::compute(Warp& warp, Product& product) {
  if (product.computed) return;
  const LaneMask here = std::exchange(warp.mask, warp.live);  // of where the warp has come by now
  multiply(*this, warp, *product.instruction, product.first, product.adds);
  warp.mask = here;
  product.computed = true;
}

void run_product_fence(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, "a fence of products");
  warp.product_fence = warp.steps;
}

void run_product_commit(Machine&, Warp& warp, const Instruction&) { ++warp.product_groups; }

/// Registers of a product's result, or of its operands, that nobody has to leave alone any longer.
static void release(Machine& m, Warp& warp, const Product& product, bool result) {
  for (std::size_t k = 0; k < product.first.size(); ++k) {
    Tile tile(m, warp, *product.instruction, static_cast<int>(k), product.first[k]);
    if ((k == 0) == result && tile.operand().place == Operand::Place::Registers)
      tile.count_products(-1, result);
  }
}

/// All but those of the latest groups have read what they multiply.
static void read_operands(Machine& m, Warp& warp, std::int64_t groups_left) {
  for (Product& product : warp.products) {
    if (product.group >= warp.product_groups - groups_left) break;
    m.compute(warp, product);
    if (!product.read) release(m, warp, product, false);
    product.read = true;
  }
}

void run_product_read(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, "a wait for products");
  read_operands(m, warp, i.site);
}

void run_product_wait(Machine& m, Warp& warp, const Instruction& i) {
  m.require_whole(warp, i, "a wait for products");
  read_operands(m, warp, i.site);
  for (; !warp.products.empty() && warp.products.front().read; warp.products.pop_front())
    release(m, warp, warp.products.front(), true);
}

/// Four warps are to have started the same ones.
void Machine::compare_products() {
  for (const Warp& warp : warps) {
    if (warp.number % 4 == 0) continue;
    const Warp& first = *(&warp - warp.number % 4);
    if (warp.started_products == first.started_products) continue;
    const auto [mine, other] = std::mismatch(warp.started_products.begin(), warp.started_products.end(),
                                             first.started_products.begin(), first.started_products.end());
    const int where = mine != warp.started_products.end() ? *mine : *other;
    findings.add(Fault::Divergence, where, [&] {
      return Finding{
          .message = fmt::format(
              "{} is executed by one of the warps of {} and {} and not by the other, or "
              "behind another number of products",
              code.tiles[static_cast<std::size_t>(code.instructions[static_cast<std::size_t>(where)].target)]
                  .record->name,
              who(thread(warp, 0)), who(thread(first, 0))),
          .block = block,
          .threads = {coordinates(thread(warp, 0)), coordinates(thread(first, 0))}};
    });
  }
}

}  // namespace calotype::sim
