// slide and ring_buffer: windows along coordinates that were split, producers ahead of their consumers, and
// copies of memory that take turns.

#include "support/stencil.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::stencil;
using testing::targets;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void expect_right(const Schedule& s, const Target& target) {
  testing::expect_stencil_right(s, target, {{1, 1}, {7, 3}, {16, 8}, {37, 18}, {5, 41}});
}

/// bx in a window over the rows of out, which are split twice.
Schedule split_rows(const Target& target, Tail tail, const char* at) {
  Schedule s;
  s["edged"].compute_inline();
  if (target.is_gpu()) {
    s["out"].split("x", "xo", "xi", 16).gpu_blocks("xo").gpu_threads("xi");
    s["out"].split("y", "yo", "yi", 8, tail).split("yi", "ym", "yk", 2).reorder("xi", "yk", "ym", "yo", "xo");
    s["bx"].store_at("out", "xo").compute_at("out", at).gpu_threads("x").store_in(Memory::Shared);
  } else {
    s["out"].split("y", "yo", "yi", 8, tail).split("yi", "ym", "yk", 2);
    s["bx"].store_root().compute_at("out", at);
  }
  return s;
}

TEST(Slide, GoesThroughAllLoopsOfTheCoordinate) {
  for (const Target& target : targets())
    for (Tail tail : {Tail::Guard, Tail::Predicate})
      for (const char* at : {"yk", "ym", "yo"})
        for (int depth : {0, 1, 3}) {
          Schedule s = split_rows(target, tail, at);
          s["bx"].slide("out", "y", depth);
          expect_right(s, target);
        }
}

TEST(Slide, KeepsARingWhereTheImplicitWindowHasNone) {
  for (const Target& target : targets()) {
    Schedule s = split_rows(target, Tail::Guard, "yk");
    s["bx"].slide("out", "y");
    const std::string loops = stencil().compile(s, target).show("loops");
    EXPECT_TRUE(has(loops, "dimension 1 a ring of 4")) << loops;
    s["bx"].fold_storage("y", 3);
    expect_right(s, target);
    // Two rows ahead two more are alive.
    Schedule ahead = split_rows(target, Tail::Guard, "yk");
    ahead["bx"].slide("out", "y", 2);
    const std::string more = stencil().compile(ahead, target).show("loops");
    EXPECT_TRUE(has(more, "dimension 1 a ring of 8")) << more;
    ahead["bx"].fold_storage("y", 4);
    const std::vector<Diagnostic> small = ahead.check(stencil(), target);
    ASSERT_EQ(small.size(), 1u);
    EXPECT_TRUE(has(small[0].message, "5 are alive at once along 'y'")) << small[0].str();
  }
}

TEST(Slide, GoesWithAWindowOfItsConsumer) {
  for (const Target& target : targets()) {
    Schedule s = split_rows(target, Tail::Guard, "yk");
    s["bx"].slide("out", "y", 1);
    Schedule t;
    for (const schedule::Directive& d : s.directives())
      if (d.stage != "edged") t.append(d);
    if (target.is_gpu())
      t["edged"].store_at("out", "xo").compute_at("out", "yk").store_in(Memory::Shared).gpu_threads("x");
    else
      t["edged"].store_root().compute_at("out", "yk");
    expect_right(t, target);
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(Slide, CrossesLoopsOfOtherCoordinates) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4).reorder("xi", "yi", "xo", "yo");
  s["bx"].store_root().compute_at("out", "yi").slide("out", "y");
  expect_right(s, Target::host());
  s["bx"].slide("out", "x");
  EXPECT_EQ(s.check(stencil(), Target::host()).size(), 1u);
}

TEST(SlidingByItself, TakesNoFirstIterationForASteadyOne) {
  // Row 5 for the first row, then each its own: what the first one needs says nothing of the others.
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), out("out");
  f(x, y) = edged(x, y) * 3;
  out(x, y) = f(x, select(y > 0, y, 5));
  const Pipeline p("first_row", {in}, {Output(out, {W, H})});
  Schedule s;
  s["edged"].compute_inline();
  s["out"].serial("y");
  s["f"].store_root().compute_at("out", "y");
  for (std::int64_t h : {1, 4, 9}) {
    const Buffer image = random_buffer(Int(32), {7, h}, 1);
    testing::expect_matches(p, s, Target::host(), {image}, {Buffer(Int(32), {7, h})});
  }
}

#endif  // CALOTYPE_HAS_LLVM

TEST(RingBuffer, TakesTheCopiesInTurn) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    if (target.is_gpu()) {
      s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 8).reorder("xi", "yi", "xo", "yo");
      s["out"].gpu_blocks("xo", "yo").gpu_threads("xi");
      s["bx"].compute_at("out", "yi").store_in(Memory::Shared).gpu_threads("x").hoist_storage("out", "xo");
    } else {
      s["out"].split("y", "yo", "yi", 4);
      s["bx"].compute_at("out", "yi").hoist_storage_root();
    }
    s["bx"].ring_buffer(3);
    expect_right(s, target);
    const Kernel kernel = stencil().compile(s, target);
    EXPECT_TRUE(has(kernel.show("loops"), ", 3 copies, number ")) << kernel.show("loops");
    if (target.is_gpu()) {
      EXPECT_TRUE(has(kernel.show("lowered"), "allocate bx: f32[16, 3, 3]")) << kernel.show("lowered");
    }
    s["bx"].reorder_storage("y", "x").pad("x", 1);
    expect_right(s, target);
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(RingBuffer, HoldsAWindowInEachCopy) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].split("y", "yo", "yi", 8);
  s["bx"].compute_at("out", "yi").store_at("out", "yo").hoist_storage_root().ring_buffer(2);
  expect_right(s, Target::host());
}

TEST(RingBuffer, OfATupleAndOfManyTypes) {
  Dim N("N"), R("R");
  for (Type type : {Int(8), UInt(16), Float(32), Float(64)}) {
    ImageParam in(type, {N, R}, "in");
    Var x("x"), y("y");
    Func two("two"), out("out");
    two(x, y) = Tuple(in(x, y) + in(x, y), in(N - 1 - x, y));
    out(x, y) = two(x, y)[0] + two(N - 1 - x, y)[1];
    const Pipeline p("turns", {in}, {Output(out, {N, R})});
    Schedule s;
    s["out"].serial("y");
    s["two"].compute_at("out", "y").hoist_storage_root().ring_buffer(4);
    for (const auto& [n, r] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {9, 7}, {33, 2}})
      testing::expect_matches(p, s, Target::host(), {random_buffer(type, {n, r}, 1)}, {Buffer(type, {n, r})});
  }
}

#endif  // CALOTYPE_HAS_LLVM

}  // namespace
}  // namespace calotype
