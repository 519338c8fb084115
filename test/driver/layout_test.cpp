// Memory laid out by parts of coordinates: results in every place and kind of memory, and what the accesses
// become.

#include "support/stencil.h"

namespace calotype {
namespace {

using testing::expect_stencil_right;
using testing::random_buffer;
using testing::stencil;
using testing::stencil_tiles;
using testing::targets;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string lowered(const Pipeline& p, const Schedule& s, const Target& target) {
  return p.compile(s, target).show("lowered");
}

TEST(Layout, OfATileOfConstantSize) {
  for (const Target& target : targets()) {
    Schedule s = stencil_tiles(target);
    s["bx"].layout({"x % 4", "y % 2", "x / 4", "y / 2"});
    expect_stencil_right(s, target);
    EXPECT_TRUE(has(lowered(stencil(), s, target), "allocate bx: f32[4, 2, 4, 3]"))
        << lowered(stencil(), s, target);
    // Extents that the parts do not divide.
    Schedule odd = stencil_tiles(target);
    odd["bx"].layout({"y / 4", "x % 3", "y % 4", "x / 3 % 2", "x / 6"});
    expect_stencil_right(odd, target);
    EXPECT_TRUE(has(lowered(stencil(), odd, target), "allocate bx: f32[2, 3, 4, 2, 3]"))
        << lowered(stencil(), odd, target);
  }
}

TEST(Layout, OfFreeSizes) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_root().layout({"x % 8", "y", "x / 8"});
    s["bx"].compute_root().layout({"y % 4", "x", "y / 4"});
    expect_stencil_right(s, target);
    const bool device = target.is_gpu();  // there the plan allocates it
    EXPECT_TRUE(device || has(lowered(stencil(), s, target), "allocate edged: f32[8, "));
  }
}

TEST(Layout, OfARing) {
  for (const Target& target : targets()) {
    Schedule s = testing::stencil_window(target);
    if (target.is_gpu()) s["bx"].gpu_threads("x");
    Schedule three = s;
    s["bx"].layout({"x % 8", "y % 2", "x / 8", "y / 2"});
    expect_stencil_right(s, target);
    const std::string loops = stencil().compile(s, target).show("loops");
    EXPECT_TRUE(has(loops, "dimension 1 a ring of 4")) << loops;
    three["bx"].fold_storage("y", 3).layout({"y % 2", "x % 8", "x / 8", "y / 2"});
    expect_stencil_right(three, target);
    EXPECT_TRUE(has(stencil().compile(three, target).show("loops"), "dimension 1 a ring of 3"));
  }
}

TEST(Layout, OfAWindowAlongAPartedCoordinate) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    s["out"].split("x", "xo", "xi", 16).reorder("xi", "xo", "y");
    if (target.is_gpu()) s["out"].gpu_blocks("y").gpu_threads("xi");
    s["bx"].store_at("out", "y").compute_at("out", "xo").fold_storage("x", 18);
    s["bx"].fold_storage("y", 3).layout({"x % 4", "y", "x / 4"});
    if (target.is_gpu()) s["bx"].store_in(Memory::Shared);
    expect_stencil_right(s, target);
  }
}

TEST(Layout, OfCopiesInTurn) {
  for (const Target& target : targets()) {
    Schedule s = stencil_tiles(target);
    if (target.is_gpu()) {
      s = Schedule();
      s["edged"].compute_inline();
      s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 8).reorder("xi", "yi", "xo", "yo");
      s["out"].gpu_blocks("xo", "yo").gpu_threads("xi");
      s["bx"].compute_at("out", "yi").store_in(Memory::Shared).gpu_threads("x").hoist_storage("out", "xo");
    } else {
      s["bx"].hoist_storage_root();
    }
    s["bx"].ring_buffer(3).layout({"y", "x % 5", "x / 5"});
    expect_stencil_right(s, target);
  }
}

TEST(Layout, WithABoundOfTheStorage) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    if (target.is_gpu()) s["out"].gpu_blocks("y").gpu_threads("x", 16);
    s["bx"].compute_at("out", "y").store_in(target.is_gpu() ? Memory::Shared : Memory::Stack);
    s["bx"].layout({"x % 8", "y", "x / 8"}).bound_storage("x", 41);
    expect_stencil_right(s, target);
    EXPECT_TRUE(has(lowered(stencil(), s, target), "allocate bx: f32[8, 3, 6]"))
        << lowered(stencil(), s, target);
  }
}

TEST(Layout, InMemoryOfAThread) {
  for (const Memory memory : {Memory::Local, Memory::Register}) {
    const Target target = Target::interpreter("sm_90a");
    Schedule s;
    s["edged"].compute_inline();
    s["out"].split("x", "xo", "xi", 4).unroll("xi").gpu_blocks("y").gpu_threads("xo", 8);
    s["bx"].compute_at("out", "xo.t").store_in(memory).layout({"y", "x % 2", "x / 2"});
    s["bx"].unroll("x").unroll("y");
    expect_stencil_right(s, target);
  }
}

