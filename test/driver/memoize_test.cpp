// Values that stay from one call to the next. How often they are computed is seen by the lines that they
// print.

#include <atomic>
#include <cstdlib>
#include <thread>

#include "runtime/value_cache.h"
#include "support/run.h"

#ifdef CALOTYPE_HAS_LLVM

namespace calotype {
namespace {

/// A context that counts the lines printed.
struct Counting {
  calotype_context context{};
  std::atomic<int> lines = 0;
  Counting() {
    context.user = this;
    context.print = [](void* user, const char*) { ++static_cast<Counting*>(user)->lines; };
  }
  /// Since the last call.
  int taken() { return lines.exchange(0); }
};

/// out(x, y) = in(x, y) * table(x + y % 3): table(i) = i * scale + W, from `step`, which prints a line a
/// point.
Pipeline tables() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Param scale(Float(32), "scale", 1.0), unused(Float(32), "unused", 0.0);
  Var x("x"), y("y");
  Func step("step"), table("table"), out("out");
  step(x) = print(cast<float>(x), "step");
  table(x) = step(x) * scale + cast<float>(W);
  out(x, y) = in(x, y) * table(x + y % 3) + unused;
  return Pipeline("tables", {in, scale, unused}, {Output(out, {W, H})});
}

Schedule kept_table() {
  Schedule s;
  s["step"].compute_root();
  s["table"].compute_root().memoize();
  return s;
}

/// Calls and compares with the reference; how many points of `step` were computed.
int computed(const Pipeline& p, const Kernel& kernel, std::int64_t w, std::int64_t h, double scale,
             double unused = 0.0) {
  Counting counting;
  const Buffer in = testing::random_buffer(Float(32), {w, h}, 7), out(Float(32), {w, h});
  testing::poison(out);
  kernel.call({in, scale, unused, out}, counting.context);
  const int count = counting.taken();
  calotype_set_print([](void*, const char*) {}, nullptr);
  const Evaluation reference = p.evaluate({in}, {{"scale", scale}, {"unused", unused}});
  calotype_set_print(nullptr, nullptr);
  const lang::EqualityReport result = lang::compare_with_reference(out, reference, 0, false);
  EXPECT_TRUE(result.ok) << w << " x " << h << ", scale " << scale << ": " << result.str();
  return count;
}

TEST(Memoize, ComputesOnceForTheSameSizesAndParams) {
  const Pipeline p = tables();
  const Kernel kernel = p.compile(kept_table(), Target::host());
  EXPECT_EQ(computed(p, kernel, 8, 5, 2.0), 10);
  EXPECT_EQ(computed(p, kernel, 8, 5, 2.0), 0);
  EXPECT_EQ(computed(p, kernel, 8, 5, 3.0), 10);      // another Param
  EXPECT_EQ(computed(p, kernel, 9, 5, 2.0), 11);      // another size
  EXPECT_EQ(computed(p, kernel, 8, 7, 2.0, 1.5), 0);  // what the table does not depend on
  EXPECT_EQ(computed(p, kernel, 8, 2, 2.0), 9);       // less of it is needed
  EXPECT_EQ(computed(p, kernel, 8, 5, 3.0), 0);       // all of them are still there
  EXPECT_EQ(computed(p, kernel, 9, 5, 2.0), 0);
  EXPECT_EQ(computed(p, kernel, 8, 5, 2.0), 0);
  EXPECT_EQ(computed(p, kernel, 8, 5, -0.0), 10);  // not the same bits as 0
  EXPECT_EQ(computed(p, kernel, 8, 5, 0.0), 10);
  // Another kernel has values of its own.
  EXPECT_EQ(computed(p, p.compile(kept_table(), Target::host()), 8, 5, 2.0), 10);
  Schedule plain;
  plain["step"].compute_root();
  plain["table"].compute_root();
  const Kernel forgets = p.compile(plain, Target::host());
  EXPECT_EQ(computed(p, forgets, 8, 5, 2.0), 10);
  EXPECT_EQ(computed(p, forgets, 8, 5, 2.0), 10);
}

TEST(Memoize, IsSharedByCodeForOtherStrides) {
  const Pipeline p = tables();
  const Kernel kernel = p.compile(kept_table(), Target::host());
  EXPECT_EQ(computed(p, kernel, 8, 5, 2.0), 10);
  Counting counting;
  const Buffer apart = Buffer(Float(32), {3, 8, 5}), out(Float(32), {8, 5});
  Buffer(apart).fill(1.0);
  kernel.call({apart.slice(0, 1), 2.0, 0.0, out}, counting.context);
  EXPECT_EQ(counting.taken(), 0);
  EXPECT_EQ(out.value({3, 1}), 4 * 2.0 + 8);
}

TEST(Memoize, WithALayoutAndUpdatesAndTuples) {
  Dim N("N");
  ImageParam in(Float(64), {N}, "in");
  Var x("x");
  RDom k(1, 5, "k");
  Func pairs("pairs"), out("out");
  pairs(x) = Tuple(print(cast<double>(x), "computed"), cast<std::int32_t>(0));
  pairs(x) = Tuple(pairs(x)[0] * 0.5, pairs(x)[1] + cast<std::int32_t>(x * k));
  out(x) = in(x) + pairs(x)[0] + cast<double>(pairs(x)[1]);
  const Pipeline p("pairs", {in}, {Output(out, {N})});
  Schedule s;
  s["pairs"].compute_root().layout({"x / 4", "x % 4"}).memoize();
  const Kernel kernel = p.compile(s, Target::host());
  for (int round = 0; round < 2; ++round)
    for (const std::int64_t n : {1, 6, 33}) {
      Counting counting;
      const Buffer values = testing::random_buffer(Float(64), {n}, 3), result(Float(64), {n});
      testing::poison(result);
      kernel.call({values, result}, counting.context);
      EXPECT_EQ(counting.taken(), round == 0 ? n : 0);
      for (std::int64_t i = 0; i < n; ++i)
        EXPECT_EQ(result.value({i}),
                  values.value({i}) + static_cast<double>(i) / 32 + static_cast<double>(i * 15));
    }
}

/// table(x) fails where a Param says so, after it has been computed in part.
TEST(Memoize, ACallThatFailsLeavesNothing) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Param limit(Int(32), "limit", 100.0);
  Var x("x");
  Func table("table"), checked("checked"), out("out");
  table(x) = print(cast<float>(x) * 2.0f, "computed");
  checked(x) = require(cast<int>(x) < limit, in(x), "too far");
  out(x) = table(x) + checked(x);
  const Pipeline p("failing", {in, limit}, {Output(out, {N})});
  Schedule s;
  s["table"].compute_root().memoize();
  s["checked"].compute_root();
  const Kernel kernel = p.compile(s, Target::host());
  const Buffer in_values = testing::random_buffer(Float(32), {6}, 3), result(Float(32), {6});
  Counting counting;
  const auto call = [&](double limit_value) {
    kernel.call({in_values, limit_value, result}, counting.context);
    return counting.taken();
  };
  EXPECT_THROW(call(3), Error);
  EXPECT_EQ(counting.taken(), 6);
  EXPECT_EQ(call(100), 6);  // the failed call left none
  EXPECT_EQ(call(50), 0);   // the limit is nothing to the table
  EXPECT_THROW(call(3), Error);
  EXPECT_EQ(counting.taken(), 0);
  EXPECT_EQ(call(100), 0);  // nor does it take any away
}

