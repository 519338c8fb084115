// The rules of tensor cores against the hardware: one instruction a tile, with operands by the fragment
// layouts of PTX (mma.sync m16n8, wgmma m64n8 with A from registers and B in shared memory without a
// swizzle), bit for bit.

#include "support/tensor_products.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/cuda/device.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "runtime/nvrtc.h"

namespace calotype {
namespace {

using instr::Number;
using instr::TensorRule;
using testing::TensorProducts;

constexpr int kWords = 8;  // of 4 bytes in a row of an operand: 32 bytes of k in every instruction

/// Four elements a word of 8 bits, two of 16, one of 32.
std::vector<std::uint32_t> packed(const std::vector<std::uint32_t>& elements, int bytes) {
  std::vector<std::uint32_t> words(elements.size() * static_cast<std::size_t>(bytes) / 4);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::size_t byte = i * static_cast<std::size_t>(bytes);
    words[byte / 4] |= elements[i] << (8 * (byte % 4));
  }
  return words;
}

/// Of A: lane 4 * (row & 7) + (word & 3), register 2 * (word / 4) + (row / 8 & 1); warps have 16 rows each.
std::vector<std::uint32_t> fragments_of_a(const TensorProducts& p, int bytes) {
  const std::vector<std::uint32_t> words = packed(p.a, bytes);
  std::vector<std::uint32_t> all(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t row = i / kWords, word = i % kWords;
    const std::size_t thread = row / 16 * 32 + 4 * (row & 7) + (word & 3),
                      reg = 2 * (word / 4) + (row / 8 & 1);
    all[thread * 4 + reg] = words[i];
  }
  return all;
}

/// Of mma.sync's B: lane 4 * n + (word & 3), register word / 4. wgmma's lies in memory: two halves of k, 8
/// rows of 16 bytes each.
std::vector<std::uint32_t> fragments_of_b(const TensorProducts& p, int bytes, bool in_memory) {
  const std::vector<std::uint32_t> words = packed(p.b, bytes);
  std::vector<std::uint32_t> all(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t tile = i / (8 * kWords), n = i / kWords % 8, word = i % kWords;
    const std::size_t at =
        in_memory ? word / 4 * 32 + n * 4 + (word & 3) : (4 * n + (word & 3)) * 2 + word / 4;
    all[tile * 8 * kWords + at] = words[i];
  }
  return all;
}

/// Where an element of C and D is: of thread and register. f16: two columns a register, in halves of 16 bits.
std::size_t place_of_c(std::size_t row, std::size_t n) {
  const std::size_t thread = row / 16 * 32 + 4 * (row & 7) + n / 2;
  return thread * 4 + 2 * (row / 8 & 1) + (n & 1);
}

std::string instruction_text(const TensorRule& r) {
  const std::string a = testing::name_of(r.a), b = testing::name_of(r.b),
                    d = r.integer() ? "s32"
                        : r.to_f16  ? "f16"
                                    : "f32";
  if (r.instruction == "mma.sync")
    return fmt::format("mma.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{}", r.products, d, a, b, d);
  return fmt::format("wgmma.mma_async.sync.aligned.m64n8k{}.{}.{}.{}", r.products, d, a, b);
}

/// Each block is one tile. Registers of D stand one behind the other: 4, of which f16 has 2 in use.
std::string source_of(const TensorRule& r) {
  const bool mma = r.instruction == "mma.sync";
  const int results = r.to_f16 ? 2 : 4;
  const char* letter = r.integer() || r.to_f16 ? "r" : "f";
  const char* type = *letter == 'r' ? "unsigned" : "float";
  std::string list, outs, ins;
  for (int i = 0; i < results; ++i) {
    list += fmt::format("{}%{}", i ? ", " : "", i);
    outs += fmt::format("{}\"+{}\"(v[{}])", i ? ", " : "", letter, i);
  }
  const auto operand = [&](int i) { return fmt::format("%{}", results + i); };
  std::string a = fmt::format("{{{}, {}, {}, {}}}", operand(0), operand(1), operand(2), operand(3)), text;
  const char* extra = r.integer() ? "" : r.a == Number::F16 || r.a == Number::BF16 ? ", 1, 1, 0" : ", 1, 1";
  if (mma)
    text = fmt::format("{} {{{}}}, {}, {{{}, {}}}, {{{}}};", instruction_text(r), list, a, operand(4),
                       operand(5), list);
  else
    text = fmt::format("{} {{{}}}, {}, {}, 1{};", instruction_text(r), list, a, operand(4), extra);
  std::string s = fmt::format(
      "extern \"C\" __global__ void products(const unsigned* a, const unsigned* b, const unsigned* c, "
      "unsigned* d) {{\n"
      "  const int threads = {}, thread = threadIdx.x, at = blockIdx.x * threads + thread;\n"
      "  const uint4 x = ((const uint4*)a)[at];\n"
      "  {} v[4];\n"
      "  for (int i = 0; i < 4; ++i) v[i] = {};\n",
      mma ? 32 : 128, type, *letter == 'r' ? "c[at * 4 + i]" : "__uint_as_float(c[at * 4 + i])");
  if (mma)
    s += fmt::format(
        "  const uint2 y = ((const uint2*)b)[at];\n  asm volatile(\"{}\" : {} : \"r\"(x.x), \"r\"(x.y), "
        "\"r\"(x.z), \"r\"(x.w), \"r\"(y.x), \"r\"(y.y));\n",
        text, outs);
  else
    s += fmt::format(
        "  __shared__ __align__(256) unsigned y[64];\n"
        "  if (thread < 64) y[thread] = b[blockIdx.x * 64 + thread];\n"
        "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n"
        "  __syncthreads();\n"
        "  const unsigned base = (unsigned)__cvta_generic_to_shared(y);\n"
        "  const unsigned long long where = (base >> 4) | 8ull << 16 | 8ull << 32;\n"
        "  asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"
        "  asm volatile(\"{}\" : {} : \"r\"(x.x), \"r\"(x.y), \"r\"(x.z), \"r\"(x.w), \"l\"(where));\n"
        "  asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n"
        "  asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n",
        text, outs);
  return s + fmt::format("  for (int i = 0; i < {}; ++i) d[at * 4 + i] = {};\n}}\n", results,
                         *letter == 'r' ? "v[i]" : "__float_as_uint(v[i])");
}

class TensorCores : public ::testing::TestWithParam<TensorRule> {
 protected:
  void SetUp() override {
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  }

