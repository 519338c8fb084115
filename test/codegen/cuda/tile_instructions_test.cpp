// Instructions of tiles as CUDA C: what is printed, and what the assembler says of every form.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "calotype/error.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "runtime/nvrtc.h"
#include "tiles.h"

namespace {

using namespace calotype_test;
using instr::Number;
using instr::TensorRule;

std::string printed(const lower::Function& kernel) {
  return cuda::print({kernel}, {.aligned_arguments = true});
}

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
}

class TileInstructions : public ::testing::Test {
 protected:
  void SetUp() override {
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  }
  /// The assembler has nothing to say of any kernel, and needs no memory for its registers.
  static cuda::Compiled compiled(const std::vector<lower::Function>& kernels, const char* arch = "sm_90a") {
    const std::string source = cuda::print(kernels, {.aligned_arguments = true});
    cuda::Compiled c = cuda::compile(source, arch, {.cache = false});
    EXPECT_EQ(c.kernels.size(), kernels.size());
    for (const std::string& warning : c.warnings) ADD_FAILURE() << warning;
    for (const cuda::KernelFigures& k : c.kernels) EXPECT_EQ(k.spill_bytes + k.stack_bytes, 0) << k.name;
    return c;
  }
  /// Each kernel has its instruction: those of the records, in order.
  static void expect_instructions(const cuda::Compiled& c, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) EXPECT_NE(c.ptx.find(text + " "), std::string::npos) << text;
  }
};

// ---- Products

std::vector<const TensorRule*> rules_of(const std::string& instruction) {
  std::vector<const TensorRule*> all;
  for (const TensorRule& rule : instr::tensor_rules())
    if (rule.instruction == instruction) all.push_back(&rule);
  return all;
}

const instr::Instruction& product(const std::string& instruction, Number number,
                                  const instr::ProductForm& form = {}) {
  return instr::product(*instr::find_rule(instruction, number, number), form);
}

TEST_F(TileInstructions, ProductsOfAWarpOfEveryType) {
  std::vector<lower::Function> all, old;
  std::vector<std::string> texts;
  for (const TensorRule* rule : rules_of("mma.sync")) {
    const instr::Instruction& record = instr::product(*rule, {});
    texts.push_back(record.text);
    for (const bool replaces : {false, true})
      all.push_back(
          kernel_of({.record = record, .name = fmt::format("product_{}", all.size()), .replaces = replaces}));
    if (instr::bytes_of(rule->a) > 1 || rule->integer()) old.push_back(all.back());
  }
  expect_instructions(compiled(all), texts);
  EXPECT_EQ(old.size(), 7u);
  compiled(old, "sm_80");
}

TEST_F(TileInstructions, ProductsOfFourWarpsOfEveryTypeAndWidth) {
  for (const TensorRule* rule : rules_of("wgmma")) {
    std::vector<lower::Function> all;
    std::vector<std::string> texts;
    for (const int n : {8, 24, 64, 128, 256})
      for (const bool a_in_registers : {false, true}) {
        ASSERT_TRUE(instr::allows(*rule, n));
        const instr::Instruction& record = instr::product(*rule, {.n = n, .a_in_registers = a_in_registers});
        texts.push_back(record.text);
        all.push_back(kernel_of({.record = record,
                                 .name = fmt::format("product_{}", all.size()),
                                 .replaces = all.size() % 4 == 0}));
      }
    expect_instructions(compiled(all), texts);
  }
}

TEST_F(TileInstructions, TransposedMatricesOfSixteenBits) {
  std::vector<lower::Function> all;
  for (const Number number : {Number::F16, Number::BF16})
    for (const bool a : {false, true})
      for (const bool b : {false, true})
        for (const bool in_registers : {false, true})
          if (!a || !in_registers)
            all.push_back(
                kernel_of({.record = product("wgmma", number, {.n = 64, .a_in_registers = in_registers}),
                           .name = fmt::format("product_{}", all.size()),
                           .transposed_a = a,
                           .transposed_b = b}));
  EXPECT_EQ(all.size(), 12u);
  compiled(all);
  const instr::Instruction& shared = product("wgmma", Number::BF16, {.n = 8});
  const instr::Instruction& registers = product("wgmma", Number::BF16, {.n = 8, .a_in_registers = true});
  expect_text(printed(kernel_of({.record = shared, .name = "k", .transposed_a = true})),
              "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 1, 0; }");
  expect_text(printed(kernel_of({.record = shared, .name = "k", .transposed_b = true})),
              "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 1; }");
  expect_text(printed(kernel_of({.record = registers, .name = "k", .transposed_b = true})),
              "{%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, 1, 1, 1; }");
  expect_text(
      printed(kernel_of({.record = shared, .name = "k", .transposed_b = true})),
      "\n  wgmma_m64n8k16_f32_bf16_bf16_shared_b_transposed(\n      d, matrix_at<128, 16, 1024>(a, 4), ");
}

