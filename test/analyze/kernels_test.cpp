// The traffic of a schedule's kernels.
#include <gtest/gtest.h>

#include "analyze/device.h"
#include "analyze/traffic.h"
#include "calotype/calotype.h"

namespace calotype::analyze {
namespace {

Pipeline two_stages() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func h("h"), v("v");
  Func edge = boundary::repeat_edge(in, "edge");
  h(x, y) = edge(x - 1, y) + edge(x, y) + edge(x + 1, y);
  v(x, y) = h(x, y - 1) + h(x, y) + h(x, y + 1);
  return Pipeline("two_stages", {in}, {Output(v, {W, H})});
}

std::vector<Work> kernels_of(const Pipeline& p, const Schedule& s,
                             std::map<std::string, std::int64_t> sizes) {
  Constants constants;
  for (const ir::SymbolPtr& dim : p.graph().dims)
    constants[dim.get()] = ir::Value::of_int(Int(64), sizes.at(dim->name));
  return kernels(schedule::apply_or_throw(p.graph(), s, Target::host()), constants);
}

TEST(Kernels, RootStagesMoveTheirValues) {
  Schedule s;
  s["h"].compute_root();
  const std::vector<Work> works = kernels_of(two_stages(), s, {{"W", 30}, {"H", 10}});
  ASSERT_EQ(works.size(), 2u);
  EXPECT_EQ(works[0].name, "h");
  EXPECT_EQ(works[0].read, 30 * 10 * 4);
  EXPECT_EQ(works[0].written, 30 * 12 * 4);
  EXPECT_EQ(works[1].read, 30 * 12 * 4);
  EXPECT_EQ(works[1].written, 30 * 10 * 4);
  EXPECT_EQ(works[0].operations, 2 * 30 * 12);
}

TEST(Kernels, WhatIsComputedInsideStaysThere) {
  Schedule s;
  s["v"].compute_root();
  s["h"].compute_at("v", "y");
  const std::vector<Work> works = kernels_of(two_stages(), s, {{"W", 30}, {"H", 10}});
  ASSERT_EQ(works.size(), 1u);
  EXPECT_EQ(works[0].bytes(), 2 * 30 * 10 * 4);
  EXPECT_EQ(works[0].funcs, (std::vector<std::string>{"h", "v"}));
}

TEST(Kernels, InliningMovesNothingAndComputesMore) {
  Schedule s;
  s["h"].compute_inline();
  const std::vector<Work> works = kernels_of(two_stages(), s, {{"W", 30}, {"H", 10}});
  ASSERT_EQ(works.size(), 1u);
  EXPECT_EQ(works[0].bytes(), 2 * 30 * 10 * 4);
  EXPECT_EQ(works[0].operations, 8 * 30 * 10);
}

// Each definition of a Func at root is a nest of its own; an update reads what it adds to.
TEST(Kernels, UpdatesAtRoot) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x");
  Func f("f");
  f(x) = 1.0f;
  f(x) += in(x);
  const std::vector<Work> works = kernels_of(Pipeline("p", {in}, {Output(f, {N})}), {}, {{"N", 100}});
  ASSERT_EQ(works.size(), 2u);
  EXPECT_EQ(works[0].bytes(), 400);
  EXPECT_EQ(works[1].name, "f.update(0)");
  EXPECT_EQ(works[1].read, 800);
  EXPECT_EQ(works[1].written, 400);
}

TEST(Device, RooflineIsTheLongerOfBoth) {
  const Device* h200 = find_device("h200");
  ASSERT_NE(h200, nullptr);
  EXPECT_DOUBLE_EQ(bound_seconds(4.8e9, 1, *h200), 1e-3);
  EXPECT_DOUBLE_EQ(bound_seconds(1, 67e9, *h200), 1e-3);
  EXPECT_TRUE(is_memory_bound(4.8e9, 1, *h200));
  EXPECT_FALSE(is_memory_bound(1, 67e9, *h200));
  EXPECT_EQ(find_device("none"), nullptr);
}

}  // namespace
}  // namespace calotype::analyze
