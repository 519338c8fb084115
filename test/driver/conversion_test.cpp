// Conversions of clamped floats: to integers without a clamp of their own, to narrow floats as ever.

#include "support/run.h"

namespace calotype {
namespace {

#ifdef CALOTYPE_HAS_LLVM

TEST(Conversion, OfClampedFloats) {
  for (const Type to : {Float(16), BFloat(16), Int(16), UInt(8), Int(8), Float(64)}) {
    Dim W("W");
    ImageParam in(Float(32), {W}, "in");
    Var x("x");
    Func f("f");
    f(x) = cast(to, clamp(in(x) * 100, 0, 100));
    const Pipeline p("converted", {in}, {Output(f, {W})});
    testing::expect_matches(p, Schedule(), Target::host(), {testing::random_buffer(Float(32), {37}, 1)},
                            {Buffer(to, {37})});
  }
}

#endif  // CALOTYPE_HAS_LLVM

}  // namespace
}  // namespace calotype
