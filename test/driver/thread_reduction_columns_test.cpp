// Reductions down columns by the threads of y, whose lanes in a warp are combined by shuffles where whole
// warps have them, and of vectors, whose lanes are results of their own; on the interpreter of kernels
// against the reference.

#include <gtest/gtest.h>

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

/// f(c) op= in(c, k) for all k, and every element of the column with it.
Pipeline columns(const testing::ReductionOperation& op, Type type) {
  Dim K("K"), N("N");
  ImageParam in(type, {N, K}, "in");
  RDom k(0, K, "k");
  Func f("f"), out("out");
  f(c) = type.is_bool() ? in(c, 0) : cast(type, c + 1);
  f(c) = op.apply(f(c), in(c, k));
  out(c, y) = type.is_bool() ? f(c) != in(c, y) : select(in(c, y) == cast(type, 1), cast(type, 1), f(c));
  return Pipeline(op.name, {in}, {Output(out, {N, K})});
}

/// A block has x * vector columns, in vectors, and y rows of threads; a cluster has parts of 40 rows.
Schedule by_columns(int x, int along_y, int vector, bool clusters = false) {
  Schedule s;
  s["out"].compute_root().split("c", "strip", "ci", x * vector).split("y", "yo", "yt", along_y);
  s["out"].vectorize("ci", vector).reorder("ci.v", "yo", "ci.o", "yt", "strip");
  s["out"].gpu_threads("ci.o", "yt").gpu_blocks("strip");
  s["f"].compute_at("out", "strip").store_in(Memory::Register).vectorize("c", vector).gpu_threads("c.o");
  Stage sums = s["f"].update();
  if (clusters) sums.split("k", "part", "own", 40);
  sums.split(clusters ? "own" : "k", "ko", "kt", along_y).vectorize("c", vector);
  if (clusters)
    sums.reorder("c.v", "ko", "kt", "part", "c.o").gpu_threads("c.o", "kt").cluster("part");
  else
    sums.reorder("c.v", "ko", "kt", "c.o").gpu_threads("c.o", "kt");
  return s;
}

void expect_columns(const Pipeline& p, const Schedule& s, Type type, std::int64_t n, std::int64_t k) {
  expect_matches(p, s, target, {powers(type, {n, k}, static_cast<unsigned>(k))}, {Buffer(type, {n, k})});
}

TEST(ColumnReductions, EveryOperationOfEveryType) {
  for (const testing::ReductionOperation& op : testing::reduction_operations())
    for (const Type type : testing::types_of(op))
      for (const std::int64_t k : {1, 70})
        expect_columns(columns(op, type), by_columns(8, 16, 2), type, 37, k);
}

TEST(ColumnReductions, EveryShapeOfABlock) {
  const Pipeline p = columns(testing::reduction_operations()[0], Float(32));
  for (const int x : {1, 2, 5, 8, 16, 32, 64})
    for (const int along_y : {1, 4, 7, 32, 64})
      for (const int vector : {1, 3, 4})
        if (x * along_y <= 1024) expect_columns(p, by_columns(x, along_y, vector), Float(32), 70, 45);
}

TEST(ColumnReductions, LengthsOfRowsAndColumns) {
  const Pipeline p = columns(testing::reduction_operations()[3], Int(32));
  for (const std::int64_t n : {1, 4, 31, 33})
    for (const std::int64_t k : {1, 15, 16, 17, 333})
      for (const int vector : {1, 4}) expect_columns(p, by_columns(8, 16, vector), Int(32), n, k);
}

TEST(ColumnReductions, ByBlocksOfACluster) {
  const Pipeline p = columns(testing::reduction_operations()[0], Float(32));
  for (const auto& [x, along_y, vector] :
       {std::tuple(8, 16, 4), {8, 8, 1}, {16, 64, 2}, {5, 9, 4}, {1, 32, 8}})
    for (const std::int64_t k : {1, 41, 160, 320}) {
      Schedule s = by_columns(x, along_y, vector, true);
      s.assume("K", Assumption::range(1, 320));
      expect_columns(p, s, Float(32), 67, k);
    }
}

/// Lanes that are reduced over beside lanes that are results.
TEST(ColumnReductions, LanesOfBothKinds) {
  const Pipeline p = columns(testing::reduction_operations()[0], Float(32));
  for (const int vector : {2, 4})
    for (const int inner : {2, 3}) {
      Schedule both;
      both["out"].compute_root().split("c", "strip", "ci", 8 * vector).reorder("ci", "y", "strip");
      both["out"].gpu_threads("ci").gpu_blocks("strip");
      both["f"].compute_at("out", "strip").store_in(Memory::Register).vectorize("c", vector);
      both["f"].update().split("k", "ko", "ki", inner).split("ko", "kq", "kt", 8).vectorize("c", vector);
      both["f"].update().reorder("c.v", "ki", "kq", "kt", "c.o").vectorize("ki").gpu_threads("kt");
      for (const std::int64_t k : {1, 50}) expect_columns(p, both, Float(32), 45, k);
    }
}

/// The place of the largest value of a column, the first of equal ones.
TEST(ColumnReductions, InOrder) {
  Dim K("K"), N("N");
  ImageParam in(Int(32), {N, K}, "in");
  RDom k(0, K, "k");
  Func f("f"), out("out");
  f(c) = Tuple(in(c, 0), cast<std::int32_t>(0));
  const Expr better = in(c, k) > f(c)[0];
  f(c) = Tuple(select(better, in(c, k), f(c)[0]), select(better, cast<std::int32_t>(k), f(c)[1]));
  out(c, y) = f(c)[1] + f(c)[0] + cast<std::int32_t>(y);
  const Pipeline p("argmax", {in}, {Output(out, {N, 3})});
  std::mt19937 random(7);
  for (const int along_y : {4, 16, 64})
    for (const std::int64_t length : {1, 16, 77, 300}) {
      Schedule s;
      s["out"].compute_root().split("c", "strip", "ct", 8).split("y", "yo", "yt", along_y);
      s["out"].reorder("ct", "yt", "yo", "strip").gpu_threads("ct", "yt").gpu_blocks("strip");
      s["f"].compute_at("out", "strip").store_in(Memory::Register).gpu_threads("c");
      s["f"].update().split("k", "kt", "ki", 5).reorder("ki", "kt", "c").gpu_threads("c", "kt");
      s.assume("K", Assumption::range(1, 5 * along_y));
      if (length > 5 * along_y) continue;
      Buffer few(Int(32), {20, length});
      for (std::int64_t i = 0; i < length; ++i)
        for (std::int64_t j = 0; j < 20; ++j) few.set_value({j, i}, static_cast<double>(random() % 5));
      expect_matches(p, s, target, {few}, {Buffer(Int(32), {20, 3})});
    }
}

TEST(ColumnReductions, TellHowTheyAreCombined) {
  const Pipeline p = columns(testing::reduction_operations()[0], Float(32));
  const Kernel kernel = p.compile(by_columns(8, 16, 4), target);
  EXPECT_NE(
      kernel.show("tiles").find("by threads: 4 lanes along y, 4 threads along y, through shared memory"),
      std::string::npos)
      << kernel.show("tiles");
}

}  // namespace
}  // namespace calotype
