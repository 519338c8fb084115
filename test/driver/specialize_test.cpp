// specialize and specialize_fail: each branch gives the reference's values, its code knows its condition, and
// a call needs what its own branch needs.

#include <functional>

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::poison;
using testing::random_buffer;
using testing::stencil;
using testing::targets;

/// The part of a kernel's text for one way through the conditions.
std::string text_where(const std::string& text, const std::string& conditions) {
  const std::string head = "where " + conditions + ":\n";
  const std::size_t at = text.find(head);
  EXPECT_NE(at, std::string::npos) << conditions << "\nin\n" << text;
  if (at == std::string::npos) return "";
  const std::size_t end = text.find("\nwhere ", at + head.size());
  return text.substr(at + head.size(), end == std::string::npos ? end : end - at - head.size());
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Pipeline doubled(Type type = Float(32)) {
  Dim N("N");
  ImageParam in(type, {N}, "in");
  Var x("x");
  Func out("out");
  out(x) = in(x) * 2;
  return Pipeline("doubled", {in}, {Output(out, {N})});
}

TEST(Specialize, EveryBranchHasTheReferencesValues) {
  for (const Target& target : targets()) {
    Schedule s;
    s["bx"].compute_root();
    if (target.is_gpu()) {
      s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4);
      s["out"].specialize("W%8 == 0 && H%4 == 0").gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
      s["out"].specialize("H == 1").gpu_blocks("xo", "yo").gpu_threads("xi");
      s["out"].gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
    } else {
      s["bx"].specialize("W > 16").vectorize("x", 8).parallel("y");
      s["out"].specialize("W%8 == 0 && H%4 == 0").unroll("y", 4).vectorize("x", 8);
      s["out"].specialize("H == 1").vectorize("x", 4);
      s["out"].parallel("y");
    }
    const std::int64_t sizes[][2] = {{16, 8}, {64, 4}, {9, 1}, {8, 1}, {7, 5}, {24, 6}, {1, 1}};
    for (const auto& [w, h] : sizes) {
      expect_matches(stencil(), s, target, {random_buffer(Float(32), {w, h}, 1)},
                     {Buffer(Float(32), {w, h})});
      testing::expect_stages_match(stencil(), s, target, {random_buffer(Float(32), {w, h}, 1)});
    }
  }
}

TEST(Specialize, EveryBranchHasTailsOfItsOwn) {
  const Tail tails[] = {Tail::Auto, Tail::Guard, Tail::Predicate, Tail::ShiftInwards};
  for (const Target& target : targets())
    for (const Tail wide : tails)
      for (const Tail narrow : tails) {
        // Images may be narrower than the narrow tile; threads of a block may not write the same element
        // twice.
        if (narrow == Tail::ShiftInwards || (target.is_gpu() && wide == Tail::ShiftInwards)) continue;
        Schedule s;
        const auto tile = [&](Stage stage, std::int64_t factor, Tail tail) {
          stage.split("x", "xo", "xi", factor, tail);
          if (target.is_gpu())
            stage.gpu_blocks("y").gpu_threads("xi");
          else
            stage.vectorize("xi");
        };
        s["bx"].compute_root();
        if (!target.is_gpu())
          s["bx"].specialize("H > 3").split("x", "xo", "xi", 8, Tail::RoundUp).vectorize("xi");
        tile(s["out"].specialize("W > 12"), 8, wide);
        tile(s["out"], 4, narrow);
        const Kernel kernel = stencil().compile(s, target);
        for (const auto& [w, h] : {std::pair{13, 5}, {24, 2}, {31, 4}, {12, 4}, {5, 3}, {1, 1}}) {
          const Buffer in = random_buffer(Float(32), {w, h}, 1), out(Float(32), {w, h});
          poison(out);
          kernel.call({in, out});
          const lang::EqualityReport result =
              lang::compare_with_reference(out, stencil().evaluate({in}), 0, false);
          EXPECT_TRUE(result.ok) << target.str() << " " << w << " x " << h << "\n" << s.str() << result.str();
        }
      }
}