TEST(Layout, OfTuples) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), both("both"), out("out");
  both(x, y) = Tuple(edged(x, y) * 2.0f, cast<std::int16_t>(x + 2 * y));
  both(x, y) = Tuple(both(x, y)[0] + 1.0f, both(x, y)[1] + cast<std::int16_t>(3));
  out(x, y) = both(x - 1, y)[0] + cast<float>(both(x + 1, y + 1)[1]);
  const Pipeline p("pairs", {in}, {Output(out, {W, H})});
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    s["both"].compute_root().layout({"x % 4", "y", "x / 4"});
    for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {9, 4}, {32, 3}})
      testing::expect_matches(p, s, target, {random_buffer(Float(32), {w, h}, 2)},
                              {Buffer(Float(32), {w, h})});
  }
}

TEST(Layout, OfEveryType) {
  for (const Type type : {UInt(8), Int(16), Int(64), Float(16), BFloat(16), Float(64), E4M3(), Bool()}) {
    Dim N("N");
    ImageParam in(type, {N, Expr(3)}, "in");
    Var x("x"), y("y");
    Func copy("copy"), out("out");
    copy(x, y) = in(x, y);
    out(x, y) = copy(N - 1 - x, y);
    const Pipeline p("copied", {in}, {Output(out, {N, 3})});
    for (const Target& target : targets()) {
      Schedule s;
      s["copy"].compute_root().layout({"x % 4", "y", "x / 4"});
      testing::expect_matches(p, s, target, {random_buffer(type, {13, 3}, 3)}, {Buffer(type, {13, 3})});
    }
  }
}

/// The matrix product with B packed in panels of 8 columns.
Schedule packed() {
  Schedule s;
  const Stage panels = s.in("B", {"acc"});
  s[panels].compute_root().layout({"d0 % 8", "d1", "d0 / 8"}).vectorize("d0", 8);
  s["acc"].compute_at("C", "jo").vectorize("j", 8);
  s["acc"].update().reorder("j", "i", "r").vectorize("j", 8).unroll("i");
  s["C"].tile("j", "i", "jo", "io", "ji", "ii", 8, 4).vectorize("ji", 8);
  return s;
}

/// The matrix product in tiles of threads that hold 4 columns each, with B in shared memory.
Schedule packed_in_blocks() {
  Schedule s;
  const Stage panels = s.in("B", {"acc"});
  s["C"].tile("j", "i", "jo", "io", "ji", "ii", 32, 4).split("ji", "jt", "jv", 4);
  s["C"].gpu_blocks("jo", "io").gpu_threads("jt", "ii").vectorize("jv");
  s["acc"].compute_at("C", "jt").store_in(Memory::Register).vectorize("j");
  s["acc"].update().reorder("j", "r").vectorize("j");
  s[panels].compute_at("C", "jo").store_in(Memory::Shared).bound_storage("d1", 16);
  s[panels].layout({"d0 % 4", "d1", "d0 / 4"});
  return s;
}

TEST(Layout, PacksAnOperand) {
#ifdef CALOTYPE_HAS_LLVM
  const std::string text = lowered(testing::product(), packed(), Target::host());
  // A whole vector of the panel, both where it is written and where it is read.
  EXPECT_TRUE(has(text, "B.in(acc)[ramp(")) << text;
  EXPECT_FALSE(has(text, "%broadcast(8")) << text;
  EXPECT_FALSE(has(text, "% broadcast(8")) << text;
  for (const auto& [m, n, k] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{8, 16, 5}, {5, 19, 12}, {1, 1, 1}})
    testing::expect_matches(testing::product(), packed(), Target::host(),
                            {random_buffer(Float(32), {k, m}, 1), random_buffer(Float(32), {n, k}, 2)},
                            {Buffer(Float(32), {n, m})});
#endif
}

TEST(Layout, PacksAnOperandInSharedMemory) {
  const Target target = Target::interpreter("sm_90a");
  const std::string text = lowered(testing::product(), packed_in_blocks(), target);
  EXPECT_TRUE(has(text, "B.in(acc)[ramp(")) << text;
  for (const auto& [m, n, k] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{8, 64, 16}, {5, 35, 12}})
    testing::expect_matches(testing::product(), packed_in_blocks(), target,
                            {random_buffer(Float(32), {k, m}, 1), random_buffer(Float(32), {n, k}, 2)},
                            {Buffer(Float(32), {n, m})});
}

TEST(Layout, IsNotForRegistersOfABlock) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s["bx"].compute_at("out", "xo").store_in(Memory::Register).gpu_threads("x", "y").layout({"y", "x"});
  const std::vector<Diagnostic> found = s.check(stencil(), Target::interpreter("sm_90a"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0].message, "which have no order and no strides")) << found[0].str();
  EXPECT_TRUE(has(found[0].directive, "layout(y, x)")) << found[0].str();
}

}  // namespace
}  // namespace calotype
