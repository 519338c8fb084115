// Registers that hold two halves each, accesses that are used once, kernels that begin as the one before
// leaves.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "codegen/cuda/device_program.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"
#include "runtime/nvrtc.h"

namespace calotype {
namespace {

/// out(c, y) = in(c, y) - the row's largest value.
Pipeline distances(Type type) {
  Dim N("N"), H("H");
  ImageParam in(type, {N, H}, "in");
  Var c("c"), y("y");
  RDom k(0, N, "k");
  Func peak("peak"), out("out");
  peak(y) = Expr(-1e30f);
  peak(y) = max(peak(y), cast<float>(in(k, y)));
  out(c, y) = cast(type, cast<float>(in(c, y)) - peak(y));
  return Pipeline("distances", {in}, {Output(out, {N, H})});
}

/// A row a block, in registers by vectors of 8.
Schedule in_registers() {
  Schedule s;
  s.assume("N", Assumption::exact(1024));
  s["out"].compute_root().gpu_blocks("y").vectorize("c", 8).gpu_threads("c.o", 64).unroll("c.o.o");
  Stage row = s.in("in");
  row.compute_at("out", "y").store_in(Memory::Register);
  row.vectorize("d0", 8).gpu_threads("d0.o", 64).unroll("d0.o.o");
  s["peak"].compute_at("out", "y").store_in(Memory::Register);
  s["peak"].update().vectorize("k", 8).gpu_threads("k.o", 64).unroll("k.o.o");
  return s;
}

Schedule streamed() {
  Schedule s = in_registers();
  s.stream_loads("in");
  s["out"].stream_stores();
  return s;
}

lower::Program lowered(const Pipeline& pipeline, const Schedule& s, const std::string& arch) {
  const Target target = Target::cuda(arch);
  return lower::lower(schedule::apply_or_throw(pipeline.graph(), s, target), {.target = target});
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(PackedRegisters, HoldWholeVectorsOfHalves) {
  for (const auto& [type, name] : {std::pair(BFloat(16), std::string("bf16")), {Float(16), "f16"}}) {
    const std::string text = cuda::print(lowered(distances(type), in_registers(), "sm_90a").functions);
    EXPECT_TRUE(has(text, "  unsigned int in_in[8];\n")) << text;
    EXPECT_TRUE(has(text, "in_in[l] = pair_of_bits(")) << text;
    EXPECT_TRUE(has(text, "float_of(" + name + "_from_bits(bits_at(in_in, 8 + l)))")) << text;
  }
  const std::string floats = cuda::print(lowered(distances(Float(32)), in_registers(), "sm_90a").functions);
  EXPECT_TRUE(has(floats, "  float in_in[16];\n")) << floats;
}

TEST(PackedRegisters, NotOfWhatIsStoredOneByOne) {
  Schedule single;
  single.assume("N", Assumption::exact(128));
  single["out"].compute_root().gpu_blocks("y").gpu_threads("c", 64).unroll("c.o");
  Stage row = single.in("in");
  row.compute_at("out", "y").store_in(Memory::Register).gpu_threads("d0", 64).unroll("d0.o");
  single["peak"].compute_at("out", "y").store_in(Memory::Register);
  single["peak"].update().gpu_threads("k", 64).unroll("k.o");
  const std::string text = cuda::print(lowered(distances(BFloat(16)), single, "sm_90a").functions);
  EXPECT_TRUE(has(text, "  bf16 in_in[2];\n")) << text;
}

TEST(StreamedAccesses, AreInstructionsOfTheirOwn) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  const lower::Program program = lowered(distances(BFloat(16)), streamed(), "sm_90a");
  const std::string text = cuda::DeviceProgram(program, {.cache = false}).source();
  EXPECT_TRUE(has(text, "load_streamed((const bf16x8*)(in + ")) << text;
  EXPECT_TRUE(has(text, "store_streamed((bf16x8*)(out + ")) << text;
  EXPECT_TRUE(has(text, "ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];")) << text;
  EXPECT_TRUE(has(text, "st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};")) << text;
  // What is not whole, since nothing is known of how it lies, goes as ever.
  const std::string unaligned = cuda::print(program.functions);
  EXPECT_FALSE(has(unaligned, "streamed")) << unaligned;
}

TEST(EarlyLaunches, AreOfArchitecturesThatHaveThem) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  for (const auto& [arch, early] :
       {std::pair("sm_80", false), {"sm_86", false}, {"sm_90a", true}, {"sm_100a", true}})
    for (const Type type : {BFloat(16), Float(16), Float(32)}) {
      const cuda::DeviceProgram program(lowered(distances(type), streamed(), arch), {.cache = false});
      EXPECT_EQ(has(program.source(), "  begin_behind_kernel_before();\n"), early) << arch;
      EXPECT_EQ(has(program.compiled().ptx, "griddepcontrol.wait;"), early) << arch;
      ASSERT_EQ(program.compiled().kernels.size(), 1u);
      EXPECT_EQ(program.compiled().kernels[0].stack_bytes, 0) << arch;
    }
}

}  // namespace
}  // namespace calotype