TEST(Specialize, ExplainsWhichWayACallTakes) {
  Schedule s;
  Stage wide = s["out"].specialize("N > 16");
  wide.specialize("N%8 == 0");
  const Kernel kernel = doubled().compile(s, Target::interpreter("sm_90a"));
  const auto explained = [&](std::int64_t n) {
    return kernel.explain({Buffer(Float(32), {n}), Buffer(Float(32), {n})});
  };
  const std::string head = "one schedule for all sizes that it fits: no cases\nits program where ";
  EXPECT_EQ(explained(16), head + "not N > 16\n");
  EXPECT_EQ(explained(17), head + "N > 16, not N%8 == 0\n");
  EXPECT_EQ(explained(24), head + "N > 16, N%8 == 0\n");
  EXPECT_EQ(kernel.explain({}), head + "not N > 16\n") << "what is not told does not hold";
  EXPECT_EQ(doubled().compile(Schedule(), Target::interpreter("sm_90a")).explain({}),
            "one schedule for all sizes that it fits: no cases\n");
}

TEST(Specialize, AMultipleLeavesNoTail) {
  for (const Target& target : targets()) {
    Schedule s;
    if (target.is_gpu()) {
      s["out"].specialize("N%32 == 0").gpu_threads("x", 32).gpu_blocks("x.o");
      s["out"].gpu_threads("x", 32).gpu_blocks("x.o");
    } else {
      s["out"].specialize("N%32 == 0").split("x", "o", "i", 32).unroll("i");
      s["out"].split("x", "o", "i", 32).unroll("i");
    }
    const std::string text = doubled().compile(s, target).show("lowered");
    const std::string whole = text_where(text, "N%32 == 0"), ragged = text_where(text, "not N%32 == 0");
    EXPECT_FALSE(has(whole, "if ")) << whole;
    EXPECT_TRUE(has(ragged, "if ") || has(ragged, "min(")) << ragged;
    for (const std::int64_t n : {32, 64, 33, 1})
      expect_matches(doubled(), s, target, {random_buffer(Float(32), {n}, 2)}, {Buffer(Float(32), {n})});
  }
}

TEST(Specialize, AnExactSizeIsAConstant) {
  for (const Target& target : targets()) {
    if (target.is_gpu()) continue;
    Schedule s;
    s["out"].specialize("N == 6").unroll("x");
    s["out"].vectorize("x", 8);
    const std::string text = doubled().compile(s, target).show("lowered");
    const std::string six = text_where(text, "N == 6");
    EXPECT_FALSE(has(six, "for ")) << six;
    for (const std::int64_t n : {6, 7, 5})
      expect_matches(doubled(), s, target, {random_buffer(Float(32), {n}, 2)}, {Buffer(Float(32), {n})});
  }
}

TEST(Specialize, ASizeMayBeKnownToBeNone) {
  for (const Target& target : targets()) {
    for (const char* condition : {"W > 0", "W == 0", "H > 0", "W < 1 || H == 0"}) {
      Schedule s;
      s["bx"].compute_root();
      s["out"].specialize(condition);
      for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {5, 0}, {0, 0}, {19, 7}})
        expect_matches(stencil(), s, target, {random_buffer(Float(32), {w, h}, 1)},
                       {Buffer(Float(32), {w, h})});
    }
    Schedule s;
    s["out"].specialize("N > 0").specialize_fail("nothing to do");
    EXPECT_TRUE(s.check(doubled(), target).empty());
  }
}

/// Rows with space between them, in an input whose elements lie `step` apart.
Buffer strided(Type type, std::int64_t w, std::int64_t h, std::int64_t step, std::int64_t pitch,
               std::vector<float>& memory) {
  memory.resize(static_cast<std::size_t>(pitch * h + step * w));
  return Buffer(type, memory.data(), {w, h}, {step, pitch});
}

