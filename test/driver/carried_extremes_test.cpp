// Largest and smallest values of rows with NaNs in them, which count for nothing, under schedules that carry
// them through loops in registers; and what a step is made of.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "calotype/calotype.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::targets;

/// out(r) = the largest (smallest) of x(k, r) and `start`.
Pipeline extremes(bool largest, Type type, double start) {
  Dim N("N"), R("R");
  ImageParam x(type, {N, R}, "x");
  Var r("r");
  RDom k(0, N, "k");
  Func peak("peak"), out("out");
  peak(r) = cast(type, Expr(start));
  peak(r) = largest ? max(peak(r), x(k, r)) : min(peak(r), x(k, r));
  out(r) = peak(r);
  return Pipeline("extremes", {x}, {Output(out, {R})});
}

/// Values of which a third are NaN, with infinities and zeros of both signs.
Buffer with_nans(Type type, std::int64_t n, std::int64_t rows) {
  Buffer b = testing::random_buffer(type, {n, rows}, 5);
  std::mt19937 random(3);
  const double special[] = {NAN, NAN, NAN, INFINITY, -INFINITY, 0.0, -0.0};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < n; ++k)
      if (random() % 2) b.set_value({k, r}, special[random() % 7]);
  for (std::int64_t k = 0; k < n; ++k) b.set_value({k, 0}, NAN);
  return b;
}

Schedule carried(const Target& target, int factor) {
  Schedule s;
  s["out"].compute_root();
  if (target.is_gpu()) s["out"].gpu_blocks("r");
  s["peak"].compute_at("out", "r");
  if (target.is_gpu()) s["peak"].store_in(Memory::Shared);
  s["peak"].update().vectorize("k", factor);
  return s;
}

/// Rows side by side, each in a lane of its own, which is carried from what it starts from.
Schedule side_by_side() {
  Schedule s;
  s["out"].compute_root().vectorize("r", 4);
  s["peak"].compute_at("out", "r.o").store_in(Memory::Stack).vectorize("r", 4);
  s["peak"].update().reorder("r", "k").vectorize("r", 4);
  return s;
}

void expect_right(const Pipeline& p, const Schedule& s, const Target& target, Type type) {
  const Kernel kernel = p.compile(s, target);
  for (const std::int64_t n : {1, 16, 77, 256}) {
    const Buffer x = with_nans(type, n, 8), out(type, {8});
    testing::poison(out);
    kernel.call({x, out});
    const lang::EqualityReport result = lang::compare_with_reference(out, p.evaluate({x}), 0, false);
    EXPECT_TRUE(result.ok) << p.str() << " for " << target.str() << ", " << n << "\n" << result.str();
  }
}

TEST(CarriedExtremes, LeaveOutNaNs) {
  for (const Target& target : targets())
    for (const bool largest : {true, false})
      for (const Type type : {Float(32), Float(16), BFloat(16), Float(64)})
        for (const double start : std::vector<double>{largest ? -INFINITY : INFINITY, 1.0})
          for (const int factor : {4, 16})
            expect_right(extremes(largest, type, start), carried(target, factor), target, type);
}

TEST(CarriedExtremes, MayStartFromANaN) {
  for (const Target& target : targets())
    for (const bool largest : {true, false})
      for (const Type type : {Float(32), BFloat(16)})
        for (const double start : std::vector<double>{largest ? -INFINITY : INFINITY, 1.0, NAN})
          if (!target.is_gpu()) expect_right(extremes(largest, type, start), side_by_side(), target, type);
}

#ifdef CALOTYPE_HAS_LLVM

std::string assembly(double start) {
  return extremes(true, Float(32), start)
      .compile(carried(Target::host(), 16), Target::host("x86_64-avx512"))
      .show("asm");
}

/// Instructions on whole vectors.
int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// What starts from a NaN may be one; the end of a row, and the lanes at the end, are compared with care.
TEST(CarriedExtremes, AreOneInstructionIfTheyCannotBeNaN) {
  const std::string known = assembly(-std::numeric_limits<double>::infinity());
  EXPECT_NE(known.find("vmaxps\t"), std::string::npos) << known;
  EXPECT_LT(count(known, "vcmpunordps\t"), count(known, "vmaxps\t")) << known;
}

#endif

}  // namespace
}  // namespace calotype
