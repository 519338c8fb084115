// Directives on the region of a Func: what is computed, what that does to the code, and calls that break the
// promise.

#include "support/stencil.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::targets;

/// f(x, y) = 3 x + y, wherever the caller's buffer lies.
Pipeline ramp() {
  Var x("x"), y("y");
  Func f("f");
  f(x, y) = cast<std::int32_t>(x * 3 + y);
  return Pipeline("ramp", {}, {Output(f)});
}

/// out(x, y) = acc(x, y) - 1 with acc(x, y) the sum of in(x - 1 .. x + 1, y), repeated at the edges.
Pipeline box() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  RDom r(-1, 3, "r");
  Func edged = boundary::repeat_edge(in, "edged"), acc("acc"), out("out");
  acc(x, y) += edged(x + r, y);
  out(x, y) = acc(x, y) - 1.0f;
  return Pipeline("box", {in}, {Output(out, {W, H})});
}

/// Blocks of 16 by 4 threads on a GPU, rows on a host.
void nest(Schedule& s, const Target& target) {
  if (target.is_gpu())
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  else
    s["out"]
        .split("x", "xo", "xi", 16, Tail::Guard)
        .split("y", "yo", "yi", 4)
        .reorder("xi", "yi", "xo", "yo");
}

void expect_right(const Pipeline& pipeline, const Schedule& s, const Target& target) {
  for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 3}, {16, 8}, {37, 18}}) {
    const Buffer in = random_buffer(Float(32), {w, h}, 1);
    testing::expect_matches(pipeline, s, target, {in}, {Buffer(Float(32), {w, h})});
    testing::expect_stages_match(pipeline, s, target, {in});
  }
}

