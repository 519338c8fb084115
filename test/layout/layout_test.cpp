// Layouts: positions and coordinates are inverse to each other, and broken ones are refused.

#include "layout/layout.h"

#include <gtest/gtest.h>

#include <set>

#include "calotype/error.h"

namespace calotype::layout {
namespace {

// 4096 columns dealt as (2 registers | 256 threads | vector of 8), 3 rows in registers.
Layout rows_of_vectors() {
  return Layout({{.dim = 0, .stride = 1, .extent = 8, .axis = Axis::Register, .weight = 1},
                 {.dim = 0, .stride = 8, .extent = 256, .axis = Axis::ThreadX, .weight = 1},
                 {.dim = 0, .stride = 2048, .extent = 2, .axis = Axis::Register, .weight = 8},
                 {.dim = 1, .stride = 1, .extent = 3, .axis = Axis::Register, .weight = 16}},
                2);
}

TEST(Layout, SizesAndExtents) {
  const Layout l = rows_of_vectors();
  EXPECT_EQ(l.extent(0), 4096);
  EXPECT_EQ(l.extent(1), 3);
  EXPECT_EQ(l.size(Axis::ThreadX), 256);
  EXPECT_EQ(l.size(Axis::Register), 48);
  EXPECT_TRUE(l.uses(Axis::ThreadX));
  EXPECT_FALSE(l.uses(Axis::ThreadY));
  EXPECT_EQ(l.str({"c", "r"}), "c = register 2 | thread.x 256 | register 8, r = register 3");
}

TEST(Layout, EveryElementHasOneHolderAndPositionsInvert) {
  const Layout l = rows_of_vectors();
  std::set<std::pair<std::int64_t, std::int64_t>> places;
  for (std::int64_t c = 0; c < 4096; c += 7)
    for (std::int64_t r = 0; r < 3; ++r) {
      const std::vector<Expr> at{ir::index(c), ir::index(r)};
      const std::int64_t thread = *ir::as_int(l.position(Axis::ThreadX, at, {}));
      const std::int64_t slot = *ir::as_int(l.position(Axis::Register, at, {}));
      EXPECT_TRUE(places.insert({thread, slot}).second);
      EXPECT_EQ(l.coordinates({{Axis::ThreadX, thread}, {Axis::Register, slot}}),
                (std::vector<std::int64_t>{c, r}));
    }
}

TEST(Layout, SymbolicPositionsReduceToTheLoopVariables) {
  const Layout l = rows_of_vectors();
  ir::Facts facts;
  const auto o = ir::make_symbol(ir::SymbolKind::Loop, "o"), t = ir::make_symbol(ir::SymbolKind::Loop, "t"),
             v = ir::make_symbol(ir::SymbolKind::Loop, "v");
  facts.set_range(o, ir::index(0), ir::index(1));
  facts.set_range(t, ir::index(0), ir::index(255));
  facts.set_range(v, ir::index(0), ir::index(7));
  const Expr c = ir::make_var(o) * ir::index(2048) + ir::make_var(t) * ir::index(8) + ir::make_var(v);
  EXPECT_TRUE(ir::prove_equal(l.position(Axis::ThreadX, {c, ir::index(0)}, facts), ir::make_var(t), facts));
  EXPECT_TRUE(ir::prove_equal(l.position(Axis::Register, {c, ir::index(0)}, facts),
                              ir::make_var(o) * ir::index(8) + ir::make_var(v), facts));
}

TEST(Layout, DigitsThatDoNotTileAreRefused) {
  EXPECT_THROW(Layout({{.dim = 0, .stride = 2, .extent = 8}}, 1), Error);
  EXPECT_THROW(Layout({{.dim = 0, .stride = 1, .extent = 8}, {.dim = 0, .stride = 4, .extent = 2}}, 1),
               Error);
  EXPECT_THROW(Layout({{.dim = 1, .stride = 1, .extent = 8}}, 1), Error);
}

}  // namespace
}  // namespace calotype::layout
