// Reductions over domains that are no boxes: triangles, diagonals and bands that conditions cut out of them,
// with the loops split, reordered, unrolled, vectorised, parallel and bound to a GPU; against the reference.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::random_buffer;
using testing::targets;

const Var x("x"), y("y");

void on_threads(Stage s, const Target& target, const std::string& loop) {
  if (target.is_gpu())
    s.split(loop, loop + ".b", loop + ".t", 4, Tail::Guard).gpu_blocks(loop + ".b").gpu_threads(loop + ".t");
}

/// Marks what lies in the domain: each point is a place of its own.
Pipeline marked(int shape) {
  Dim N("N"), M("M");
  ImageParam in(Int(32), {N, M}, "in");
  RDom r({{0, N}, {0, M}}, "r");
  if (shape == 0) r.where(r.x() <= r.y());
  if (shape == 1) {
    r.where(r.x() + r.y() >= 3);
    r.where(r.x() - r.y() < 4);
  }
  if (shape == 2) r.where(in(r.x(), r.y()) > 0);
  Func f("f");
  f(x, y) = -1;
  f(r.x(), r.y()) += in(r.x(), r.y()) * 2;
  return Pipeline("marked", {in}, {Output(f, {N, M})});
}

TEST(NonRectangular, EachPointAPlaceOfItsOwn) {
  for (const Target& target : targets())
    for (const int shape : {0, 1, 2}) {
      std::vector<Schedule> schedules(3);
      for (Schedule& s : schedules)
        if (target.is_gpu()) s["f"].gpu_blocks("y");
      Stage a = schedules[0]["f"].update(), b = schedules[1]["f"].update(), c = schedules[2]["f"].update();
      if (target.is_gpu()) {
        a.gpu_blocks("r.y").gpu_threads("r.x", 8);
        b.tile("r.x", "r.y", "xo", "yo", "xi", "yi", 4, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
        c.gpu_blocks("r.y").vectorize("r.x", 4);
      } else {
        a.parallel("r.y").vectorize("r.x", 8);
        b.tile("r.x", "r.y", "xo", "yo", "xi", "yi", 4, 4).parallel("yo").vectorize("xi").vectorize("yi");
        c.reorder("r.y", "r.x").parallel("r.x").unroll("r.y", 3);
      }
      for (const Schedule& s : schedules)
        for (const std::int64_t n : {1, 7, 16})
          for (const std::int64_t m : {1, 9})
            expect_matches(marked(shape), s, target,
                           {random_buffer(Int(32), {n, m}, static_cast<unsigned>(n + m))},
                           {Buffer(Int(32), {n, m})});
    }
}

/// Sums of triangles: for each x only the terms up to it, and only where two of the three coordinates differ.
TEST(NonRectangular, SumsOfTriangles) {
  Dim N("N"), K("K");
  ImageParam in(Int(32), {K, K}, "in");
  RDom r({{0, K}, {0, K}}, "r");
  r.where(r.x() <= x);
  r.where(r.x() < r.y() || r.y() > x);
  Func f("f");
  f(x) = cast<int>(x);
  f(x) += in(r.x(), r.y());
  const Pipeline p("triangles", {in}, {Output(f, {N})});
  for (const Target& target : targets()) {
    std::vector<Schedule> schedules(4);
    for (Schedule& s : schedules) {
      on_threads(s["f"], target, "x");
      if (target.is_gpu()) on_threads(s["f"].update(), target, "x");
    }
    schedules[0]["f"].update().vectorize("r.x", 8);
    schedules[1]["f"].update().split("r.x", 4).split("r.y", 4).vectorize("r.x.i").unroll("r.y.i");
    schedules[2]["f"].update().rfactor({{"r.y", "u"}}, "part");
    if (target.is_gpu()) {
      schedules[2] = schedules[0];
      schedules[3]["f"].update().unroll("r.x", 2);
    } else {
      schedules[2]["part"].update().vectorize("r.x", 4);
      schedules[3]["f"].update().atomic().reorder("x", "r.x", "r.y").parallel("r.y").vectorize("x", 4);
    }
    for (const Schedule& s : schedules)
      for (const std::int64_t k : {1, 6, 13})
        expect_matches(p, s, target, {random_buffer(Int(32), {k, k}, static_cast<unsigned>(k))},
                       {Buffer(Int(32), {11})}, {{"N", 11}});
  }
}

}  // namespace
}  // namespace calotype