void expect_call_refused(const Kernel& kernel, const std::vector<Arg>& args, const std::string& part,
                         const std::string& legal = "") {
  try {
    kernel.call(args);
    FAIL() << "ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Argument);
    EXPECT_NE(e.diagnostic().message.find(part), std::string::npos) << e.diagnostic().message;
    EXPECT_NE(e.diagnostic().legal.find(legal), std::string::npos) << e.diagnostic().legal;
  }
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The lines of a level that stand inside the first line with `head`.
std::string inside(const std::string& text, const std::string& head) {
  const std::size_t start = text.find(head);
  if (start == std::string::npos) return "";
  const std::size_t line = text.rfind('\n', start) + 1, indent = start - line;
  std::size_t end = text.find('\n', start);
  while (end + 1 < text.size() && text.find_first_not_of(' ', end + 1) - (end + 1) > indent)
    end = text.find('\n', end + 1);
  return text.substr(line, end - line);
}

TEST(BoundExtent, IsAConstantFromWhereverItStarts) {
  for (const Target& target : targets()) {
    Schedule s;
    s["f"].bound_extent("x", 8);
    if (target.is_gpu())
      s["f"].gpu_blocks("y").gpu_threads("x");
    else
      s["f"].vectorize("x");
    const Kernel kernel = ramp().compile(s, target);
    const Buffer out = Buffer(Int(32), {8, 5}).translate({-3, 7});
    testing::poison(out);
    kernel.call({out});
    for (std::int64_t y = 7; y < 12; ++y)
      for (std::int64_t x = -3; x < 5; ++x) EXPECT_EQ(out.at<std::int32_t>({x, y}), 3 * x + y);
    EXPECT_FALSE(has(kernel.show("lowered"), "f.extent.0")) << kernel.show("lowered");
    expect_call_refused(kernel, {Buffer(Int(32), {9, 5}).translate({-3, 7})},
                        "bound_extent(x, 8) fits only an extent of 8, not 9 from -3");
  }
}

TEST(BoundExtent, OfAProducerHoldsWhatIsNeeded) {
  for (const Target& target : targets()) {
    Schedule s;
    nest(s, target);
    s["bx"].compute_root().bound_extent("x", 37);
    if (target.is_gpu())
      s["bx"].gpu_blocks("y").gpu_threads("x");
    else
      s["bx"].serial("y");
    expect_right(testing::stencil(), s, target);
    const Kernel kernel = testing::stencil().compile(s, target);
    EXPECT_TRUE(has(kernel.show("loops"), "for x in [0, 0 + 37)")) << kernel.show("loops");
    expect_call_refused(kernel, {Buffer(Float(32), {38, 2}), Buffer(Float(32), {38, 2})},
                        "bound_extent(x, 37) does not hold what is needed, 0 to 37");
  }
}

TEST(BoundExtent, MakesATileThatIsWholeAtTheEdges) {
  for (const Target& target : targets()) {
    Schedule s;
    nest(s, target);
    s["edged"].compute_inline();
    s["bx"].compute_at("out", "xo").bound_extent("x", 16).bound_extent("y", 6);
    if (target.is_gpu())
      s["bx"].store_in(Memory::Shared).gpu_threads("x").unroll("y");
    else
      s["bx"].vectorize("x").unroll("y");
    expect_right(testing::stencil(), s, target);
    const std::string loops = testing::stencil().compile(s, target).show("loops");
    EXPECT_TRUE(has(loops, "realize bx f32 over [xo*16, xo*16 + 15] x [yo*4 - 1, yo*4 + 4]")) << loops;
    s = Schedule();
    nest(s, target);
    s["bx"].compute_at("out", "xo").bound_extent("x", 15);
    const std::vector<Diagnostic> found = s.check(testing::stencil(), target);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(has(found[0].message, "'bx' is bounded to 15 coordinates in 'x'")) << found[0].str();
  }
}

TEST(AlignBounds, OfAWindowThatSlides) {
  for (const Target& target : targets()) {
    Schedule s = testing::stencil_window(target);
    s["bx"].align_bounds("y", 2).fold_storage("y", 4);
    expect_right(testing::stencil(), s, target);
  }
}

TEST(AlignBounds, NeedsNoTail) {
  for (const Target& target : targets()) {
    Schedule s;
    nest(s, target);
    s["edged"].compute_inline();
    s["bx"].compute_at("out", "xo").align_bounds("x", 8).align_bounds("y", 4, 3);
    s["bx"].vectorize("x", 4).split("y", "yo", "yi", 4);
    if (target.is_gpu()) s["bx"].store_in(Memory::Shared).gpu_threads("x.o", "yi");
    expect_right(testing::stencil(), s, target);
    const std::string loops = testing::stencil().compile(s, target).show("loops");
    const std::string own = inside(loops, "produce bx");
    EXPECT_FALSE(has(own, "where")) << loops;
    EXPECT_TRUE(has(own, "for yi in [0, 0 + 4)")) << loops;
  }
}

TEST(AlignBounds, EnlargesUpdatesAsWell) {
  for (const Target& target : targets()) {
    Schedule s;
    nest(s, target);
    s["edged"].compute_inline();
    s["acc"].compute_root().align_bounds("x", 8).vectorize("x", 8);
    s["acc"].update().reorder("x", "r", "y").vectorize("x", 8);
    if (target.is_gpu()) {
      s["acc"].gpu_blocks("y").gpu_threads("x.o");
      s["acc"].update().gpu_blocks("y");
      s["acc"].bound("x", 0, 48);
    }
    expect_right(box(), s, target);
    const std::string loops = box().compile(s, target).show("loops");
    EXPECT_FALSE(has(inside(loops, "produce acc"), "where")) << loops;
  }
}

TEST(AlignBounds, AnInputThatDoesNotHoldTheRegionIsRefused) {
  for (const Target& target : targets()) {
    Schedule s;
    s["total"].compute_root().align_bounds("y", 4);
    s["out"].compute_root();
    const Kernel kernel = testing::row_sums().compile(s, target);
    expect_call_refused(kernel, {Buffer(Float(32), {8, 5}), Buffer(Float(32), {8, 5})},
                        "dimension 1 is read from 0 to 7 but holds 0 to 4",
                        "more than the algorithm reads may be asked for by #2 align_bounds(y, 4)");
    testing::expect_matches(testing::row_sums(), s, target, {random_buffer(Float(32), {9, 8}, 1)},
                            {Buffer(Float(32), {9, 8})});
  }
}

TEST(AlignExtent, StartsWhereItIsNeeded) {
  for (const Target& target : targets()) {
    Schedule s;
    nest(s, target);
    s["edged"].compute_inline();
    s["bx"].compute_root().align_extent("y", 4);
    if (target.is_gpu())
      s["bx"].split("y", "yo", "yi", 4).gpu_blocks("yo").gpu_threads("yi");
    else
      s["bx"].split("y", "yo", "yi", 4).unroll("yi");
    expect_right(testing::stencil(), s, target);
    const std::string loops = testing::stencil().compile(s, target).show("loops");
    EXPECT_TRUE(has(loops, "y := yi + yo*4 - 1")) << loops;
    EXPECT_FALSE(has(inside(loops, "produce bx"), "if ")) << loops;
  }
}

}  // namespace
}  // namespace calotype
