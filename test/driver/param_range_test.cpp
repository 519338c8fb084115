// Ranges of Params: what the compiler makes of them, and what a call outside them is told.

#include <limits>

#include "support/run.h"

namespace calotype {
namespace {

using testing::poison;
using testing::random_buffer;
using testing::targets;

/// out sums `mid` over a window of `radius` on either side; mid is twice the input, which is repeated at its
/// edges.
Pipeline blurred(const Param& radius) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x");
  Func edged = boundary::repeat_edge(in, "edged"), mid("mid"), out("out");
  const Expr R = cast(Int(64), radius);
  RDom r(-R, 2 * R + 1, "r");
  mid(x) = edged(x) * 2.0f;
  out(x) += mid(x + r);
  return Pipeline("blurred", {in, radius}, {Output(out, {N})});
}

void run(const Pipeline& p, const Kernel& kernel, std::int64_t n, double value) {
  const Buffer in = random_buffer(Float(32), {n}, 1), out(Float(32), {n});
  poison(out);
  kernel.call({in, value, out});
  const lang::EqualityReport result =
      lang::compare_with_reference(out, p.evaluate({in}, {{"radius", value}}), 0, false);
  EXPECT_TRUE(result.ok) << kernel.target().str() << " radius " << value << " of " << n << "\n"
                         << result.str();
}

/// mid in memory of a constant size for each tile of out: known only where the radius has an upper end.
Schedule tiled(const Target& target) {
  Schedule s;
  if (target.is_gpu()) {
    s["out"].split("x", "xo", "xi", 16).gpu_blocks("xo").gpu_threads("xi");
    s["out"].update().split("x", "xo", "xi", 16).gpu_blocks("xo").gpu_threads("xi");
    s["mid"].compute_at("out.update(0)", "xo").store_in(Memory::Shared).gpu_threads("x", 8);
  } else {
    s["out"].update().split("x", "xo", "xi", 16);
    s["mid"].compute_at("out.update(0)", "xo").store_in(Memory::Stack).vectorize("x", 4);
  }
  return s;
}

TEST(ParamRange, BoundsWhatIsStored) {
  for (const Type type : {Int(32), UInt(8), Int(64)}) {
    const Param radius(type, "radius");
    const Pipeline open = blurred(radius), p = blurred(radius.range(0, 5));
    for (const Target& target : targets()) {
      // A window without an end has no constant size; one of 2 * 255 + 1 values has.
      EXPECT_EQ(tiled(target).check(open, target).empty(), type == UInt(8));
      const Kernel kernel = p.compile(tiled(target), target);
      for (const std::int64_t n : {1, 7, 16, 40})
        for (const double value : {0, 1, 5}) run(p, kernel, n, value);
    }
  }
}

TEST(ParamRange, IsKnownToTheCompiler) {
  for (const Target& target : targets()) {
    const auto text = [&](const Param& p) {
      Dim N("N");
      Var x("x");
      Func out("out");
      out(x) = select(p >= 4, cast<int>(x) * 3, clamp(cast<int>(p), 0, 100));
      return Pipeline("known", {p}, {Output(out, {N})}).compile(Schedule(), target).show("lowered");
    };
    const std::string open = text(Param(Int(32), "p")), small = text(Param(Int(32), "p").range(0, 3));
    EXPECT_NE(open.find("100"), std::string::npos) << open;
    EXPECT_EQ(small.find("100"), std::string::npos) << small;
    EXPECT_EQ(small.find("* 3"), std::string::npos) << small;
  }
}

void expect_range(const Param& p, const std::vector<double>& good, const std::vector<double>& bad) {
  Dim N("N");
  Var x("x");
  Func out("out");
  out(x) = cast<float>(p) + cast<float>(x);
  const Pipeline pipeline("held", {p}, {Output(out, {N})});
  for (const Target& target : targets()) {
    const Kernel kernel = pipeline.compile(Schedule(), target);
    const Buffer b(Float(32), {3});
    const std::vector<std::int64_t> first = {0};
    for (const double value : good) {
      kernel.call({value, b});
      EXPECT_EQ(
          b.value(first),
          static_cast<float>(pipeline.evaluate({}, {{"p", value}}, {{"N", 3}}).outputs[0].value(first)));
    }
    for (const double value : bad) {
      poison(b);
      try {
        kernel.call({value, b});
        ADD_FAILURE() << p.type().str() << " " << value << " ran";
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Argument);
        EXPECT_EQ(e.diagnostic().func, "p");
        EXPECT_NE(e.diagnostic().str().find("outside its range"), std::string::npos) << e.what();
      }
      EXPECT_EQ(b.value(first), -12345.0) << "something was written";
    }
  }
}

TEST(ParamRange, CallsAreHeldToIt) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  expect_range(Param(Int(32), "p").range(-3, 7), {-3, 0, 7}, {-4, 8, 1e9});
  expect_range(Param(UInt(8), "p").range(1, 200), {1, 200}, {0, 201, 255});
  expect_range(Param(Int(64), "p").range(-5e12, 5e12), {-5e12, 5e12}, {5e12 + 1, -6e12});
  for (const Type type : {Float(16), BFloat(16), Float(32), Float(64)})
    expect_range(Param(type, "p").range(-0.5, 2), {-0.5, 0, 1e-7, -0.25, 2},
                 {-0.51, 2.1, infinity, -infinity, nan});
  expect_range(Param(Float(32), "p").range(0.1, 0.7), {0.1, 0.7}, {0.09, 0.71});
  expect_range(Param(Float(16), "p").range(1e-7, 6e-5), {1e-7, 3e-5, 6e-5}, {0, 1e-8, 7e-5});
}

TEST(ParamRange, DecidesConditions) {
  const Pipeline p = blurred(Param(Int(32), "radius").range(1, 4));
  for (const Target& target : targets()) {
    Schedule s;
    Stage update = s["out"].update();
    if (target.is_gpu()) update.split("x", "xo", "xi", 8).gpu_blocks("xo").gpu_threads("xi");
    update.specialize("radius > 4").unroll("r", 2);
    update.specialize("radius == 2");
    const Kernel kernel = p.compile(s, target);
    const std::string text = kernel.show("schedule");
    EXPECT_NE(text.find("where not radius > 4, radius == 2"), std::string::npos) << text;
    EXPECT_EQ(text.find("where radius > 4"), std::string::npos) << "no call takes that way\n" << text;
    for (const double value : {1, 2, 4}) run(p, kernel, 9, value);
  }
}

}  // namespace
}  // namespace calotype
