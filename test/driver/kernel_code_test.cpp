// What the code of kernels is made of: wide accesses, parts of loops without tests, registers of the threads.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "codegen/cuda/device_program.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"
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
  // The first loop has both vectors of 32 threads and no branch; the second one what is left.
  const std::size_t first = code.find("for (int x_o_o_o = 0;"),
                    second = code.find("for (int x_o_o_o = x_o_o_o_rest;");
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
}

}  // namespace
}  // namespace calotype
