// Whole kernels against plain loops: the values, and that a right program has no findings.

#include <cmath>
#include <cstring>
#include <set>

#include "sim/kernel_maker.h"

namespace calotype::sim {
namespace {

using ir::MemorySpace;

TEST(Kernels, SaxpyWithTail) {
  KernelMaker k("saxpy");
  const auto x = k.argument("x", Float(32)), y = k.argument("y", Float(32));
  const Expr n = k.scalar("n"), a = k.scalar("a", Float(32));
  const Expr i = k.block() * 64 + k.thread();
  k.function.body = ir::if_then(i < n, ir::store(y, a * load(x, i) + load(y, i), {i}));
  const Kernel kernel(k.function);
  for (const std::int64_t size : {1, 31, 64, 127, 1000}) {
    std::vector<float> xs = whole_numbers(size, 1), ys = whole_numbers(size, 2), expected = ys;
    for (std::int64_t j = 0; j < size; ++j) expected[j] += 2.5f * xs[j];
    const Launch launch{
        {(size + 63) / 64, 1, 1}, {64, 1, 1}, {size, 0x40200000}, {memory_of(xs), memory_of(ys)}};
    const Report report = kernel.run(launch);
    EXPECT_TRUE(report.clean()) << to_string(report);
    EXPECT_EQ(ys, expected) << size;
    EXPECT_EQ(report.stores, size);
    EXPECT_EQ(report.loads, 2 * size);
    EXPECT_EQ(report.blocks, (size + 63) / 64);
  }
}

TEST(Kernels, NoBlocks) {
  KernelMaker k("empty");
  const auto y = k.argument("y", Float(32));
  k.function.body = ir::store(y, Expr(1.0f), {k.thread()});
  const Report report = k.run({.grid = {0, 1, 1}, .block = {32, 1, 1}, .buffers = {{}}});
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.blocks, 0);
}

/// out(x, y) = in(y, x) in tiles of 32 by 32 through shared memory; each thread moves 4 elements.
KernelMaker transpose(bool with_barrier) {
  KernelMaker k("transpose");
  const auto in = k.argument("in", Float(32)), out = k.argument("out", Float(32));
  const Expr w = k.scalar("w"), h = k.scalar("h");
  const auto tile = k.storage("tile", Float(32), MemorySpace::Shared, 32 * 33);
  const Expr tx = k.thread(0), ty = k.thread(1), bx = k.block(0) * 32, by = k.block(1) * 32;
  const ir::Stmt fill = loop("j", 4, [&](const Expr& j) {
    const Expr row = ty + j * 8;
    return ir::if_then(bx + tx < w && by + row < h,
                       ir::store(tile, load(in, (by + row) * w + bx + tx), {row * 33 + tx}));
  });
  const ir::Stmt drain = loop("j", 4, [&](const Expr& j) {
    const Expr row = ty + j * 8;
    return ir::if_then(by + tx < h && bx + row < w,
                       ir::store(out, load(tile, tx * 33 + row), {(bx + row) * h + by + tx}));
  });
  std::vector<ir::Stmt> parts{fill, drain};
  if (with_barrier) parts.insert(parts.begin() + 1, ir::barrier("tile is complete before it is read"));
  k.function.body = ir::allocate(tile, ir::block(parts));
  return k;
}

TEST(Kernels, TransposeThroughSharedMemory) {
  const Kernel kernel(transpose(true).function);
  const int w = 70, h = 45;
  std::vector<float> in = whole_numbers(w * h, 3), out(w * h, -1000), expected(w * h);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) expected[x * h + y] = in[y * w + x];
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::fill(out.begin(), out.end(), -1000.f);
    const Report report =
        kernel.run({{3, 2, 1}, {32, 8, 1}, {w, h}, {memory_of(in), memory_of(out)}}, {.seed = seed});
    EXPECT_TRUE(report.clean()) << to_string(report);
    EXPECT_EQ(out, expected);
    EXPECT_EQ(report.barriers, 6);
  }
}

TEST(Kernels, MissingBarrierShowsWithEverySeed) {
  const Kernel kernel(transpose(false).function);
  const int w = 64, h = 64;
  std::vector<float> in = whole_numbers(w * h, 3), out(w * h);
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Launch launch{{2, 2, 1}, {32, 8, 1}, {w, h}, {memory_of(in), memory_of(out)}};
    const Report report = kernel.run(launch, {.seed = seed});
    EXPECT_GE(count_kind(report, "data race"), 1) << "seed " << seed;
    EXPECT_EQ(first(report).buffer, "tile");
    // Without detection the poison is still there for those who read too early.
    EXPECT_TRUE(kernel.run(launch, {.seed = seed, .detect = false}).clean());
    wrong += std::any_of(out.begin(), out.end(), [](float v) { return std::isnan(v); });
  }
  EXPECT_GT(wrong, 40);
}

