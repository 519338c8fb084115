// Bulk copies: rows that one thread starts and a barrier in shared memory counts, in rings and by themselves,
// dealt out to the blocks of a cluster; the values of the reference for all element sizes, ragged ends, calls
// whose buffers lie in no multiples of 16 bytes, and numbers of iterations.

#include <gtest/gtest.h>

#include <array>
#include <regex>

#include "calotype/calotype.h"
#include "support/centred.h"
#include "support/copies.h"
#include "support/powers.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::centred;
using testing::expect_matches;
using testing::powers;
using testing::random_buffer;

const Var c("c"), y("y");
const Target target = Target::interpreter("sm_90a");
const std::vector<Type> kTypes = {UInt(8), BFloat(16), Float(16), Int(32), Float(32), Float(64)};

/// Rows, each in bulk.
Schedule rows(int most, int threads, int blocks, int depth) {
  return testing::copied_rows(Copy::Bulk, most, threads, blocks, depth);
}

TEST(BulkCopies, RowsOfAllElementSizes) {
  for (const Type type : kTypes)
    for (const int depth : {1, 2, 3})
      for (const std::int64_t k : {1, 15, 16, 64, 77, 100})
        expect_matches(centred(type), rows(112, 32, 2, depth), target,
                       {powers(type, {k, 7}, static_cast<unsigned>(k))}, {Buffer(type, {k, 7})});
}

// 0, 1, depth - 1, depth and depth + 1 iterations in a block, some blocks one less.
TEST(BulkCopies, AnyNumberOfIterations) {
  for (const int depth : {1, 2, 3, 4})
    for (const std::int64_t n : {0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 12, 13})
      expect_matches(centred(Float(32)), rows(40, 64, 3, depth), target,
                     {powers(Float(32), {40, n}, static_cast<unsigned>(n))}, {Buffer(Float(32), {40, n})});
}

/// A ring that is entered again for each of several rounds.
TEST(BulkCopies, InsideALoop) {
  for (const int depth : {2, 3})
    for (const int inner : {1, 2, 3, 4})
      for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 9, 12, 24}) {
        Schedule t;
        t.assume("K", Assumption::range(1, 40));
        t["out"].compute_root().split("y", "turn", "place", 2).split("turn", "round", "step", inner);
        t["out"].gpu_threads("c", 32).reorder("c.t", "c.o", "step", "round", "place").gpu_blocks("place");
        t["out"].pipeline("step", depth);
        t.in("in").compute_at("out", "step").store_in(Memory::Shared).copy(Copy::Bulk);
        t["total"].compute_at("out", "step").store_in(Memory::Register);
        t["total"].update().gpu_threads("k", 32);
        expect_matches(centred(Float(32)), t, target, {powers(Float(32), {36, n}, 3)},
                       {Buffer(Float(32), {36, n})});
      }
}

/// A part of each row for each block of the cluster, in its own shared memory.
TEST(BulkCopies, RowsDealtOutToClusters) {
  for (const Type type : {Float(32), BFloat(16), UInt(8)})
    for (const int blocks : {1, 2, 4})
      for (const int depth : {1, 2, 3})
        for (const std::int64_t k : {1, 64, 65, 64 * blocks - 3, 64 * blocks})
          if (k <= 64 * blocks)
            expect_matches(centred(type), testing::copied_rows_in_clusters(Copy::Bulk, blocks, depth), target,
                           {powers(type, {k, 5}, static_cast<unsigned>(k))}, {Buffer(type, {k, 5})});
}

/// Threads that each start a row of a tile.
TEST(BulkCopies, ATileByManyThreads) {
  Dim W("W"), H("H");
  for (const Type type : kTypes) {
    ImageParam in(type, {W, H}, "in");
    Func out("out");
    out(c, y) = in(c, H - 1 - y);
    const Pipeline p("turned", {in}, {Output(out, {W, H})});
    Schedule s;
    s["out"].tile("c", "y", "co", "yo", "ci", "yi", 32, 8).gpu_blocks("co", "yo").gpu_threads("ci", "yi");
    s.in("in").compute_at("out", "co").store_in(Memory::Shared).gpu_threads("d1").copy(Copy::Bulk);
    for (const auto& [w, h] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {32, 8}, {33, 9}, {64, 17}})
      expect_matches(p, s, target, {random_buffer(type, {w, h}, 4)}, {Buffer(type, {w, h})});
  }
}

/// Two operands of a product in one ring, counted together; one of them in groups.
TEST(BulkCopies, OfOperandsTogether) {
  for (const bool mixed : {false, true})
    for (const int depth : {1, 2, 4})
      for (const std::int64_t k : {1, 16, 47, 64, 100}) {
        Schedule s = testing::copied_product(1);
        s["A.in(acc)"].gpu_threads("d1").copy(Copy::Bulk);
        if (mixed)
          s["B.in(acc)"].vectorize("d0", 4).copy(Copy::Async);
        else
          s["B.in(acc)"].gpu_threads("d1").copy(Copy::Bulk);
        if (depth > 1) s["acc"].update().pipeline("ro", depth);
        expect_matches(testing::typed_product(Float(32), Float(32)), s, target,
                       {random_buffer(Float(32), {k, 18}, 1), random_buffer(Float(32), {20, k}, 2)},
                       {Buffer(Float(32), {20, 18})}, {{"K", k}});
      }
}

/// Rows that lie apart by no multiple of 16 bytes, and elements that lie apart.
TEST(BulkCopies, OfBuffersThatLieOtherwise) {
  for (const int stride : {1, 2}) {
    std::vector<float> data(39 * 5 * static_cast<std::size_t>(stride));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 17) - 5;
    const Buffer in(Float(32), data.data(), {37, 5}, {stride, 39 * stride});
    expect_matches(centred(Float(32)), rows(40, 32, 2, 2), target, {in}, {Buffer(Float(32), {37, 5})});
  }
}

TEST(BulkCopies, GiveTheValuesOfEachStage) {
  for (const int depth : {1, 2})
    testing::expect_stages_match(centred(Float(32)), rows(40, 32, 2, depth), target,
                                 {powers(Float(32), {36, 7}, 1)});
}

TEST(BulkCopies, CostTheThreadsNothing) {
  const std::string text =
      centred(Float(32)).compile(rows(1024, 256, 132, 2), Target::parse("cuda-sm_90a")).show("cuda");
  EXPECT_NE(text.find("if (thread_in_block() == 0) copy_row("), std::string::npos) << text;
  EXPECT_NE(text.find("await(&turn_full["), std::string::npos) << text;
}

/// The engine that copies does not wait for loads that a barrier has passed.
TEST(BulkCopies, ComeAfterWhatThreadsHaveRead) {
  for (const int depth : {1, 2, 3}) {
    const std::string text =
        centred(Float(32)).compile(rows(1024, 256, 132, depth), Target::parse("cuda-sm_90a")).show("cuda");
    EXPECT_TRUE(std::regex_search(text, std::regex(R"(fence_copies\(\);\n *__syncthreads\(\);)"))) << text;
  }
}

}  // namespace
}  // namespace calotype
