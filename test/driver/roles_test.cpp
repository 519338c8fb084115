// Roles by schedule: warps that copy and warps that compute. The values of the reference, findings of the
// simulator (none), ragged sizes, rings of every depth beside every number of steps, tiles one after the
// other.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

const Target target = Target::interpreter("sm_90a");

struct Product {
  Type type = BFloat(16);
  int rows = 128, columns = 64, slots = 3, copying_warps = 4;
  bool persistent = false;

  Pipeline pipeline() const {
    Dim M("M"), N("N"), K("K");
    ImageParam A(type, {K, M}, "A"), B(type, {K, N}, "B");
    Var n("n"), m("m");
    RDom k(0, K, "k");
    Func acc("acc"), C("C");
    acc(n, m) += cast<float>(A(k, m)) * cast<float>(B(k, n));
    C(n, m) = cast(type, acc(n, m));
    return Pipeline("product", {A, B}, {Output(C, {N, M})});
  }

  Schedule schedule() const {
    Schedule s;
    s["C"].tile("n", "m", "no", "mo", "ni", "mi", columns, rows).gpu_blocks("no", "mo");
    if (persistent) s["C"].persistent().raster(Grouped{2});
    s["acc"].compute_at("C", "no").store_in(Memory::Register);
    s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
    s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
    const Stage a = s.in("A", {"acc"}), b = s.in("B", {"acc"});
    for (const Stage& copy : {a, b})
      s[copy].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
    if (slots > 1) s["acc"].update().pipeline("ko", slots);
    if (copying_warps == 4) {
      s.role("load", {a, b}, {.warps = 4, .registers = 40});
      s.role("multiply", {"acc", "C"}, {.warps = rows / 16, .registers = rows == 192 ? 160 : 232});
    } else {
      s.role("load", {a, b}, {.warps = copying_warps});
      s.role("multiply", {"acc", "C"}, {.warps = rows / 16});
    }
    return s;
  }

  void check(std::int64_t m, std::int64_t n, std::int64_t k) const {
    SCOPED_TRACE(fmt::format("{} x {} x {}, tile {} x {}, {} slots{}", m, n, k, rows, columns, slots,
                             persistent ? ", persistent" : ""));
    const std::vector<Buffer> inputs = {random_buffer(type, {k, m}, 1), random_buffer(type, {k, n}, 2)};
    const Verification found = pipeline().verify(schedule(), "sm_90a", inputs);
    EXPECT_TRUE(found.clean()) << found.str();
    testing::expect_matches(pipeline(), schedule(), target, inputs, {Buffer(type, {n, m})});
  }
};

TEST(Roles, CopyAheadOfWhoMultiplies) {
  Product{}.check(128, 64, 256);
  Product{.rows = 64}.check(64, 64, 128);
  Product{.copying_warps = 1}.check(128, 64, 256);
}

TEST(Roles, HaveAnyNumberOfStepsAndSlots) {
  for (const int slots : {1, 2, 3, 4})
    for (const int steps : {1, 2, 3, 4, 5}) Product{.rows = 64, .slots = slots}.check(64, 64, 64 * steps);
}

TEST(Roles, LeaveRaggedEndsAlone) {
  for (const auto& [m, n, k] : {std::tuple(1, 1, 8), {129, 63, 72}, {200, 130, 200}})
    Product{}.check(m, n, k);
}

TEST(Roles, TakeOneTileAfterTheOther) {
  for (const int slots : {1, 2, 3})
    Product{.rows = 64, .slots = slots, .persistent = true}.check(300, 200, 200);
}

}  // namespace
}  // namespace calotype
