// Reduction loops as vectors: every operation and type, ragged ends, conditions, Tuples, and with them
// several loops of one stage as one vector; for the host and for the interpreter of kernels, against the
// reference.

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "calotype/calotype.h"
#include "support/powers.h"
#include "support/reductions.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::random_buffer;
using testing::targets;

const Var x("x"), y("y");

using Operation = testing::ReductionOperation;

/// f(y) op= in(k, y) for all k.
Pipeline rows(const Operation& op, Type type, bool some = false) {
  Dim K("K"), N("N");
  ImageParam in(type, {K, N}, "in");
  RDom k(0, K, "k");
  if (some) k.where(in(k, y) != cast(type, 1));
  Func f("f");
  f(y) = type.is_bool() ? in(0, y) : cast(type, y + 1);
  f(y) = op.apply(f(y), in(k, y));
  return Pipeline(op.name, {in}, {Output(f, {N})});
}

void on_threads(Stage s, const Target& target, const std::string& loop) {
  if (target.is_gpu())
    s.split(loop, loop + ".b", loop + ".t", 4, Tail::Guard).gpu_blocks(loop + ".b").gpu_threads(loop + ".t");
}

TEST(VectorReductions, EveryOperationOfEveryType) {
  for (const Target& target : targets())
    for (const Operation& op : testing::reduction_operations())
      for (const Type type : testing::types_of(op)) {
        Schedule s;
        on_threads(s["f"], target, "y");
        on_threads(s["f"].update(), target, "y");
        s["f"].update().vectorize("k", 8);
        const Pipeline p = rows(op, type);
        for (const std::int64_t k : {1, 8, 37})
          expect_matches(p, s, target, {testing::powers(type, {k, 5}, static_cast<unsigned>(k))},
                         {Buffer(type, {5})});
      }
}

TEST(VectorReductions, EveryLengthAndFactor) {
  for (const Target& target : targets())
    for (const Tail tail : {Tail::Auto, Tail::Guard, Tail::Predicate})
      for (const int lanes : {2, 3, 5, 16}) {
        Schedule s;
        on_threads(s["f"], target, "y");
        on_threads(s["f"].update(), target, "y");
        s["f"].update().vectorize("k", lanes, tail);
        for (const bool some : {false, true}) {
          const Pipeline p = rows(testing::reduction_operations()[0], Float(32), some);
          for (const std::int64_t k : {1, 2, 15, 16, 17, 64, 67})
            expect_matches(p, s, target, {testing::powers(Float(32), {k, 3}, static_cast<unsigned>(k))},
                           {Buffer(Float(32), {3})});
        }
      }
}

TEST(VectorReductions, AreListedInNumerics) {
  const Pipeline floats = rows(testing::reduction_operations()[0], Float(32)),
                 whole = rows(testing::reduction_operations()[0], Int(32));
  Schedule s;
  s["f"].update().vectorize("k", 8);
  const Target target = Target::host();
  EXPECT_EQ(schedule::apply_or_throw(floats.graph(), s, target).numerics.reassociates,
            std::vector<std::string>{"f.k"});
  EXPECT_TRUE(schedule::apply_or_throw(whole.graph(), s, target).numerics.reassociates.empty());
}

/// A box reduced to one number, and to rows and columns of it.
Pipeline box(int kept) {
  Dim K("K"), N("N");
  ImageParam in(Int(32), {K, N}, "in");
  RDom r({{0, K}, {0, N}}, "r");
  Func f("f");
  if (kept < 0)
    f() += in(r.x(), r.y());
  else
    f(kept == 0 ? r.x() : r.y()) += in(r.x(), r.y());
  return Pipeline("box", {in},
                  {Output(f, kept < 0 ? std::vector<Expr>{} : std::vector<Expr>{kept == 0 ? K : N})});
}

