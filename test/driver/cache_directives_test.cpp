// Directives on loops and caches that change how code runs and nothing of what it computes: partition,
// rename, prefetch, streams.

#include "support/stencil.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::stencil;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

void expect_right(const Schedule& s, const Target& target) {
  testing::expect_stencil_right(s, target, {{1, 1}, {7, 3}, {64, 8}, {130, 19}});
}

TEST(Partition, InAKernel) {
  const Target target = Target::interpreter("sm_90a");
  Schedule s;
  s["edged"].compute_inline();
  s["bx"].compute_inline();
  s["out"].split("x", "xo", "xi", 16).gpu_blocks("y").gpu_threads("xi");
  Schedule never = s;
  never["out"].partition("xo", Partition::Never);
  expect_right(s, target);
  expect_right(never, target);
  EXPECT_TRUE(has(stencil().compile(s, target).show("lowered"), "xo.rest"));
  EXPECT_FALSE(has(stencil().compile(never, target).show("lowered"), "xo.rest"));
}

TEST(Rename, IsTheLoopOfTheCode) {
  const Target target = Target::interpreter("sm_90a");
  Schedule s;
  s["out"].rename("x", "column").rename("y", "row").gpu_blocks("row").gpu_threads("column", 16);
  expect_right(s, target);
  EXPECT_TRUE(has(stencil().compile(s, target).show("loops"), "for column.t"));
}

#ifdef CALOTYPE_HAS_LLVM

TEST(Partition, NeverLeavesALoopWhole) {
  Schedule s;
  s["edged"].compute_inline();
  s["bx"].compute_inline();
  s["out"].serial("y").vectorize("x", 8);
  Schedule never = s;
  never["out"].partition("x.o", Partition::Never).partition("y", Partition::Never);
  expect_right(never, Target::host());
  const std::string cut = stencil().compile(s, Target::host()).show("lowered"),
                    whole = stencil().compile(never, Target::host()).show("lowered");
  EXPECT_TRUE(has(cut, "x.o.rest")) << cut;
  EXPECT_FALSE(has(whole, "rest")) << whole;
  EXPECT_EQ(count(whole, "for x.o in"), 1) << whole;
}

TEST(Partition, AlwaysCutsALoopThatDecidesForNoVector) {
  Schedule s;
  s["edged"].compute_inline();
  s["bx"].compute_inline();
  s["out"].serial("y");
  Schedule always = s;
  always["out"].partition("y", Partition::Always);
  expect_right(always, Target::host());
  const std::string without = stencil().compile(s, Target::host()).show("lowered"),
                    with = stencil().compile(always, Target::host()).show("lowered");
  EXPECT_FALSE(has(without, "let y.rest")) << without;
  EXPECT_TRUE(has(with, "let y.rest")) << with;
}

TEST(Rename, OnAHost) {
  Schedule s;
  s["out"].rename("y", "row").parallel("row").vectorize("x", 8);
  s["bx"].compute_at("out", "row");
  expect_right(s, Target::host());
  EXPECT_TRUE(has(stencil().compile(s, Target::host()).show("lowered"), "for row in"));
}

TEST(Prefetch, IsInTheCode) {
  for (bool parallel : {false, true}) {
    Schedule s;
    s["edged"].compute_inline();
    s["bx"].compute_at("out", "yi").vectorize("x", 8);
    s["out"].split("y", "yo", "yi", 4).vectorize("x", 8).prefetch("in", "yi", "yi", 2);
    if (parallel) s["out"].parallel("yo");
    expect_right(s, Target::host());
    const Kernel kernel = stencil().compile(s, Target::host());
    EXPECT_TRUE(has(kernel.show("lowered"), "prefetch in[")) << kernel.show("lowered");
    EXPECT_TRUE(has(kernel.show("llvm"), "llvm.prefetch")) << kernel.show("llvm");
  }
}

TEST(Prefetch, OfStoredFuncs) {
  Schedule s;
  s["edged"].compute_root();
  s["bx"].compute_root().serial("y").prefetch("edged", "y", "y", 3).prefetch("edged", "x", "y", 1);
  s["out"].serial("y").prefetch("bx", "y", "y", 2);
  expect_right(s, Target::host());
  const std::string code = stencil().compile(s, Target::host()).show("lowered");
  EXPECT_GE(count(code, "prefetch edged["), 2) << code;
  EXPECT_TRUE(has(code, "prefetch bx[")) << code;
}

TEST(Prefetch, OfARing) {
  Schedule s;
  s["edged"].compute_inline();
  s["bx"].store_root().compute_at("out", "y");
  s["out"].serial("y").prefetch("bx", "x", "x", 16);
  expect_right(s, Target::host());
}

