// compute_with: stages of several Funcs in one nest of loops give what they give in nests of their own.

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::targets;

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

bool has(const std::string& text, const std::string& part) { return count(text, part) > 0; }

/// The first output in rows, the second in columns, of one input: of any two shapes.
Pipeline two_blurs() {
  Dim W("W"), H("H"), V("V"), U("U");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), a("a"), b("b");
  a(x, y) = edged(x - 1, y) + edged(x, y) * 2.0f + edged(x + 1, y);
  b(x, y) = edged(x, y - 1) - edged(x, y) * 3.0f + edged(x, y + 1);
  return Pipeline("two_blurs", {in}, {Output(a, {W, H}), Output(b, {V, U})});
}

struct Shape {
  std::int64_t w, h, v, u;
};
const std::vector<Shape> kShapes = {
    {1, 1, 1, 1}, {8, 6, 8, 6}, {37, 18, 37, 18}, {5, 9, 19, 4}, {19, 4, 5, 9}};

void expect_blurs(const Schedule& s, const Target& target) {
  for (const Shape& z : kShapes) {
    const Buffer in = random_buffer(Float(32), {z.w, z.h}, 1);
    const std::map<std::string, std::int64_t> sizes{{"V", z.v}, {"U", z.u}};
    testing::expect_matches(two_blurs(), s, target, {in},
                            {Buffer(Float(32), {z.w, z.h}), Buffer(Float(32), {z.v, z.u})}, sizes);
    testing::expect_stages_match(two_blurs(), s, target, {in}, sizes);
  }
}

/// Rows of both: blocks on a GPU.
Schedule rows(const Target& target) {
  Schedule s;
  s["edged"].compute_inline();
  for (const char* name : {"a", "b"}) {
    if (target.is_gpu())
      s[name].gpu_blocks("y").gpu_threads("x", 16);
    else
      s[name].parallel("y").vectorize("x", 8);
  }
  s["b"].compute_with("a", "y");
  return s;
}

TEST(ComputeWith, RunsTwoOutputsInOneNest) {
  for (const Target& target : targets()) {
    const Schedule s = rows(target);
    expect_blurs(s, target);
    const Kernel kernel = two_blurs().compile(s, target);
    const std::string loops = kernel.show("loops");
    EXPECT_TRUE(has(loops, "produce a, b:")) << loops;
    EXPECT_EQ(count(loops, "for y in"), 1) << loops;
    EXPECT_LT(loops.find("a(x, y) ="), loops.find("b(x, y) =")) << loops;
    // Shapes that may differ are guarded; those that do not are not.
    EXPECT_TRUE(has(loops, "if (y < U)") || has(loops, "if y < U")) << loops;
  }
}

TEST(ComputeWith, SharesEveryLoop) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    for (const char* name : {"a", "b"}) {
      s[name].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4);
      if (target.is_gpu())
        s[name].gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
      else
        s[name].parallel("yo").vectorize("xi");
    }
    s["b"].compute_with("a", "xi");
    expect_blurs(s, target);
    const std::string loops = two_blurs().compile(s, target).show("loops");
    EXPECT_EQ(count(loops, "for "), 4) << loops;
  }
}

TEST(ComputeWith, ServesBothByWhatIsComputedAtASharedLoop) {
  for (const Target& target : targets()) {
    for (const char* by : {"a", "b"}) {
      Schedule s = rows(target);
      Schedule t;
      t["edged"].compute_at(by, "y");
      if (target.is_gpu()) t["edged"].store_in(Memory::Shared);
      for (const schedule::Directive& d : s.directives())
        if (d.stage != "edged") t.append(d);
      if (target.is_gpu()) t["edged"].bound_storage("x", 64);
      expect_blurs(t, target);
      const std::string loops = two_blurs().compile(t, target).show("loops");
      EXPECT_EQ(count(loops, "produce edged:"), 1) << loops;
      EXPECT_LT(loops.find("for y in"), loops.find("produce edged:")) << loops;
    }
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(ComputeWith, KeepsAWindowThatBothMoveOver) {
  Schedule s;
  s["edged"].store_root().compute_at("a", "y");
  s["a"].serial("y");
  s["b"].serial("y").compute_with("a", "y");
  expect_blurs(s, Target::host());
}

TEST(ComputeWith, TakesThreeStages) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func a("a"), b("b"), c("c");
  a(x, y) = in(x, y) * 2.0f;
  b(x, y) = in(x, y) + 1.0f;
  c(x, y) = a(x, y) - b(x, y);
  const Pipeline p("three", {in}, {Output(a, {W, H}), Output(b, {W, H}), Output(c, {W, H})});
  Schedule chain, both, nested;
  chain["b"].compute_with("a", "y");
  chain["c"].compute_with("b", "x");
  both["b"].compute_with("a", "x");
  both["c"].compute_with("a", "y");
  nested["c"].compute_with("b", "x");
  nested["b"].compute_with("a", "y");
  for (Schedule s : {chain, both, nested})
    for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 5}, {33, 4}}) {
      const std::vector<std::int64_t> shape{w, h};
      testing::expect_matches(p, s, Target::host(), {random_buffer(Float(32), shape, 1)},
                              {Buffer(Float(32), shape), Buffer(Float(32), shape), Buffer(Float(32), shape)});
      EXPECT_EQ(count(p.compile(s, Target::host()).show("loops"), "for y in"), 1);
    }
}