TEST(TileInstructionsText, OperandsAfterTheMatrices) {
  const auto text = [](Number number) {
    return printed(kernel_of({.record = product("wgmma", number, {.n = 8}), .name = "k"}));
  };
  expect_text(text(Number::TF32), "%4, %5, p, 1, 1; }");
  expect_text(text(Number::E4M3), "%4, %5, p, 1, 1; }");
  expect_text(text(Number::S8), "%4, %5, p; }");
}

TEST(TileInstructionsText, ProductOfAWarp) {
  const std::string text = printed(kernel_of({.record = product("mma.sync", Number::BF16), .name = "k"}));
  expect_text(text, R"cuda(
static __device__ __forceinline__ void mma_sync_m16n8k16_f32_bf16_bf16(float* d, const unsigned int* a, const unsigned int* b, bool add) {
  #pragma unroll
  for (int i = 0; i < 4; ++i) d[i] = add ? d[i] : 0;
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
)cuda");
  expect_text(text, R"cuda(
  unsigned int b[2];
  unsigned int a[4];
  float d[4];
)cuda");
  expect_text(text, R"cuda(
  #pragma unroll
  for (int l = 0; l < 2; ++l) {
    b[l] = pair_of_bits(b_memory_v.v[2 * l].bits, b_memory_v.v[2 * l + 1].bits);
  }
  mma_sync_m16n8k16_f32_bf16_bf16(d, a, b, true);
)cuda");
}

TEST(TileInstructionsText, ProductOfFourWarps) {
  const std::string text =
      printed(kernel_of({.record = product("wgmma", Number::TF32, {.n = 8, .a_in_registers = true}),
                         .name = "k",
                         .replaces = true}));
  expect_text(text, R"cuda(
static __device__ __forceinline__ void wgmma_m64n8k8_f32_tf32_tf32_registers(float* d, const float* a, unsigned long long b, bool add) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %9, 0; "
      "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, p, 1, 1; }"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])), "l"(b), "r"((int)add));
}
)cuda");
  // What products read and write of registers stays behind the fence and the wait.
  expect_text(text, R"cuda(
  pin(a);
  pin(d);
  fence_products();
  wgmma_m64n8k8_f32_tf32_tf32_registers(d, a, matrix_at<128, 16, 1024>(b, 4), false);
  commit_products();
  wait_products<0>();
  pin(a);
  pin(d);
)cuda");
  // Swizzled matrices begin at multiples of eight rows.
  expect_text(text, "__shared__ __align__(1024) float b[4096];");
}

// ---- Moves

std::vector<instr::MoveForm> moves() {
  std::vector<instr::MoveForm> all;
  for (const int count : {1, 2, 4})
    for (const int bytes : {1, 2, 4})
      for (const bool transposed : {false, true})
        for (const bool to_memory : {false, true})
          if (bytes == 2 || (!transposed && !to_memory))
            all.push_back(
                {.count = count, .transposed = transposed, .to_memory = to_memory, .element_bytes = bytes});
  return all;
}

TEST_F(TileInstructions, MovesOfEveryForm) {
  std::vector<lower::Function> all, old;
  std::vector<std::string> texts;
  for (const instr::MoveForm& form : moves()) {
    const instr::Instruction& record = instr::move(form);
    texts.push_back(record.text);
    all.push_back(kernel_of({.record = record, .name = fmt::format("move_{}", all.size())}));
    if (!form.to_memory) old.push_back(all.back());
  }
  EXPECT_EQ(all.size(), 18u);
  expect_instructions(compiled(all), texts);
  compiled(old, "sm_80");
}

TEST(TileInstructionsText, Moves) {
  const std::string from = printed(kernel_of({.record = instr::move({.count = 2}), .name = "k"}));
  expect_text(from, R"cuda(
static __device__ __forceinline__ void ldmatrix_x2_b16(unsigned int* fragment, const void* rows) {
  asm volatile(
      "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
      : "=r"(fragment[0]), "=r"(fragment[1])
      : "r"(shared_address(rows))
      : "memory");
}
)cuda");
  expect_text(from, "  ldmatrix_x2_b16(fragment, &rows[swizzled(thread * 8, 56)]);\n");
  const std::string back =
      printed(kernel_of({.record = instr::move({.count = 1, .transposed = true, .to_memory = true}),
                         .name = "k",
                         .swizzle = 0}));
  expect_text(back, R"cuda(
      "stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%1], {%0};"
      : 
      : "r"(fragment[0]), "r"(shared_address(rows))
)cuda");
  expect_text(back, "  stmatrix_x1_trans_b16(&rows[thread * 8], fragment);\n");
}

}  // namespace
