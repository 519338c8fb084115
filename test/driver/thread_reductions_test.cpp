// Reduction loops bound to threads: every operation and type, groups within a warp and beyond, ragged loops,
// conditions, Tuples, several rows a block, reductions that follow each other; on the interpreter of kernels
// against the reference. Every thread of a block reads the result, so that it has to be in each.

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
using testing::powers;

const Var c("c"), y("y");
const Target target = Target::interpreter("sm_90a");

using Operation = testing::ReductionOperation;

/// f(y) op= in(k, y) for all k, and every element of the row beside it: out(c, y) = select(in, f).
Pipeline rows(const Operation& op, Type type, bool some = false) {
  Dim K("K"), N("N");
  ImageParam in(type, {K, N}, "in");
  RDom k(0, K, "k");
  if (some) k.where(in(k, y) != cast(type, 1));
  Func f("f"), out("out");
  f(y) = type.is_bool() ? in(0, y) : cast(type, y + 1);
  f(y) = op.apply(f(y), in(k, y));
  out(c, y) = type.is_bool() ? f(y) != in(c, y) : select(in(c, y) == cast(type, 1), cast(type, 1), f(y));
  return Pipeline(op.name, {in}, {Output(out, {K, N})});
}

/// A row a block, by so many threads.
Schedule row_a_block(int threads) {
  Schedule s;
  s["out"].compute_root().gpu_blocks("y").gpu_threads("c", threads);
  s["f"].compute_at("out", "y").store_in(Memory::Register);
  return s;
}

void expect_rows(const Pipeline& p, const Schedule& s, Type type, std::int64_t k, std::int64_t n = 3) {
  expect_matches(p, s, target, {powers(type, {k, n}, static_cast<unsigned>(k))}, {Buffer(type, {k, n})});
}

TEST(ThreadReductions, EveryOperationOfEveryType) {
  for (const Operation& op : testing::reduction_operations())
    for (const Type type : testing::types_of(op)) {
      Schedule s = row_a_block(64);
      s["f"].update().gpu_threads("k", 64);
      for (const std::int64_t k : {1, 64, 133}) expect_rows(rows(op, type), s, type, k);
    }
}

TEST(ThreadReductions, EveryLengthAndNumberOfThreads) {
  const Pipeline p = rows(testing::reduction_operations()[0], Int(32)),
                 some = rows(testing::reduction_operations()[3], Float(32), true);
  for (const int threads : {1, 2, 7, 31, 32, 33, 96, 256, 1000, 1024})
    for (const std::int64_t k : {1, 2, 31, 32, 33, 257}) {
      Schedule s = row_a_block(40);
      s["f"].update().gpu_threads("k", threads);
      expect_rows(p, s, Int(32), k);
      expect_rows(some, s, Float(32), k);
    }
}

TEST(ThreadReductions, LoopsInsideOutsideAndLanes) {
  const Pipeline p = rows(testing::reduction_operations()[0], Float(32), true);
  for (const std::int64_t k : {1, 31, 100, 1023}) {
    for (const int vector : {2, 3, 4}) {
      Schedule s = row_a_block(64);
      s["f"].update().vectorize("k", vector).gpu_threads("k.o", 64).unroll("k.o.o", 2);
      expect_rows(p, s, Float(32), k);
    }
    Schedule inside = row_a_block(64);
    inside["f"].update().split("k", "kt", "ki", 8).gpu_threads("kt", 33);
    expect_rows(p, inside, Float(32), k);
    Schedule stretch = row_a_block(64);
    stretch["f"].update().split("k", "ko", "ki", 40).reorder("ko", "ki").gpu_threads("ki");
    expect_rows(p, stretch, Float(32), k);
  }
}

/// A row a warp, with rows that there are none of in the last block: lanes are combined, warps are not.
TEST(ThreadReductions, ARowAWarp) {
  const Pipeline p = rows(testing::reduction_operations()[0], Float(32));
  for (const int lanes : {1, 4, 5, 32})
    for (const int warps : {1, 3, 8})
      for (const std::int64_t n : {1, 5, 16}) {
        Schedule s;
        s["out"].compute_root().gpu_lanes("c", 32).gpu_warps("y", warps).reorder("c.l", "c.o", "y.w", "y.o");
        s["out"].gpu_blocks("y.o");
        s["f"].compute_at("out", "y.o").store_in(Memory::Register).gpu_warps("y", warps);
        s["f"].update().gpu_lanes("k", lanes).gpu_warps("y", warps).reorder("k.l", "k.o", "y.w", "y.o");
        for (const std::int64_t k : {1, 33, 70}) expect_rows(p, s, Float(32), k, n);
      }
}