TEST(VectorReductions, OverSeveralDimensions) {
  std::vector<Target> hosts;
  for (const Target& t : targets())
    if (!t.is_gpu()) hosts.push_back(t);
  for (const Target& target : hosts)
    for (const std::int64_t k : {1, 7, 32, 45})
      for (const std::int64_t n : {1, 6, 16}) {
        const Buffer in = random_buffer(Int(32), {k, n}, static_cast<unsigned>(k * 100 + n));
        Schedule inner, outer, tiles;
        inner["f"].update().vectorize("r.x", 8);
        outer["f"].update().vectorize("r.y", 4);
        tiles["f"]
            .update()
            .split("r.x", "xo", "xi", 16)
            .split("r.y", "yo", "yi", 4)
            .vectorize("xi")
            .vectorize("yi");
        for (const Schedule& s : {inner, outer, tiles}) {
          expect_matches(box(-1), s, target, {in}, {Buffer(Int(32), {})});
          Schedule fixed = s;
          fixed["f"].update().unroll(s == outer ? "r.x" : s == inner ? "r.y" : "yo", 2);
          expect_matches(box(-1), fixed, target, {in}, {Buffer(Int(32), {})});
        }
        // Of the other dimension each value has a place of its own, which the lanes of this one share.
        expect_matches(box(1), inner, target, {in}, {Buffer(Int(32), {n})});
        expect_matches(box(0), inner, target, {in}, {Buffer(Int(32), {k})});
        Schedule columns;
        columns["f"].update().reorder("r.y", "r.x").vectorize("r.y", 4);
        expect_matches(box(0), columns, target, {in}, {Buffer(Int(32), {k})});
      }
}

TEST(VectorReductions, MomentsKeepBothSums) {
  Dim K("K"), N("N");
  ImageParam in(Float(32), {K, N}, "in");
  RDom k(0, K, "k");
  Func f("f");
  f(y) = Tuple(0.0f, 0.0f, cast<int>(y));
  f(y) = Tuple(f(y)[0] + in(k, y), f(y)[1] + in(k, y) * in(k, y), f(y)[2]);
  const Pipeline p("moments", {in}, {Output(f, {N})});
  for (const Target& target : targets()) {
    Schedule s;
    on_threads(s["f"], target, "y");
    on_threads(s["f"].update(), target, "y");
    s["f"].update().vectorize("k", 8);
    for (const std::int64_t n : {1, 8, 29})
      expect_matches(p, s, target, {random_buffer(Float(32), {n, 5}, static_cast<unsigned>(n))},
                     {Buffer(Float(32), {5}), Buffer(Float(32), {5}), Buffer(Int(32), {5})});
  }
}

/// Many equal values, so that it shows if not the first of them is found.
TEST(VectorReductions, TheFirstOfEqualOnesStaysTheFirst) {
  Dim K("K"), N("N");
  ImageParam in(UInt(8), {K, N}, "in");
  RDom k(0, K, "k");
  Func out("out");
  const Tuple most = argmax(in(k, y), "most");
  out(y) = Tuple(cast<int>(most[0]), most[1]);
  const Pipeline p("largest", {in}, {Output(out, {N})});
  for (const Target& target : targets()) {
    Schedule s;
    s["most"].compute_root();
    for (Stage stage : {s["most"], s["most"].update(), s["out"]}) on_threads(stage, target, "y");
    s["most"].update().vectorize("k", 8);
    for (const std::int64_t n : {1, 8, 21, 64}) {
      Buffer b = random_buffer(UInt(8), {n, 5}, static_cast<unsigned>(n));
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < 5; ++j) b.set_value({i, j}, static_cast<double>((i * 7 + j) % 3));
      expect_matches(p, s, target, {b}, {Buffer(Int(32), {5}), Buffer(UInt(8), {5})});
    }
  }
}

