// Operators of an algorithm, each run alone: which there are, and the bytes each moves.
#include <gtest/gtest.h>

#include "analyze/traffic.h"
#include "calotype/calotype.h"

namespace calotype::analyze {
namespace {

struct Sized {
  Pipeline pipeline;
  Constants constants;
  Sized(Pipeline p, const std::map<std::string, std::int64_t>& sizes) : pipeline(std::move(p)) {
    for (const ir::SymbolPtr& dim : pipeline.graph().dims)
      constants[dim.get()] = ir::Value::of_int(Int(64), sizes.at(dim->name));
  }
  std::vector<Work> alone() const { return operators(pipeline.graph(), constants); }
};

std::vector<std::int64_t> bytes_of(const std::vector<Work>& works) {
  std::vector<std::int64_t> bytes;
  for (const Work& w : works) bytes.push_back(w.bytes());
  return bytes;
}

std::vector<std::string> names_of(const std::vector<Work>& works) {
  std::vector<std::string> names;
  for (const Work& w : works) names.push_back(w.name);
  return names;
}

Pipeline normalised_rows(Type type) {
  Dim N("N"), R("R");
  ImageParam x(type, {N, R}, "x"), w(type, {N}, "w"), up(type, {N, R}, "up");
  Var c("c"), r("r");
  RDom k(0, N, "k");
  Func value("value"), squares("squares"), scale("scale"), out("out");
  value(c, r) = cast<float>(x(c, r));
  squares(r) += value(k, r) * value(k, r);
  scale(r) = rsqrt(squares(r) / cast<float>(N) + 1e-6f);
  Expr z = value(c, r) * scale(r) * cast<float>(w(c));
  out(c, r) = cast(type, z / (1.0f + exp(-z)) * cast<float>(up(c, r)));
  return Pipeline("normalised_rows", {x, w, up}, {Output(out, {N, R})});
}

// Square, mean, + eps, rsqrt, * scale, * w, silu, * up: eight, of which each moves what its arrays have.
TEST(Operators, NormalisedRows) {
  const Sized p(normalised_rows(Float(32)), {{"N", 4096}, {"R", 8}});
  const std::int64_t full = 8 * 4096 * 4, row = 4096 * 4, column = 8 * 4;
  const std::vector<Work> works = p.alone();
  EXPECT_EQ(names_of(works), (std::vector<std::string>{"squares.term", "squares", "scale.1", "scale", "out.1",
                                                       "out.2", "out.3", "out"}));
  EXPECT_EQ(bytes_of(works),
            (std::vector<std::int64_t>{2 * full, full + column, 2 * column, 2 * column, 2 * full + column,
                                       2 * full + row, 2 * full, 3 * full}));
  EXPECT_EQ(total(works).bytes(), 1589440);
}

// bf16 arguments are read and written as they are; what lies between is f32.
TEST(Operators, ConversionsBelongToTheirUsers) {
  const Sized p(normalised_rows(BFloat(16)), {{"N", 64}, {"R", 3}});
  const std::int64_t half = 64 * 3 * 2, full = 64 * 3 * 4, row = 64 * 2, column = 3 * 4;
  EXPECT_EQ(bytes_of(p.alone()), (std::vector<std::int64_t>{
                                     half + full, full + column, 2 * column, 2 * column, half + column + full,
                                     full + row + full, 2 * full, full + half + half}));
}

// A product of matrices is one operator: nobody writes the M x N x K products.
TEST(Operators, ContractionIsOne) {
  Dim M("M"), N("N"), K("K");
  ImageParam a(BFloat(16), {K, M}, "a"), b(BFloat(16), {N, K}, "b"), bias(Float(32), {N}, "bias");
  Var n("n"), m("m");
  RDom k(0, K, "k");
  Func acc("acc"), out("out");
  acc(n, m) += cast<float>(a(k, m)) * cast<float>(b(n, k));
  out(n, m) = max(acc(n, m) + bias(n), 0.0f);
  const Sized p(Pipeline("p", {a, b, bias}, {Output(out, {N, M})}), {{"M", 64}, {"N", 32}, {"K", 128}});
  const std::vector<Work> works = p.alone();
  EXPECT_EQ(names_of(works), (std::vector<std::string>{"acc", "out.1", "out"}));
  const std::int64_t c = 64 * 32 * 4;
  EXPECT_EQ(bytes_of(works),
            (std::vector<std::int64_t>{64 * 128 * 2 + 32 * 128 * 2 + c, 2 * c + 32 * 4, 2 * c}));
  EXPECT_EQ(works[0].operations, 2 * 64 * 32 * 128);
}

// A boundary condition is how its reader reads; a stencil is one operator on one array (its division by 16
// another), and its halo is part of what is read of an array in between.
TEST(Operators, StencilIsOne) {
  Dim W("W"), H("H");
  ImageParam in(UInt(8), {W, H}, "in");
  Var x("x"), y("y");
  Func wide("wide"), h("h"), v("v");
  Func edge = boundary::repeat_edge(in, "edge");
  wide(x, y) = cast<std::uint16_t>(edge(x, y));
  h(x, y) = wide(x - 1, y) + 2 * wide(x, y) + wide(x + 1, y);
  v(x, y) = cast<std::uint8_t>((h(x, y - 1) + 2 * h(x, y) + h(x, y + 1)) / 16);
  const Sized p(Pipeline("p", {in}, {Output(v, {W, H})}), {{"W", 20}, {"H", 10}});
  const std::vector<Work> works = p.alone();
  EXPECT_EQ(names_of(works), (std::vector<std::string>{"h", "v.1", "v"}));
  EXPECT_EQ(works[0].read, 20 * 10);
  EXPECT_EQ(works[0].written, 20 * 12 * 2);
  EXPECT_EQ(works[1].read, 20 * 12 * 2);
  EXPECT_EQ(works[1].written, 20 * 10 * 2);
  EXPECT_EQ(works[2].bytes(), 20 * 10 * 2 + 20 * 10);
  EXPECT_EQ(works[0].operations, 3 * 20 * 12);
}

// A scan and a Tuple's reduction are operators as they stand.
TEST(Operators, ScansAndTuples) {
  Dim N("N"), R("R");
  ImageParam in(Float(32), {N, R}, "in");
  Var n("n"), r("r");
  RDom k(1, N - 1, "k"), j(0, N, "j");
  Func sums("sums"), best("best");
  sums(n, r) = in(n, r);
  sums(k, r) = sums(k - 1, r) + in(k, r);
  best(r) = Tuple(cast<std::int32_t>(0), sums(0, r));
  best(r) = select(sums(j, r) > best(r)[1], Tuple(cast<std::int32_t>(j.x()), sums(j, r)),
                   Tuple(best(r)[0], best(r)[1]));
  const Sized p(Pipeline("p", {in}, {Output(best, {R})}), {{"N", 16}, {"R", 5}});
  const std::vector<Work> works = p.alone();
  ASSERT_EQ(works.size(), 2u);
  EXPECT_EQ(works[0].bytes(), 2 * 16 * 5 * 4);
  EXPECT_EQ(works[1].bytes(), 16 * 5 * 4 + 5 * 8);
}

int no_function(const calotype_extern_call*) { return 1; }

// A function reads its boxes and writes its values; what it computes is not known.
TEST(Operators, AFunctionIsOneOperator) {
  Dim N("N"), R("R");
  ImageParam in(Float(32), {N, R}, "in");
  Var x("x"), y("y");
  RDom row(0, N, "row");
  Func sorted("sorted"), out("out");
  sorted.define_extern({x, y}, {Float(32)}, {"sort_rows", no_function}, {in(row, y)});
  out(x, y) = sorted(x, y) * 2.0f;
  const Sized p(Pipeline("sorting", {in}, {Output(out, {N, R})}), {{"N", 100}, {"R", 7}});
  const std::vector<Work> works = p.alone();
  EXPECT_EQ(names_of(works), (std::vector<std::string>{"sorted", "out"}));
  EXPECT_EQ(bytes_of(works), (std::vector<std::int64_t>{2 * 2800, 2 * 2800}));
  EXPECT_EQ(works[0].operations, 0);
  EXPECT_EQ(works[0].text, "extern sort_rows(in(row, y))");
}

}  // namespace
}  // namespace calotype::analyze
