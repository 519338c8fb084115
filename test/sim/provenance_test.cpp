// What a finding tells of the program: stages, directives, loops, and both accesses of a conflict.

#include <array>
#include <climits>
#include <cstring>
#include <functional>

#include "sim/kernel_maker.h"

namespace calotype::sim {
namespace {

using ir::MemorySpace;

/// 64 threads that fill a tile in the production of a stage and read it in that of another, 4 elements each.
struct TwoStages : KernelMaker {
  ir::BufferPtr out, tile;
  Expr t;
  std::vector<float> result = std::vector<float>(256, 0);

  TwoStages() : KernelMaker("two_stages") {
    out = argument("out", Float(32));
    tile = storage("tile", Float(32), MemorySpace::Shared, 256);
    t = thread();
  }

  ir::Stmt loop_of(const std::string& func, const std::string& name,
                   const std::function<ir::Stmt(const Expr&)>& body) const {
    const ir::SymbolPtr s = ir::make_symbol(ir::SymbolKind::Loop, name);
    return ir::for_loop({.var = s, .func = func, .origin = "#4 split(x, " + name + ", xi, 64)"}, ir::index(0),
                        ir::index(4), body(ir::make_var(s)));
  }
  ir::Stmt fill() const {
    return ir::note({"produce tile", "tile", "#2 compute_at(out, xo)"},
                    loop_of("tile", "i", [&](const Expr& i) {
                      return ir::store(tile, cast(Float(32), t), {t + i * 64});
                    }));
  }
  ir::Stmt read() const {
    return loop_of("out", "k", [&](const Expr& k) {
      return ir::store(out, load(tile, ir::index(255) - (t + k * 64)), {t + k * 64});
    });
  }
  Report run_parts(std::vector<ir::Stmt> parts, std::uint64_t seed) {
    function.body = ir::allocate(tile, ir::block(std::move(parts)));
    return run({{1, 1, 1}, {64, 1, 1}, {}, {memory_of(result)}}, {.seed = seed, .figures = true});
  }
};

TEST(Provenance, BothAccessesOfARaceWithTheirLoops) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TwoStages k;
    const Report report = k.run_parts({k.fill(), k.read()}, seed);
    ASSERT_GE(count_kind(report, "data race"), 1) << to_string(report);
    for (const Finding& f : report.findings) {
      if (f.kind != "data race") continue;
      ASSERT_EQ(f.accesses.size(), 2u) << f.message;
      EXPECT_EQ(f.kernel, "two_stages");
      EXPECT_FALSE(f.stage.empty());
      const bool reads = f.accesses[0].verb == "reads";
      const ThreadAccess &reader = f.accesses[reads ? 0 : 1], &writer = f.accesses[reads ? 1 : 0];
      EXPECT_EQ(reader.verb, "reads");
      EXPECT_EQ(reader.stage, "out");
      EXPECT_EQ(reader.directive, "#4 split(x, k, xi, 64)");
      EXPECT_EQ(writer.verb, "writes");
      EXPECT_EQ(writer.stage, "tile");
      EXPECT_EQ(writer.directive, "#2 compute_at(out, xo)");
      ASSERT_EQ(reader.loops.size(), 1u);
      ASSERT_EQ(writer.loops.size(), 1u);
      EXPECT_EQ(reader.loops[0].first, "k");
      EXPECT_EQ(writer.loops[0].first, "i");
      // They meet in one element: 255 - (t + 64 k) of one is t + 64 i of the other.
      EXPECT_EQ(255 - (reader.thread[0] + 64 * reader.loops[0].second),
                writer.thread[0] + 64 * writer.loops[0].second);
      EXPECT_EQ(f.index, writer.thread[0] + 64 * writer.loops[0].second);
    }
  }
}

/// The second run leaves the memory as the first did.
TEST(Provenance, ExplainingChangesNoResult) {
  TwoStages explained, plain;
  explained.run_parts({explained.fill(), explained.read()}, 3);
  plain.function.body = ir::allocate(plain.tile, ir::block({plain.fill(), plain.read()}));
  const Report report =
      plain.run({{1, 1, 1}, {64, 1, 1}, {}, {memory_of(plain.result)}}, {.seed = 3, .explain = false});
  // What is read too early is NaN.
  EXPECT_EQ(std::memcmp(explained.result.data(), plain.result.data(), sizeof(float) * plain.result.size()),
            0);
  EXPECT_EQ(report.findings.front().accesses.size(), 1u);
}

