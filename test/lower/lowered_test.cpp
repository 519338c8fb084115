// Statements of small schedules, as lowering leaves them.

#include "lower/levels.h"

namespace calotype::test {
namespace {

TEST(Lowered, Inline) {
  Schedule s;
  s["up"].compute_inline();
  s["out"].serial("y");
  EXPECT_EQ(body(chain(), s), R"(
// produce out: default
for y in [0, H):  // out: #2 serial(y)
  for x in [0, W):  // out
    out[x + out.stride.1*y] = in[x + in.stride.1*y]*2.0 + in[x + (y + 1)*in.stride.1]*2.0 + in[x + (y + 2)*in.stride.1]*2.0
)");
}

TEST(Lowered, Unroll) {
  Schedule s;
  s["up"].compute_inline();
  s["out"].bound("y", 0, 3).unroll("y");
  EXPECT_EQ(body(chain(), s), R"(
// produce out: default
for x in [0, W):  // out
  out[x] = in[x]*2.0 + in[in.stride.1 + x]*2.0 + in[in.stride.1*2 + x]*2.0
for x in [0, W):  // out
  out[out.stride.1 + x] = in[in.stride.1 + x]*2.0 + in[in.stride.1*2 + x]*2.0 + in[in.stride.1*3 + x]*2.0
for x in [0, W):  // out
  out[out.stride.1*2 + x] = in[in.stride.1*2 + x]*2.0 + in[in.stride.1*3 + x]*2.0 + in[in.stride.1*4 + x]*2.0
)");
}

// Whole vectors, then one that is masked.
TEST(Lowered, Vectorize) {
  Schedule s;
  s["up"].compute_inline();
  s["out"].vectorize("x", 8);
  EXPECT_EQ(body(chain(), s), R"(
// produce out: default
for y in [0, H):  // out
  let x.o.rest = W/8
  for x.o in [0, x.o.rest):  // out: #2 vectorize(x, 8)
    out[ramp(x.o*8 + out.stride.1*y, 1, 8)] = in[ramp(x.o*8 + in.stride.1*y, 1, 8)]*broadcast(2.0, 8) + in[ramp(x.o*8 + (y + 1)*in.stride.1, 1, 8)]*broadcast(2.0, 8) + in[ramp(x.o*8 + (y + 2)*in.stride.1, 1, 8)]*broadcast(2.0, 8)
  if x.o.rest*8 < W:
    out[ramp(x.o.rest*8 + out.stride.1*y, 1, 8)] = load_if(ramp(x.o.rest*8, 1, 8) < broadcast(W, 8), in[ramp(x.o.rest*8 + in.stride.1*y, 1, 8)])*broadcast(2.0, 8) + load_if(ramp(x.o.rest*8, 1, 8) < broadcast(W, 8), in[ramp(x.o.rest*8 + (y + 1)*in.stride.1, 1, 8)])*broadcast(2.0, 8) + load_if(ramp(x.o.rest*8, 1, 8) < broadcast(W, 8), in[ramp(x.o.rest*8 + (y + 2)*in.stride.1, 1, 8)])*broadcast(2.0, 8) if ramp(x.o.rest*8, 1, 8) < broadcast(W, 8)
)");
}

// Lanes have partial results over the whole row, combined pair by pair behind it.
TEST(Lowered, VectorizeAReduction) {
  Schedule s;
  s["total"].serial("y");
  s["total"].update().vectorize("k", 8).serial("y");
  EXPECT_EQ(body(row_sums(), s), R"(
// produce total: default
for y in [0, H):  // total: #1 serial(y)
  total[y] = 0
for y in [0, H):  // total: #3 serial(y)
  allocate total.lanes: s32[8] in register
  total.lanes[ramp(0, 1, 8)] = broadcast(0, 8)
  let k.o.rest = W/8
  for k.o in [0, k.o.rest):  // total: #2 vectorize(k, 8)
    total.lanes[ramp(0, 1, 8)] = in[ramp(k.o*8 + in.stride.1*y, 1, 8)] + total.lanes[ramp(0, 1, 8)]
  if k.o.rest*8 < W:
    total.lanes[ramp(0, 1, 8)] = select(ramp(k.o.rest*8, 1, 8) < broadcast(W, 8), total.lanes[ramp(0, 1, 8)] + load_if(ramp(k.o.rest*8, 1, 8) < broadcast(W, 8), in[ramp(k.o.rest*8 + in.stride.1*y, 1, 8)]), total.lanes[ramp(0, 1, 8)])
  total[y] = total[y] + reduce_add(total.lanes[ramp(0, 1, 8)])
)");
}

// Partial results of one vector are no memory; those of narrow products that loops keep are of groups of 4.
TEST(Lowered, GroupsOfLanesOfAReduction) {
  Dim K("K"), N("N");
  ImageParam a(Int(8), {K}, "a"), b(Int(8), {N, K}, "b");
  Var n("n");
  RDom k(0, K, "k");
  Func sums("sums"), total("total");
  sums(n) += cast<std::int32_t>(a(k)) * cast<std::int32_t>(b(n, k));
  total() += cast<std::int32_t>(a(k));
  const Pipeline p("narrow", {a, b}, {Output(sums, {N}), Output(total, std::vector<Expr>{})});
  Schedule s;
  s["sums"].update().split("k", "ko", "ki", 4).split("n", "no", "ni", 8).reorder("ki", "ni", "no", "ko");
  s["sums"].update().vectorize("ki").vectorize("ni");
  s["total"].update().vectorize("k", 64);
  const std::string text = body(p, s);
  const std::size_t steady = text.find(", 8) + sums[ramp(no*8, 1, 8)]\n");
  EXPECT_NE(steady, std::string::npos) << text;
  EXPECT_GT(text.find("sums.lanes"), steady) << text;
  EXPECT_NE(text.find("allocate total.lanes: s32[16] in register"), std::string::npos) << text;
  EXPECT_NE(text.find("reduce_add(s32x64(a[ramp(k.o*64, 1, 64)]), 16)"), std::string::npos) << text;
  EXPECT_NE(text.find("reduce_add(total.lanes[ramp(0, 1, 16)])"), std::string::npos) << text;
}

TEST(Lowered, AtomicUpdates) {
  Schedule s;
  s["total"].serial("y");
  s["total"].update().atomic().reorder("y", "k").parallel("k");
  EXPECT_EQ(body(row_sums(), s), R"(
// produce total: default
for y in [0, H):  // total: #1 serial(y)
  total[y] = 0
for k in [0, W) parallel:  // total: #4 parallel(k)
  for y in [0, H):  // total
    total[y] atomic + in[k + in.stride.1*y]
)");
}

// Ends that clamp keep their names; starts were plain sums and are put in place.
TEST(Lowered, ARegionInsideTiles) {
  Schedule s;
  s["out"].split("y", "yo", "yi", 4, Tail::Guard).split("x", "xo", "xi", 8).reorder("xi", "yi", "xo", "yo");
  s["up"].compute_at("out", "xo");
  EXPECT_EQ(body(chain(), s), R"(
// produce out: default
for yo in [0, (H + 3)/4):  // out: #1 split(y, yo, yi, 4, guard)
  for xo in [0, (W + 7)/8):  // out: #2 split(x, xo, xi, 8)
    let up.x.max = xo*8 + min(W - xo*8, 8) - 1
    let up.y.max = yo*4 + min(H - yo*4, 4) + 1
    allocate up: f32[8, 6] in stack
    // produce up: #4 compute_at(out, xo)
    for y in [yo*4, yo*4 + (up.y.max - yo*4 + 1)):  // up
      for x in [xo*8, xo*8 + (up.x.max - xo*8 + 1)):  // up
        up[x + y*8 - xo*8 - yo*32] = in[x + in.stride.1*y]*2.0
    for yi in [0, min(H - yo*4, 4)):  // out: #1 split(y, yo, yi, 4, guard)
      for xi in [0, min(W - xo*8, 8)):  // out: #2 split(x, xo, xi, 8)
        out[xi + xo*8 + (yi + yo*4)*out.stride.1] = up[xi + yi*8] + up[xi + yi*8 + 8] + up[xi + yi*8 + 16]
)");
}

// A clamp is cut whichever of its ends stands outside.
TEST(Lowered, EdgesOfEitherClamp) {
  Dim W("W");
  ImageParam in(Float(32), {W}, "in");
  Var x("x");
  for (const Expr& at : {min(max(Expr(x) - 2, 0), W - 1), max(min(Expr(x) - 2, W - 1), 0)}) {
    Func out("out");
    out(x) = in(at);
    Schedule s;
    s["out"].vectorize("x", 8);
    const std::string text = body(Pipeline("clamped", {in}, {Output(out, {W})}), s);
    EXPECT_NE(text.find("out[ramp(x.o*8, 1, 8)] = in[ramp(x.o*8 - 2, 1, 8)]"), std::string::npos) << text;
  }
}

// Prologue and epilogue share one body with the clamps; the steady part has none, and its reads are dense.
TEST(Lowered, EdgesOfAVectorLoop) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].vectorize("x", 8);
  EXPECT_EQ(body(edges(), s), R"(
// produce out: default
let x.o.rest = max((W - 1)/8, 1)
for x.o.side in [0, 2):
  let x.o.side.min = select(x.o.side < 1, 0, x.o.rest)
  let x.o.side.end = select(x.o.side < 1, 1, (W + 7)/8)
  for x.o in [x.o.side.min, x.o.side.min + (x.o.side.end - x.o.side.min)):  // out: #2 vectorize(x, 8)
    for x.v in [0, 8):  // out: #2 vectorize(x, 8)
      if x.o*8 + x.v < W:
        out[x.o*8 + x.v] = in[max(x.o*8 + x.v - 1, 0)] + in[min(x.o*8 + x.v, W - 1)] + in[min(x.o*8 + x.v + 1, W - 1)]
  if x.o.side < 1:
    for x.o in [1, 1 + (x.o.rest - 1)):  // out: #2 vectorize(x, 8)
      out[ramp(x.o*8, 1, 8)] = in[ramp(x.o*8 - 1, 1, 8)] + in[ramp(x.o*8, 1, 8)] + in[ramp(x.o*8 + 1, 1, 8)]
)");
}

