// Directives on memory: order and strides, constant extents, rings, allocation further out.

#include "support/stencil.h"

namespace calotype {
namespace {

using testing::expect_stencil_right;
using testing::random_buffer;
using testing::stencil;
using testing::stencil_tiles;
using testing::targets;

const Target kInterpreter = Target::interpreter("sm_90a");

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string lowered(const Schedule& s, const Target& target) {
  return stencil().compile(s, target).show("lowered");
}

TEST(ReorderStorage, GivesTheFirstStrideOne) {
  for (const Target& target : targets()) {
    Schedule s = stencil_tiles(target);
    s["bx"].reorder_storage("y", "x");
    expect_stencil_right(s, target);
    // The next row is the next element instead of the next 16.
    EXPECT_TRUE(has(lowered(s, target), "+ 1]*3.0 + bx[")) << lowered(s, target);
    EXPECT_TRUE(has(lowered(stencil_tiles(target), target), "+ 16]*3.0 + bx["));
    Schedule root;
    root["edged"].compute_root().reorder_storage("y", "x");
    expect_stencil_right(root, target);
  }
}

TEST(AlignStorage, PadsTheStride) {
  for (const Target& target : targets()) {
    Schedule s = stencil_tiles(target);
    s["bx"].align_storage("x", 24);
    expect_stencil_right(s, target);
    EXPECT_TRUE(has(lowered(s, target), "allocate bx: f32[24, 6]")) << lowered(s, target);
    Schedule root;
    root["edged"].compute_root().align_storage("x", 32);
    expect_stencil_right(root, target);
  }
}

TEST(Pad, AddsElements) {
  for (const Target& target : targets()) {
    Schedule s = stencil_tiles(target);
    s["bx"].pad("x", 1);
    expect_stencil_right(s, target);
    EXPECT_TRUE(has(lowered(s, target), "allocate bx: f32[17, 6]")) << lowered(s, target);
    s["bx"].align_storage("x", 4).reorder_storage("y", "x").pad("y", 3);
    expect_stencil_right(s, target);
    EXPECT_TRUE(has(lowered(s, target), "allocate bx: f32[20, 9]")) << lowered(s, target);
    Schedule root;
    root["edged"].compute_root().pad("x", 5);
    expect_stencil_right(root, target);
  }
}

TEST(Strides, OfRegistersOfABlockAreRefused) {
  Schedule t;
  t["edged"].compute_inline();
  t["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  t["bx"].compute_at("out", "xo").store_in(Memory::Register).gpu_threads("x").pad("x", 1);
  const std::vector<Diagnostic> found = t.check(stencil(), kInterpreter);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0].message, "which have no order and no strides")) << found[0].str();
}

TEST(BoundStorage, MakesSharedMemoryOfAFreeSize) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    if (target.is_gpu()) s["out"].gpu_blocks("y").gpu_threads("x", 16);
    s["bx"].compute_at("out", "y").store_in(target.is_gpu() ? Memory::Shared : Memory::Stack);
    const std::vector<Diagnostic> free = s.check(stencil(), target);
    ASSERT_EQ(free.size(), 1u);
    EXPECT_TRUE(has(free[0].legal, "bound_storage('x', ...)")) << free[0].str();
    s["bx"].bound_storage("x", 40);
    expect_stencil_right(s, target);
    const Kernel kernel = stencil().compile(s, target);
    EXPECT_TRUE(has(kernel.show("lowered"), "allocate bx: f32[40, 3]")) << kernel.show("lowered");
    try {
      kernel.call({Buffer(Float(32), {41, 2}), Buffer(Float(32), {41, 2})});
      FAIL() << "ran";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Argument);
      EXPECT_TRUE(
          has(e.diagnostic().message, "bound_storage(x, 40) does not hold what is needed, an extent of 41"))
          << e.what();
    }
  }
}

/// bx stored further out than the rows where it is computed.
Schedule window(const Target& target) {
  Schedule s;
  s["edged"].compute_inline();
  if (target.is_gpu()) {
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 8).reorder("xi", "yi", "xo", "yo");
    s["out"].gpu_blocks("xo", "yo").gpu_threads("xi");
    s["bx"].store_at("out", "xo").compute_at("out", "yi").store_in(Memory::Shared).gpu_threads("x");
  } else {
    s["out"].serial("y");
    s["bx"].store_root().compute_at("out", "y");
  }
  return s;
}

