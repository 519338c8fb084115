// Swizzled shared memory: the values of the reference, whole vectors, and banks that no two threads of a warp
// meet in.

#include "layout/swizzle.h"

#include <algorithm>
#include <array>

#include "codegen/cuda/device_program.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"
#include "runtime/nvrtc.h"
#include "schedule/apply.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

const Target kInterpreter = Target::interpreter("sm_90a");

/// out(m, n) = x(n, m).
Pipeline transposed(Type type) {
  Dim N("N"), M("M");
  ImageParam x(type, {N, M}, "x");
  Var m("m"), n("n");
  Func out("out");
  out(m, n) = x(n, m);
  return Pipeline("transposed", {x}, {Output(out, {M, N})});
}

/// Tiles of `row` bytes by 32 rows of x; written in vectors of `lanes`. Rows that neighbouring threads read
/// lie one behind the other.
Schedule tiles(Type type, int row, int lanes, bool swizzled) {
  Schedule s;
  s["out"]
      .tile("m", "n", "mo", "no", "mi", "ni", 32, row / type.bytes())
      .split("mi", "mt", "lane", lanes)
      .reorder("lane", "mt", "ni", "mo", "no")
      .vectorize("lane")
      .gpu_blocks("mo", "no")
      .gpu_threads("mt", "ni");
  Stage tile = s.in("x", {"out"});
  s[tile].compute_at("out", "mo").store_in(Memory::Shared);
  s[tile].layout({"d0", "d1 / " + std::to_string(lanes), "d1 % " + std::to_string(lanes)});
  s[tile].vectorize("d0", 16 / type.bytes());
  if (swizzled) s[tile].swizzle(row);
  return s;
}

TEST(Swizzle, MatchesForAllElementSizes) {
  for (const Type type : {UInt(8), BFloat(16), Float(32), Float(64), Bool(), E5M2()})
    for (const int row : {32, 64, 128})
      for (const auto& [w, h] :
           std::vector<std::array<std::int64_t, 2>>{{1, 1}, {128, 32}, {67, 45}, {5, 70}})
        for (const Schedule& s : {tiles(type, row, 4, true), tiles(type, row, 8, true)})
          testing::expect_matches(transposed(type), s, kInterpreter, {random_buffer(type, {w, h}, 1)},
                                  {Buffer(type, {h, w})});
}

TEST(Swizzle, OfARingAndOfStencils) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), out("out");
  f(x, y) = edged(x, y) * 2.0f;
  out(x, y) = f(x, y) + f(x, y + 1) + f(x, y + 2);
  const Pipeline p("column", {in}, {Output(out, {W, H})});
  Schedule s;
  s["edged"].compute_inline();
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8).reorder("xi", "yi", "xo", "yo");
  s["out"].gpu_blocks("xo", "yo").gpu_threads("xi");
  s["f"].store_at("out", "xo").compute_at("out", "yi").store_in(Memory::Shared).gpu_threads("x").swizzle(128);
  for (const auto& [w, h] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {40, 21}, {32, 8}})
    testing::expect_matches(p, s, kInterpreter, {random_buffer(Float(32), {w, h}, 2)},
                            {Buffer(Float(32), {w, h})});
}

std::string code_of(const Pipeline& p, const Schedule& s) {
  const Target target = Target::cuda("sm_90a");
  const lower::Program program =
      lower::lower(schedule::apply_or_throw(p.graph(), s, target), {.target = target});
  return cuda::print(program.functions,
                     {.aligned_arguments = true, .facts = cuda::aligned_stride_facts(program)});
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Swizzle, LeavesVectorsWholeAndAddsNoDivision) {
  const std::string code = code_of(transposed(Float(32)), tiles(Float(32), 128, 4, true));
  EXPECT_TRUE(has(code, "__shared__ __align__(1024) float")) << code;
  EXPECT_TRUE(has(code, "*(f32x4*)&x_in_out[")) << code;
  EXPECT_TRUE(has(code, "swizzled(")) << code;
  EXPECT_FALSE(has(code, "%")) << code;
  // Lanes are whole multiples of eight rows apart, which move nothing.
  EXPECT_TRUE(has(code, "x_in_out[l * 256 + swizzled(thread_x * 32 + thread_y, 28)]") ||
              has(code, "x_in_out[l * 256 + swizzled(thread_y + thread_x * 32, 28)]"))
      << code;
}

TEST(Swizzle, CompilesForEachArchitecture) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  for (const Type type : {UInt(8), BFloat(16), Float(32), Float(64)})
    for (const char* arch : {"sm_80", "sm_90a"})
      EXPECT_EQ(cuda::compile(code_of(transposed(type), tiles(type, 128, 4, true)), arch, {.cache = false})
                    .kernels.size(),
                1u);
}

/// The most words of one bank among the places of a warp's threads.
int worst_bank(const std::array<std::int64_t, 32>& places) {
  std::array<std::vector<std::int64_t>, 32> words;
  for (const std::int64_t place : places) {
    std::vector<std::int64_t>& bank = words[static_cast<std::size_t>(place % 32)];
    if (std::find(bank.begin(), bank.end(), place) == bank.end()) bank.push_back(place);
  }
  std::size_t worst = 0;
  for (const auto& bank : words) worst = std::max(worst, bank.size());
  return static_cast<int>(worst);
}

// The reads of the tile above by a warp, 8 threads along m and 4 along n, of f32: one lane of the vector
// after the other.
TEST(Swizzle, NoTwoThreadsOfAWarpMeetInABank) {
  for (std::int64_t lane = 0; lane < 4; ++lane)
    for (std::int64_t n = 0; n < 32; n += 4) {
      std::array<std::int64_t, 32> moved{}, plain{};
      for (std::int64_t t = 0; t < 32; ++t) {
        const std::int64_t index = lane * 256 + t % 8 * 32 + n + t / 8;
        plain[static_cast<std::size_t>(t)] = index;
        moved[static_cast<std::size_t>(t)] = layout::swizzled(index, 128, 4);
      }
      EXPECT_EQ(worst_bank(moved), 1);
      EXPECT_EQ(worst_bank(plain), 8);
    }
}

}  // namespace
}  // namespace calotype
