#pragma once
// A matrix product by a role that copies and one that multiplies, in clusters or not; and what is said of
// schedules that are none.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "support/run.h"

namespace calotype::testing {

inline const Target kHopper = Target::interpreter("sm_90a");

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
    const bool in_clusters = cluster > 1;
    const std::string n = in_clusters && along_n ? "nj" : "ni", m = in_clusters && !along_n ? "mj" : "mi",
                      block = !in_clusters ? "no"
                              : along_n    ? "nc"
                                           : "mc";
    s["C"].tile("n", "m", "no", "mo", "ni", "mi", columns * (along_n ? cluster : 1),
                rows * (along_n ? 1 : cluster));
    if (in_clusters) s["C"].split(along_n ? "ni" : "mi", block, along_n ? n : m, along_n ? columns : rows);
    s["C"].gpu_blocks("no", "mo");
    if (in_clusters) s["C"].reorder(n, m, block).cluster(block);
    if (staged) {
      s["C"].split(n, "part", "np", 64).reorder("np", m, "part").unroll("part").copy(Copy::Tma);
      s[out].compute_at("C", "part").store_in(Memory::Shared).swizzle(128);
      s[out].hoist_storage("C", block).ring_buffer(2);
    }
    if (persistent) s["C"].persistent().raster(Grouped{2});
    s["acc"].compute_at("C", block).store_in(Memory::Register);
    s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
    s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
    const Stage a = copy(s, "A", a_by_rows ? 64 : rows), b = copy(s, "B", b_by_columns ? 64 : columns);
    if (in_clusters) along_n ? deal_out(s, a, a_by_rows, rows) : deal_out(s, b, b_by_columns, columns);
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

  /// Panels of the operand, where there are some for each block; else parts of its rows.
  void deal_out(Schedule& s, const Stage& c, bool dense_along_k, int side) const {
    if (!dense_along_k && side / 64 % cluster == 0) {
      s[c].multicast("do");
      return;
    }
    s[c].split("d1", "share", "dr", (dense_along_k ? side : 64) / cluster).multicast("share");
  }

  /// Rows of 64 elements; wider ones as panels of such.
  static Stage copy(Schedule& s, const char* operand, int dense) {
    const Stage c = s.in(operand, {"acc"});
    s[c].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
    if (dense == 64) return c;
    s[c].layout({"d0 % 64", "d1", "d0 / 64"});
    s[c].split("d0", "do", "di", 64).reorder("di", "d1", "do");
    return c;
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