TEST(FoldStorage, IsTheRingAskedFor) {
  for (const Target& target : targets()) {
    for (int depth : {3, 5}) {
      Schedule s = window(target);
      s["bx"].fold_storage("y", depth);
      expect_stencil_right(s, target);
      const std::string loops = stencil().compile(s, target).show("loops");
      EXPECT_TRUE(has(loops, "dimension 1 a ring of " + std::to_string(depth))) << loops;
      EXPECT_TRUE(has(loops, "bx.y.new.min") || has(loops, "select")) << loops;  // the window still slides
    }
    EXPECT_TRUE(has(stencil().compile(window(target), target).show("loops"), "dimension 1 a ring of 4"));
  }
}

TEST(FoldStorage, AlongWhatIsKeptAsAWhole) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    s["out"].split("x", "xo", "xi", 16).reorder("xi", "xo", "y");
    if (target.is_gpu()) s["out"].gpu_blocks("y").gpu_threads("xi");
    s["bx"].store_at("out", "y").compute_at("out", "xo").fold_storage("x", 18).fold_storage("y", 3);
    if (target.is_gpu()) s["bx"].store_in(Memory::Shared);
    expect_stencil_right(s, target);
  }
}

/// out(x, y) from rows H - y and H - y - 1 of f: needed from the last to the first.
Pipeline flipped() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), out("out");
  f(x, y) = edged(x, y) * 2.0f;
  out(x, y) = f(x, H - y) - f(x, H - y - 1);
  return Pipeline("flipped", {in}, {Output(out, {W, H})});
}

TEST(FoldStorage, OfAFuncThatDoesNotSlide) {
  for (const Target& target : targets()) {
    Schedule s;
    if (target.is_gpu()) {
      s["out"].split("x", "xo", "xi", 16).reorder("xi", "y", "xo").gpu_blocks("xo").gpu_threads("xi");
      s["f"].store_at("out", "xo").compute_at("out", "y").store_in(Memory::Shared);
    } else {
      s["out"].serial("y");
      s["f"].store_root().compute_at("out", "y");
    }
    s["f"].fold_storage("y", 2);
    for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 3}, {33, 9}})
      testing::expect_matches(flipped(), s, target, {random_buffer(Float(32), {w, h}, 1)},
                              {Buffer(Float(32), {w, h})});
    const std::string loops = flipped().compile(s, target).show("loops");
    EXPECT_TRUE(has(loops, "dimension 1 a ring of 2")) << loops;
    EXPECT_FALSE(has(loops, "select")) << loops;
  }
}

TEST(HoistStorage, MovesTheAllocationAlone) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    if (target.is_gpu()) {
      s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 8).reorder("xi", "yi", "xo", "yo");
      s["out"].gpu_blocks("xo", "yo").gpu_threads("xi");
      s["bx"].compute_at("out", "yi").store_in(Memory::Shared).gpu_threads("x").hoist_storage("out", "xo");
    } else {
      s["out"].serial("y");
      s["bx"].compute_at("out", "y").hoist_storage_root();
    }
    expect_stencil_right(s, target);
    const std::string loops = stencil().compile(s, target).show("loops");
    EXPECT_LT(loops.find("realize bx"), loops.find(target.is_gpu() ? "for yi" : "for y ")) << loops;
    EXPECT_FALSE(has(loops, "ring")) << loops;
    EXPECT_FALSE(has(loops, "select")) << loops;  // each row anew
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(HoistStorage, IsLargeEnoughForAnyIteration) {
  // Region sizes that grow with the loop: row y reads y + 1 values.
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x"), y("y");
  Func f("f"), sum("sum");
  RDom r(0, N, "r");
  r.where(r <= y);
  f(x) = in(x) * 2.0f;
  sum(y) += f(r);
  const Pipeline p("triangle", {in}, {Output(sum, {N})});
  Schedule s;
  s["f"].compute_at("sum.update(0)", "y").hoist_storage_root();
  for (std::int64_t n : {1, 6, 33})
    testing::expect_matches(p, s, Target::host(), {random_buffer(Float(32), {n}, 1)},
                            {Buffer(Float(32), {n})});
}

#endif  // CALOTYPE_HAS_LLVM

}  // namespace
}  // namespace calotype
