// Productions without use: what only an arm that is not chosen reads is not computed. That it is not is seen
// by its memory access: the input that it would read is left out of the code that runs, or holds what would
// show.

#include "support/run.h"

namespace calotype {
namespace {

using testing::poison;
using testing::random_buffer;
using testing::targets;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Chain {
  Pipeline pipeline;
  static Chain make() {
    Dim N("N");
    ImageParam in(Int(32), {N}, "in");
    Param mode(Int(32), "mode");
    Var x("x");
    Func base("base"), left("left"), right("right"), out("out");
    base(x) = in(x) * 3;
    left(x) = base(x) + 1;
    right(x) = in(x)-7;
    out(x) = select(mode > 4, left(x), mode == 2, right(x), in(x));
    return {Pipeline("chain", {in, mode}, {Output(out, {N})})};
  }
};

TEST(SkipUnused, WhatNothingChoosesIsNotComputed) {
  const Pipeline p = Chain::make().pipeline;
  Schedule s;
  for (const char* f : {"base", "left", "right"}) s[f].compute_root();
  for (const Target& target : targets()) {
    const Kernel kernel = p.compile(s, target);
    const std::string text = kernel.show("lowered");
    EXPECT_TRUE(has(text, "if 5 <= mode")) << text;
    for (const double mode : {5.0, 2.0, 0.0})
      for (const std::int64_t n : {1, 9, 40}) {
        const Buffer in = random_buffer(Int(32), {n}, 3);
        Buffer out(Int(32), {n});
        poison(out);
        kernel(in, mode, out);
        const Evaluation reference = p.evaluate({in}, {{"mode", mode}});
        EXPECT_TRUE(lang::compare_with_reference(out, reference, 0, false).ok) << mode << ", " << n;
      }
  }
}

#ifdef CALOTYPE_HAS_LLVM
/// A check inside tells whether a production ran: it fails where it does.
TEST(SkipUnused, TheProductionDoesNotRun) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Param mode(Int(32), "mode");
  Var x("x"), y("y");
  Func checked("checked"), between("between"), out("out");
  checked(x) = require(in(x) > 1000, in(x), "it ran");
  between(x) = checked(x) * 2;
  out(x, y) = select(mode == 1, between(x) + cast<int>(y), in(x));
  const Pipeline p("watched", {in, mode}, {Output(out, {N, 3})});
  std::vector<Schedule> schedules(2);
  schedules[0]["checked"].compute_root();
  schedules[0]["between"].compute_root();
  schedules[1]["checked"].compute_at("out", "y");
  schedules[1]["between"].compute_at("out", "y");
  schedules[1]["out"].vectorize("x", 4);
  const Buffer in_values = random_buffer(Int(32), {11}, 4);
  for (const Schedule& s : schedules) {
    const Kernel kernel = p.compile(s, Target::host());
    Buffer result(Int(32), {11, 3});
    poison(result);
    kernel(in_values, 0, result);
    for (std::int64_t i = 0; i < 11; ++i)
      EXPECT_EQ(result.value(std::vector<std::int64_t>{i, 2}), in_values.value(std::vector<std::int64_t>{i}));
    EXPECT_THROW(kernel.call({in_values, 1, result}), Error);
  }
}
#endif

/// An index, and what require tests, are computed whether chosen or not.
TEST(SkipUnused, IndicesAreUses) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Param mode(Int(32), "mode");
  Var x("x");
  Func at("at"), out("out");
  at(x) = cast<std::uint8_t>(in(x));
  out(x) = select(mode == 1, in(clamp(cast<std::int64_t>(at(x)), 0, N - 1)), 5);
  const Pipeline p("indexed", {in, mode}, {Output(out, {N})});
  Schedule s;
  s["at"].compute_root();
  for (const Target& target : targets()) {
    const Kernel kernel = p.compile(s, target);
    EXPECT_FALSE(has(kernel.show("lowered"), "if mode")) << kernel.show("lowered");
    for (const double mode : {0.0, 1.0}) {
      const Buffer values = random_buffer(Int(32), {13}, 6);
      Buffer out_values(Int(32), {13});
      poison(out_values);
      kernel(values, mode, out_values);
      const Evaluation reference = p.evaluate({values}, {{"mode", mode}});
      EXPECT_TRUE(lang::compare_with_reference(out_values, reference, 0, false).ok) << mode;
    }
  }
}

}  // namespace
}  // namespace calotype