TEST(Kernels, BlockReduction) {
  KernelMaker k("sum");
  const auto in = k.argument("in", Int(32)), out = k.argument("out", Int(32));
  const Expr n = k.scalar("n");
  const auto partial = k.storage("partial", Int(32), MemorySpace::Shared, 256);
  const Expr t = k.thread(), i = k.block() * 256 + t;
  std::vector<ir::Stmt> parts;
  parts.push_back(ir::store(partial, load_if(in, i < n, i), {t}));
  for (int half = 128; half >= 1; half /= 2) {
    parts.push_back(ir::barrier("partial sums"));
    parts.push_back(
        ir::if_then(t < half, ir::store(partial, load(partial, t) + load(partial, t + half), {t})));
  }
  parts.push_back(ir::if_then(t == 0, ir::store(out, load(partial, 0), {k.block()})));
  k.function.body = ir::allocate(partial, ir::block(parts));
  std::vector<std::int32_t> xs(700), sums(3, -1), expected(3, 0);
  for (int j = 0; j < 700; ++j) xs[j] = j * j - 1000, expected[j / 256] += xs[j];
  const Report report = k.run({{3, 1, 1}, {256, 1, 1}, {700}, {memory_of(xs), memory_of(sums)}});
  EXPECT_TRUE(report.clean()) << to_string(report);
  EXPECT_EQ(sums, expected);
  EXPECT_EQ(report.barriers, 24);
}

TEST(Kernels, VectorisedCopyWithMaskedTail) {
  KernelMaker k("copy8");
  const auto in = k.argument("in", UInt(8)), out = k.argument("out", Float(16));
  const Expr n = k.scalar("n");
  const Expr at = ramp((k.block() * 32 + k.thread()) * 8, 8);
  const Expr inside = ir::make(ir::Op::Lt, Bool(8), {at, broadcast(n, 8)});
  const Expr value = ir::make(ir::Op::Cast, Float(16, 8), {load_if(in, inside, at)});
  k.function.body = ir::store(out, value, {at}, inside);
  for (const int size : {1, 7, 8, 255, 256, 700}) {
    std::vector<std::uint8_t> xs(size);
    std::vector<float16_t> ys(size);
    for (int j = 0; j < size; ++j) xs[j] = static_cast<std::uint8_t>(j * 37 + 1);
    const Report report =
        k.run({{(size + 255) / 256, 1, 1}, {32, 1, 1}, {size}, {memory_of(xs), memory_of(ys)}});
    EXPECT_TRUE(report.clean()) << to_string(report);
    for (int j = 0; j < size; ++j) ASSERT_EQ(static_cast<float>(ys[j]), xs[j]);
  }
}

TEST(Kernels, MaskedLoadsGiveZero) {
  KernelMaker k("masked");
  const auto in = k.argument("in", Float(32)), out = k.argument("out", Float(32));
  const Expr t = k.thread();
  k.function.body = loop(
      "i", 2, [&](const Expr& i) { return ir::store(out, load_if(in, i == 0 && t < 20, t), {i * 32 + t}); });
  std::vector<float> xs = whole_numbers(20, 4), ys(64, -1), expected(xs);
  expected.resize(64, 0);
  const Report report = k.run({{1, 1, 1}, {32, 1, 1}, {}, {memory_of(xs), memory_of(ys)}});
  EXPECT_TRUE(report.clean()) << to_string(report);
  EXPECT_EQ(ys, expected);
}

TEST(Kernels, LoopsWithOtherTripCountsInEachLane) {
  KernelMaker k("triangle");
  const auto lengths = k.argument("lengths", Int(32)), out = k.argument("out", Int(64));
  const auto sum = k.storage("sum", Int(64), MemorySpace::Register, 1);
  const Expr t = k.thread();
  const ir::Stmt body = loop("i", cast(Int(64), load(lengths, t)), [&](const Expr& i) {
    return loop("j", i, [&](const Expr& j) { return ir::store(sum, load(sum, 0) + i * j, {ir::index(0)}); });
  });
  k.function.body = ir::allocate(sum, ir::block({ir::store(sum, ir::index(0), {ir::index(0)}), body,
                                                 ir::store(out, load(sum, 0), {t})}));
  std::vector<std::int32_t> n(50);
  std::vector<std::int64_t> got(50, -1);
  for (int j = 0; j < 50; ++j) n[j] = j * 7 % 13 - 2;
  const Report report = k.run({{1, 1, 1}, {50, 1, 1}, {}, {memory_of(n), memory_of(got)}});
  EXPECT_TRUE(report.clean()) << to_string(report);
  for (int t_index = 0; t_index < 50; ++t_index) {
    std::int64_t expected = 0;
    for (int i = 0; i < n[t_index]; ++i)
      for (int j = 0; j < i; ++j) expected += i * j;
    EXPECT_EQ(got[t_index], expected);
  }
}

TEST(Kernels, BranchesBothWaysAndNested) {
  KernelMaker k("branch");
  const auto out = k.argument("out", Int(32));
  const Expr t = k.thread(0) + k.thread(1) * 8 + k.thread(2) * 16;
  const auto put = [&](int v) { return ir::store(out, Expr(v), {t}); };
  k.function.body = ir::if_then(t % 2 == 0, ir::if_then(t % 3 == 0, put(6), put(2)),
                                ir::if_then(t > 100, put(100), put(1)));
  std::vector<std::int32_t> got(8 * 2 * 3, -1);
  const Report report = k.run({{1, 1, 1}, {8, 2, 3}, {}, {memory_of(got)}});
  EXPECT_TRUE(report.clean()) << to_string(report);
  for (int j = 0; j < 48; ++j) EXPECT_EQ(got[j], j % 2 != 0 ? 1 : j % 3 == 0 ? 6 : 2) << j;
}

