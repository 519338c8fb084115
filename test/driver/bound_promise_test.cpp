// A size that a schedule promises: it is a constant in the code, and a call that has another one is refused.

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::random_buffer;
using testing::row_sums;

/// A row of 64 in the registers of 16 threads, read twice and loaded once.
Schedule rows_of_64() {
  Schedule s;
  s["out"].bound("x", 0, 64).gpu_blocks("y").vectorize("x", 2).gpu_threads("x.o", 16).unroll("x.o.o");
  s["total"].compute_at("out", "y").store_in(Memory::Register);
  s["total"].update().split("k", "kc", "kv", 2).split("kc", "ko", "kt", 16);
  Stage part = s["total"].update().rfactor({{"kv", "v"}, {"kt", "t"}}, "part");
  s[part].compute_at("out", "y").store_in(Memory::Register).vectorize("v").gpu_threads("t");
  s[part].update().reorder("v", "ko", "t").vectorize("v").gpu_threads("t").unroll("ko", 2);
  s["total"].update().unroll("kv").unroll("kt");
  s[s.in("part", {"total"})].compute_at("out", "y").store_in(Memory::Shared).vectorize("v").gpu_threads("t");
  s[s.in("in")]
      .compute_at("out", "y")
      .store_in(Memory::Register)
      .vectorize("d0", 2)
      .gpu_threads("d0.o", 16)
      .unroll("d0.o.o");
  return s;
}

TEST(BoundPromise, CountsInTheCode) {
  const Target target = Target::interpreter("sm_90a");
  expect_matches(row_sums(), rows_of_64(), target, {random_buffer(Float(32), {64, 3}, 1)},
                 {Buffer(Float(32), {64, 3})});
  const std::string code = row_sums().compile(rows_of_64(), target).show("lowered");
  EXPECT_EQ(code.find("for "), std::string::npos) << code;  // nothing is left of N
}

TEST(BoundPromise, AnotherSizeIsRefused) {
  const Kernel kernel = row_sums().compile(rows_of_64(), Target::interpreter("sm_90a"));
  const Buffer in = random_buffer(Float(32), {63, 3}, 1), out(Float(32), {63, 3});
  try {
    kernel.call({in, out});
    FAIL() << "ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Argument);
    EXPECT_NE(e.diagnostic().message.find("bound(x, 0, 64) fits only an extent of 64 from 0, not 63 from 0"),
              std::string::npos)
        << e.diagnostic().message;
  }
}

/// What is needed starts where a loop says, and ends where the size says: only the end can break the promise.
TEST(BoundPromise, OfWhatALoopNeedsIsCheckedWhereSizesDecide) {
  Dim W("W");
  Var x("x"), y("y");
  RDom r(0, W, "r");
  Func f("f"), out("out");
  f(x, y) = cast<std::int32_t>(x * 3 + y);
  out(x) = 0;
  out(x) += f(r + 2, x) + f(x, r);
  const Pipeline p("both_ways", {}, {Output(out, {W})});
  for (const Target& target : testing::targets()) {
    Schedule s;
    s["f"].compute_at(s["out"].update(0), "x").bound("x", 0, 16);
    if (target.is_gpu()) {
      s["f"].bound_storage("y", 32);
      s["out"].gpu_blocks("x");
      s["out"].update(0).gpu_blocks("x");
    }
    expect_matches(p, s, target, {}, {Buffer(Int(32), {8})}, {{"W", 8}});
    try {
      p.compile(s, target).call({Buffer(Int(32), {20})});
      FAIL() << "ran";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Argument);
      EXPECT_NE(e.diagnostic().message.find("bound(x, 0, 16) does not hold what is needed, min("),
                std::string::npos)
          << e.what();
      EXPECT_NE(e.diagnostic().message.find("to 21"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace calotype
