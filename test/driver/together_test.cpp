// Directives and operations that meet: what each promises holds beside the others.
#include <gtest/gtest.h>

#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::random_buffer;
using testing::targets;

const Var x("x");

std::string refusal(const Pipeline& p, const Schedule& s) {
  const std::vector<Diagnostic> found = s.check(p, Target::host());
  return found.empty() ? "" : found.front().str();
}

/// Twice the input, and how often each value modulo 8 stands in it.
Pipeline doubled_and_counted() {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  RDom r(0, N, "r");
  Func a("a"), h("h");
  a(x) = in(x) * 2;
  h(x) = 0;
  h(in(r) & 7) += 1;
  return Pipeline("doubled_and_counted", {in}, {Output(a, {N}), Output(h, {8})});
}

TEST(Together, StagesOfASharedLoopTakeNoTurns) {
  Schedule joins, joined;
  joins["a"].parallel("x");
  joins["h"].update().atomic().parallel("r").compute_with("a", "x");
  joined["h"].update().atomic().parallel("r");
  joined["a"].parallel("x").compute_with(joined["h"].update(), "r");
  for (const Schedule& s : {joins, joined}) {
    const std::string why = refusal(doubled_and_counted(), s);
    EXPECT_NE(why.find("does not share"), std::string::npos) << why;
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(Together, LanesWithinASharedLoop) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  RDom r(0, N, "r");
  Func a("a"), sum("sum");
  a(x) = in(x) + 1;
  sum() += in(r);
  const Pipeline p("p", {in}, {Output(a, {N}), Output(sum, {})});
  Schedule s;
  s["a"].split("x", "xo", "xi", 8);
  s["sum"].update().split("r", "ro", "ri", 8).vectorize("ri").compute_with("a", "xo");
  for (const std::int64_t n : {1, 7, 8, 61})
    expect_matches(p, s, Target::host(), {random_buffer(Int(32), {n}, 3)},
                   {Buffer(Int(32), {n}), Buffer(Int(32), std::vector<std::int64_t>{})});
}

// The domain's condition leaves out all terms of places beyond the output: lanes must not touch these.
TEST(Together, LanesOfPlacesThatAConditionLeavesOut) {
  Dim M("M"), N("N");
  ImageParam in(Int(32), {M, N}, "in");
  RDom r({{0, M}, {0, 2 * N}}, "r");
  r.where(r.y() < N);
  Func f("f");
  f(x) = 0;
  f(r.y()) += in(r.x(), r.y());
  const Pipeline p("p", {in}, {Output(f, {N})});
  Schedule s;
  s["f"].update().vectorize("r.x", 8);
  for (const std::int64_t n : {1, 5, 16}) {
    const Buffer input = random_buffer(Int(32), {19, n}, 4);
    std::vector<std::int32_t> memory(static_cast<std::size_t>(3 * n), -77);
    expect_matches(p, s, Target::host(), {input}, {Buffer(Int(32), memory.data(), {n}, {1})});
    for (std::size_t i = static_cast<std::size_t>(n); i < memory.size(); ++i) EXPECT_EQ(memory[i], -77) << i;
  }
}

TEST(Together, WhatASharedNestReadsIsComputed) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Param k(Int(32), "k");
  Func q("q"), p("p"), r("r"), out("out");
  q(x) = in(x)*in(x) + 1;
  p(x) = require(q(x) > 0, q(x), "never");
  r(x) = in(x)-5;
  out(x) = select(k > 0, p(x), 0) + r(x);
  const Pipeline pipeline("pipeline", {in, k}, {Output(out, {N})});
  Schedule s;
  s["q"].compute_root();
  s["p"].compute_root();
  s["r"].compute_root().compute_with("p", "x");
  const Buffer input(Int(32), {33}), output(Int(32), {33});
  for (std::int64_t i = 0; i < 33; ++i) input.set_value({i}, static_cast<double>(i % 9 - 4));
  const Kernel kernel = pipeline.compile(s, Target::host());
  for (const std::int32_t chosen : {0, 1}) {
    testing::poison(output);
    kernel(input, chosen, output);
    for (std::int64_t i = 0; i < 33; ++i) {
      const double v = input.value({i});
      EXPECT_EQ(output.value({i}), (chosen ? v * v + 1 : 0) + v - 5) << i;
    }
  }
}

TEST(Together, APrintedConditionDecidesNothingBeforehand) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Param k(Int(32), "k");
  Func p("p"), out("out");
  p(x) = in(x) + 1;
  out(x) = select(print_when(k > 100, k) > 0, p(x), 0);
  const Pipeline pipeline("pipeline", {in, k}, {Output(out, {N})});
  Schedule s;
  s["p"].compute_root();
  const Buffer input = random_buffer(Int(32), {9}, 6), output(Int(32), {9});
  const Kernel kernel = pipeline.compile(s, Target::host());
  for (const std::int32_t chosen : {0, 1}) {
    testing::poison(output);
    kernel(input, chosen, output);
    for (std::int64_t i = 0; i < 9; ++i) EXPECT_EQ(output.value({i}), chosen ? input.value({i}) + 1 : 0) << i;
  }
}

#endif  // CALOTYPE_HAS_LLVM

}  // namespace
}  // namespace calotype