TEST(Specialize, AStrideThatIsKnownIsAConstant) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = in(x, y) * 2.0f + in(x, 0);
  const Pipeline p("rows", {in}, {Output(out, {W, H})});
  for (const Target& target : targets()) {
    Schedule s;
    s["out"].specialize("in.stride.0 == 7");
    s["out"].specialize("in.stride.1 == W");
    const Kernel kernel = p.compile(s, target);
    const std::string text = kernel.show("lowered");
    EXPECT_TRUE(has(text_where(text, "not in.stride.0 == 7, in.stride.1 == W"), "W"));
    struct Layout {
      std::int64_t step, pitch;
    };
    for (const Layout l : {Layout{1, 9}, Layout{1, 16}, Layout{7, 80}, Layout{3, 31}}) {
      std::vector<float> memory;
      const Buffer image = strided(Float(32), 9, 4, l.step, l.pitch, memory);
      for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i % 23) - 7.5f;
      const std::vector<Buffer> inputs = {image};
      const Evaluation reference = p.evaluate(inputs);
      Buffer result(Float(32), {9, 4});
      poison(result);
      kernel(image, result);
      EXPECT_TRUE(lang::compare_with_reference(result, reference, 0, false).ok) << l.step << ", " << l.pitch;
      const std::string taken = kernel.explain({image, result});
      EXPECT_TRUE(has(taken, l.step == 7    ? "where in.stride.0 == 7\n"
                             : l.pitch == 9 ? "where not in.stride.0 == 7, in.stride.1 == W\n"
                                            : "where not in.stride.0 == 7, not in.stride.1 == W\n"))
          << taken;
    }
  }
}

/// One of two inputs is read, as a Param says; each has its own size.
Pipeline chosen() {
  Dim N("N"), A("A"), B("B");
  ImageParam a(Int(32), {A}, "a"), b(Int(32), {B}, "b");
  Param which(Int(32), "which");
  Var x("x");
  Func from_a("from_a"), from_b("from_b"), out("out");
  from_a(x) = a(x) * 3;
  from_b(x) = b(x + 4) - 1;
  out(x) = select(which == 0, from_a(x) + from_a(x + 1), from_b(x) + from_b(x + 2));
  return Pipeline("chosen", {a, b, which}, {Output(out, {N})});
}

TEST(Specialize, ACallNeedsWhatItsBranchReads) {
  for (const Target& target : targets()) {
    Schedule plain, s;
    for (Schedule* each : {&plain, &s}) (*each)["from_a"].compute_root(), (*each)["from_b"].compute_root();
    s["out"].specialize("which == 0");
    const Kernel kernel = chosen().compile(s, target), whole = chosen().compile(plain, target);
    const Buffer large = random_buffer(Int(32), {64}, 3), small = random_buffer(Int(32), {2}, 4);
    Buffer out(Int(32), {8});
    const auto at = [](const Buffer& b, std::int64_t i) { return b.value(std::vector<std::int64_t>{i}); };
    poison(out);
    EXPECT_THROW(whole.call({large, small, 0, out}), Error) << "without branches both are needed";
    kernel.call({large, small, 0, out});
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(at(out, i), 3 * (at(large, i) + at(large, i + 1)));
    poison(out);
    kernel.call({small, large, 1, out});
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(at(out, i), at(large, i + 4) + at(large, i + 6) - 2);
    poison(out);
    EXPECT_THROW(kernel.call({small, large, 0, out}), Error);
    EXPECT_EQ(at(out, 0), 113) << "something was written";
    const std::string text = kernel.show("lowered");
    EXPECT_FALSE(has(text_where(text, "which == 0"), "from_b")) << "computed for nobody";
    EXPECT_FALSE(has(text_where(text, "not which == 0"), "from_a")) << "computed for nobody";
  }
}

