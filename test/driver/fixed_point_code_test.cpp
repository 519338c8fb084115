// The instructions that fixed-point operations of u8 and u16 vectors become on x86.

#include <gtest/gtest.h>

#include <functional>

#include "calotype/calotype.h"

namespace calotype {
namespace {

#ifdef CALOTYPE_HAS_LLVM

struct Case {
  const char* name;
  Type type;
  std::function<Expr(Expr, Expr)> make;
  const char* instruction;
};

const std::vector<Case> kCases = {
    {"saturating_add", UInt(8), saturating_add, "vpaddusb"},
    {"saturating_add", UInt(16), saturating_add, "vpaddusw"},
    {"saturating_add", Int(8), saturating_add, "vpaddsb"},
    {"saturating_add", Int(16), saturating_add, "vpaddsw"},
    {"saturating_sub", UInt(8), saturating_sub, "vpsubusb"},
    {"saturating_sub", UInt(16), saturating_sub, "vpsubusw"},
    {"saturating_sub", Int(8), saturating_sub, "vpsubsb"},
    {"saturating_sub", Int(16), saturating_sub, "vpsubsw"},
    {"rounding_halving_add", UInt(8), rounding_halving_add, "vpavgb"},
    {"rounding_halving_add", UInt(16), rounding_halving_add, "vpavgw"},
    {"mul_shift_right", UInt(16), [](Expr a, Expr b) { return mul_shift_right(a, b, 16); }, "vpmulhuw"},
    {"mul_shift_right", Int(16), [](Expr a, Expr b) { return mul_shift_right(a, b, 16); }, "vpmulhw"},
    {"absd", UInt(8), absd, "vpminub"},
    {"absd", Int(16), absd, "vpminsw"},
};

TEST(FixedPointCode, IsTheMachinesOwnInstructions) {
  for (const Case& c : kCases) {
    Dim N("N");
    ImageParam a(c.type, {N}, "a"), b(c.type, {N}, "b");
    const Var x("x");
    Func f("f");
    f(x) = c.make(a(x), b(x));
    const Pipeline pipeline("code", {a, b}, {{f, {N}}});
    Schedule s;
    s["f"].vectorize("x", 32 / c.type.bytes());
    const std::string code = pipeline.compile(s, Target::host("x86_64-avx2")).show("asm");
    EXPECT_NE(code.find(c.instruction), std::string::npos) << c.name << " of " << c.type.str();
  }
}

#endif

}  // namespace
}  // namespace calotype
