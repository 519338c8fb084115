// Sums of products on tensor cores, from a Func and a schedule: the values of the reference for all types and
// orders of operands, ragged sizes, batches and sums over several loops; and what is refused.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "runtime/nvrtc.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

const Target target = Target::interpreter("sm_90a");

struct Product {
  Type a = BFloat(16), b = BFloat(16), sum = Float(32), result = Float(32);
  bool a_by_rows = true, b_by_columns = true;  ///< what is summed is dense
  int rows = 64, columns = 64, depth = 64, stages = 1;
  bool sums_something = false;  ///< as the schedule says: K is not 0

  Pipeline pipeline() const {
    Dim M("M"), N("N"), K("K");
    ImageParam A(a, a_by_rows ? std::vector<Expr>{K, M} : std::vector<Expr>{M, K}, "A");
    ImageParam B(b, b_by_columns ? std::vector<Expr>{K, N} : std::vector<Expr>{N, K}, "B");
    Var n("n"), m("m");
    RDom k(0, K, "k");
    Func acc("acc"), C("C");
    const Expr x = a_by_rows ? A(k, m) : A(m, k), y = b_by_columns ? B(k, n) : B(n, k);
    acc(n, m) += cast(sum, x) * cast(sum, y);
    C(n, m) = cast(result, acc(n, m));
    return Pipeline("product", {A, B}, {Output(C, {N, M})});
  }

  Schedule schedule() const {
    Schedule s;
    s["C"].tile("n", "m", "no", "mo", "ni", "mi", columns, rows).gpu_blocks("no", "mo");
    s["acc"].compute_at("C", "no").store_in(Memory::Register);
    s["acc"].update().split("k", "ko", "ki", depth).reorder("ki", "n", "m", "ko");
    s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
    copy(s, "A", a_by_rows ? depth : rows, a);
    copy(s, "B", b_by_columns ? depth : columns, b);
    if (stages > 1) s["acc"].update().pipeline("ko", stages);
    if (sums_something) s.assume("K", Assumption::at_least(1));
    return s;
  }

  /// Rows of 128 bytes, swizzled; wider ones as panels of such.
  static void copy(Schedule& s, const char* operand, int dense, Type type) {
    const int row = std::min(dense, 128 / type.bytes());
    const Stage c = s.in(operand, {"acc"});
    s[c].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma);
    s[c].swizzle(row * type.bytes());
    if (dense == row) return;
    s[c].layout({fmt::format("d0 % {}", row), "d1", fmt::format("d0 / {}", row)});
    s[c].split("d0", "do", "di", row).reorder("di", "d1", "do");
  }

  std::vector<Buffer> inputs(std::int64_t m, std::int64_t n, std::int64_t k) const {
    const auto extents = [&](bool dense, std::int64_t side) {
      return dense ? std::vector<std::int64_t>{k, side} : std::vector<std::int64_t>{side, k};
    };
    return {random_buffer(a, extents(a_by_rows, m), 1), random_buffer(b, extents(b_by_columns, n), 2)};
  }

  void check(std::int64_t m, std::int64_t n, std::int64_t k) const {
    SCOPED_TRACE(fmt::format("{} x {} {} {}, {} x {} x {}, tile {} x {} x {}, {} stages", a.str(), b.str(),
                             a_by_rows ? "t" : "n", b_by_columns ? "n" : "t", m, n, k, rows, columns, depth,
                             stages));
    const Verification found = pipeline().verify(schedule(), "sm_90a", inputs(m, n, k));
    EXPECT_TRUE(found.clean()) << found.str();
    testing::expect_matches(pipeline(), schedule(), target, inputs(m, n, k), {Buffer(result, {n, m})});
  }
};

TEST(TensorCores, MultiplyAllTypes) {
  for (const auto& [a, b, sum] : {std::tuple(BFloat(16), BFloat(16), Float(32)),
                                  {Float(16), Float(16), Float(32)},
                                  {Int(8), Int(8), Int(32)},
                                  {UInt(8), Int(8), Int(32)},
                                  {Int(8), UInt(8), Int(32)},
                                  {UInt(8), UInt(8), Int(32)},
                                  {Float(16), Float(16), Float(16)},
                                  {E4M3(), E4M3(), Float(16)},
                                  {E5M2(), E5M2(), Float(16)}}) {
    const int depth = 128 / a.bytes();
    Product{.a = a, .b = b, .sum = sum, .result = sum, .depth = depth}.check(64, 64, 2 * depth);
    Product{.a = a, .b = b, .sum = sum, .result = sum, .depth = depth, .stages = 2}.check(100, 80, 48);
  }
}