/// Warps are combined, lanes are columns of their own.
TEST(ThreadReductions, OverWarpsAlone) {
  Dim K("K"), N("N");
  ImageParam in(Float(32), {N, K}, "in");
  RDom k(0, K, "k");
  Func f("f"), out("out");
  f(c) += in(c, k);
  out(c, y) = in(c, y) + f(c);
  const Pipeline p("columns", {in}, {Output(out, {N, K})});
  for (const int warps : {1, 5, 20}) {
    Schedule s;
    s["out"].compute_root().gpu_lanes("c", 32).gpu_warps("y", warps).reorder("c.l", "y.w", "y.o", "c.o");
    s["out"].gpu_blocks("c.o");
    s["f"].compute_at("out", "c.o").store_in(Memory::Register).gpu_lanes("c");
    s["f"].update().gpu_lanes("c").gpu_warps("k", warps);
    for (const std::int64_t rows_of : {1, 40})
      expect_matches(p, s, target, {powers(Float(32), {77, rows_of}, 3)}, {Buffer(Float(32), {77, rows_of})});
  }
}

/// A tile that lanes and warps have written, read by threads that are counted as a whole.
TEST(ThreadReductions, LanesAndWarpsAreThreads) {
  Dim N("N"), M("M");
  ImageParam in(Float(32), {N, M}, "in");
  Func f("f"), out("out");
  f(c, y) = in(c, y) * 2.0f;
  out(c, y) = f(c, y) + 1.0f;
  const Pipeline p("tiles", {in}, {Output(out, {N, M})});
  Schedule s;
  s["out"].compute_root().split("c", "cb", "ct", 96).gpu_blocks("cb", "y").gpu_threads("ct");
  s["f"]
      .compute_at("out", "cb")
      .store_in(Memory::Register)
      .split("c", "w", "l", 32)
      .gpu_lanes("l")
      .gpu_warps("w");
  expect_matches(p, s, target, {powers(Float(32), {200, 3}, 3)}, {Buffer(Float(32), {200, 3})});
}

/// A column each along x, the rows of threads reduced over: no lanes, slots of every thread.
TEST(ThreadReductions, OverThreadsAlongY) {
  Dim K("K"), N("N");
  ImageParam in(Float(32), {N, K}, "in");
  RDom k(0, K, "k");
  Func f("f"), out("out");
  f(c) += in(c, k);
  out(c, y) = in(c, y) / f(c);
  const Pipeline p("columns", {in}, {Output(out, {N, K})});
  for (const int x : {5, 32})
    for (const int along_y : {2, 7, 20}) {
      Schedule s;
      s["out"].compute_root().split("c", "cb", "ct", x).split("y", "yo", "yt", along_y);
      s["out"].reorder("ct", "yt", "yo", "cb").gpu_blocks("cb").gpu_threads("ct", "yt");
      s["f"].compute_at("out", "cb").store_in(Memory::Register).gpu_threads("c");
      s["f"].update().split("k", "ko", "kt", along_y).gpu_threads("c", "kt");
      for (const std::int64_t rows_of : {1, 40})
        expect_matches(p, s, target, {powers(Float(32), {33, rows_of}, 3)},
                       {Buffer(Float(32), {33, rows_of})});
    }
}

TEST(ThreadReductions, OverSeveralAxes) {
  Dim K("K"), L("L"), N("N");
  ImageParam in(Int(32), {K, L, N}, "in");
  RDom r({{0, K}, {0, L}}, "r");
  Func f("f"), out("out");
  f(y) += in(r.x(), r.y(), y);
  out(c, y) = f(y) + cast<std::int32_t>(c);
  const Pipeline p("boxes", {in}, {Output(out, {64, N})});
  for (const int x : {3, 8, 32, 64})
    for (const int along_y : {1, 3, 16}) {
      Schedule s;
      s["out"].compute_root().gpu_blocks("y").gpu_threads("c");
      s["f"].compute_at("out", "y").store_in(Memory::Register);
      s["f"].update().split("r.x", "xo", "xt", x).split("r.y", "yo", "yt", along_y).gpu_threads("xt", "yt");
      expect_matches(p, s, target, {powers(Int(32), {50, 21, 2}, 5)}, {Buffer(Int(32), {64, 2})});
    }
}