TEST(Provenance, FiguresAreThoseOfStages) {
  TwoStages k;
  const Report report = k.run_parts({k.fill(), ir::barrier(""), k.read()}, 1);
  EXPECT_TRUE(report.clean()) << to_string(report);
  ASSERT_EQ(report.stages.size(), 2u);
  const bool order = report.stages[0].stage == "tile";
  const StageFigures &tile = report.stages[order ? 0 : 1], &out = report.stages[order ? 1 : 0];
  EXPECT_EQ(tile.stage, "tile");
  EXPECT_EQ(tile.shared_bytes, 1024);
  EXPECT_EQ(tile.shared_stores.requests, 8);
  EXPECT_EQ(tile.shared_stores.bytes, 1024);
  EXPECT_EQ(tile.shared_stores.pieces, 8);
  EXPECT_EQ(out.stage, "out");
  EXPECT_EQ(out.shared_loads.requests, 8);
  EXPECT_EQ(out.shared_loads.pieces, 8);
  EXPECT_EQ(out.global_stores.requests, 8);
  EXPECT_EQ(out.global_stores.bytes, 1024);
  EXPECT_EQ(out.barriers, 2);  // in no production: the kernel's
}

/// Each thread reads what is `stride` elements from its neighbour's, in vectors of `lanes`.
Report strided(MemorySpace space, std::int64_t stride, int lanes) {
  KernelMaker k("strided");
  const ir::BufferPtr out = k.argument("out", Float(32)), in = k.argument("in", Float(32));
  const Expr t = k.thread();
  const ir::BufferPtr tile = k.storage("tile", Float(32), MemorySpace::Shared, 4096);
  const Expr at = t * stride;
  const bool shared = space == MemorySpace::Shared;
  const Expr value = load(shared ? tile : in, lanes == 1 ? at : ramp(at, lanes));
  const Expr to = lanes == 1 ? t : ramp(t * lanes, lanes);
  const ir::Stmt fill = loop(
      "i", ir::index(128), [&](const Expr& i) { return ir::store(tile, cast(Float(32), i), {t + i * 32}); });
  k.function.body = ir::allocate(tile, ir::block({fill, ir::barrier(""), ir::store(out, value, {to})}));
  alignas(32) static std::array<float, 4096> input{}, result{};
  const auto memory = [](std::array<float, 4096>& a) {
    return Memory{a.data(), 0, static_cast<std::int64_t>(sizeof a)};
  };
  return k.run({{1, 1, 1}, {32, 1, 1}, {}, {memory(result), memory(input)}}, {.figures = true});
}

/// By hand: sectors of 32 bytes that 32 threads touch, and turns of 32 banks of 4 bytes.
TEST(Figures, OfStridesAndVectors) {
  const auto global = [](std::int64_t stride, int lanes) {
    const Report r = strided(MemorySpace::Argument, stride, lanes);
    EXPECT_TRUE(r.clean()) << to_string(r);
    return r.stages.back().global_loads;
  };
  const auto shared = [](std::int64_t stride, int lanes) {
    return strided(MemorySpace::Shared, stride, lanes).stages.back().shared_loads;
  };
  EXPECT_EQ(global(1, 1).pieces, 4);
  EXPECT_EQ(global(2, 1).pieces, 8);
  EXPECT_EQ(global(8, 1).pieces, 32);
  EXPECT_EQ(global(8, 1).least_pieces, 4);
  EXPECT_EQ(global(4, 4).requests, 1);
  EXPECT_EQ(global(4, 4).pieces, 16);
  EXPECT_EQ(global(5, 4).requests, 4);  // no multiples of 16 bytes: element by element
  EXPECT_EQ(shared(1, 1).pieces, 1);
  EXPECT_EQ(shared(0, 1).pieces, 1);  // one word for all
  EXPECT_EQ(shared(2, 1).pieces, 2);
  EXPECT_EQ(shared(32, 1).pieces, 32);
  EXPECT_EQ(shared(33, 1).pieces, 1);
  EXPECT_EQ(shared(4, 4).pieces, 4);  // a quarter of the warp at a time
  EXPECT_EQ(shared(4, 4).least_pieces, 4);
  EXPECT_EQ(shared(32, 4).pieces, 32);
}

TEST(Indices, ThatLeaveTheirTypeAreFound) {
  KernelMaker k("far");
  const ir::BufferPtr out = k.argument("out", Float(32));
  const Expr far = k.scalar("far", Int(32)), t = cast(Int(32), k.thread());
  const Expr sum = ir::make(ir::Op::Add, Int(32), {far, t});
  const ir::SymbolPtr name = ir::make_symbol(ir::SymbolKind::Let, "at", Int(32));
  // (far + t) - far is t however the sum wraps.
  k.function.body = ir::let_stmt(
      name, sum,
      ir::store(out, cast(Float(32), t), {ir::make(ir::Op::Sub, Int(32), {ir::make_var(name), far})}));
  std::vector<float> result(32, 0);
  const auto run = [&](std::int64_t value) {
    return k.run({{1, 1, 1}, {32, 1, 1}, {value}, {memory_of(result)}});
  };
  EXPECT_TRUE(run(1000).clean());
  EXPECT_TRUE(run(INT_MAX - 31).clean());
  const Report report = run(INT_MAX - 30);
  ASSERT_GE(count_kind(report, "index overflow"), 1) << to_string(report);
  EXPECT_NE(report.findings.front().message.find("2147483617 + 31"), std::string::npos) << to_string(report);
}

}  // namespace
}  // namespace calotype::sim
