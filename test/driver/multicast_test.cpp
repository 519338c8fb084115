// Boxes that the blocks of a cluster copy for each other: the values of the reference, findings of the
// simulator (none), clusters along both coordinates, operands in every order, ragged sizes, tiles one after
// the other.

#include <gtest/gtest.h>

#include "runtime/nvrtc.h"
#include "support/product_by_roles.h"

namespace calotype {
namespace {

using testing::copy_operand;
using testing::expect_refused;
using testing::kHopper;
using testing::Product;

TEST(Multicast, CopiesForAllBlocks) {
  for (const bool along_n : {false, true})
    for (const int cluster : {2, 4})
      Product{.rows = 64, .cluster = cluster, .along_n = along_n}.check(256, 256, 192);
}

TEST(Multicast, TakesOperandsInEveryOrder) {
  for (const bool along_n : {false, true})
    for (const bool by_rows : {true, false})
      for (const bool by_columns : {true, false})
        Product{.rows = 64,
                .columns = 128,
                .a_by_rows = by_rows,
                .b_by_columns = by_columns,
                .cluster = 2,
                .along_n = along_n}
            .check(136, 264, 200);
}

TEST(Multicast, HasAnyNumberOfStepsAndSlots) {
  for (const int slots : {1, 2, 3})
    for (const int steps : {1, 2, 3, 4})
      Product{.rows = 64, .slots = slots, .cluster = 2}.check(128, 64, 64 * steps);
}

/// Some blocks of the last clusters have no elements at all.
TEST(Multicast, LeavesRaggedEndsAlone) {
  for (const bool along_n : {false, true})
    for (const auto& [m, n, k] : {std::tuple(1, 1, 8), {129, 63, 72}, {200, 330, 200}})
      Product{.rows = 64, .cluster = 2, .along_n = along_n}.check(m, n, k);
}

TEST(Multicast, TakesOneTileAfterTheOther) {
  for (const bool along_n : {false, true})
    for (const int slots : {1, 3})
      Product{.rows = 64, .slots = slots, .persistent = true, .cluster = 2, .along_n = along_n}.check(
          500, 260, 136);
}

TEST(Multicast, SendsTilesThroughSharedMemory) {
  for (const bool along_n : {false, true})
    for (const bool persistent : {false, true})
      Product{.rows = 64,
              .columns = 128,
              .persistent = persistent,
              .staged = true,
              .cluster = 2,
              .along_n = along_n}
          .check(264, 520, 136);
}

/// The order of tiles is one of clusters.
TEST(Multicast, GoesByStrips) {
  Schedule s = Product{.rows = 64, .cluster = 2}.schedule();
  s["C"].raster(Grouped{3});
  const Product p;
  const std::vector<Buffer> inputs = {testing::random_buffer(p.type, {72, 700}, 1),
                                      testing::random_buffer(p.type, {72, 200}, 2)};
  const Verification found = p.pipeline().verify(s, "sm_90a", inputs);
  EXPECT_TRUE(found.clean()) << found.str();
  testing::expect_matches(p.pipeline(), s, kHopper, inputs, {Buffer(p.type, {200, 700})});
}

TEST(Multicast, IsRefusedWhereBlocksNeedOtherParts) {
  const Product p{.rows = 64, .cluster = 2};
  Schedule other = p.schedule(), alone = Product{.rows = 64}.schedule();
  other["A.in(acc)"].split("d1", "share", "dr", 32).multicast("share");
  expect_refused(p.pipeline(), other,
                 {"along 'd1' the blocks of the cluster need different parts of 'A.in(acc)'"});
  alone["B.in(acc)"].split("d1", "share", "dr", 32).multicast("share");
  expect_refused(p.pipeline(), alone, {"'B.in(acc)' is copied in no cluster of blocks", "a cluster loop"});
}

/// Two boxes for a cluster of four; a box of all.
TEST(Multicast, IsRefusedWithoutABoxForEachBlock) {
  Product p{.rows = 64, .columns = 128, .cluster = 1};
  const auto dealt = [&](auto deal) {
    Schedule s;
    s["C"].tile("n", "m", "no", "mo", "ni", "mi", 128, 256).split("mi", "mc", "mj", 64);
    s["C"].gpu_blocks("no", "mo").cluster("mc");
    s["acc"].compute_at("C", "mc").store_in(Memory::Register);
    s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
    s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
    const Stage a = copy_operand(s, "A", false), b = copy_operand(s, "B", false);
    deal(s, b);
    s.role("load", {a, b}, {.warps = 4});
    s.role("multiply", {"C"}, {.warps = 4});
    return s;
  };
  expect_refused(
      p.pipeline(),
      dealt([](Schedule& s, const Stage& b) { s[b].split("d1", "share", "dr", 64).multicast("share"); }),
      {"the loop 'share' around boxes has 2 iterations, and clusters 4 blocks", "a multiple of 4"});
  expect_refused(p.pipeline(), dealt([](Schedule& s, const Stage& b) {
                   s[b].split("d1", "share", "dr", 32).split("d0", "part", "dp", 64).multicast("part");
                 }),
                 {"the loop 'part' around boxes has 1 iterations"});
}

/// Partial results of a cluster's blocks meet at its barriers, which roles do not reach together.
TEST(Multicast, LeavesSumsToTheirBlock) {
  Dim N("N"), R("R");
  ImageParam x(Float(32), {N, R}, "x");
  Var r("r");
  RDom n(0, N, "n");
  Func sum("sum"), out("out");
  sum(r) += x(n, r);
  out(r) = sum(r);
  const Pipeline p("sums", {x}, {Output(out, {R})});
  Schedule s;
  s["out"].gpu_blocks("r");
  s["sum"].compute_at("out", "r").store_in(Memory::Register);
  s["sum"].update().split("n", "nc", "ni", 256).cluster("nc").split("ni", "no", "nt", 64).gpu_threads("nt");
  const Stage copy = s.in("x", {"sum"});
  s[copy].compute_at(s["sum"].update(), "no").store_in(Memory::Shared).copy(Copy::Tma);
  s.role("copy", {copy}, {.warps = 1});
  s.role("compute", {"out"}, {.warps = 2});
  s.assume("N", Assumption::exact(512));
  expect_refused(p, s, {"blocks of a cluster have partial results of 'sum', and roles"});
}

/// Of two kernels each has clusters of its own, one of a single block.
TEST(Multicast, IsOfEachKernelByItself) {
  Dim M("M"), N("N"), K("K"), L("L");
  ImageParam A(BFloat(16), {K, M}, "A"), B(BFloat(16), {K, L}, "B"), D(BFloat(16), {L, N}, "D");
  Var n("n"), m("m"), l("l");
  RDom k(0, K, "k"), j(0, L, "j");
  Func first("first"), P("P"), second("second"), C("C");
  first(l, m) += cast<float>(A(k, m)) * cast<float>(B(k, l));
  P(l, m) = cast<bfloat16_t>(first(l, m));
  second(n, m) += cast<float>(P(j, m)) * cast<float>(D(j, n));
  C(n, m) = second(n, m);
  const Pipeline p("products", {A, B, D}, {Output(C, {N, M})});
  Schedule s;
  const auto kernel = [&](const char* result, const char* sums, const char* column, const char* summed,
                          const std::vector<FuncName>& operands, int cluster) {
    s[result]
        .compute_root()
        .tile(column, "m", "no", "mo", "ni", "mi", 64, 64 * cluster)
        .split("mi", "mc", "mj", 64);
    s[result].gpu_blocks("no", "mo").reorder("ni", "mj", "mc").cluster("mc");
    s[sums].compute_at(result, "mc").store_in(Memory::Register);
    s[sums].update().split(summed, "ko", "ki", 64).reorder("ki", column, "m", "ko");
    s[sums].update().tensor_core({"m"}, {column}, {"ki"});
    std::vector<FuncName> copied;
    for (const FuncName& operand : operands) {
      const Stage c = s.in(operand, {sums});
      s[c].compute_at(s[sums].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
      if (!copied.empty()) s[c].split("d1", "share", "dr", 32).multicast("share");
      copied.emplace_back(c);
    }
    s[sums].update().pipeline("ko", 2);
    s.role(std::string("copy ") + result, copied, {.warps = 1});
    s.role(std::string("multiply ") + result, {result}, {.warps = 4});
  };
  kernel("P", "first", "l", "k", {"A", "B"}, 1);
  kernel("C", "second", "n", "j", {"P", "D"}, 2);
  const std::vector<Buffer> inputs = {testing::random_buffer(BFloat(16), {136, 200}, 1),
                                      testing::random_buffer(BFloat(16), {136, 72}, 2),
                                      testing::random_buffer(BFloat(16), {72, 104}, 3)};
  const Verification found = p.verify(s, "sm_90a", inputs, {}, {}, {.random_landing = true});
  EXPECT_TRUE(found.clean()) << found.str();
  testing::expect_matches(p, s, kHopper, inputs, {Buffer(Float(32), {104, 200})});
}

/// Clusters that have sums together go by strips as well.
TEST(Multicast, ClustersWithoutRolesGoByStrips) {
  Dim N("N"), X("X"), Y("Y");
  ImageParam in(Float(32), {N, X, Y}, "in");
  Var x("x"), y("y");
  RDom n(0, N, "n");
  Func sum("sum"), out("out");
  sum(x, y) += in(n, x, y);
  out(x, y) = sum(x, y) * 2.0f;
  const Pipeline p("sums", {in}, {Output(out, {X, Y})});
  Schedule s;
  s["out"].gpu_blocks("x", "y").raster(Grouped{3});
  s["sum"].compute_at("out", "x").store_in(Memory::Register);
  s["sum"].update().split("n", "nc", "ni", 64).cluster("nc").gpu_threads("ni");
  s.assume("N", Assumption::exact(128));
  const std::vector<Buffer> inputs = {testing::random_buffer(Float(32), {128, 5, 7}, 1)};
  const Verification found = p.verify(s, "sm_90a", inputs);
  EXPECT_TRUE(found.clean()) << found.str();
  testing::expect_matches(p, s, kHopper, inputs, {Buffer(Float(32), {5, 7})});
}

TEST(Multicast, IsReadAsCode) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  const Product p{
      .columns = 256, .slots = 4, .persistent = true, .staged = true, .b_by_columns = false, .cluster = 2};
  const Kernel kernel = p.pipeline().compile(p.schedule(), Target::cuda("sm_90a"));
  const std::string figures = kernel.show("ptxas"), text = kernel.show("cuda");
  EXPECT_NE(figures.find("spilled                 0 bytes"), std::string::npos) << figures;
  EXPECT_EQ(figures.find("serializ"), std::string::npos) << figures;
  EXPECT_NE(text.find("spread_box_2d(&B_in_acc"), std::string::npos) << text;
}

}  // namespace
}  // namespace calotype
