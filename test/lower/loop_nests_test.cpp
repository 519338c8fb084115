// The loop nests of small schedules, as the levels `loops` and `sync` print them.

#include "lower/levels.h"

namespace calotype::test {
namespace {

TEST(LoopNests, SplitWithGuard) {
  Schedule s;
  s["up"].compute_inline();
  s["out"].split("y", "yo", "yi", 8);
  EXPECT_EQ(level(chain(), s, "loops"), R"(
produce out:
  for yo in [0, 0 + (H + 7)/8):  # #2 split(y, yo, yi, 8)
    for yi in [0, 0 + min(H - yo*8, 8)):  # #2 split(y, yo, yi, 8)
      for x in [0, 0 + W):
        y := yi + yo*8
        out(x, y) = in(x, y)*2.0 + in(x, y + 1)*2.0 + in(x, y + 2)*2.0
)");
}

TEST(LoopNests, SplitWithPredicate) {
  Schedule s;
  s["total"]
      .split("y", "yo", "yi", 8)
      .vectorize("yi")
      .update()
      .split("y", "yo", "yi", 8)
      .reorder("yi", "k", "yo")
      .vectorize("yi");
  EXPECT_EQ(level(row_sums(), s, "loops"), R"(
produce total:
  for yo in [0, 0 + (H + 7)/8):  # #1 split(y, yo, yi, 8)
    for yi in [0, 0 + 8) vector:  # #1 split(y, yo, yi, 8), #2 vectorize(yi)
      where yi + yo*8 < H
      y := yi + yo*8
      total(y) = 0
  for yo in [0, 0 + (H + 7)/8):  # #3 split(y, yo, yi, 8)
    for k in [0, 0 + W):
      for yi in [0, 0 + 8) vector:  # #3 split(y, yo, yi, 8), #5 vectorize(yi)
        where yi + yo*8 < H
        y := yi + yo*8
        total(y) = total(y) + in(k, y)
)");
}

TEST(LoopNests, SplitThatShiftsInwards) {
  Schedule s;
  s["up"].compute_inline();
  s["out"].split("x", "xo", "xi", 16, Tail::ShiftInwards).serial("y");
  EXPECT_EQ(level(chain(), s, "loops"), R"(
require 16 <= W: #2 split(x, xo, xi, 16, shift_inwards) needs an extent of at least 16, not {}
require 0 <= min(W - 16, 0): dimension 0 is read from {} to {} but holds 0 to {}
produce out:
  for y in [0, 0 + H):  # #3 serial(y)
    for xo in [0, 0 + (W + 15)/16):  # #2 split(x, xo, xi, 16, shift_inwards)
      for xi in [0, 0 + 16):  # #2 split(x, xo, xi, 16, shift_inwards)
        x := xi + min(W - 16, xo*16)
        out(x, y) = in(x, y)*2.0 + in(x, y + 1)*2.0 + in(x, y + 2)*2.0
)");
}

TEST(LoopNests, SplitThatRoundsUp) {
  Schedule s;
  s["up"].compute_root().split("x", "xo", "xi", 16, Tail::RoundUp);
  s["out"].serial("y");
  EXPECT_EQ(level(chain(), s, "loops"), R"(
require up.x.max/16*16 + 15 < W: dimension 0 is read from {} to {} but holds 0 to {}
let up.x.max = (W + 15)/16*16 - 1
realize up f32 over [0, up.x.max] x [0, H + 1]:
  produce up:
    for y in [0, 0 + H + 2):
      for xo in [0, 0 + up.x.max/16 + 1):  # #2 split(x, xo, xi, 16, round_up)
        for xi in [0, 0 + 16):  # #2 split(x, xo, xi, 16, round_up)
          x := xi + xo*16
          up(x, y) = in(x, y)*2.0
  produce out:
    for y in [0, 0 + H):  # #3 serial(y)
      for x in [0, 0 + W):
        out(x, y) = up(x, y) + up(x, y + 1) + up(x, y + 2)
)");
}

TEST(LoopNests, TileAndReorder) {
  Schedule s;
  s["up"].compute_inline();
  s["out"]
      .tile("x", "y", "xo", "yo", "xi", "yi", 16, 4)
      .reorder("yi", "xi")
      .vectorize("xi")
      .unroll("yi")
      .parallel("yo");
  EXPECT_EQ(level(chain(), s, "loops"), R"(
produce out:
  for yo in [0, 0 + (H + 3)/4) parallel:  # #2 tile(x, y, xo, yo, xi, yi, 16, 4), #6 parallel(yo)
    for xo in [0, 0 + (W + 15)/16):  # #2 tile(x, y, xo, yo, xi, yi, 16, 4)
      for xi in [0, 0 + 16) vector:  # #2 tile(x, y, xo, yo, xi, yi, 16, 4), #4 vectorize(xi)
        for yi in [0, 0 + 4) unrolled:  # #2 tile(x, y, xo, yo, xi, yi, 16, 4), #5 unroll(yi)
          if yi + yo*4 < H
          where xi + xo*16 < W
          x := xi + xo*16
          y := yi + yo*4
          out(x, y) = in(x, y)*2.0 + in(x, y + 1)*2.0 + in(x, y + 2)*2.0
)");
}

TEST(LoopNests, Fuse) {
  Schedule s;
  s["up"].compute_inline();
  s["out"].fuse("x", "y", "point").parallel("point");
  EXPECT_EQ(level(chain(), s, "loops"), R"(
produce out:
  for point in [0, 0 + W*H) parallel:  # #2 fuse(x, y, point), #3 parallel(point)
    x := point%W
    y := point/W
    out(x, y) = in(x, y)*2.0 + in(x, y + 1)*2.0 + in(x, y + 2)*2.0
)");
}

TEST(LoopNests, ComputeAt) {
  Schedule s;
  s["out"].split("y", "yo", "yi", 4);
  s["up"].compute_at("out", "yo");
  EXPECT_EQ(level(chain(), s, "loops"), R"(
produce out:
  for yo in [0, 0 + (H + 3)/4):  # #1 split(y, yo, yi, 4)
    let up.y.max = yo*4 + min(H - yo*4, 4) + 1
    realize up f32 over [0, W - 1] x [yo*4, up.y.max]:
      produce up:
        for y in [yo*4, yo*4 + up.y.max - yo*4 + 1):
          for x in [0, 0 + W):
            up(x, y) = in(x, y)*2.0
      for yi in [0, 0 + min(H - yo*4, 4)):  # #1 split(y, yo, yi, 4)
        for x in [0, 0 + W):
          y := yi + yo*4
          out(x, y) = up(x, y) + up(x, y + 1) + up(x, y + 2)
)");
}

// Each row of `up` is computed once, into a ring of four rows.
TEST(LoopNests, SlidingWindow) {
  Schedule s;
  s["out"].serial("y");
  s["up"].store_root().compute_at("out", "y");
  EXPECT_EQ(level(chain(), s, "loops"), R"(
realize up f32 over [0, W - 1] x [0, H + 1], dimension 1 a ring of 4:
  produce out:
    for y in [0, 0 + H):  # #1 serial(y)
      let up.y.new.min = select(0 < y, y + 2, y)
      produce up:
        for y in [up.y.new.min, up.y.new.min + y - up.y.new.min + 3):
          for x in [0, 0 + W):
            up(x, y) = in(x, y)*2.0
      for x in [0, 0 + W):
        out(x, y) = up(x, y) + up(x, y + 1) + up(x, y + 2)
)");
}

TEST(LoopNests, SlidingWindowInsideStrips) {
  Schedule s;
  s["out"].split("y", "yo", "yi", 8).parallel("yo");
  s["up"].store_at("out", "yo").compute_at("out", "yi");
  EXPECT_EQ(level(chain(), s, "loops"), R"(
produce out:
  for yo in [0, 0 + (H + 7)/8) parallel:  # #1 split(y, yo, yi, 8), #2 parallel(yo)
    let up.y.stored.max = yo*8 + min(H - yo*8, 8) + 1
    realize up f32 over [0, W - 1] x [yo*8, up.y.stored.max], dimension 1 a ring of 4:
      for yi in [0, 0 + min(H - yo*8, 8)):  # #1 split(y, yo, yi, 8)
        let up.y.new.min = select(0 < yi, yi + yo*8 + 2, yi + yo*8)
        let up.y.new.max = yi + yo*8 + 2
        produce up:
          for y in [up.y.new.min, up.y.new.min + up.y.new.max - up.y.new.min + 1):
            for x in [0, 0 + W):
              up(x, y) = in(x, y)*2.0
        for x in [0, 0 + W):
          y := yi + yo*8
          out(x, y) = up(x, y) + up(x, y + 1) + up(x, y + 2)
)");
}

TEST(LoopNests, ReductionIntoLanes) {
  Schedule s;
  s["total"].serial("y").update().split("k", "ko", "ki", 8).serial("y");
  s["total"].update().rfactor({{"ki", "lane"}}, "lanes");
  s["lanes"]
      .compute_at("total.update(0)", "y")
      .vectorize("lane")
      .update()
      .reorder("lane", "ko")
      .vectorize("lane");
  EXPECT_EQ(level(row_sums(), s, "loops"), R"(
produce total:
  for y in [0, 0 + H):  # #1 serial(y)
    total(y) = 0
  for y in [0, 0 + H):  # #3 serial(y)
    realize lanes s32 over [y, y] x [0, 7]:
      produce lanes:
        for lane in [0, 0 + 8) vector:  # #6 vectorize(lane)
          for y in [y, y + 1):
            lanes(y, lane) = 0
        for ko in [0, 0 + (W + 7)/8):  # #2 split(k, ko, ki, 8)
          for y in [y, y + 1):
            for lane in [0, 0 + 8) vector:  # #8 vectorize(lane)
              where lane + ko*8 < W
              lanes(y, lane) = lanes(y, lane) + in(lane + ko*8, y)
      for ki in [0, 0 + 8):  # #2 split(k, ko, ki, 8)
        total(y) = total(y) + lanes(y, ki)
)");
}

TEST(LoopNests, CopyOfAnInput) {
  Schedule s;
  s["up"].compute_inline();
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4);
  s.in("in").compute_at("out", "xo").store_in(Memory::Stack);
  EXPECT_EQ(level(chain(), s, "memory"), R"(
produce out:
  for yo in [0, 0 + (H + 3)/4):  # #2 tile(x, y, xo, yo, xi, yi, 16, 4)
    for xo in [0, 0 + (W + 15)/16):  # #2 tile(x, y, xo, yo, xi, yi, 16, 4)
      let in.in.d0.max = xo*16 + min(W - xo*16, 16) - 1
      let in.in.d1.max = yo*4 + min(H - yo*4, 4) + 1
      realize in.in f32 over [xo*16, in.in.d0.max] x [yo*4, in.in.d1.max] in stack:
        produce in.in:
          for d1 in [yo*4, yo*4 + in.in.d1.max - yo*4 + 1):
            for d0 in [xo*16, xo*16 + in.in.d0.max - xo*16 + 1):
              in.in(d0, d1) = in(d0, d1)
        for yi in [0, 0 + min(H - yo*4, 4)):  # #2 tile(x, y, xo, yo, xi, yi, 16, 4)
          for xi in [0, 0 + min(W - xo*16, 16)):  # #2 tile(x, y, xo, yo, xi, yi, 16, 4)
            x := xi + xo*16
            y := yi + yo*4
            out(x, y) = in.in(x, y)*2.0 + in.in(x, y + 1)*2.0 + in.in(x, y + 2)*2.0
)");
}

// One barrier between the tile's writes and its reads; none around.
TEST(LoopNests, SharedTile) {
  Schedule s;
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s["up"].compute_at("out", "xo").store_in(Memory::Shared);
  EXPECT_EQ(level(chain(), s, "sync", gpu), R"(
produce out:
  for yo in [0, 0 + (H + 3)/4) gpu_block.y:  # #1 tile(x, y, xo, yo, xi, yi, 32, 4), #2 gpu_blocks(xo, yo)
    for xo in [0, 0 + (W + 31)/32) gpu_block.x:  # #1 tile(x, y, xo, yo, xi, yi, 32, 4), #2 gpu_blocks(xo, yo)
      let up.x.max = min(xo*32 + 31, W - 1)
      let up.y.max = min(yo*4 + 3, H - 1) + 2
      realize up f32 over [xo*32, up.x.max] x [yo*4, up.y.max] in shared:
        produce up:
          for x.o in [0, 0 + 2):  # dealt out to the block's threads
            for x.ty in [0, 0 + 4) gpu_thread.y:  # dealt out to the block's threads
              for x.t in [0, 0 + 32) gpu_thread.x:  # dealt out to the block's threads
                where xo*32 + x.t <= up.x.max
                where yo*4 + x.o*4 + x.ty <= up.y.max
                x := xo*32 + x.t
                y := yo*4 + x.o*4 + x.ty
                up(x, y) = in(x, y)*2.0
        barrier  # up is complete before it is read
        for yi in [0, 0 + 4) gpu_thread.y:  # #1 tile(x, y, xo, yo, xi, yi, 32, 4), #3 gpu_threads(xi, yi)
          for xi in [0, 0 + 32) gpu_thread.x:  # #1 tile(x, y, xo, yo, xi, yi, 32, 4), #3 gpu_threads(xi, yi)
            where yi + yo*4 < H
            where xi + xo*32 < W
            x := xi + xo*32
            y := yi + yo*4
            out(x, y) = up(x, y) + up(x, y + 1) + up(x, y + 2)
)");
}

}  // namespace
}  // namespace calotype::test