  static std::vector<std::uint32_t> run(const TensorRule& rule, const TensorProducts& p) {
    const cuda::Device& device = cuda::Device::get();
    const cuda::DeviceScope scope(device);
    const calotype_cuda& driver = *device.raw().driver;
    const cuda::Compiled compiled = cuda::compile(source_of(rule), "sm_90a");
    calotype_cu_handle module = nullptr, function = nullptr;
    EXPECT_EQ(driver.module_load(&module, compiled.cubin.data()), 0);
    EXPECT_EQ(driver.module_function(&function, module, "products"), 0);
    const bool wgmma = rule.instruction == "wgmma";
    const std::size_t count = static_cast<std::size_t>(p.results());
    std::vector<std::uint32_t> c(count, 0), d(count, 0xdeadbeef);
    const auto place = [&](std::size_t i) {
      const std::size_t rows = static_cast<std::size_t>(p.m), tile = i / (rows * 8);
      return tile * rows * 8 + place_of_c(i / 8 % rows, i % 8);
    };
    // f16: columns 2q and 2q + 1 of a row share register row / 8 of the thread.
    const auto half_place = [&](std::size_t i) {
      return place(i) / 4 * 4 + (i / 8 % static_cast<std::size_t>(p.m) / 8 & 1);
    };
    for (std::size_t i = 0; i < count; ++i) {
      if (rule.to_f16)
        c[half_place(i)] |= p.c[i] << (i % 2 * 16);
      else
        c[place(i)] = p.c[i];
    }
    const std::vector<std::uint32_t> a = fragments_of_a(p, instr::bytes_of(rule.a)),
                                     b = fragments_of_b(p, instr::bytes_of(rule.b), wgmma);
    const cuda::DeviceMemory on_a(device, a.size() * 4), on_b(device, b.size() * 4), on_c(device, count * 4),
        on_d(device, count * 4);
    on_a.upload(a.data());
    on_b.upload(b.data());
    on_c.upload(c.data());
    on_d.upload(d.data());
    void* pointers[] = {on_a.data(), on_b.data(), on_c.data(), on_d.data()};
    void* parameters[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3]};
    EXPECT_EQ(driver.launch(function, static_cast<unsigned>(p.tiles), 1, 1, wgmma ? 128 : 32, 1, 1, 0,
                            nullptr, parameters, nullptr),
              0);
    on_d.download(d.data());
    EXPECT_EQ(driver.module_unload(module), 0);
    std::vector<std::uint32_t> results(count);
    for (std::size_t i = 0; i < count; ++i)
      results[i] = rule.to_f16 ? d[half_place(i)] >> (i % 2 * 16) & 0xffff : d[place(i)];
    return results;
  }
};

TEST_P(TensorCores, GiveTheSumsOfTheRule) {
  if (const std::string why = cuda::Device::why_absent(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  if (cuda::Device::get().arch() != "sm_90a") GTEST_SKIP() << "the rules are those of sm_90a";
  const TensorProducts p = testing::random_products(GetParam());
  const std::vector<std::uint32_t> got = run(GetParam(), p), expected = testing::sums(GetParam(), p);
  std::int64_t different = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i] && ++different <= 4)
      ADD_FAILURE() << fmt::format("{}: result {} is {:08x}, by the rule {:08x}, c {:08x}",
                                   testing::name_of(GetParam()), i, got[i], expected[i], p.c[i]);
  std::printf("%s: %zd results, %lld differ, hash %016llx\n", testing::name_of(GetParam()).c_str(),
              got.size(), static_cast<long long>(different),
              static_cast<unsigned long long>(testing::hash_of(got)));
}

TEST_P(TensorCores, AreWhatTheSourceAsksFor) {
  const cuda::Compiled compiled = cuda::compile(source_of(GetParam()), "sm_90a");
  EXPECT_FALSE(compiled.cubin.empty());
}

std::string case_name(const ::testing::TestParamInfo<TensorRule>& info) {
  std::string name = testing::name_of(info.param);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

const auto kRules = instr::tensor_rules();
INSTANTIATE_TEST_SUITE_P(Rules, TensorCores, ::testing::ValuesIn(kRules.begin(), kRules.end()), case_name);

}  // namespace
}  // namespace calotype
