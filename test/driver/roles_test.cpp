// Roles by schedule: warps that copy and warps that compute. The values of the reference, findings of the
// simulator (none), ragged sizes, rings of every depth beside every number of steps, tiles one after the
// other.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "runtime/nvrtc.h"
#include "support/product_by_roles.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

using testing::copy_operand;
using testing::expect_refused;
using testing::kHopper;
using testing::Product;

TEST(RolesBySchedule, CopyAheadOfWhoMultiplies) {
  Product{}.check(128, 64, 256);
  Product{.rows = 64}.check(64, 64, 128);
  Product{.copying_warps = 1}.check(128, 64, 256);
}

TEST(RolesBySchedule, HaveAnyNumberOfStepsAndSlots) {
  for (const int slots : {1, 2, 3, 4})
    for (const int steps : {1, 2, 3, 4, 5}) Product{.rows = 64, .slots = slots}.check(64, 64, 64 * steps);
}

TEST(RolesBySchedule, LeaveRaggedEndsAlone) {
  for (const auto& [m, n, k] : {std::tuple(1, 1, 8), {129, 63, 72}, {200, 130, 200}})
    Product{}.check(m, n, k);
}

TEST(RolesBySchedule, TakeOneTileAfterTheOther) {
  for (const int slots : {1, 2, 3})
    Product{.rows = 64, .slots = slots, .persistent = true}.check(300, 200, 200);
}

TEST(RolesBySchedule, SendTilesThroughSharedMemory) {
  Product{.columns = 128, .staged = true}.check(128, 128, 128);
  Product{.columns = 128, .staged = true}.check(136, 200, 72);
  Product{.type = Float(16), .columns = 256, .persistent = true, .staged = true}.check(264, 520, 136);
  Product{.rows = 64, .columns = 192, .persistent = true, .staged = true}.check(264, 520, 72);
}

/// Of a tile there are no more rows than the sizes allow, and fewer threads multiply than the role has.
TEST(RolesBySchedule, SendNoMoreThanThereIs) {
  const Product p{.columns = 128, .staged = true};
  Schedule s = p.schedule();
  s.assume("M", Assumption::range(1, 64));
  const std::vector<Buffer> inputs = {random_buffer(p.type, {128, 50}, 1),
                                      random_buffer(p.type, {128, 136}, 2)};
  const Verification found = p.pipeline().verify(s, "sm_90a", inputs);
  EXPECT_TRUE(found.clean()) << found.str();
  testing::expect_matches(p.pipeline(), s, kHopper, inputs, {Buffer(p.type, {136, 50})});
}

TEST(RolesBySchedule, TakeOperandsInEveryOrder) {
  for (const bool a : {true, false})
    for (const bool b : {true, false})
      Product{.columns = 128, .staged = true, .a_by_rows = a, .b_by_columns = b}.check(136, 136, 200);
}

TEST(RolesBySchedule, SayWhatTheyCannotDo) {
  const Product p;
  const auto with_roles = [&](const std::vector<FuncName>& first, const std::vector<FuncName>& second,
                              int warps) {
    Schedule s;
    s["C"].tile("n", "m", "no", "mo", "ni", "mi", 64, 128).gpu_blocks("no", "mo");
    s["acc"].compute_at("C", "no").store_in(Memory::Register);
    s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
    s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
    copy_operand(s, "A", false);
    copy_operand(s, "B", false);
    s.role("one", first, {.warps = 4});
    s.role("other", second, {.warps = warps});
    return s;
  };
  expect_refused(p.pipeline(), with_roles({"acc", "A.in(acc)", "B.in(acc)"}, {"C"}, 4),
                 {"the roles 'one' and 'other' both compute", "copy(tma)"});
  Schedule threads;
  threads["C"].tile("n", "m", "no", "mo", "ni", "mi", 256, 1).gpu_blocks("no", "mo").gpu_threads("ni");
  threads["acc"].compute_at("C", "ni").store_in(Memory::Register);
  const Stage a = threads.in("A", {"acc"});
  threads[a].compute_at("C", "no").store_in(Memory::Shared).copy(Copy::Tma);
  threads.role("copy", {a}, {.warps = 1});
  threads.role("multiply", {"C"}, {.warps = 4});
  for (const char* size : {"M", "N", "K"}) threads.assume(size, Assumption::exact(64));
  expect_refused(p.pipeline(), threads, {"bound to 256 threads", "8 warps"});
}

struct Scaled {
  Dim N{"N"}, R{"R"};
  ImageParam x{Float(32), {N, R}, "x"}, scale{Float(32), {N}, "scale"};
  Var n{"n"}, r{"r"};
  Func out{"out"};
  Pipeline pipeline() {
    out(n, r) = x(n, r) * scale(n) + 1.0f;
    return Pipeline("scaled", {x, scale}, {Output(out, {N, R})});
  }
  /// `x` is copied by one role, what `rest` adds is the other's.
  template <class Rest>
  Schedule schedule(Rest rest) const {
    Schedule s;
    s["out"].split("n", "no", "ni", 64);
    rest(s);
    const Stage copy = s.in("x", {"out"});
    s[copy].compute_at("out", "no").store_in(Memory::Shared).copy(Copy::Tma);
    s.role("copy", {copy}, {.warps = 1});
    s.role("compute", {"out"}, {.warps = 2});
    return s;
  }
};

