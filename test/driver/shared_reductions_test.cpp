// Reduction loops on several threads: atomic updates of every operation and type, histograms, and loops whose
// iterations are proved to meet nowhere; for the host and for the interpreter of kernels, against the
// reference.

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "calotype/calotype.h"
#include "support/powers.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::random_buffer;
using testing::targets;

const Var x("x"), y("y");

using Combine = std::function<Expr(Expr, Expr)>;

/// f(x) op= in(x, k), and `dense` by way of all k for each x, else scattered over an eighth of the places.
Pipeline reduced(const Combine& op, Type type, bool dense) {
  Dim K("K"), N("N");
  ImageParam in(type, {N, K}, "in");
  RDom k(0, K, "k"), r({{0, N}, {0, K}}, "r");
  Func f("f");
  f(x) = in(x, 0);
  if (dense)
    f(x) = op(f(x), in(x, k));
  else
    f(r.x() / 8) = op(f(r.x() / 8), in(r.x(), r.y()));
  return Pipeline("reduced", {in}, {Output(f, {N})});
}

void expect_reduced(const Combine& op, const std::vector<Type>& types) {
  for (const Target& target : targets())
    for (const Type type : types) {
      Schedule dense, scattered, lanes;
      dense["f"].update().atomic();
      scattered["f"].update().atomic();
      if (target.is_gpu()) {
        for (Schedule* s : {&dense, &scattered, &lanes})
          (*s)["f"].split("x", "b", "t", 8).gpu_blocks("b").gpu_threads("t");
        dense["f"]
            .update()
            .split("k", "kb", "kt", 4)
            .reorder("kt", "x", "kb")
            .gpu_blocks("kb")
            .gpu_threads("kt");
        scattered["f"].update().gpu_blocks("r.y").gpu_threads("r.x", 16);
        lanes["f"].update().atomic().gpu_blocks("r.y").vectorize("r.x", 4);
      } else {
        dense["f"].update().reorder("x", "k").parallel("k");
        scattered["f"].update().parallel("r.y");
        lanes["f"].update().atomic().parallel("r.y").vectorize("r.x", 8);
      }
      for (const std::int64_t n : {1, 8, 29})
        for (const std::int64_t k : {1, 11}) {
          const Buffer in = testing::powers(type, {n, k}, static_cast<unsigned>(n + k));
          expect_matches(reduced(op, type, true), dense, target, {in}, {Buffer(type, {n})});
          for (const Schedule& s : {scattered, lanes})
            expect_matches(reduced(op, type, false), s, target, {in}, {Buffer(type, {n})});
        }
    }
}

const std::vector<Type> integers = {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64)};
const std::vector<Type> floats = {Float(16), BFloat(16), Float(32), Float(64)};

std::vector<Type> numbers() {
  std::vector<Type> all = integers;
  all.insert(all.end(), floats.begin(), floats.end());
  return all;
}

std::vector<Type> bits() {
  std::vector<Type> all = integers;
  all.push_back(Bool());
  return all;
}

TEST(AtomicUpdates, Sums) {
  expect_reduced([](Expr a, Expr b) { return a + b; }, numbers());
}
TEST(AtomicUpdates, Products) {
  expect_reduced([](Expr a, Expr b) { return a * b; }, numbers());
}
TEST(AtomicUpdates, LeastAndLargest) {
  expect_reduced([](Expr a, Expr b) { return min(a, b); }, numbers());
  expect_reduced([](Expr a, Expr b) { return max(b, a); }, numbers());
}
TEST(AtomicUpdates, Bits) {
  expect_reduced([](Expr a, Expr b) { return a & b; }, bits());
  expect_reduced([](Expr a, Expr b) { return a | b; }, bits());
  expect_reduced([](Expr a, Expr b) { return a ^ b; }, integers);
}
TEST(AtomicUpdates, Logic) {
  expect_reduced([](Expr a, Expr b) { return a && b; }, {Bool()});
  expect_reduced([](Expr a, Expr b) { return a || b; }, {Bool()});
}

/// How often each value occurs, and the sum of where.
Pipeline histogram() {
  Dim W("W"), H("H");
  ImageParam in(UInt(8), {W, H}, "in");
  RDom r({{0, W}, {0, H}}, "r");
  Func hist("hist"), out("out");
  hist(x) = 0;
  hist(clamp(cast<int>(in(r.x(), r.y())), 0, 63)) += 1;
  out(x) = hist(x) * 2;
  return Pipeline("histogram", {in}, {Output(out, {64})});
}

TEST(AtomicUpdates, Histograms) {
  for (const Target& target : targets()) {
    std::vector<Schedule> schedules(3);
    for (Schedule& s : schedules) s["hist"].compute_root();
    if (target.is_gpu()) {
      for (Schedule& s : schedules)
        for (const char* f : {"hist", "out"}) s[f].split("x", "b", "t", 32).gpu_blocks("b").gpu_threads("t");
      schedules[0]["hist"].update().atomic().gpu_blocks("r.y").gpu_threads("r.x", 32);
      schedules[1]["hist"]
          .update()
          .atomic()
          .split("r.x", "xo", "xi", 16)
          .gpu_blocks("xo", "r.y")
          .gpu_threads("xi");
      schedules[2]["hist"]
          .update()
          .gpu_threads("r.x", 8)
          .gpu_blocks("r.x.o")
          .reorder("r.y", "r.x.t", "r.x.o")
          .atomic();
    } else {
      schedules[0]["hist"].update().atomic().parallel("r.y");
      schedules[1]["hist"].update().atomic().parallel("r.y").vectorize("r.x", 16);
      schedules[2]["hist"].update().fuse("r.x", "r.y", "all").parallel("all").atomic();
    }
    for (const Schedule& s : schedules)
      for (const std::int64_t w : {1, 16, 37})
        for (const std::int64_t h : {1, 23})
          expect_matches(histogram(), s, target,
                         {random_buffer(UInt(8), {w, h}, static_cast<unsigned>(w * h))},
                         {Buffer(Int(32), {64})});
  }
}