/// A pure loop and a reduction loop as one vector of 4 x 8 lanes, either way round.
TEST(VectorReductions, BesideAVectorOfPlaces) {
  const Pipeline p = rows(testing::reduction_operations()[0], Int(32), true);
  for (const Target& target : targets()) {
    if (target.is_gpu()) continue;
    Schedule inside, outside;
    inside["f"].update().vectorize("k", 8).vectorize("y", 4);
    outside["f"].update().split("k", 8).split("y", 4).reorder("y.i", "k.i", "k.o", "y.o");
    outside["f"].update().vectorize("y.i").vectorize("k.i");
    for (const Schedule& s : {inside, outside})
      for (const std::int64_t k : {1, 8, 19})
        for (const std::int64_t n : {1, 4, 10})
          expect_matches(p, s, target, {testing::powers(Int(32), {k, n}, static_cast<unsigned>(k + n))},
                         {Buffer(Int(32), {n})});
  }
}

// ---- Several pure loops as one vector

TEST(NestedVectors, TilesAndProducers) {
  Dim W("W"), H("H");
  ImageParam in(Int(16), {W, H}, "in");
  Func up("up"), out("out");
  up(x, y) = in(x, y) * 3 + cast<int16_t>(x) - cast<int16_t>(y) * 2;
  out(x, y) = up(x, y) + select(x < y, in(y % W, x % H), up(x, y));
  const Pipeline p("tiles", {in}, {Output(out, {W, H})});
  for (const Target& target : targets())
    for (const Tail tail : {Tail::Guard, Tail::Predicate}) {
      Schedule s;
      for (const char* f : {"up", "out"}) {
        s[f].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4, tail).vectorize("xi").vectorize("yi");
        if (target.is_gpu()) s[f].gpu_blocks("xo", "yo");
      }
      s["up"].compute_root();
      for (const std::int64_t w : {1, 8, 21})
        for (const std::int64_t h : {1, 4, 11})
          expect_matches(p, s, target, {random_buffer(Int(16), {w, h}, static_cast<unsigned>(w * h))},
                         {Buffer(Int(16), {w, h})});
    }
}

/// Loops between the two, and rows transposed, so that neither way is dense.
TEST(NestedVectors, WithALoopBetween) {
  Dim K("K"), W("W"), H("H");
  ImageParam a(Float(32), {K, H}, "a"), b(Float(32), {W, K}, "b");
  RDom k(0, K, "k");
  Func f("f");
  f(y, x) += a(k, y) * b(x, k);
  const Pipeline p("transposed", {a, b}, {Output(f, {H, W})});
  for (const Target& target : targets()) {
    Schedule s;
    for (Stage stage : {s["f"], s["f"].update()}) {
      stage.split("x", "xo", "xi", 4).split("y", "yo", "yi", 8);
      if (stage.name() == "f")
        stage.reorder("xi", "yi", "xo", "yo");
      else
        stage.reorder("xi", "k", "yi", "xo", "yo");
      stage.vectorize("xi").vectorize("yi");
      if (target.is_gpu()) stage.gpu_blocks("xo", "yo");
    }
    for (const std::int64_t n : {1, 9, 16})
      expect_matches(p, s, target,
                     {random_buffer(Float(32), {5, n}, 1), random_buffer(Float(32), {n + 3, 5}, 2)},
                     {Buffer(Float(32), {n, n + 3})});
  }
}

TEST(NestedVectors, OfThreeLoops) {
  Dim A("A"), B("B"), C("C");
  const Var z("z");
  ImageParam in(UInt(8), {A, B, C}, "in");
  Func f("f");
  f(x, y, z) = in(x, y, z) + cast<uint8_t>(x + 2 * y + 3 * z);
  const Pipeline p("three", {in}, {Output(f, {A, B, C})});
  for (const Target& target : targets()) {
    Schedule s;
    s["f"].tile({"x", "y", "z"}, {"xo", "yo", "zo"}, {"xi", "yi", "zi"}, {4, 2, 3});
    s["f"].vectorize("xi").vectorize("yi").vectorize("zi");
    if (target.is_gpu()) s["f"].gpu_blocks("xo", "yo", "zo");
    for (const std::int64_t n : {1, 4, 7})
      expect_matches(p, s, target, {random_buffer(UInt(8), {n, n + 1, n + 2}, 3)},
                     {Buffer(UInt(8), {n, n + 1, n + 2})});
  }
}

}  // namespace
}  // namespace calotype