/// The lines of code before and at the first hint.
std::string at_hint(const std::string& code) {
  const std::size_t hint = code.find("prefetch in[");
  if (hint == std::string::npos) return "none in " + code;
  std::size_t before = code.rfind('\n', hint);
  before = before == 0 || before == std::string::npos ? 0 : code.rfind('\n', before - 1);
  return code.substr(before, code.find('\n', hint) - before);
}

TEST(Prefetch, BeyondTheEndIsWhatIsAsked) {
  for (const bool parallel : {false, true})
    for (const PrefetchBounds bounds :
         {PrefetchBounds::NonFaulting, PrefetchBounds::Clamp, PrefetchBounds::Guard}) {
      Schedule s;
      s["edged"].compute_inline();
      s["bx"].compute_at("out", "y").vectorize("x", 8);
      s["out"].vectorize("x", 8).prefetch("in", "y", "y", 5, bounds);
      if (parallel)
        s["out"].parallel("y");
      else
        s["out"].serial("y");
      expect_right(s, Target::host());
      const std::string hint = at_hint(stencil().compile(s, Target::host()).show("lowered"));
      const bool guarded = has(hint, "if ");
      EXPECT_EQ(guarded, bounds == PrefetchBounds::Guard) << hint;
      // What is read is clamped already; five rows further only these two are.
      EXPECT_TRUE(bounds != PrefetchBounds::Clamp || has(hint, "min(")) << hint;
    }
}

TEST(Prefetch, OfARingStaysInItsMemory) {
  for (const PrefetchBounds bounds : {PrefetchBounds::Clamp, PrefetchBounds::Guard}) {
    Schedule s;
    s["edged"].compute_root();
    s["bx"].compute_root().parallel("y").prefetch("edged", "y", "y", 3, bounds);
    s["out"].parallel("y").prefetch("bx", "x", "y", 2, bounds);
    expect_right(s, Target::host());
  }
}

TEST(Streams, AreMarkedAndComplete) {
  Schedule s;
  s["edged"].compute_root().vectorize("x", 8).stream_stores();
  s["bx"].compute_root().vectorize("x", 8);
  s["out"].vectorize("x", 8).parallel("y").stream_stores();
  s.stream_loads("in");
  s.stream_loads("bx");
  expect_right(s, Target::host());
  const Kernel kernel = stencil().compile(s, Target::host());
  const std::string code = kernel.show("llvm"), lowered = kernel.show("lowered");
  EXPECT_TRUE(has(code, "!nontemporal")) << code;
  EXPECT_TRUE(has(lowered, "f32 in (loads streamed)")) << lowered;
  EXPECT_TRUE(has(lowered, "f32 out (stores streamed)")) << lowered;
  EXPECT_EQ(count(lowered, "streamed)"), 4) << lowered;
#if defined(__x86_64__)
  EXPECT_TRUE(has(kernel.show("asm"), "vmovnt") || has(kernel.show("asm"), "movnt")) << kernel.show("asm");
  EXPECT_TRUE(has(kernel.show("asm"), "prefetchnta")) << kernel.show("asm");
  EXPECT_GE(count(kernel.show("asm"), "sfence"), 2) << kernel.show("asm");
#endif
}

TEST(Streams, AreCompleteBeforeMemoryIsUsedAgain) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].parallel("y");
  s["bx"].compute_at("out", "y").vectorize("x", 8).store_in(Memory::Heap).stream_stores();
  expect_right(s, Target::host());
#if defined(__x86_64__)
  // At the release, and at the end of the task.
  EXPECT_GE(count(stencil().compile(s, Target::host()).show("llvm"), "call void @llvm.x86.sse.sfence()"), 2);
#endif
}

TEST(Streams, OfVectorsOfAnyWidthAndPlace) {
  for (int lanes : {3, 4, 16, 32}) {
    Schedule s;
    s["out"].vectorize("x", lanes).stream_stores();
    const Kernel kernel = stencil().compile(s, Target::host());
    const std::int64_t w = 101, h = 5;
    const Buffer in = random_buffer(Float(32), {w, h}, 1);
    const Evaluation reference = stencil().evaluate({in});
    Buffer wide(Float(32), {w + 7, h});
    for (std::int64_t first : {0, 1, 4}) {  // rows at every place within a line
      testing::poison(wide);
      const Buffer out = wide.crop(0, first, w).translate({0, 0});
      kernel.call({in, out});
      const lang::EqualityReport result = lang::compare_with_reference(out, reference, 0, false);
      EXPECT_TRUE(result.ok) << result.str();
      for (std::int64_t y = 0; y < h; ++y) EXPECT_EQ(wide.at<float>({first + w, y}), -12345.0f);
    }
  }
}

#endif  // CALOTYPE_HAS_LLVM

}  // namespace
}  // namespace calotype