TEST(Memoize, WhatACallDoesNotChooseIsKeptWhole) {
  Dim N("N");
  Param mode(Int(32), "mode", 0.0);
  Var x("x");
  Func table("table"), out("out");
  table(x) = print(cast<float>(x) + 1.0f, "computed");
  out(x) = select(mode == 1, table(x), 0.0f);
  const Pipeline p("chosen", {mode}, {Output(out, {N})});
  Schedule s;
  s["table"].compute_root().memoize();
  const Kernel kernel = p.compile(s, Target::host());
  const Buffer result(Float(32), {9});
  Counting counting;
  const auto call = [&](double m) {
    testing::poison(result);
    kernel.call({m, result}, counting.context);
    for (std::int64_t i = 0; i < 9; ++i)
      EXPECT_EQ(result.value({i}), m == 1 ? static_cast<double>(i) + 1 : 0.0);
    return counting.taken();
  };
  EXPECT_EQ(call(0), 9);
  EXPECT_EQ(call(1), 0);
  EXPECT_EQ(call(0), 0);
}

TEST(Memoize, MemoryIsTheKernelsOwn) {
  static std::atomic<std::int64_t> largest;
  largest = 0;
  calotype_context context{};
  context.print = [](void*, const char*) {};
  context.allocate = [](void*, std::size_t bytes) {
    std::int64_t seen = largest;
    while (seen < static_cast<std::int64_t>(bytes) &&
           !largest.compare_exchange_weak(seen, static_cast<std::int64_t>(bytes))) {
    }
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  };
  context.release = [](void*, void* memory) { std::free(memory); };
  const Pipeline p = tables();
  Schedule s;
  s["table"].compute_root().memoize();
  s["step"].compute_inline();
  const Kernel kernel = p.compile(s, Target::host());
  const Buffer in = testing::random_buffer(Float(32), {100000, 1}, 7), out(Float(32), {100000, 1});
  kernel.call({in, 1.0, 0.0, out}, context);
  EXPECT_LT(largest, 100000);  // no table of 400000 bytes
}