#endif  // CALOTYPE_HAS_LLVM

/// out from f, over one row more at either end, and g, which reads f of the same row and the one before.
Pipeline chained(int ahead) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), g("g"), out("out");
  f(x, y) = edged(x, y) * 3;
  g(x, y) = f(x, y + ahead) - f(x, y + ahead - 1) * 2;
  out(x, y) = f(x, y - 1) + f(x, y + 1) + g(x, y) * 5;
  return Pipeline("chained", {in}, {Output(out, {W, H})});
}

void expect_chain(const Pipeline& p, const Schedule& s, const Target& target) {
  for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 5}, {18, 33}}) {
    const Buffer in = random_buffer(Int(32), {w, h}, 1);
    testing::expect_matches(p, s, target, {in}, {Buffer(Int(32), {w, h})});
    testing::expect_stages_match(p, s, target, {in});
  }
}

TEST(ComputeWith, ReadsWhatIsComplete) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    s["f"].compute_root();
    s["g"].compute_root().compute_with("f", "y");
    if (target.is_gpu())
      for (const char* name : {"f", "g"})
        s[name].reorder("y", "x").split("x", "xo", "xi", 8).gpu_blocks("xo").gpu_threads("xi");
    if (target.is_gpu()) {
      expect_chain(chained(0), s, target);
      continue;
    }
    expect_chain(chained(0), s, target);
    Schedule wide = s;
    wide["f"].vectorize("x", 4);
    wide["g"].vectorize("x", 4);
    expect_chain(chained(0), wide, target);
    const std::vector<Diagnostic> later = s.check(chained(1), target);
    ASSERT_EQ(later.size(), 1u);
    EXPECT_TRUE(has(later[0].message,
                    "g reads values of f that are not proved to be complete: a later iteration of the shared "
                    "loop 'y' may write them"))
        << later[0].str();
    Schedule parallel;
    parallel["edged"].compute_inline();
    parallel["f"].compute_root().parallel("y");
    parallel["g"].compute_root().parallel("y").compute_with("f", "y");
    const std::vector<Diagnostic> other = parallel.check(chained(0), target);
    ASSERT_EQ(other.size(), 1u);
    EXPECT_TRUE(has(other[0].message, "another iteration of the shared loop 'y'")) << other[0].str();
    Schedule reversed;
    reversed["edged"].compute_inline();
    reversed["g"].compute_root();
    reversed["f"].compute_root().compute_with("g", "y");
    const std::vector<Diagnostic> same = reversed.check(chained(0), target);
    ASSERT_EQ(same.size(), 1u);
    EXPECT_TRUE(has(same[0].message, "the same iteration of the shared loop 'y'")) << same[0].str();
    expect_chain(chained(-1), reversed, target);
  }
}

TEST(ComputeWith, OfLoopsOverThreadsNeedsEachThreadToItself) {
  // g reads f at the columns beside its own: other threads', with no place for a barrier in the shared rows.
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), g("g"), out("out");
  f(x, y) = edged(x, y) * 3;
  g(x, y) = f(x - 1, y) + f(x + 1, y);
  out(x, y) = g(x, y) + 1;
  const Pipeline p("threads", {in}, {Output(out, {W, H})});
  for (const Target& target : targets()) {
    if (!target.is_gpu()) continue;
    Schedule s;
    s["edged"].compute_inline();
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
    for (const char* name : {"f", "g"})
      s[name].compute_at("out", "xo").store_in(Memory::Shared).gpu_threads("x", "y");
    expect_chain(p, s, target);
    s["g"].compute_with("f", "y");
    const std::vector<Diagnostic> refused = s.check(p, target);
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_TRUE(has(refused[0].message,
                    "g reads values of f that are not proved to be complete: another thread of the same "
                    "iteration of the shared loop 'y' may write them"))
        << refused[0].str();

    Schedule root;
    root["edged"].compute_inline();
    for (const char* name : {"f", "g"})
      root[name].compute_root().split("y", "yo", "yi", 4).reorder("x", "yi", "yo").gpu_blocks("yo");
    root["g"].compute_with("f", "yo");
    expect_chain(p, root, target);
    Schedule rows_shared;
    rows_shared["edged"].compute_inline();
    for (const char* name : {"f", "g"})
      rows_shared[name]
          .compute_root()
          .split("y", "yo", "yi", 4)
          .split("x", "xo", "xi", 16)
          .reorder("xi", "xo", "yi", "yo")
          .gpu_blocks("yo")
          .gpu_threads("xi", "yi");
    rows_shared["g"].compute_with("f", "yi");
    EXPECT_FALSE(rows_shared.check(p, target).empty());
  }
}

