#pragma once
// A matrix product by a role that copies and one that multiplies, in clusters or not; and what is said of
// schedules that are none.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "support/run.h"

namespace calotype::testing {

inline const Target kHopper = Target::interpreter("sm_90a");

/// Loops of C's tiles: the innermost of blocks, and those inside.
struct TileLoops {
  std::string block = "no", n = "ni", m = "mi";
};

/// Tiles of rows x columns a block, in clusters of so many side by side along n or m.
inline TileLoops tile_blocks(Schedule& s, int rows, int columns, int cluster, bool along_n) {
  TileLoops loops;
  s["C"].tile("n", "m", "no", "mo", "ni", "mi", along_n ? columns * cluster : columns,
              along_n ? rows : rows * cluster);
  if (cluster == 1) {
    s["C"].gpu_blocks("no", "mo");
    return loops;
  }
  loops.block = along_n ? "nc" : "mc";
  (along_n ? loops.n : loops.m) = along_n ? "nj" : "mj";
  s["C"].split(along_n ? "ni" : "mi", loops.block, along_n ? "nj" : "mj", along_n ? columns : rows);
  s["C"].gpu_blocks("no", "mo").reorder(loops.n, loops.m, loops.block).cluster(loops.block);
  return loops;
}

/// A copy of an operand by boxes of swizzled rows of `row` elements: panels of such, where the tile's side is
/// dense.
inline Stage copy_operand(Schedule& s, const char* operand, bool panels, int row = 64) {
  const Stage c = s.in(operand, {"acc"});
  s[c].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
  if (!panels) return c;
  s[c].layout({fmt::format("d0 % {}", row), "d1", fmt::format("d0 / {}", row)});
  s[c].split("d0", "do", "di", row).reorder("di", "d1", "do");
  return c;
}

/// Its panels go to blocks in turn, where there are some for each; else parts of its rows.
inline void deal_out(Schedule& s, const Stage& c, bool panels, int side, int cluster, int row = 64) {
  if (panels && side / row % cluster == 0) {
    s[c].multicast("do");
    return;
  }
  s[c].split("d1", "share", "dr", (panels ? row : side) / cluster).multicast("share");
}

struct Product {
  Type type = BFloat(16);
  int rows = 128, columns = 64, slots = 3, copying_warps = 4;
  bool persistent = false, staged = false, a_by_rows = true, b_by_columns = true;
  int cluster = 1;  ///< blocks, side by side along one coordinate, which copy the other's operand together
  bool along_n = false;  ///< that coordinate is n

  Pipeline pipeline() const {
    Dim M("M"), N("N"), K("K");
    ImageParam A(type, a_by_rows ? std::vector<Expr>{K, M} : std::vector<Expr>{M, K}, "A");
    ImageParam B(type, b_by_columns ? std::vector<Expr>{K, N} : std::vector<Expr>{N, K}, "B");
    Var n("n"), m("m");
    RDom k(0, K, "k");
    Func acc("acc"), C("C");
    acc(n, m) += cast<float>(a_by_rows ? A(k, m) : A(m, k)) * cast<float>(b_by_columns ? B(k, n) : B(n, k));
    C(n, m) = cast(type, acc(n, m));
    return Pipeline("product", {A, B}, {Output(C, {N, M})});
  }

  Schedule schedule() const {
    Schedule s;
    const Stage out = staged ? s.stage_out("C") : s["C"];
    const auto [block, n, m] = tile_blocks(s, rows, columns, cluster, along_n);
    if (staged) {
      s["C"].split(n, "part", "np", 64).reorder("np", m, "part").unroll("part").copy(Copy::Tma);
      s[out].compute_at("C", "part").store_in(Memory::Shared).swizzle(128);
      s[out].hoist_storage("C", block).ring_buffer(2);
    }
    if (persistent) s["C"].persistent().raster(Grouped{2});
    s["acc"].compute_at("C", block).store_in(Memory::Register);
    s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
    s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
    const Stage a = copy_operand(s, "A", !a_by_rows), b = copy_operand(s, "B", !b_by_columns);
    if (cluster > 1)
      along_n ? deal_out(s, a, !a_by_rows, rows, cluster) : deal_out(s, b, !b_by_columns, columns, cluster);
    if (slots > 1) s["acc"].update().pipeline("ko", slots);
    const std::vector<FuncName> rest =
        staged ? std::vector<FuncName>{"acc", out, "C"} : std::vector<FuncName>{"acc", "C"};
    if (copying_warps == 4) {
      s.role("load", {a, b}, {.warps = 4, .registers = 40});
      s.role("multiply", rest, {.warps = rows / 16, .registers = 232});
    } else {
      s.role("load", {a, b}, {.warps = copying_warps});
      s.role("multiply", rest, {.warps = rows / 16});
    }
    return s;
  }

  void check(std::int64_t m, std::int64_t n, std::int64_t k) const {
    SCOPED_TRACE(fmt::format("{} x {} x {}, tile {} x {}, {} slots{}, clusters of {}{}", m, n, k, rows,
                             columns, slots, persistent ? ", persistent" : "", cluster,
                             along_n ? " along n" : ""));
    const auto extents = [&](bool dense, std::int64_t side) {
      return dense ? std::vector<std::int64_t>{k, side} : std::vector<std::int64_t>{side, k};
    };
    const std::vector<Buffer> inputs = {random_buffer(type, extents(a_by_rows, m), 1),
                                        random_buffer(type, extents(b_by_columns, n), 2)};
    const Verification found =
        pipeline().verify(schedule(), "sm_90a", inputs, {}, {}, {.random_landing = staged || cluster > 1});
    EXPECT_TRUE(found.clean()) << found.str();
    expect_matches(pipeline(), schedule(), kHopper, inputs, {Buffer(type, {n, m})});
  }
};

inline void expect_refused(const Pipeline& p, const Schedule& s, const std::vector<std::string>& parts) {
  try {
    p.compile(s, kHopper);
    ADD_FAILURE() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Schedule) << e.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << "\nin\n" << e.what();
  }
}

}  // namespace calotype::testing