/// The place of the largest value, the first of equal ones: partial results in order, a stretch a thread.
TEST(ThreadReductions, InOrder) {
  Dim K("K"), N("N");
  ImageParam in(Int(32), {K, N}, "in");
  RDom k(0, K, "k");
  Func f("f"), out("out");
  f(y) = Tuple(in(0, y), cast<std::int32_t>(0));
  const Expr better = in(k, y) > f(y)[0];
  f(y) = Tuple(select(better, in(k, y), f(y)[0]), select(better, cast<std::int32_t>(k), f(y)[1]));
  out(c, y) = f(y)[1] + f(y)[0] + cast<std::int32_t>(c);
  const Pipeline p("argmax", {in}, {Output(out, {100, N})});
  for (const int threads : {1, 5, 32, 64, 1024})
    for (const std::int64_t length : {1, 32, 77, 500}) {
      Schedule s;
      s["out"].compute_root().gpu_blocks("y").gpu_threads("c");
      s["f"].compute_at("out", "y").store_in(Memory::Register);
      s["f"].update().split("k", "kt", "ki", 16).gpu_threads("kt", threads);
      Buffer few(Int(32), {length, 3});
      std::mt19937 random(7);
      for (std::int64_t i = 0; i < length; ++i)
        for (std::int64_t j = 0; j < 3; ++j) few.set_value({i, j}, static_cast<double>(random() % 5));
      expect_matches(p, s, target, {few}, {Buffer(Int(32), {100, 3})});
    }
}

TEST(ThreadReductions, OfTuples) {
  Dim K("K"), N("N");
  ImageParam in(Int(32), {K, N}, "in");
  RDom k(0, K, "k");
  Func f("f"), out("out");
  f(y) = Tuple(in(0, y), cast<std::int64_t>(0), cast(BFloat(16), 3));
  f(y) = Tuple(max(f(y)[0], in(k, y)), f(y)[1] + in(k, y), f(y)[2]);
  out(c, y) = cast<std::int64_t>(f(y)[0]) * 3 + f(y)[1] + cast<std::int64_t>(f(y)[2]) + c;
  const Pipeline p("several", {in}, {Output(out, {100, N})});
  for (const int vector : {1, 4}) {
    Schedule s;
    s["out"].compute_root().gpu_blocks("y").gpu_threads("c");
    s["f"].compute_at("out", "y").store_in(Memory::Register);
    s["f"].update().vectorize("k", vector).gpu_threads("k.o", 96);
    expect_matches(p, s, target, {powers(Int(32), {333, 3}, 4)}, {Buffer(Int(64), {100, 3})});
  }
}

/// Maximum, then a sum that reads it, over several rows one after the other in a block: slots are used again.
TEST(ThreadReductions, FollowEachOther) {
  Dim K("K"), N("N");
  ImageParam in(Float(32), {K, N}, "in");
  RDom k(0, K, "k");
  Func row("row"), peak("peak"), total("total"), out("out");
  row(c, y) = in(c, y);
  peak(y) = row(0, y);
  peak(y) = max(peak(y), row(k, y));
  total(y) += exp(row(k, y) - peak(y));
  out(c, y) = exp(row(c, y) - peak(y)) / total(y);
  const Pipeline p("softmax", {in}, {Output(out, {K, N})});
  for (const int threads : {32, 64, 256})
    for (const int rows_of : {1, 3}) {
      Schedule s;
      s["out"].compute_root().split("y", "yb", "ys", rows_of).gpu_blocks("yb").gpu_threads("c", threads);
      s["out"].reorder("c.t", "c.o", "ys", "yb");
      s["row"].compute_inline();
      for (const char* stage : {"peak", "total"}) {
        s[stage].compute_at("out", "ys").store_in(Memory::Register);
        s[stage].update().gpu_threads("k", threads);
      }
      for (const std::int64_t length : {1, 33, 300})
        expect_matches(p, s, target, {testing::random_buffer(Float(32), {length, 5}, 2)},
                       {Buffer(Float(32), {length, 5})});
    }
}