/// Partial results of a block in shared memory, then one update of the output for each.
TEST(AtomicUpdates, OfABlocksSharedMemory) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  RDom r(0, W, "r");
  Func row("row"), out("out");
  row(y) = 0;
  row(y) += in(r, y);
  out(y) = row(y) + 1;
  const Pipeline p("rows", {in}, {Output(out, {H})});
  Schedule s;
  s["out"].split("y", "b", "t", 4).gpu_blocks("b").gpu_threads("t");
  s["row"].compute_at("out", "b").store_in(Memory::Shared).gpu_threads("y");
  s["row"].update().split("r", "ro", "rt", 8).gpu_threads("rt").atomic();
  for (const Target& target : targets())
    if (target.is_gpu())
      for (const std::int64_t w : {1, 8, 21})
        expect_matches(p, s, target, {random_buffer(Int(32), {w, 10}, static_cast<unsigned>(w))},
                       {Buffer(Int(32), {10})});
}

TEST(AtomicUpdates, OfLanesThatHavePartialResults) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  RDom r({{0, W}, {0, H}}, "r");
  Func all("all");
  all() += in(r.x(), r.y());
  const Pipeline p("all", {in}, {Output(all, std::vector<Expr>{})});
  for (const Target& target : targets()) {
    if (target.is_gpu()) continue;
    Schedule s;
    s["all"].update().atomic().parallel("r.y").vectorize("r.x", 8);
    for (const std::int64_t w : {1, 8, 45})
      expect_matches(p, s, target, {testing::powers(Float(32), {w, 19}, static_cast<unsigned>(w))},
                     {Buffer(Float(32), {})});
  }
}

// ---- Loops whose iterations meet nowhere

TEST(RaceFree, ScattersToPlacesOfTheirOwn) {
  Dim N("N"), M("M");
  ImageParam in(Int(32), {N, M}, "in");
  RDom r({{0, N}, {0, M}}, "r");
  Func f("f"), g("g");
  f(x, y) = -1;
  f(r.x() * 2 + 1, r.y()) = in(r.x(), r.y()) * 3;
  // Columns from top to bottom, each of its own.
  g(x, y) = in(x, y);
  RDom c({{0, N}, {1, M - 1}}, "c");
  g(c.x(), c.y()) += g(c.x(), c.y() - 1) * 2;
  const Pipeline p("scatters", {in}, {Output(f, {N * 2, M}), Output(g, {N, M})});
  for (const Target& target : targets()) {
    Schedule s;
    if (target.is_gpu()) {
      for (const char* name : {"f", "g"})
        s[name].split("x", "b", "t", 8).reorder("t", "y", "b").gpu_blocks("b").gpu_threads("t");
      s["f"].update().gpu_blocks("r.y").gpu_threads("r.x", 8);
      s["g"].update().split("c.x", "b", "t", 8).reorder("c.y", "t", "b").gpu_blocks("b").gpu_threads("t");
    } else {
      s["f"].update().parallel("r.y").vectorize("r.x", 4);
      s["g"].update().split("c.x", "b", "t", 8).reorder("t", "c.y", "b").parallel("b").vectorize("t");
    }
    for (const std::int64_t n : {1, 8, 21})
      for (const std::int64_t m : {1, 7})
        expect_matches(p, s, target, {random_buffer(Int(32), {n, m}, static_cast<unsigned>(n * m))},
                       {Buffer(Int(32), {2 * n, m}), Buffer(Int(32), {n, m})});
  }
}

/// The row above is complete before its successor's columns run at one time.
TEST(RaceFree, RowsAfterRows) {
  Dim N("N"), M("M");
  ImageParam in(Int(32), {N, M}, "in");
  RDom r({{1, N - 1}, {1, M - 1}}, "r");
  Func f("f");
  f(x, y) = in(x, y);
  f(r.x(), r.y()) += f(r.x() - 1, r.y() - 1);
  const Pipeline p("diagonals", {in}, {Output(f, {N, M})});
  for (const Target& target : targets()) {
    if (target.is_gpu()) continue;
    for (const bool lanes : {false, true}) {
      Schedule s;
      if (lanes)
        s["f"].update().vectorize("r.x", 8);
      else
        s["f"].update().parallel("r.x");
      for (const std::int64_t n : {2, 9, 30})
        expect_matches(p, s, target, {random_buffer(Int(32), {n, 8}, static_cast<unsigned>(n))},
                       {Buffer(Int(32), {n, 8})});
    }
  }
}

}  // namespace
}  // namespace calotype
