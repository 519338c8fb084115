// What is made of a tile's sums with other tiles, which a role copies beside the operands: the values of the
// reference, findings of the simulator (none), ragged sizes, tiles one after the other, pairs of blocks.

#include <gtest/gtest.h>

#include "support/product_by_roles.h"

namespace calotype {
namespace {

using testing::kHopper;
using testing::random_buffer;

/// C(n, m) = max(acc(n, m) + bias(n), 0) * scale(m) + residual(n, m)
struct Layer {
  bool persistent = false, pairs = false, by_role = true;
  static constexpr int kRows = 64, kColumns = 128;

  Pipeline pipeline() const {
    const Type type = BFloat(16);
    Dim M("M"), N("N"), K("K");
    ImageParam A(type, {K, M}, "A"), B(type, {K, N}, "B"), bias(type, {N}, "bias"),
        scale(Float(32), {M}, "scale"), residual(type, {N, M}, "residual");
    Var n("n"), m("m");
    RDom k(0, K, "k");
    Func acc("acc"), C("C");
    acc(n, m) += cast<float>(A(k, m)) * cast<float>(B(k, n));
    const Expr sum = max(acc(n, m) + cast<float>(bias(n)), 0.0f);
    C(n, m) = cast(type, sum * scale(m) + cast<float>(residual(n, m)));
    return Pipeline("layer", {A, B, bias, scale, residual}, {Output(C, {N, M})});
  }

  Schedule schedule() const {
    Schedule s;
    const Stage out = s.stage_out("C");
    const auto [block, n, rows] = testing::tile_blocks(s, kRows, kColumns, pairs ? 2 : 1, false);
    s["C"].split(n, "part", "np", 64).reorder("np", rows, "part").unroll("part").copy(Copy::Tma);
    s[out].compute_at("C", "part").store_in(Memory::Shared).swizzle(128);
    s[out].hoist_storage("C", block).ring_buffer(2);
    if (persistent) s["C"].persistent();
    s["acc"].compute_at("C", block).store_in(Memory::Register);
    s["acc"]
        .update()
        .split("k", "ko", "ki", 64)
        .reorder("ki", "n", "m", "ko")
        .tensor_core({"m"}, {"n"}, {"ki"});
    std::vector<FuncName> copied;
    for (const char* operand : {"A", "B"}) {
      const Stage c = testing::copy_operand(s, operand, false);
      if (pairs && std::string(operand) == "B") testing::deal_out(s, c, false, kColumns, 2);
      copied.emplace_back(c);
    }
    for (const char* tile : {"bias", "scale", "residual"}) {
      if (!by_role) break;
      const Stage c = s.in(tile, {out});
      s[c].compute_at("C", block).store_in(Memory::Shared).copy(Copy::Tma);
      copied.emplace_back(c);
    }
    s["acc"].update().pipeline("ko", 2);
    s.role("copy", copied, {.warps = 1});
    s.role("multiply", {"C"}, {.warps = 4});
    return s;
  }

  static std::vector<Buffer> inputs(std::int64_t m, std::int64_t n, std::int64_t k) {
    const Type type = BFloat(16);
    return {random_buffer(type, {k, m}, 1), random_buffer(type, {k, n}, 2), random_buffer(type, {n}, 3),
            random_buffer(Float(32), {m}, 4), random_buffer(type, {n, m}, 5)};
  }

  void check(std::int64_t m, std::int64_t n, std::int64_t k) const {
    SCOPED_TRACE(fmt::format("{} x {} x {}, persistent {}, pairs {}, by role {}", m, n, k, persistent, pairs,
                             by_role));
    const Verification found =
        pipeline().verify(schedule(), "sm_90a", inputs(m, n, k), {}, {}, {.random_landing = true});
    EXPECT_TRUE(found.clean()) << found.str();
    testing::expect_matches(pipeline(), schedule(), kHopper, inputs(m, n, k), {Buffer(BFloat(16), {n, m})});
  }
};

TEST(TileEpilogue, ReadsTilesThatARoleCopies) {
  for (const bool persistent : {false, true})
    for (const bool pairs : {false, true}) {
      const Layer layer{.persistent = persistent, .pairs = pairs};
      layer.check(128, 128, 64);
      layer.check(136, 264, 328);
      layer.check(4, 8, 8);
    }
}

TEST(TileEpilogue, ReadsMemoryByItself) { Layer{.by_role = false}.check(136, 264, 72); }

/// The copying role goes on with operands: it waits for none that the other has not come to.
TEST(TileEpilogue, CopiesMoreStepsThanTheRingHas) { Layer{.persistent = true}.check(200, 136, 640); }

/// Tiles are whole, in memory beyond the ends too, and loads come before stores.
TEST(TileEpilogue, TestsNoElement) {
  const std::string text = Layer{}.pipeline().compile(Layer{}.schedule(), kHopper).show("lowered");
  EXPECT_EQ(text.find("C.staged.n.max"), std::string::npos) << text;
  EXPECT_NE(text.find("C.staged.held["), std::string::npos) << text;
  const std::string tested =
      Layer{.by_role = false}.pipeline().compile(Layer{.by_role = false}.schedule(), kHopper).show("lowered");
  EXPECT_NE(tested.find("C.staged.n.max"), std::string::npos) << tested;
}

}  // namespace
}  // namespace calotype