TEST(Lowered, EdgesOfASerialLoop) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].serial("x");
  EXPECT_EQ(body(edges(), s), R"(
// produce out: default
let x.rest = max(W - 1, 1)
for x.side in [0, 2):
  let x.side.min = select(x.side < 1, 0, x.rest)
  let x.side.end = select(x.side < 1, 1, W)
  for x in [x.side.min, x.side.min + (x.side.end - x.side.min)):  // out: #2 serial(x)
    out[x] = in[max(x - 1, 0)] + in[x] + in[min(x + 1, W - 1)]
  if x.side < 1:
    for x in [1, 1 + (x.rest - 1)):  // out: #2 serial(x)
      out[x] = in[x - 1] + in[x] + in[x + 1]
)");
}

// One box, wherever the tile ends.
TEST(Lowered, CopiesBoxes) {
  Schedule s;
  s["up"].compute_inline();
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s.in("in", {"up"}).compute_at("out", "xo").store_in(Memory::Shared).copy(Copy::Tma);
  EXPECT_EQ(body(chain(), s, gpu), R"(
allocate in.in(up): f32[32, 10] in shared
// produce in.in(up): #6 compute_at(out, xo)
// in.in(up): #8 copy(tma)
in.in(up)[0] box = in at (xo*32, yo*8), 32 x 10 elements, to in.in(up).full[0]
arrive at in.in(up).full
await in.in(up).full
barrier  // in.in(up) is complete before it is read
if yo*8 + thread_y < H:
  if xo*32 + thread_x < W:
    let v0 = thread_y*32 + thread_x
    out[xo*32 + thread_x + (yo*8 + thread_y)*out.stride.1] = in.in(up)[v0]*2.0 + in.in(up)[v0 + 32]*2.0 + in.in(up)[v0 + 64]*2.0
)");
}

}  // namespace
}  // namespace calotype::test