TEST(RolesBySchedule, RefuseBlocksOfOtherKinds) {
  Scaled scaled;
  const Pipeline p = scaled.pipeline();
  expect_refused(p, scaled.schedule([](Schedule& s) {
    s["out"].split("ni", "np", "nj", 32).gpu_blocks("no", "r").gpu_threads("nj", "np");
  }),
                 {"bound to threads along y or z", "along x alone"});
  expect_refused(p, scaled.schedule([](Schedule& s) {
    s["out"].gpu_blocks("no", "r").gpu_threads("ni");
    const Stage own = s.in("scale", {"out"});
    s[own].compute_at("out", "no").store_in(Memory::Shared).copy(Copy::Bulk);
  }),
                 {"'scale.in(out)' is copied in bulk by the role 'compute'"});
}

/// The one that computes has asynchronous copies of its own, and meets for them by itself.
TEST(RolesBySchedule, HaveCopiesByThreadsOfTheirOwn) {
  Dim N("N"), R("R"), K("K");
  ImageParam x(Float(32), {N, K, R}, "x"), y(Float(32), {N, K, R}, "y");
  Var n("n"), r("r");
  RDom k(0, K, "k");
  Func sum("sum"), out("out");
  sum(n, r) += x(n, k, r) * y(n, k, r);
  out(n, r) = sum(n, r);
  const Pipeline p("sums", {x, y}, {Output(out, {N, R})});
  Schedule s;
  s["out"].split("n", "no", "ni", 64).gpu_blocks("no", "r").gpu_threads("ni");
  s["sum"].compute_at("out", "no").store_in(Memory::Register).gpu_threads("n", 64);
  s["sum"].update().reorder("n", "k").gpu_threads("n", 64).pipeline("k", 3);
  const Stage a = s.in("x", {"sum"}), b = s.in("y", {"sum"});
  for (const Stage& c : {a, b}) s[c].compute_at(s["sum"].update(), "k").store_in(Memory::Shared);
  s[a].copy(Copy::Tma);
  s[b].copy(Copy::Async).gpu_threads("d0", 64);
  s.role("copy", {a}, {.warps = 1});
  s.role("compute", {"out"}, {.warps = 2});
  const std::vector<Buffer> inputs = {random_buffer(Float(32), {128, 7, 3}, 1),
                                      random_buffer(Float(32), {128, 7, 3}, 2)};
  const Verification found = p.verify(s, "sm_90a", inputs);
  EXPECT_TRUE(found.clean()) << found.str();
  testing::expect_matches(p, s, kHopper, inputs, {Buffer(Float(32), {128, 3})});
}

/// Lines of a role that copies are printed by its own first thread.
TEST(RolesBySchedule, PrintLinesOfBoth) {
  Scaled scaled;
  Schedule s = scaled.schedule([](Schedule& t) { t["out"].gpu_blocks("no", "r").gpu_threads("ni"); });
  s.trace("x.in(out)", {Trace::Productions});
  const std::string lowered = scaled.pipeline().compile(s, kHopper).show("lowered");
  EXPECT_NE(lowered.find("thread_x == 64"), std::string::npos) << lowered;
  EXPECT_NE(lowered.find("produce x.in(out)"), std::string::npos) << lowered;
}

/// What is there for a block, not for a step: copied by one role as the others begin, tile after tile.
TEST(RolesBySchedule, CopyOnceABlock) {
  Scaled scaled;
  const Pipeline p = scaled.pipeline();
  for (const bool persistent : {false, true}) {
    Schedule s;
    s["out"].split("n", "no", "ni", 64).gpu_blocks("no", "r").gpu_threads("ni");
    if (persistent) s["out"].persistent();
    const Stage copy = s.in("x", {"out"}), factors = s.in("scale", {"out"});
    for (const Stage& c : {copy, factors})
      s[c].compute_at("out", "no").store_in(Memory::Shared).copy(Copy::Tma);
    s.role("copy", {copy, factors}, {.warps = 1});
    s.role("compute", {"out"}, {.warps = 2});
    const std::vector<Buffer> inputs = {random_buffer(Float(32), {200, 5}, 1),
                                        random_buffer(Float(32), {200}, 2)};
    const Verification found = p.verify(s, "sm_90a", inputs);
    EXPECT_TRUE(found.clean()) << found.str();
    testing::expect_matches(p, s, kHopper, inputs, {Buffer(Float(32), {200, 5})});
  }
}

/// The code is no longer than it looks: nothing is spilled, and no product is waited for by the compiler.
TEST(RolesBySchedule, CompileWithoutSpills) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  for (const bool b : {true, false}) {
    const Product p{.columns = 256, .slots = 4, .persistent = true, .staged = true, .b_by_columns = b};
    const Kernel kernel = p.pipeline().compile(p.schedule(), Target::cuda("sm_90a"));
    const std::string figures = kernel.show("ptxas"), text = kernel.show("cuda");
    EXPECT_NE(figures.find("spilled                 0 bytes"), std::string::npos) << figures;
    EXPECT_EQ(figures.find("serializ"), std::string::npos) << figures;
    EXPECT_NE(text.find("role multiply"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace calotype
