// Loops that are cut around what their bodies decide: conditions at the front, at the end, in the middle, one
// inside the other; ranges that a clamp may make empty. Every policy, serial, vector and unrolled loops, and
// sizes at which parts of the loop are empty.

#include <functional>

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::targets;

/// One kernel for inputs and outputs of several shapes.
void expect_all_match(const Pipeline& p, const Schedule& s, const Target& target,
                      const std::vector<std::vector<std::int64_t>>& shapes) {
  const Kernel kernel = p.compile(s, target);
  for (const std::vector<std::int64_t>& shape : shapes) {
    const Buffer in = random_buffer(Int(32), shape, 8);
    const Evaluation reference = p.evaluate({in});
    Buffer out(Int(32), shape);
    testing::poison(out);
    kernel(in, out);
    const lang::EqualityReport r = lang::compare_with_reference(out, reference, 0, false);
    EXPECT_TRUE(r.ok) << p.name() << " of " << shape[0] << " for " << target.str() << " under\n"
                      << s.str() << "\n"
                      << r.str();
  }
}

using Body = std::function<Expr(const ImageParam&, Expr x, Expr y, Expr W, Expr H)>;

Pipeline with_body(const std::string& name, const Body& body) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = body(in, x, y, W, H);
  return Pipeline(name, {in}, {Output(out, {W, H})});
}

std::vector<Pipeline> bodies() {
  return {
      with_body("front", [](const ImageParam& in, Expr x, Expr y, Expr,
                            Expr) { return select(x < 5, in(x, y) * 3, in(x, y) - 1); }),
      with_body("back",
                [](const ImageParam& in, Expr x, Expr y, Expr W, Expr) {
                  return select(x >= W - 3, in(x, y) * 3, in(x, y) - 1) + select(x == W - 1, 100, 0);
                }),
      with_body("middle",
                [](const ImageParam& in, Expr x, Expr y, Expr W, Expr) {
                  return select(x > 3 && x < W - 6, in(x, y) * 7, -in(x, y)) + select(x != W / 2, 1, 9);
                }),
      with_body("either",
                [](const ImageParam& in, Expr x, Expr y, Expr W, Expr H) {
                  return select(x < 2 || x > W - 3 || y < 1 || y >= H - 1, 0, in(x, y));
                }),
      with_body("likely_clamp",
                [](const ImageParam& in, Expr x, Expr y, Expr W, Expr H) {
                  return in(likely(clamp(x - 2, 0, W - 1)), y) +
                         in(clamp(x + 3, 0, W - 1), clamp(y - 1, 0, H - 1)) * 2;
                }),
      with_body("nested",
                [](const ImageParam& in, Expr x, Expr y, Expr W, Expr) {
                  return select(x < 9, select(x < 4, in(x, y), in(x, y) * 2),
                                select(x > W - 4, 5, in(x, y) * 3));
                }),
      with_body("diagonal", [](const ImageParam& in, Expr x, Expr y, Expr,
                               Expr) { return select(x<y, in(x, y), x> y + 2, in(x, y) * 2, 7); }),
      with_body("remainder",
                [](const ImageParam& in, Expr x, Expr y, Expr, Expr) {
                  return select(x % 4 < 2, in(x, y), in(x, y) * 5) + select(x / 3 > 2, 1, 2);
                }),
  };
}

TEST(PartitionLoops, DecideAsTheReference) {
  const std::vector<std::vector<std::int64_t>> shapes = {{1, 1},  {3, 2},  {6, 1}, {9, 4},
                                                         {10, 3}, {29, 5}, {48, 2}};
  for (const Target& target : targets())
    for (const Pipeline& p : bodies())
      for (const Partition how : {Partition::Auto, Partition::Never, Partition::Always})
        for (const int form : {0, 1, 2}) {
          Schedule s;
          if (target.is_gpu()) {
            s["out"].gpu_blocks("y");
            if (form == 1) s["out"].unroll("x", 4);
            if (form == 2) s["out"].split("x", "xo", "xi", 3);
          } else {
            s["out"].serial("y");
            if (form == 1) s["out"].vectorize("x", 8);
            if (form == 2) s["out"].split("x", "xo", "xi", 5).unroll("xi");
          }
          const std::string loop = form == 0 ? "x" : form == 1 ? "x.o" : "xo";
          s["out"].partition(loop, how);
          if (how == Partition::Always && !s.check(p, target).empty()) continue;  // it decides nothing there
          expect_all_match(p, s, target, shapes);
          if (::testing::Test::HasFailure()) return;
        }
}

