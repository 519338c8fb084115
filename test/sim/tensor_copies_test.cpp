// Copies of boxes on the interpreter: where their elements come to lie, zeros outside the tensor, and what
// the hardware would fault on.

#include "layout/swizzle.h"
#include "sim/kernel_maker.h"

namespace calotype::sim {
namespace {

using ir::MemorySpace;
using Kind = ir::SyncInfo::Kind;

/// A block of 64 threads of which the first copies a box of `width` by `height` of a tensor of 20 by 6, whose
/// rows are 24 elements apart; `out` is the tile as it lies in shared memory.
struct Boxes : KernelMaker {
  ir::BufferPtr out, tile;
  ir::TensorMapPtr map;
  ir::RingPtr ring = std::make_shared<const ir::Ring>(ir::Ring{"full", 1, 4096});
  Expr t;
  std::vector<float> values, result = std::vector<float>(512, 0);
  std::int64_t pitch = 96;
  int past = 0;  // elements that the tensor begins after a multiple of 16 bytes

  Boxes(std::int64_t width, std::int64_t height, int swizzle = 0) : KernelMaker("boxes") {
    out = argument("out", Float(32));
    ir::Buffer b = *storage("tile", Float(32), MemorySpace::Shared, 512);
    tile = ir::make_buffer(b);
    const ir::BufferPtr in =
        ir::make_buffer({.name = "in", .type = Float(32), .space = MemorySpace::Argument});
    map = std::make_shared<const ir::TensorMap>(ir::TensorMap{"in.boxes", in, {width, height}, swizzle});
    t = thread();
    function.rings = {ring};
    function.tensors = {map};
    function.shared_bytes = 4224;
    values = whole_numbers(6 * 24 + 8, 7);
  }

  /// First element of the tensor, at a multiple of 16 bytes.
  float* first() {
    const auto address = reinterpret_cast<std::uintptr_t>(values.data());
    return values.data() + (16 - address % 16) % 16 / 4 + past;
  }
  /// 0 outside.
  float at(std::int64_t x, std::int64_t y) {
    return x < 0 || y < 0 || x >= 20 || y >= 6 ? 0 : first()[y * 24 + x];
  }

  ir::Stmt copy(std::int64_t x, std::int64_t y, std::int64_t index = 0) const {
    return ir::box_store(
        {tile, ring, true, map},
        {.index = ir::index(index), .slot = ir::index(0), .start = {ir::index(x), ir::index(y)}});
  }
  ir::Stmt read(std::int64_t count) const {
    return loop("i", ir::index((count + 63) / 64), [&](const Expr& i) {
      const Expr at = i * 64 + t;
      return ir::if_then(at < ir::index(count), ir::store(out, load(tile, at), {at}));
    });
  }
  ir::Stmt sync(Kind kind) const { return ir::synchronise({.kind = kind, .ring = ring}, ir::index(0)); }
  Report run_parts(const std::vector<ir::Stmt>& parts) {
    function.body = ir::allocate(tile, ir::block(parts));
    Launch launch{{1, 1, 1}, {64, 1, 1}, {}, {memory_of(result)}};
    const auto bytes = static_cast<std::int64_t>(reinterpret_cast<char*>(values.data() + values.size()) -
                                                 reinterpret_cast<char*>(first()));
    launch.tensors.push_back({{first(), 0, bytes}, {20, 6}, {0, pitch}});
    return run(launch);
  }
  Report run_box(std::int64_t x, std::int64_t y, std::int64_t count, std::int64_t index = 0) {
    return run_parts(
        {copy(x, y, index), sync(Kind::Arrive), sync(Kind::Await), ir::barrier(""), read(count)});
  }
};

void expect_found(const Report& report, const std::string& kind) {
  EXPECT_GE(count_kind(report, kind), 1) << to_string(report);
}

TEST(BoxStores, PackRowsAndFillWithZeros) {
  for (const auto& [x, y] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {8, 1}, {16, 4}, {-4, -2}}) {
    Boxes k(8, 4);
    const Report report = k.run_box(x, y, 32);
    EXPECT_TRUE(report.clean()) << to_string(report);
    for (int i = 0; i < 32; ++i)
      EXPECT_EQ(k.result[i], k.at(x + i % 8, y + i / 8)) << x << " " << y << " " << i;
  }
}

/// Pieces of 16 bytes change places by the bits of the address from 7 on, also where a box begins at a row
/// that is no multiple of 8.
TEST(BoxStores, SwizzleByTheAddress) {
  for (const int span : {32, 64, 128})
    for (const std::int64_t index : {0, 32, 96, 256}) {
      const std::int64_t width = span / 4, count = width * 8;
      Boxes k(width, 8, span);
      const Report report =
          k.run_parts({k.copy(0, 0, index), k.sync(Kind::Arrive), k.sync(Kind::Await), ir::barrier(""), [&] {
                         return loop("i", ir::index((count + 63) / 64), [&](const Expr& i) {
                           const Expr at = i * 64 + k.t + ir::index(index);
                           return ir::store(k.out, load(k.tile, at), {at});
                         });
                       }()});
      EXPECT_TRUE(report.clean()) << to_string(report);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t byte = (index + i) * 4, there = byte ^ (byte >> 3 & (span - 16));
        EXPECT_EQ(k.result[static_cast<std::size_t>(there / 4)], k.at(i % width, i / width))
            << span << " " << i;
      }
    }
}

TEST(BoxStores, AreNotThereBeforeTheWait) {
  Boxes k(8, 4);
  expect_found(k.run_parts({k.copy(0, 0), k.sync(Kind::Arrive), ir::barrier(""), k.read(32)}),
               "unfinished copy");
}

TEST(BoxStores, OfSmallerBoxes) {
  Boxes k(8, 4);
  expect_found(k.run_box(0, 0, 33), "uninitialised read");
}

TEST(BoxStores, WhatTheHardwareFaultsOnIsFound) {
  Boxes start(8, 4), place(8, 4), pitch(8, 4), base(8, 4);
  expect_found(start.run_box(1, 0, 32), "illegal box");
  expect_found(place.run_box(0, 0, 32, 4), "illegal box");
  pitch.pitch = 100;
  expect_found(pitch.run_box(0, 0, 32), "misaligned access");
  base.past = 1;
  expect_found(base.run_box(0, 0, 32), "misaligned access");
}

}  // namespace
}  // namespace calotype::sim
