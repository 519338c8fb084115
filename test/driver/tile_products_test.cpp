// Products of tensor cores in lowered programs, on the simulator and, where asked for, on a GPU, against the
// sums written out: every instruction, form and swizzle, bit for bit.

#include "support/tile_products.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace calotype::testing {
namespace {

using instr::Number;
using instr::TensorRule;

std::string text_of(const ProductSpec& s) {
  const auto form = [](const MatrixForm& f) {
    return fmt::format("{}{}", f.swizzle, f.transposed ? "t" : "");
  };
  return fmt::format("{} n{} a {} b {} steps {}{}{}", name_of(*s.rule), s.n,
                     s.a_in_registers ? "registers" : form(s.a), form(s.b), s.steps,
                     s.with_c ? " with c" : "", s.by_moves ? " by moves" : "");
}

void expect_equal(const std::vector<std::uint32_t>& got, const std::vector<std::uint32_t>& expected,
                  const std::string& where) {
  ASSERT_EQ(got.size(), expected.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < got.size(); ++i) different += got[i] != expected[i];
  EXPECT_EQ(different, 0u) << where << " of " << got.size();
}

void check(const ProductSpec& spec) {
  SCOPED_TRACE(text_of(spec));
  TileProduct product(spec);
  for (const bool random_landing : {false, true}) {
    std::vector<std::uint32_t> bits;
    const Verification found =
        simulated(product.hand(), product.program(), bits, {.seed = 3, .random_landing = random_landing});
    EXPECT_TRUE(found.clean()) << found.str();
    expect_equal(bits, product.data().d, "simulated");
  }
  if (std::getenv("CALOTYPE_TEST_GPU") == nullptr) return;
  lower::Program program = product.program();
  program.target = Target::cuda("sm_90a");
  const auto executable = driver::make_cuda_executable(program, {});
  expect_equal(product.hand().result(program, *executable), product.data().d, "on the GPU");
}

class Products : public ::testing::TestWithParam<TensorRule> {};

TEST_P(Products, OfEveryForm) {
  const TensorRule& rule =
      *instr::find_rule(GetParam().instruction, GetParam().a, GetParam().b, GetParam().to_f16);
  const bool two_bytes = instr::bytes_of(rule.a) == 2;
  if (rule.instruction == "mma.sync") {
    check({.rule = &rule});
    check({.rule = &rule, .with_c = false});
    for (const int swizzle : {0, 32, 64, 128}) {
      const int steps = std::max(2, swizzle / 32);
      check({.rule = &rule, .a = {false, swizzle}, .b = {false, swizzle}, .steps = steps, .by_moves = true});
    }
    if (two_bytes) check({.rule = &rule, .b = {true, 0}, .by_moves = true});
    return;
  }
  for (const int n : {8, 24, 64, 128, 256})
    for (const bool in_registers : {false, true})
      if (allows(rule, n))
        check({.rule = &rule,
               .n = n,
               .a_in_registers = in_registers,
               .a = {false, 128},
               .b = {false, 128},
               .steps = 4,
               .with_c = n != 24});
  for (const int swizzle : {0, 32, 64, 128})
    for (const int other : {0, 128}) {
      check({.rule = &rule, .n = 64, .a = {false, swizzle}, .b = {false, other}, .steps = 8});
      if (!two_bytes) continue;
      check({.rule = &rule, .n = 64, .a = {true, swizzle}, .b = {false, other}, .steps = 8});
      check({.rule = &rule, .n = 64, .a = {false, other}, .b = {true, swizzle}, .steps = 8});
      check({.rule = &rule, .n = 192, .a_in_registers = true, .b = {true, swizzle}, .steps = 3});
    }
}

std::string test_name(const ::testing::TestParamInfo<TensorRule>& info) {
  std::string name = name_of(info.param);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Products,
                         ::testing::ValuesIn(instr::tensor_rules().begin(), instr::tensor_rules().end()),
                         test_name);

}  // namespace
}  // namespace calotype::testing