TEST(Kernels, NegativeStrides) {
  KernelMaker k("reverse");
  const auto in = k.argument("in", Float(32)), out = k.argument("out", Float(32));
  const Expr stride = k.scalar("stride");
  k.function.body = ir::store(out, load(in, k.thread() * stride), {k.thread()});
  std::vector<float> xs = whole_numbers(40, 9), ys(40), expected(xs.rbegin(), xs.rend());
  const Memory backwards{&xs[39], -39 * 4, 4};
  const Report report = k.run({{1, 1, 1}, {40, 1, 1}, {-1}, {backwards, memory_of(ys)}});
  EXPECT_TRUE(report.clean()) << to_string(report);
  EXPECT_EQ(ys, expected);
}

TEST(Kernels, LetsAndUniformLoops) {
  // A loop with uniform bounds inside a branch, a Let of a vector, lanes and a reduction of it.
  KernelMaker k("lets");
  const auto in = k.argument("in", Float(32)), out = k.argument("out", Float(32));
  const Expr n = k.scalar("n", Int(32)), t = k.thread();
  const auto sum = k.storage("sum", Float(32), MemorySpace::Local, 2);
  const ir::SymbolPtr v = ir::make_symbol(ir::SymbolKind::Let, "v", Float(32, 6));
  const Expr vector = ir::make_var(v);
  const auto reduced = [&](ir::Op op) { return ir::make(op, Float(32), {vector}); };
  const Expr third = ir::make(ir::Op::Lane, Float(32), {vector, ir::index(2)});
  const ir::Stmt body = loop("i", cast(Int(64), n), [&](const Expr& i) {
    return ir::let_stmt(
        v, load(in, ramp(i * 6, 6)),
        ir::block(
            {ir::store(sum, load(sum, 0) + reduced(ir::Op::ReduceAdd) * cast(Float(32), t), {ir::index(0)}),
             ir::store(sum, load(sum, 1) + third - reduced(ir::Op::ReduceMin), {ir::index(1)})}));
  });
  const Expr zero = Expr(0.0f);
  k.function.body = ir::allocate(
      sum, ir::if_then(t % 3 == 1,
                       ir::block({ir::store(sum, zero, {ir::index(0)}), ir::store(sum, zero, {ir::index(1)}),
                                  body, ir::store(out, load(sum, 0) + load(sum, 1), {t})})));
  std::vector<float> xs = whole_numbers(5 * 6, 11), got(40, -7);
  const Report report = k.run({{1, 1, 1}, {40, 1, 1}, {5}, {memory_of(xs), memory_of(got)}});
  EXPECT_TRUE(report.clean()) << to_string(report);
  for (int j = 0; j < 40; ++j) {
    float expected = -7;
    if (j % 3 == 1) {
      expected = 0;
      for (int i = 0; i < 5; ++i) {
        float total = 0, least = 1000;
        for (int l = 0; l < 6; ++l) total += xs[i * 6 + l], least = std::min(least, xs[i * 6 + l]);
        expected += total * static_cast<float>(j) + xs[i * 6 + 2] - least;
      }
    }
    EXPECT_EQ(got[j], expected) << j;
  }
}

TEST(Kernels, SeedsGiveOtherOrders) {
  // The last one to write wins; with 8 of them and 40 seeds most have their turn.
  KernelMaker k("last");
  const auto out = k.argument("out", Int(64));
  const Expr n = k.scalar("n");
  k.function.body = ir::block({ir::if_then(n == 0, ir::store(out, k.thread() / 32, {ir::index(0)})),
                               ir::if_then(n == 1, ir::store(out, k.block(), {ir::index(0)}))});
  const Kernel kernel(k.function);
  for (const std::int64_t blocks : {0, 1}) {
    std::set<std::int64_t> last;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      std::vector<std::int64_t> result(1);
      Launch launch{{1, 1, 1}, {256, 1, 1}, {blocks}, {memory_of(result)}};
      if (blocks == 1) std::swap(launch.grid[0], launch.block[0] = 8);
      kernel.run(launch, {.seed = seed, .detect = false});
      last.insert(result[0]);
    }
    EXPECT_GE(last.size(), 6u);
  }
}

TEST(Kernels, SameSeedSameRun) {
  const Kernel kernel(transpose(false).function);
  std::vector<float> in = whole_numbers(64 * 64, 3), first(64 * 64), second(64 * 64);
  const auto run = [&](std::vector<float>& out) {
    return to_string(
        kernel.run({{2, 2, 1}, {32, 8, 1}, {64, 64}, {memory_of(in), memory_of(out)}}, {.seed = 7}));
  };
  EXPECT_EQ(run(first), run(second));
  EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace calotype::sim
