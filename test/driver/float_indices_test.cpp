// Indices and sizes that floats decide: a call cannot compute them before anything runs, so regions hold all
// that they may be, and what has no end then is refused.

#include <functional>

#include "support/run.h"

namespace calotype {
namespace {

using testing::poison;
using testing::random_buffer;
using testing::targets;

void run(const Pipeline& p, const Kernel& kernel, std::int64_t n, double value) {
  const Buffer in = random_buffer(Float(32), {n}, 1), out(Float(32), {n});
  poison(out);
  kernel.call({in, value, out});
  const lang::EqualityReport result =
      lang::compare_with_reference(out, p.evaluate({in}, {{"p", value}}), 0, false);
  EXPECT_TRUE(result.ok) << kernel.target().str() << " p " << value << " of " << n << "\n" << result.str();
}

/// out(x) = in(x) + in(index), the index of a Param.
Pipeline picked(const Param& p, const std::function<Expr(Expr)>& index) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x");
  Func out("out");
  out(x) = in(x) + in(index(p));
  return Pipeline("picked", {in, p}, {Output(out, {N})});
}

TEST(FloatIndices, AreInsideOfTheirClamps) {
  const Param p(Float(32), "p");
  const std::vector<std::function<Expr(Expr)>> indices = {
      [](const Expr& e) { return clamp(cast(Int(64), e * 2.5f + 1.0f), 0, 3); },
      [](const Expr& e) { return clamp(cast(Int(64), cast(Float(16), e) + cast(Float(16), 1)), 0, 3); },
      [](const Expr& e) { return select(e * e < 2.0f, Expr(std::int64_t{1}), Expr(std::int64_t{2})); },
      [](const Expr& e) { return 3 - cast(Int(64), cast(UInt(8), sqrt(abs(e)))) % 4; },
  };
  for (const Target& target : targets())
    for (const auto& index : indices) {
      const Pipeline pipeline = picked(p, index);
      const Kernel kernel = pipeline.compile({}, target);
      for (const double value : {-1e30, -3.0, -0.25, 0.0, 0.5, 1.0, 1.25, 7.0, 1e30})
        for (const std::int64_t n : {4, 19}) run(pipeline, kernel, n, value);
      // All that the index may be is there.
      const Buffer few = random_buffer(Float(32), {2}, 1), out(Float(32), {2});
      EXPECT_THROW(kernel.call({few, 0.0, out}), Error);
    }
}

TEST(FloatIndices, OfWholeNumbersAreComputed) {
  const Param p(Int(32), "p");
  for (const Target& target : targets()) {
    const Pipeline pipeline = picked(p, [](const Expr& e) { return cast(Int(64), abs(e) & 3); });
    const Kernel kernel = pipeline.compile({}, target);
    for (const double value : {-7, -1, 0, 2, 5}) run(pipeline, kernel, 4, value);
  }
}

TEST(FloatIndices, WithoutAnEndAreRefused) {
  const Param p(Float(32), "p");
  const Pipeline open = picked(p, [](const Expr& e) { return cast(Int(64), e * 2.5f); });
  for (const Target& target : targets()) {
    try {
      open.compile({}, target);
      FAIL() << "compiled for " << target.str();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Algorithm) << error.what();
      EXPECT_EQ(error.diagnostic().func, "in");
      EXPECT_NE(error.diagnostic().legal.find("clamp()"), std::string::npos) << error.what();
    }
  }
}

/// out sums `mid` over a window as wide as a float says; mid is twice the input, which is repeated at its
/// edges.
Pipeline blurred(const Param& p) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x");
  Func edged = boundary::repeat_edge(in, "edged"), mid("mid"), out("out");
  const Expr R = cast(Int(64), ceil(p * 1.5f));
  RDom r(-R, 2 * R + 1, "r");
  mid(x) = edged(x) * 2.0f;
  out(x) += mid(x + r);
  return Pipeline("blurred", {in, p}, {Output(out, {N})});
}

TEST(FloatIndices, OfWindowsThatFloatsMake) {
  const Param p(Float(32), "p");
  const Pipeline pipeline = blurred(p);
  Schedule inlined, stored;
  inlined["mid"].compute_inline();
  stored["mid"].compute_root();
  for (const Target& target : targets()) {
    const Kernel kernel = pipeline.compile(inlined, target);
    for (const double value : {0.0, 0.3, 1.0, 2.4})
      for (const std::int64_t n : {1, 9, 30}) run(pipeline, kernel, n, value);
    if (!target.is_gpu()) {
      const Kernel whole = pipeline.compile(stored, target);
      for (const double value : {0.0, 0.3, 2.4}) run(pipeline, whole, 9, value);
      continue;
    }
    // Memory between kernels is reserved by the call.
    const std::vector<Diagnostic> found = stored.check(pipeline, target);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, ErrorKind::Schedule) << found[0].message;
    EXPECT_EQ(found[0].func, "mid");
    EXPECT_NE(found[0].legal.find("bound_storage"), std::string::npos) << found[0].legal;
  }
}

}  // namespace
}  // namespace calotype