/// The row comes from memory once, in registers dealt to the threads that reduce over it.
TEST(ThreadReductions, OverARowInRegisters) {
  Dim K("K"), N("N");
  ImageParam in(Float(32), {K, N}, "in");
  RDom k(0, K, "k");
  Func f("f"), out("out");
  f(y) += in(k, y);
  out(c, y) = in(c, y) / f(y);
  const Pipeline p("normal", {in}, {Output(out, {K, N})});
  Schedule s;
  s["out"]
      .bound("c", 0, 500)
      .compute_root()
      .gpu_blocks("y")
      .vectorize("c", 4)
      .gpu_threads("c.o", 32)
      .unroll("c.o.o");
  const Stage row = s.in("in", {"f", "out"});
  s[row]
      .compute_at("out", "y")
      .store_in(Memory::Register)
      .vectorize("d0", 4)
      .gpu_threads("d0.o", 32)
      .unroll("d0.o.o");
  s["f"].compute_at("out", "y").store_in(Memory::Register);
  s["f"].update().vectorize("k", 4).gpu_threads("k.o", 32).unroll("k.o.o");
  expect_matches(p, s, target, {testing::random_buffer(Float(32), {500, 3}, 2)},
                 {Buffer(Float(32), {500, 3})});
}

/// What the compiler says of a schedule that it refuses.
std::string refusal(const Pipeline& p, const Schedule& s) {
  try {
    p.compile(s, target);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

/// A maximum that starts from an element of the row, which one of the threads holds.
TEST(ThreadReductions, StartFromWhatOneThreadHolds) {
  Dim K("K"), N("N");
  ImageParam in(Float(32), {K, N}, "in");
  RDom k(0, K, "k");
  Func row("row"), peak("peak"), out("out");
  row(c, y) = in(c, y);
  peak(y) = row(0, y);
  peak(y) = max(peak(y), row(k, y));
  out(c, y) = row(c, y) - peak(y);
  const Pipeline p("peaks", {in}, {Output(out, {K, N})});
  Schedule s;
  s.assume("K", Assumption::range(1, 256));
  s["out"].compute_root().gpu_blocks("y").gpu_threads("c", 64);
  s["row"].compute_at("out", "y").store_in(Memory::Register).gpu_threads("c", 64);
  s["peak"].compute_at("out", "y").store_in(Memory::Register).update().gpu_threads("k", 64);
  for (const std::int64_t n : {1, 31, 64, 200})
    expect_matches(p, s, target, {testing::random_buffer(Float(32), {n, 3}, 4)}, {Buffer(Float(32), {n, 3})});
}

TEST(ThreadReductions, UpdatesOfOtherThreadsAreRefused) {
  Dim K("K"), N("N");
  ImageParam in(Float(32), {K, N}, "in");
  RDom k(0, K, "k");
  Func f("f"), sums("sums");
  f(c) = 0.0f;
  f(c) += in(c, k);
  sums(c, y) = f(c);
  const Pipeline q("updates", {in}, {Output(sums, {K, N})});
  Schedule alone;
  alone["sums"].compute_root().split("c", "cb", "ct", 32).gpu_blocks("cb", "y").gpu_threads("ct");
  alone["f"].compute_at("sums", "cb").store_in(Memory::Register);
  alone["f"].update().gpu_threads("c");
  const std::string update = refusal(q, alone);
  EXPECT_NE(update.find("would update the part of its own iteration of 'c' alone"), std::string::npos)
      << update;
}

TEST(ThreadReductions, AreListedInNumerics) {
  Schedule s = row_a_block(64);
  s["f"].update().gpu_threads("k", 64);
  const Pipeline floats = rows(testing::reduction_operations()[0], Float(32)),
                 whole = rows(testing::reduction_operations()[0], Int(32));
  EXPECT_EQ(schedule::apply_or_throw(floats.graph(), s, target).numerics.reassociates,
            std::vector<std::string>{"f.k"});
  EXPECT_TRUE(schedule::apply_or_throw(whole.graph(), s, target).numerics.reassociates.empty());
}

/// One barrier where warps exchange, none within a warp.
TEST(ThreadReductions, BarriersAreFew) {
  const Pipeline p = rows(testing::reduction_operations()[0], Float(32));
  const auto count = [&](int threads) {
    Schedule s = row_a_block(threads);
    s["f"].update().gpu_threads("k", threads);
    const std::string text = p.compile(s, target).show("lowered");
    std::size_t found = 0;
    for (std::size_t at = text.find("barrier"); at != std::string::npos; at = text.find("barrier", at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count(32), 0u);
  EXPECT_EQ(count(256), 1u);
}

}  // namespace
}  // namespace calotype