TEST(Memoize, ThreadsShareTheValues) {
  const Pipeline p = tables();
  const Kernel kernel = p.compile(kept_table(), Target::host());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0, lines = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Counting counting;
      for (int i = 0; i < 200; ++i) {
        const double scale = static_cast<double>((i * 7 + t) % 5);
        const Buffer in(Float(32), {64, 4}), out(Float(32), {64, 4});
        Buffer(in).fill(1.0);
        kernel.call({in, scale, 0.0, out}, counting.context);
        for (std::int64_t x = 0; x < 64; ++x)
          if (out.value({x, 1}) != static_cast<double>(x + 1) * scale + 64) ++wrong;
      }
      lines += counting.lines;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  // 5 keys of 66 points; every thread may have missed each once.
  EXPECT_GE(lines, 5 * 66);
  EXPECT_LE(lines, 4 * 5 * 66);
}

TEST(Memoize, WhatLiesPastTheEndIsNoValue) {
  // Of 9 and of 10 elements the memory is the same, rounded up to 16; but not what is in it.
  Dim W("W");
  Var x("x");
  Func g("g"), masked("masked"), added("added"), out("out");
  g(x) = cast<std::int32_t>(x) * 3;
  masked(x) = g(x) + 1;
  added(x) = cast<std::int32_t>(x);
  added(x) += 1;
  out(x) = masked(x) * 100 + added(x);
  const Pipeline p("past_the_end", {}, {Output(out, {W})});
  for (const Tail tail : {Tail::PredicateLoads, Tail::RoundUp}) {
    Schedule s;
    s["g"].compute_root();
    for (const char* name : {"masked", "added"})
      s[name].compute_root().memoize().split("x", "xo", "xi", 8, tail);
    const Kernel kernel = p.compile(s, Target::host());
    for (const std::int64_t w : {9, 10, 15, 9}) {
      const Buffer got(Int(32), {w});
      kernel.call({got});
      for (std::int64_t i = 0; i < w; ++i)
        EXPECT_EQ(got.value({i}), static_cast<double>((i * 3 + 1) * 100 + i + 1)) << i << " of " << w;
    }
  }
}

TEST(Memoize, StagesAreStoredAllTheSame) {
  const Pipeline p = tables();
  calotype_set_print([](void*, const char*) {}, nullptr);
  const Buffer in = testing::random_buffer(Float(32), {12, 4}, 5);
  const driver::StageArguments arguments{{in}, {{"scale", 2.0}, {"unused", 0.0}}, {}};
  const schedule::Scheduled scheduled =
      driver::schedule_for(p.graph(), kept_table(), Target::host(), arguments);
  const std::vector<lang::FuncId> stages = driver::realised_stages(scheduled);
  for (const driver::StageComparison& stage :
       driver::compare_stages(driver::run_stages(p.graph(), scheduled, stages, arguments),
                              driver::reference_stages(p.graph(), scheduled, stages, arguments)))
    EXPECT_TRUE(stage.passed()) << stage.str();
  calotype_set_print(nullptr, nullptr);
}

}  // namespace
}  // namespace calotype

#endif  // CALOTYPE_HAS_LLVM