TEST(TensorCores, TakeOperandsInEveryOrder) {
  for (const bool a_by_rows : {true, false})
    for (const bool b_by_columns : {true, false})
      for (const int stages : {1, 3}) {
        Product p{.a_by_rows = a_by_rows, .b_by_columns = b_by_columns, .stages = stages};
        p.check(64, 64, 64);
        p.rows = p.columns = 128;
        p.check(136, 200, 264);
      }
}

TEST(TensorCores, HaveTilesOfManySizes) {
  for (const int rows : {64, 128, 192})
    for (const int columns : {8, 24, 48, 256})
      Product{.result = BFloat(16), .rows = rows, .columns = columns, .depth = 32}.check(200, 264, 96);
  for (const int depth : {16, 32, 64}) Product{.depth = depth, .stages = 2}.check(72, 72, 168);
}

/// Nothing is added to by the first product, so that nothing is filled before; unless there may be none.
TEST(TensorCores, SetSumsByTheirFirstProducts) {
  for (const int stages : {1, 3})
    for (const int k : {8, 64, 200})
      Product{.columns = 128, .stages = stages, .sums_something = true}.check(72, 72, k);
  for (const bool something : {true, false}) {
    const Product p{.sums_something = something};
    const std::string text = p.pipeline().compile(p.schedule(), target).show("lowered");
    EXPECT_EQ(text.find("acc[acc.r1") == std::string::npos, something) << text;
    EXPECT_EQ(text.find("ko != 0") != std::string::npos, something) << text;
  }
}

TEST(TensorCores, LeaveRaggedEndsAlone) {
  for (const auto& [m, n, k] :
       {std::tuple(1, 1, 8), {1, 64, 64}, {64, 1, 64}, {63, 65, 8}, {65, 63, 72}, {127, 7, 200}})
    Product{.stages = 2}.check(m, n, k);
}

TEST(TensorCores, SumOverSeveralLoops) {
  // f(n, m) = sum over taps t and channels k of a(k, m + t) * b(k, n, t).
  Dim M("M"), N("N"), K("K");
  ImageParam A(BFloat(16), {K, M + 2}, "A"), B(BFloat(16), {K, N, 3}, "B");
  Var n("n"), m("m");
  RDom r({{0, K}, {0, 3}}, {"k", "t"});
  Func acc("acc"), C("C");
  acc(n, m) += cast<float>(A(r[0], m + r[1])) * cast<float>(B(r[0], n, r[1]));
  C(n, m) = max(acc(n, m), 0.0f);
  const Pipeline taps("taps", {A, B}, {Output(C, {N, M})});
  Schedule s;
  s["C"].tile("n", "m", "no", "mo", "ni", "mi", 64, 64).gpu_blocks("no", "mo");
  s["acc"].compute_at("C", "no").store_in(Memory::Register);
  s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "t", "ko");
  s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
  for (const char* operand : {"A", "B"}) {
    const Stage c = s.in(operand, {"acc"});
    s[c].compute_at(s["acc"].update(), "t").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
  }
  const std::vector<Buffer> inputs = {random_buffer(BFloat(16), {128, 102}, 1),
                                      random_buffer(BFloat(16), {128, 72, 3}, 2)};
  const Verification found = taps.verify(s, "sm_90a", inputs, {}, {{"M", 100}, {"N", 72}, {"K", 128}});
  EXPECT_TRUE(found.clean()) << found.str();
}

