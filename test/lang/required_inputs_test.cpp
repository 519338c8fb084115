// What outputs read of inputs, against regions worked out by hand and against what evaluate() takes.

#include "calotype/calotype.h"
#include "helpers.h"

namespace calotype::lang {
namespace {

using Extents = std::vector<std::vector<std::int64_t>>;

/// A 3 x 3 sum of an image with sizes of its own, every other pixel, times a Param's column of a table.
Pipeline sparse_sum() {
  ImageParam in(Float(32), 2, "in"), table(Float(32), 1, "table");
  Param at(Int(32), "at");
  Var x("x"), y("y");
  RDom r({{0, 3}, {0, 3}}, "r");
  Func out("out");
  out(x, y) += in(2 * x + r.x(), 2 * y + r.y()) * table(clamp(at, 0, 99));
  return {"sparse_sum", {in, table, at}, {out}};
}

TEST(RequiredInputs, AreTheBoxesThatAreRead) {
  const Pipeline p = sparse_sum();
  for (const std::int64_t w : {1, 2, 17})
    for (const std::int64_t h : {1, 5}) {
      const std::vector<InputRegion> regions = p.required_inputs({{w, h}}, {{"at", 7}});
      ASSERT_EQ(regions.size(), 2u);
      EXPECT_EQ(regions[0].name, "in");
      EXPECT_EQ(regions[0].mins, (std::vector<std::int64_t>{0, 0}));
      EXPECT_EQ(regions[0].extents, (std::vector<std::int64_t>{2 * w + 1, 2 * h + 1}));
      EXPECT_EQ(regions[1].mins, (std::vector<std::int64_t>{7}));
      EXPECT_EQ(regions[1].extents, (std::vector<std::int64_t>{1}));
    }
}

TEST(RequiredInputs, InferredBuffersAreWhatACallTakes) {
  const Pipeline p = sparse_sum();
  std::vector<Buffer> inputs = p.infer_inputs({{17, 5}}, {{"at", 7}});
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].type(), Float(32));
  EXPECT_EQ(inputs[0].extent(0), 35);
  EXPECT_EQ(inputs[0].extent(1), 11);
  EXPECT_EQ(inputs[1].extent(0), 8);
  for (Buffer& b : inputs) b.fill(2);
  const std::map<std::string, std::int64_t> sizes = {{"out.extent.0", 17}, {"out.extent.1", 5}};
  EXPECT_EQ(p.evaluate(inputs, {{"at", 7}}, sizes).outputs[0].value({16, 4}), 36);
  // One element less is refused.
  for (int d = 0; d < 2; ++d) {
    const Buffer less = inputs[0].crop(d, 0, inputs[0].extent(d) - 1);
    test::refused(ErrorKind::Argument, [&] { p.evaluate({less, inputs[1]}, {{"at", 7}}, sizes); });
  }
}

TEST(RequiredInputs, SizesFollowFromOutputs) {
  Dim W("W"), H("H");
  ImageParam in(UInt(8), {W, H + 2}, "in"), odd(UInt(8), {2 * W + 1}, "odd");
  Var x("x"), y("y");
  Func out("out"), half("half");
  out(x, y) = in(x, y) + in(x, y + 2);
  half(x) = odd(2 * x);
  const Pipeline p("sized", {in, odd}, {{out, {W, H}}, {half, {W + 1}}});
  const std::vector<InputRegion> regions = p.required_inputs({{30, 4}, {31}});
  EXPECT_EQ(regions[0].extents, (std::vector<std::int64_t>{30, 6}));
  EXPECT_EQ(regions[1].extents, (std::vector<std::int64_t>{61}));
  EXPECT_EQ(p.infer_inputs({{30, 4}, {31}})[1].extent(0), 61);
  const auto refused = [&](const Extents& outputs, const char* text) {
    const Diagnostic d = test::refused(ErrorKind::Argument, [&] { p.required_inputs(outputs); });
    EXPECT_NE(d.message.find(text), std::string::npos) << d.message;
  };
  refused({{30, 4}}, "extents of 1 outputs");
  refused({{30}, {31}}, "another number of extents");
  refused({{30, 4}, {30}}, "is to be W + 1");
  refused({{-1, 4}, {0}}, "negative");
}

TEST(RequiredInputs, NothingIsReadForEmptyOutputs) {
  const Pipeline p = sparse_sum();
  for (const InputRegion& r : p.required_inputs({{0, 5}}, {{"at", 1}}))
    for (const std::int64_t e : r.extents) EXPECT_EQ(e, 0);
  EXPECT_EQ(p.infer_inputs({{0, 5}}, {{"at", 1}})[0].elements(), 0);
}

TEST(RequiredInputs, WhatLeavesTheInputIsSaid) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in"), own(Float(32), 1, "own");
  Var x("x");
  Func out("out");
  out(x) = in(x - 1) + own(x + 3);
  const Pipeline p("shifted", {in, own}, {{out, {N}}});
  const std::vector<InputRegion> regions = p.required_inputs({{8}});
  EXPECT_EQ(regions[0].mins[0], -1);
  EXPECT_EQ(regions[0].extents[0], 8);
  EXPECT_EQ(regions[1].mins[0], 3);
  EXPECT_EQ(regions[1].extents[0], 8);
  const Diagnostic d = test::refused(ErrorKind::Argument, [&] { p.infer_inputs({{8}}); });
  EXPECT_NE(d.message.find("'in' is read from -1 to 6"), std::string::npos) << d.message;
  EXPECT_EQ(d.func, "in");
}

TEST(RequiredInputs, ASizeThatReadsDependOnMustBeGiven) {
  ImageParam in(Float(32), 1, "in");
  Var x("x");
  Func edged = boundary::repeat_edge(in, "edged"), out("out");
  out(x) = edged(x - 2);
  const Pipeline p("edged", {in}, {out});
  const Diagnostic d = test::refused(ErrorKind::Argument, [&] { p.required_inputs({{8}}); });
  EXPECT_EQ(d.value, "in.extent.0");
  EXPECT_NE(d.legal.find("sizes"), std::string::npos);
  EXPECT_EQ(p.required_inputs({{8}}, {}, {{"in.extent.0", 3}})[0].extents[0], 3);
  EXPECT_EQ(p.infer_inputs({{8}}, {}, {{"in.extent.0", 20}})[0].extent(0), 20);
}

}  // namespace
}  // namespace calotype::lang
