// What the code of kernels is made of: wide accesses, parts of loops without tests, registers of the threads.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "codegen/cuda/device_program.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"
#include "runtime/nvrtc.h"
#include "schedule/apply.h"
#include "schedule/scheduled.h"

namespace calotype {
namespace {

lower::Program program_of(const Pipeline& p, const Schedule& s) {
  const Target target = Target::cuda("sm_90a");
  return lower::lower(schedule::apply_or_throw(p.graph(), s, target), {.target = target});
}

/// The CUDA C of a pipeline whose arguments are aligned.
std::string code_of(const Pipeline& p, const Schedule& s) {
  const lower::Program program = program_of(p, s);
  return cuda::print(program.functions,
                     {.aligned_arguments = true, .facts = cuda::aligned_stride_facts(program)});
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Pipeline squares_of_rows() {
  Dim W("W"), H("H");
  ImageParam in(BFloat(16), {W, H}, "in");
  Var x("x"), y("y");
  Func value("value"), out("out");
  value(x, y) = cast<float>(in(x, y));
  out(x, y) = cast<bfloat16_t>(value(x, y) * value(x, y) + 1.0f);
  return Pipeline("squares_of_rows", {in}, {{out, {W, H}}});
}

// The mask is used twice, by a load and by the store, and the squared value too.
TEST(KernelCode, AccessesUnderAMaskAreWideWhereItHolds) {
  Schedule s;
  s["value"].compute_inline();
  s["out"].vectorize("x", 8).gpu_blocks("y").gpu_threads("x.o", 32);
  const std::string code = code_of(squares_of_rows(), s);
  EXPECT_EQ(code.find("bool "), std::string::npos) << code;
  EXPECT_NE(code.find("*(bf16x8*)(out"), std::string::npos) << code;
  EXPECT_NE(code.find("*(const bf16x8*)(in"), std::string::npos) << code;
}

TEST(KernelCode, TheSteadyPartOfALoopTestsNothing) {
  Schedule s;
  s["value"].compute_inline();
  s["out"].vectorize("x", 8).gpu_blocks("y").gpu_threads("x.o", 32).unroll("x.o.o", 2);
  const std::string code = code_of(squares_of_rows(), s);
  // The loop has both vectors of 32 threads and no branch; what is left stands behind it.
  const std::size_t first = code.find("for (int x_o_o_o = 0;"),
                    second = code.find("if (x_o_o_o_rest * 512 < W)");
  ASSERT_NE(first, std::string::npos) << code;
  ASSERT_NE(second, std::string::npos) << code;
  const std::string steady = code.substr(first, second - first);
  EXPECT_EQ(count(steady, "if ("), 0) << code;
  EXPECT_EQ(count(steady, "*(bf16x8*)(out"), 2) << code;
}

Pipeline row_sums() {
  Dim N("N"), A("A"), B("B");
  ImageParam in(Float(32), {N, A, B}, "in");
  Var n("n"), a("a"), b("b");
  RDom k(0, N, "k");
  Func total("total"), out("out");
  total(a, b) += in(k, a, b);
  out(n, a, b) = in(n, a, b) - total(a, b);
  return Pipeline("row_sums", {in}, {{out, {N, A, B}}});
}

// The parts would have the memory of the block once each, and the barriers at places that threads reach
// apart.
TEST(KernelCode, LoopsWithBarriersStayWhole) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func twice("twice"), out("out");
  twice(x, y) = in(x, y) * 2.0f;
  out(x, y) = twice(x, y) + twice(min(x + 1, W - 1), y);
  Schedule s;
  s["out"].gpu_blocks("y").split("x", "xo", "xi", 64).gpu_threads("xi");
  s["twice"].compute_at("out", "xo").store_in(Memory::Shared).gpu_threads("x");
  const std::string code = code_of(Pipeline("pairs", {in}, {{out, {W, H}}}), s);
  EXPECT_EQ(count(code, "__shared__"), 1) << code;
  EXPECT_EQ(count(code, "for (int xo"), 1) << code;
}

// Every thread holds its sum in a register, also where the row is a pair of coordinates made of one block
// index.
TEST(KernelCode, ARowOfFusedCoordinatesIsOnePoint) {
  Schedule s;
  s["out"].fuse("a", "b", "row").gpu_blocks("row").gpu_threads("n", 128);
  s["total"].compute_at("out", "row").store_in(Memory::Register);
  const std::string code = code_of(row_sums(), s);
  EXPECT_NE(code.find("  float total;"), std::string::npos) << code;
  EXPECT_EQ(code.find("for (int b"), std::string::npos) << code;
}

TEST(KernelCode, DivisionsOfIndicesAreTheMachines) {
  Schedule s;
  s["out"].fuse("a", "b", "row").gpu_blocks("row").gpu_threads("n", 128);
  s["total"].compute_at("out", "row").store_in(Memory::Register);
  const std::string code = code_of(row_sums(), s);
  EXPECT_NE(code.find("row % A"), std::string::npos) << code;
  EXPECT_NE(code.find("row / A"), std::string::npos) << code;
  EXPECT_EQ(code.find("floor_div"), std::string::npos) << code;
}

TEST(KernelCode, FastMathIsAnInstruction) {
  Dim W("W");
  ImageParam in(Float(32), {W}, "in");
  Var x("x");
  Func out("out");
  out(x) = fast::divide(fast::exp(in(x)), in(x));
  const std::string code = code_of(Pipeline("fast", {in}, {{out, {W}}}), Schedule{});
  EXPECT_NE(code.find("fast_divide(fast_exp("), std::string::npos) << code;
  EXPECT_NE(code.find("ex2.approx.ftz.f32"), std::string::npos) << code;
  EXPECT_NE(code.find("rcp.approx.ftz.f32"), std::string::npos) << code;
  Func waves("waves");
  waves(x) = fast::sin(in(x)) + fast::cos(in(x)) + fast::tanh(in(x));
  const std::string other = code_of(Pipeline("waves", {in}, {{waves, {W}}}), Schedule{});
  for (const char* part : {"__sinf(", "__cosf(", "tanh.approx.f32"})
    EXPECT_NE(other.find(part), std::string::npos) << other;
}

// A device writes to the standard output of the process by itself.
TEST(KernelCode, LinesArePrintedByPrintf) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x");
  Func out("out");
  out(x) = print_when(in(x) > 1, in(x), "\"100%\" {at}", x, in(x) > 2);
  const std::string code = code_of(Pipeline("printing", {in}, {{out, {N}}}), {});
  EXPECT_NE(code.find(R"(printf("%.9g \"100%%\" {at} %lld %s\n", (double)()"), std::string::npos) << code;
}

// What the algorithm computes of coordinates and compares keeps 64 bits; the ends of loops need only 32.
TEST(KernelCode, ComparisonsOfComputedCoordinatesAreNotNarrowed) {
  Dim W("W"), H("H");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = select(x * 1000000 < y * y, 1, 2);
  Schedule s;
  s["out"]
      .tile("x", "y", "xo", "yo", "xi", "yi", 32, 4, Tail::Predicate)
      .gpu_blocks("xo", "yo")
      .gpu_threads("xi", "yi");
  const std::string code = code_of(Pipeline("far", {}, {{out, {W, H}}}), s);
  EXPECT_NE(code.find("(long long)xo * 32000000ull"), std::string::npos) << code;
  EXPECT_NE(code.find("if (xo * 32 + thread_x < W)"), std::string::npos) << code;
  EXPECT_NE(code.find("out[xo * 32 + thread_x + (yo * 4 + thread_y) * out_stride_1]"), std::string::npos)
      << code;
}

TEST(KernelCode, PointersThatMayBeOneMemoryAreNotRestricted) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in"), other(Float(32), {N}, "other");
  Var x("x");
  Func out("out");
  out(x) = in(x) + other(x);
  const Pipeline p("in_place", {in, other}, {{out, {N}}});
  EXPECT_EQ(count(code_of(p, {}), "__restrict__"), 3);
  const std::string code = code_of(p.alias("out", "in"), {});
  EXPECT_EQ(count(code, "__restrict__"), 1) << code;
  EXPECT_NE(code.find("__restrict__ other"), std::string::npos) << code;
}

// Printing, 8-bit floats and pointers that may be one memory, as NVRTC takes them.
TEST(KernelCode, WhatTheLanguageAddsCompiles) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  Dim N("N");
  ImageParam in(E4M3(), {N}, "in"), wide(Float(64), {N}, "wide"), other(E5M2(), {N}, "other");
  Var x("x");
  Func out("out");
  const Expr sum = cast<float>(in(x)) + cast<float>(other(x));
  out(x) = cast(
      E5M2(), print_when(sum > 1, cast<double>(sum) + wide(x), "100% of", x, sum > 2, cast<std::uint8_t>(x)));
  const Pipeline p = Pipeline("added", {in, wide, other}, {{out, {N}}}).alias("out", "other");
  Schedule vectors;
  vectors["out"].vectorize("x", 4).gpu_blocks("x.o");
  for (const Schedule& s : {Schedule{}, vectors})
    for (const char* arch : {"sm_80", "sm_90a"})
      EXPECT_EQ(cuda::compile(code_of(p, s), arch, {.cache = false}).kernels.size(), 1u);
}

}  // namespace
}  // namespace calotype