TEST(TensorCores, HaveTilesOfSeveralLoopsAndBatches) {
  // f(n, m, b) = sum over taps t and channels k of a(k, m + t, b) * w(k, n, t), all taps in one tile.
  Dim M("M"), N("N"), K("K"), B("B");
  ImageParam A(Float(16), {K, M + 2, B}, "A"), W(Float(16), {K, N, 3}, "W");
  Var n("n"), m("m"), b("b");
  RDom r({{0, K}, {0, 3}}, {"k", "t"});
  Func acc("acc"), C("C");
  acc(n, m, b) += cast<float>(A(r[0], m + r[1], b)) * cast<float>(W(r[0], n, r[1]));
  C(n, m, b) = acc(n, m, b);
  const Pipeline taps("taps", {A, W}, {Output(C, {N, M, B})});
  Schedule s;
  s["C"].tile("n", "m", "no", "mo", "ni", "mi", 64, 64).gpu_blocks("no", "mo", "b");
  s["acc"].compute_at("C", "no").store_in(Memory::Register);
  s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "t", "n", "m", "b", "ko");
  s["acc"].update().tensor_core({"m"}, {"n"}, {"t", "ki"});
  for (const char* operand : {"A", "W"}) {
    const Stage c = s.in(operand, {"acc"});
    s[c].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
  }
  const std::vector<Buffer> inputs = {random_buffer(Float(16), {128, 102, 3}, 1),
                                      random_buffer(Float(16), {128, 72, 3}, 2)};
  const Verification found =
      taps.verify(s, "sm_90a", inputs, {}, {{"M", 100}, {"N", 72}, {"K", 128}, {"B", 3}});
  EXPECT_TRUE(found.clean()) << found.str();
}

void expect_refused(const Pipeline& p, const Schedule& s, const std::vector<std::string>& parts,
                    const Target& on = target) {
  try {
    p.compile(s, on);
    ADD_FAILURE() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Schedule) << e.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << "\nin\n" << e.what();
  }
}

TEST(TensorCores, SayWhatTheyCannotDo) {
  const auto refused = [](const Product& p, const std::vector<std::string>& parts) {
    expect_refused(p.pipeline(), p.schedule(), parts);
  };
  refused({.rows = 48}, {"the tile has 48 rows", "a multiple of 64"});
  refused({.columns = 20}, {"the tile has 20 columns", "a multiple of 8"});
  refused({.a = Int(8), .b = Int(8), .sum = Int(32), .result = Int(32), .b_by_columns = false, .depth = 128},
          {"'B.in(acc)' has its rows along 'n'", "innermost"});
  refused({.a = Float(32), .b = Float(32), .depth = 32},
          {"no instruction that adds products of f32 and f32"});
  refused({.a = E4M3(), .b = E4M3(), .depth = 128}, {"13 bits"});
  expect_refused(Product{}.pipeline(), Product{}.schedule(), {"sm_90 has no products of four warps"},
                 Target::interpreter("sm_90"));
}

/// A product whose definition and consumer are given, under Product's schedule.
struct Around {
  Product p;
  Dim M{"M"}, N{"N"}, K{"K"};
  ImageParam A{BFloat(16), {K, M}, "A"}, B{BFloat(16), {K, N}, "B"}, start{Float(32), {N}, "start"};
  Var n{"n"}, m{"m"};
  RDom k{0, K, "k"};
  Func acc{"acc"}, C{"C"};
  void add() { acc(n, m) += cast<float>(A(k, m)) * cast<float>(B(k, n)); }
  Pipeline pipeline(std::vector<ImageParam> inputs) {
    C(n, m) = acc(n, m);
    return Pipeline("around", {inputs.begin(), inputs.end()}, {Output(C, {N, M})});
  }
};

TEST(TensorCores, RefuseWhatTheyWouldLose) {
  Around begins, where, traced, ring, partitioned, larger;
  begins.acc(begins.n, begins.m) = begins.start(begins.n);
  begins.add();
  expect_refused(begins.pipeline({begins.A, begins.B, begins.start}), begins.p.schedule(),
                 {"'acc' begins from what is read"});
  where.k.where(where.k.x() != 3);
  where.add();
  expect_refused(where.pipeline({where.A, where.B}), where.p.schedule(), {"points where a condition holds"});
  traced.add();
  Schedule s = traced.p.schedule();
  s.trace("acc");
  expect_refused(traced.pipeline({traced.A, traced.B}), s, {"asks for lines of 'acc'"});
  partitioned.add();
  Schedule cut = partitioned.p.schedule();
  cut["C"].partition("ni", Partition::Never);
  expect_refused(partitioned.pipeline({partitioned.A, partitioned.B}), cut, {"partition", "has no effect"});
  larger.add();
  Schedule part;
  part["C"].tile("n", "m", "no", "mo", "ni", "mi", 64, 128).gpu_blocks("no", "mo");
  part["acc"].compute_at("C", "no").store_in(Memory::Register);
  part["acc"]
      .update()
      .split("k", "ko", "ki", 64)
      .split("m", "mp", "mq", 64)
      .reorder("ki", "n", "mq", "mp", "ko");
  part["acc"].update().tensor_core({"mq"}, {"n"}, {"ki"});
  Product::copy(part, "A", 64, BFloat(16));
  Product::copy(part, "B", 64, BFloat(16));
  expect_refused(larger.pipeline({larger.A, larger.B}), part, {"the tile has 64 of 'acc' along 'm'", "128"});
}