/// Blocks whose place decides what their threads test have a body without tests.
TEST(PartitionLoops, BlocksChooseBetweenTwoBodies) {
  const std::vector<std::vector<std::int64_t>> shapes = {{1, 1}, {6, 1}, {16, 4}, {17, 3}, {50, 9}, {64, 8}};
  const Target target = Target::interpreter("sm_90a");
  for (const Pipeline& p : bodies())
    for (const int vector : {1, 4})
      for (const bool both : {false, true}) {
        Schedule s;
        s["out"]
            .tile("x", "y", "xo", "yo", "xi", "yi", 16, 2)
            .vectorize("xi", vector)
            .gpu_threads("xi.o", "yi");
        s["out"].gpu_blocks("xo", "yo").partition("xo", Partition::Always);
        if (both) s["out"].partition("yo", Partition::Always);
        if (!s.check(p, target).empty()) continue;  // the place of a block decides nothing there
        expect_all_match(p, s, target, shapes);
      }
}

TEST(PartitionLoops, OfBlocksTheInnerOnesTestNothing) {
  const Pipeline p = with_body("edges", [](const ImageParam& in, Expr x, Expr y, Expr W, Expr H) {
    return in(clamp(x - 1, 0, W - 1), clamp(y + 1, 0, H - 1)) + in(clamp(x + 1, 0, W - 1), y);
  });
  Schedule s;
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 4).gpu_threads("xi", "yi").gpu_blocks("xo", "yo");
  s["out"].partition("xo", Partition::Always).partition("yo", Partition::Always);
  const std::string text = p.compile(s, Target::interpreter("sm_90a")).show("lowered");
  const std::size_t inner = text.find("if "), other = text.find("else", inner);
  ASSERT_NE(other, std::string::npos) << text;
  EXPECT_EQ(text.substr(inner, other - inner).find("min("), std::string::npos) << text;
  EXPECT_EQ(text.substr(inner, other - inner).find("max("), std::string::npos) << text;
  EXPECT_NE(text.find("min(", other), std::string::npos) << text;

  const Pipeline plain =
      with_body("plain", [](const ImageParam& in, Expr x, Expr y, Expr, Expr) { return in(x, y); });
  Schedule nothing;
  nothing["out"]
      .split("x", "xo", "xi", 32)
      .gpu_threads("xi")
      .gpu_blocks("xo", "y")
      .partition("y", Partition::Always);
  const std::vector<Diagnostic> found = nothing.check(plain, Target::interpreter("sm_90a"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, "nothing in the loop 'y' is decided by where it stands");
}

/// A range that is empty for small sizes, and another that begins where it ends.
TEST(PartitionLoops, RangesThatAClampMayEmpty) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  RDom k(0, clamp(N - 6, 0, 5), "k"), j(clamp(N - 9, 0, 4), max(4 - clamp(N - 9, 0, 4), 0), "j");
  Func sums("sums"), out("out");
  sums(x) = 1;
  sums(x) += in(clamp(x + k, 0, N - 1)) * select(k < 2, 3, 5);
  sums(x) += select(j > 2, in(min(j, N - 1)), cast<int>(x));
  out(x) = select(x < clamp(N - 4, 2, 7), sums(x), -sums(x));
  const Pipeline p("emptied", {in}, {Output(out, {N})});
  for (const Target& target : targets())
    for (const int form : {0, 1, 2}) {
      Schedule s;
      s["sums"].compute_root();
      if (!target.is_gpu() && form > 0) {
        s["sums"].update(0).unroll("k", 2).vectorize("x", 4);
        s["sums"].update(1).split("j", "jo", "ji", 3);
        if (form == 2) s["sums"].update(0).partition("k.o", Partition::Never);
        s["out"].vectorize("x", 8);
      } else if (target.is_gpu() && form > 0) {
        s["sums"].update(0).unroll("k", 2).gpu_blocks("x");
        s["sums"].update(1).split("j", "jo", "ji", 3).gpu_blocks("x");
      }
      std::vector<std::vector<std::int64_t>> shapes;
      for (std::int64_t n = 1; n <= 15; ++n) shapes.push_back({n});
      expect_all_match(p, s, target, shapes);
      if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace calotype
