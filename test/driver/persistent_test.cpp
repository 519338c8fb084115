// Persistent grids and the order of tiles: values are those of any grid, whatever blocks and tiles there are.

#include <algorithm>
#include <map>
#include <sstream>

#include "support/printed.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

const Target gpu = Target::interpreter("sm_90a");

/// A blur of columns of what a blur of rows gives, with the rows' in shared memory for each tile.
Pipeline blurs() {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), rows("rows"), out("out");
  rows(x, y) = edged(x - 1, y) + edged(x, y) * 2 + edged(x + 1, y);
  out(x, y) = rows(x, y - 1) - rows(x, y) * 3 + rows(x, y + 1);
  return Pipeline("blurs", {in}, {Output(out, {W, H})});
}

Schedule tiles() {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s["rows"].compute_at("out", "xo").store_in(Memory::Shared);
  return s;
}

/// One tile, fewer tiles than blocks, just as many, and sizes that divide nothing.
const std::vector<std::pair<std::int64_t, std::int64_t>> kSizes = {{1, 1},   {8, 4},   {16, 4}, {24, 4},
                                                                   {37, 18}, {61, 53}, {9, 90}};

void expect_same(const Schedule& s) {
  for (const auto& [w, h] : kSizes) {
    testing::expect_matches(blurs(), s, gpu, {random_buffer(Int(32), {w, h}, 3)}, {Buffer(Int(32), {w, h})});
    testing::expect_stages_match(blurs(), s, gpu, {random_buffer(Int(32), {w, h}, 4)});
  }
}

TEST(Persistent, GridsGiveWhatOthersGive) {
  for (int strip : {0, 1, 2, 3, 8, 1000})
    for (const bool persistent : {false, true}) {
      Schedule s = tiles();
      if (strip > 0) s["out"].raster(Grouped{strip});
      if (persistent) s["out"].persistent();
      expect_same(s);
    }
}

TEST(Persistent, BlocksWaitBeforeTheyWriteAnotherTile) {
  Schedule s = tiles();
  const auto barriers = [&] {
    const std::string text = blurs().compile(s, gpu).show("lowered");
    int n = 0;
    for (std::size_t at = text.find("barrier"); at != std::string::npos; at = text.find("barrier", at + 1))
      ++n;
    return n;
  };
  EXPECT_EQ(barriers(), 1);
  s["out"].persistent();
  EXPECT_EQ(barriers(), 2);
  const std::string text = blurs().compile(s, gpu).show("lowered");
  EXPECT_NE(text.find("as many as fit"), std::string::npos) << text;
}

/// Where each point comes in the order that `raster` means, by loops that go through strips.
std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> places(std::int64_t w, std::int64_t h,
                                                                     std::int64_t strip) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> all;
  for (std::int64_t first = 0; first < h; first += strip)
    for (std::int64_t x = 0; x < w; ++x)
      for (std::int64_t y = first; y < std::min(h, first + strip); ++y)
        all.emplace(std::pair{x, y}, static_cast<std::int64_t>(all.size()));
  return all;
}

/// Each block of the interpreter's three prints its tiles one after the other.
TEST(Persistent, BlocksTakeTilesInTheOrderOfTheRaster) {
  Dim W("W"), H("H");
  Var x("x"), y("y");
  ImageParam in(Int(32), {W, H}, "in");
  Func out("out");
  out(x, y) = print(in(x, y), x, y);
  const Pipeline p("order", {in}, {Output(out, {W, H})});
  for (std::int64_t strip : {1, 2, 4, 100})
    for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{5, 6}, {7, 3}, {1, 9}}) {
      Schedule s;
      s["out"].gpu_blocks("x", "y").raster(Grouped{strip}).persistent();
      testing::Printed printed;
      Buffer data(Int(32), {w, h}), result(Int(32), {w, h});
      data.fill(1);
      p.compile(s, gpu).call({data, result}, printed.context);
      const auto expected = places(w, h, strip);
      std::int64_t last = -3, blocks = 0;
      const std::vector<std::string> lines = printed.in_order();
      ASSERT_EQ(lines.size(), expected.size());
      for (const std::string& line : lines) {
        std::istringstream words(line);
        std::int64_t value = 0, at_x = 0, at_y = 0;
        words >> value >> at_x >> at_y;
        const std::int64_t place = expected.at({at_x, at_y});
        if (place != last + 3) {
          EXPECT_LT(place, 3) << line;  // another block begins
          ++blocks;
        }
        last = place;
      }
      EXPECT_LE(blocks, 3);
    }
}

/// Updates that meet in one place, over tiles of a reduction.
TEST(Persistent, GridsMayReduce) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  RDom r(0, N, "r");
  Func total("total"), out("out");
  total() = 0;
  total() += in(r);
  out(x) = total() + in(x);
  const Pipeline p("total", {in}, {Output(out, {N})});
  Schedule s;
  s["total"].compute_root();
  s["total"].update().split("r", "ro", "ri", 16).gpu_blocks("ro").persistent().gpu_threads("ri").atomic();
  for (std::int64_t n : {1, 15, 16, 17, 100, 333})
    testing::expect_matches(p, s, gpu, {random_buffer(Int(32), {n}, 2)}, {Buffer(Int(32), {n})});
}

}  // namespace
}  // namespace calotype
