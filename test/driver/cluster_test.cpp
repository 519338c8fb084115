// Blocks of a cluster: a row by several blocks, each with its part in registers, reduced by all of their
// threads together; on the interpreter of kernels against the reference.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "support/centred.h"
#include "support/powers.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::centred;
using testing::expect_matches;
using testing::powers;

const Var c("c"), y("y");
const Target target = Target::interpreter("sm_90a");

/// Parts of `part` columns, a block each; at most `most` of them.
Schedule by_cluster(int part, int most, int threads, int vector) {
  Schedule s;
  s.assume("K", Assumption::range(1, part * most));
  const auto deal_out = [&](Stage stage, const std::string& loop) {
    stage.split(loop, "part", "in_part", part).vectorize("in_part", vector);
    stage.gpu_threads("in_part.o", threads).unroll("in_part.o.o");
  };
  s["out"].compute_root();
  deal_out(s["out"], "c");
  s["out"].gpu_blocks("y").cluster("part");
  Stage row = s.in("in");
  row.compute_at("out", "y").store_in(Memory::Register);
  deal_out(row, "d0");
  row.cluster("part");
  s["total"].compute_at("out", "y").store_in(Memory::Register);
  deal_out(s["total"].update(), "k");
  s["total"].update().cluster("part");
  return s;
}

TEST(Clusters, RowsInParts) {
  for (const Type type : {Float(32), BFloat(16), Int(64), UInt(8)})
    for (const int most : {1, 2, 3, 8, 16})
      for (const int threads : {8, 32, 64}) {
        const Schedule s = by_cluster(128, most, threads, 2);
        for (const std::int64_t k : {1, 128, 129, 128 * most}) {
          if (k > 128 * most) continue;
          expect_matches(centred(type), s, target, {powers(type, {k, 3}, static_cast<unsigned>(k))},
                         {Buffer(type, {k, 3})});
        }
      }
}

/// Blocks wait for each other to run, then for what is sent to them: they meet at no barrier, nor do the
/// threads of one.
TEST(Clusters, MeetAtNoBarrier) {
  const std::string text = centred(Float(32)).compile(by_cluster(128, 4, 64, 2), target).show("lowered");
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("barrier"), 0u) << text;
  EXPECT_EQ(count("wait for cluster"), 1u) << text;
  EXPECT_EQ(count("await total.sent"), 1u) << text;
  // Words of 4 and 8 bytes are counted; of others a barrier of the cluster tells.
  const std::string narrow = centred(UInt(8)).compile(by_cluster(128, 4, 64, 2), target).show("lowered");
  EXPECT_NE(narrow.find("cluster barrier"), std::string::npos) << narrow;
}

/// Several rows one after the other in a cluster, maximum and sum: what is written again has been read.
TEST(Clusters, SlotsAreUsedAgain) {
  Dim K("K"), N("N");
  ImageParam in(Int(32), {K, N}, "in");
  RDom k(0, K, "k");
  Func peak("peak"), total("total"), out("out");
  peak(y) = cast<std::int32_t>(-1000);
  peak(y) = max(peak(y), in(k, y));
  total(y) += in(k, y) * peak(y);
  out(c, y) = in(c, y) + peak(y) * total(y);
  const Pipeline p("twice", {in}, {Output(out, {K, N})});
  Schedule s;
  s.assume("K", Assumption::range(1, 256));
  s["out"].compute_root().split("y", "yb", "ys", 3).split("c", "part", "ci", 64).gpu_threads("ci");
  s["out"].reorder("ci", "part", "ys", "yb").gpu_blocks("yb").cluster("part");
  for (const char* stage : {"peak", "total"}) {
    s[stage].compute_at("out", "ys").store_in(Memory::Register);
    s[stage].update().split("k", "part", "ki", 64).gpu_threads("ki").cluster("part");
  }
  for (const std::int64_t length : {3, 64, 200, 256})
    expect_matches(p, s, target, {powers(Int(32), {length, 7}, 9)}, {Buffer(Int(32), {length, 7})});
}

/// What is computed at the loop of the cluster is there in each block; what is stored without such a loop is
/// stored by one.
TEST(Clusters, OnceABlock) {
  Dim K("K"), N("N");
  ImageParam in(Float(32), {K + 2, N}, "in");
  Func wide("wide"), out("out");
  wide(c, y) = in(c, y) * 2.0f;
  out(c, y) = wide(c, y) + wide(c + 2, y);
  const Pipeline p("window", {in}, {Output(out, {K, N})});
  for (const char* loop : {"part", "y"}) {
    Schedule s;
    s.assume("K", Assumption::range(1, 256));
    s["out"].compute_root().split("c", "part", "ci", 64).gpu_threads("ci").gpu_blocks("y").cluster("part");
    s["wide"].compute_at("out", loop).store_in(Memory::Shared).gpu_threads("c", 64);
    for (const std::int64_t length : {1, 65, 256})
      expect_matches(p, s, target, {powers(Float(32), {length + 2, 3}, 2)}, {Buffer(Float(32), {length, 3})},
                     {{"K", length}});
  }
}

}  // namespace
}  // namespace calotype