TEST(ComputeWith, WorksInsideALoopOfAConsumer) {
  for (const Target& target : targets()) {
    Schedule s;
    s["edged"].compute_inline();
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4);
    if (target.is_gpu()) s["out"].gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
    for (const char* name : {"f", "g"}) s[name].compute_at("out", "xo");
    s["g"].compute_with("f", "y");
    expect_chain(chained(0), s, target);
    EXPECT_EQ(count(chained(0).compile(s, target).show("loops"), "for y in"), 1);
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(ComputeWith, CountsOnNothingFromIterationsThatAreSkipped) {
  // f goes from row -1 to H, g from 0 to H - 1, and w, which g reads two rows of, is computed inside g's own
  // loop: row -1 of w is missing when g starts, though the shared loop has run before.
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), g("g"), w("w"), out("out");
  f(x, y) = edged(x, y) * 3;
  w(x, y) = edged(x, y) + 7;
  g(x, y) = w(x, y) - w(x, y - 1) * 2;
  out(x, y) = f(x, y - 1) + f(x, y + 1) + g(x, y) * 5;
  const Pipeline p("skipped", {in}, {Output(out, {W, H})});
  for (const char* at : {"x", "y"}) {
    Schedule s;
    s["edged"].compute_inline();
    s["f"].compute_root();
    s["g"].compute_root().compute_with("f", "y");
    s["w"].store_root().compute_at("g", at);
    expect_chain(p, s, Target::host());
  }
}

#endif  // CALOTYPE_HAS_LLVM

/// Largest and sum of each row, then the row less the one over the other.
Pipeline statistics() {
  Dim N("N"), R("R");
  ImageParam in(Int(32), {N, R}, "in");
  Var x("x"), y("y");
  RDom k(0, N, "k"), j(0, N, "j");
  Func most("most"), sum("sum"), out("out");
  most(y) = -1000;
  most(y) = max(most(y), in(k, y));
  sum(y) += in(j, y);
  out(x, y) = in(x, y) * most(y) - sum(y);
  return Pipeline("statistics", {in}, {Output(out, {N, R})});
}

TEST(ComputeWith, SharesTheLoopOfTwoReductions) {
  for (const Target& target : targets()) {
    Schedule s;
    if (target.is_gpu()) s["out"].gpu_blocks("y").gpu_threads("x", 16);
    for (const char* name : {"most", "sum"}) s[name].compute_at("out", "y");
    s["sum"].update().compute_with(s["most"].update(), "k");
    for (const auto& [n, r] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {37, 5}, {64, 3}}) {
      const Buffer in = random_buffer(Int(32), {n, r}, 1);
      testing::expect_matches(statistics(), s, target, {in}, {Buffer(Int(32), {n, r})});
      testing::expect_stages_match(statistics(), s, target, {in});
    }
    const std::string loops = statistics().compile(s, target).show("loops");
    EXPECT_EQ(count(loops, "for k in"), 1) << loops;
    EXPECT_EQ(count(loops, "for j in"), 0) << loops;
  }
}

/// A running sum, and one of its values so far: the second reads the first's value of the same step.
Pipeline scans(bool whole) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  RDom k(1, N - 1, "k"), j(1, N - 1, "j");
  Func first("first"), second("second");
  first(x) = in(x);
  first(k) = first(k - 1) + in(k);
  second(x) = 0;
  second(j) = second(j - 1) + (whole ? first(N - 1) : first(j)) * 2;
  return Pipeline("scans", {in}, {Output(first, {N}), Output(second, {N})});
}

TEST(ComputeWith, ReadsTheValueOfTheSameStepOfAScan) {
  for (const Target& target : targets()) {
    if (target.is_gpu()) continue;  // a scan has no blocks
    Schedule s;
    s["first"].update().serial("k");
    s["second"].update().compute_with(s["first"].update(), "k");
    for (std::int64_t n : {1, 2, 33})
      testing::expect_matches(scans(false), s, target, {random_buffer(Int(32), {n}, 1)},
                              {Buffer(Int(32), {n}), Buffer(Int(32), {n})});
    EXPECT_EQ(count(scans(false).compile(s, target).show("loops"), "for k in"), 1);
    const std::vector<Diagnostic> found = s.check(scans(true), target);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(has(found[0].message, "second.update(0) reads values of first.update(0)")) << found[0].str();
  }
}

}  // namespace
}  // namespace calotype