TEST(Specialize, NestedBranchesAndSeveralStages) {
  Dim N("N"), R("R");
  ImageParam in(Int(32), {N, R}, "in");
  Param scale(Int(32), "scale"), shift(Float(32), "shift");
  Var x("x"), y("y");
  RDom k(0, N, "k");
  Func total("total"), out("out");
  total(y) += in(k, y);
  out(x, y) = cast<float>(in(x, y) * scale - total(y)) + select(shift > 0.5f, shift * 2.0f, 0.25f);
  const Pipeline p("nested", {in, scale, shift}, {Output(out, {N, R})});
  for (const Target& target : targets()) {
    Schedule s;
    if (!target.is_gpu()) {
      s["total"].update().specialize("N%4 == 0").unroll("k", 4);
      Stage wide = s["out"].specialize("N >= 8");
      wide.split("x", "xo", "xi", 8);
      wide.specialize("scale == 1 && shift <= 0.5").vectorize("xi");
      wide.unroll("xi");
    } else {
      s["out"].specialize("scale == 1 && shift <= 0.5");
    }
    const Kernel kernel = p.compile(s, target);
    for (const std::int64_t n : {1, 4, 8, 11, 16})
      for (const double by : {1.0, 3.0})
        for (const double up : {0.25, 0.5, 0.75}) {
          const Buffer image = random_buffer(Int(32), {n, 3}, 6);
          const Evaluation reference = p.evaluate({image}, {{"scale", by}, {"shift", up}});
          Buffer result(Float(32), {n, 3});
          poison(result);
          kernel(image, by, up, result);
          const lang::EqualityReport r = lang::compare_with_reference(result, reference, 0, false);
          EXPECT_TRUE(r.ok) << n << " " << by << " " << up << "\n" << r.str();
        }
  }
}

TEST(SpecializeFail, TurnsACallAway) {
  for (const Target& target : targets()) {
    Schedule s;
    s["out"].specialize("N%4 == 0");
    s["out"].specialize("N == 5");
    s["out"].specialize_fail("the size is 5 or a multiple of 4");
    const Kernel kernel = doubled().compile(s, target);
    for (const std::int64_t n : {4, 5, 12})
      expect_matches(doubled(), s, target, {random_buffer(Float(32), {n}, 2)}, {Buffer(Float(32), {n})});
    Buffer out(Float(32), {7});
    poison(out);
    try {
      kernel(random_buffer(Float(32), {7}, 2), out);
      ADD_FAILURE() << "ran";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Argument);
      EXPECT_TRUE(has(e.what(), "the size is 5 or a multiple of 4")) << e.what();
      EXPECT_EQ(e.diagnostic().func, "out");
    }
    EXPECT_EQ(out.value(std::vector<std::int64_t>{0}), -12345.0) << "something was written";
    // What is wrong with the arguments themselves is said first.
    try {
      kernel(random_buffer(Int(32), {7}, 2), out);
      ADD_FAILURE() << "ran";
    } catch (const Error& e) {
      EXPECT_FALSE(has(e.what(), "multiple of 4")) << e.what();
    }
  }
}

/// The branch that turns calls away asks nothing of the inputs: what it would need is not looked at.
TEST(SpecializeFail, NeedsNoInputs) {
  for (const Target& target : targets()) {
    Schedule s;
    s["out"].specialize("which == 0");
    s["out"].specialize_fail("b is not for use");
    const Kernel kernel = chosen().compile(s, target);
    const Buffer large = random_buffer(Int(32), {64}, 3), small = random_buffer(Int(32), {1}, 4);
    Buffer out(Int(32), {8});
    kernel.call({large, small, 0, out});
    try {
      kernel.call({small, small, 1, out});
      ADD_FAILURE() << "ran";
    } catch (const Error& e) {
      EXPECT_TRUE(has(e.what(), "b is not for use")) << e.what();
    }
  }
}

TEST(Specialize, IllegalBranchesAreFoundBeforeACall) {
  Schedule s;
  s["out"].specialize("N > 8").unroll("x");
  const std::vector<Diagnostic> found = s.check(doubled(), Target::host());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(has(found[0].str(), "the extent of 'x' is not a constant")) << found[0].str();
  EXPECT_EQ(found[0].stage, "out[N > 8]");
}

}  // namespace
}  // namespace calotype