TEST(TensorCores, RefuseConsumersOfAnotherKind) {
  Around rows, own;
  rows.add();
  Func top("top");
  RDom r(0, rows.N, "r");
  top(rows.m) = -1000.0f;
  top(rows.m) = max(top(rows.m), rows.acc(r, rows.m));
  Schedule s;
  s["top"].compute_root().split("m", "mo", "mi", 64).gpu_blocks("mo");
  s["top"].update().split("m", "mo", "mi", 64).split("r", "ro", "ri", 64).reorder("ri", "mi", "ro", "mo");
  s["top"].update().gpu_blocks("mo");
  s["acc"].compute_at(s["top"].update(), "ro").store_in(Memory::Register);
  s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
  s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
  Product::copy(s, "A", 64, BFloat(16));
  Product::copy(s, "B", 64, BFloat(16));
  expect_refused(Pipeline("rows", {rows.A, rows.B}, {Output(top, {rows.M})}), s, {"'top' reduces 'acc'"});
  own.add();
  Func scaled("scaled");
  scaled(own.n, own.m) = own.acc(own.n, own.m) * 2.0f;
  own.C(own.n, own.m) = scaled(own.n, own.m);
  Schedule kept = own.p.schedule();
  kept["scaled"].compute_at("C", "no").store_in(Memory::Register);
  expect_refused(Pipeline("own", {own.A, own.B}, {Output(own.C, {own.N, own.M})}), kept,
                 {"'scaled'", "in registers of its own"});
}

TEST(TensorCores, SayWhatOperandsMustBe) {
  const Product p;
  Schedule no_swizzle;
  no_swizzle["C"].tile("n", "m", "no", "mo", "ni", "mi", 64, 64).gpu_blocks("no", "mo");
  no_swizzle["acc"].compute_at("C", "no").store_in(Memory::Register);
  no_swizzle["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
  no_swizzle["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
  expect_refused(p.pipeline(), no_swizzle, {"is read from the memory of the call", "by in()"});
  for (const char* operand : {"A", "B"}) {
    const Stage c = no_swizzle.in(operand, {"acc"});
    no_swizzle[c].compute_at(no_swizzle["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma);
  }
  expect_refused(p.pipeline(), no_swizzle, {"the operand 'A.in(acc)' is not swizzled", "swizzle(128)"});
}

TEST(TensorCores, CopiesByThreadsNeedWholeTiles) {
  Product p;
  const Pipeline pipeline = p.pipeline();
  Schedule s;
  s["C"].tile("n", "m", "no", "mo", "ni", "mi", 64, 64).gpu_blocks("no", "mo");
  s["acc"].compute_at("C", "no").store_in(Memory::Register);
  s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
  s["acc"].update().tensor_core({"m"}, {"n"}, {"ki"});
  for (const char* operand : {"A", "B"}) {
    const Stage c = s.in(operand, {"acc"});
    s[c].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).swizzle(128);
  }
  expect_refused(pipeline, s, {"cut off where", "not known to be zeros", "by assume"});
  for (const char* size : {"M", "N", "K"}) s.assume(size, Assumption::multiple(64));
  const std::vector<Buffer> inputs = p.inputs(128, 64, 192);
  const Verification found = pipeline.verify(s, "sm_90a", inputs);
  EXPECT_TRUE(found.clean()) << found.str();
}

}  // namespace
}  // namespace calotype
