// int8_matmul against the sum of products in whole numbers, scaled in double arithmetic.
#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < call.sizes.at("K"); ++k)
    sum += static_cast<std::int64_t>(call.inputs[0].value({k, at[1]})) *
           static_cast<std::int64_t>(call.inputs[1].value({at[0], k}));
  return static_cast<double>(sum) * call.inputs[2].value({at[1]}) * call.inputs[3].value({at[0]});
}

TEST(Int8Matmul, TheReferenceIsTheDefinition) {
  for (const char* types : {"A=s8,B=s8,out=f32", "A=s8,B=s8,out=bf16"}) {
    check_reference("int8_matmul", types, {{"M", 5}, {"N", 7}, {"K", 11}}, {}, expected, 1e-9);
    check_reference("int8_matmul", types, {{"M", 1}, {"N", 1}, {"K", 1}}, {}, expected);
    check_reference("int8_matmul", types, {{"M", 2}, {"N", 3}, {"K", 0}}, {}, expected);
  }
}

// 4096 products of the largest size of one sign: more than 16 bits, or than f32 counts in ones.
TEST(Int8Matmul, SumsAreExactInto32Bits) {
  const Pipeline pipeline = find_operator("int8_matmul").pipeline(OperatorTypes::parse("A=s8,B=s8,out=f32"));
  Buffer A(Int(8), {4097, 1}), B(Int(8), {1, 4097}), one(Float(32), {1}), out(Float(32), {1, 1});
  A.fill(-128);
  B.fill(-128);
  A.set_value({0, 0}, 1);
  B.set_value({0, 0}, 64);
  one.fill(1);
  std::vector<Target> targets{Target::interpreter()};
#ifdef CALOTYPE_HAS_LLVM
  targets.push_back(Target::host());
#endif
  for (const Target& target : targets) {
    const Schedule s = find_operator("int8_matmul")
                           .schedule(target.is_gpu() ? "gpu" : "host")
                           .make(OperatorTypes::parse("A=s8,B=s8,out=f32"));
    out.fill(-1);
    pipeline.compile(s, target)(A, B, one, one, out);
    EXPECT_EQ(out.value({0, 0}), 4096.0 * 16384 + 64) << target.str();
  }
}

class Int8MatmulSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(Int8MatmulSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"M", 31}, {"N", 37}, {"K", 29}});
  check_schedule(GetParam(), {{"M", 64}, {"N", 64}, {"K", 32}});
  check_schedule(GetParam(), {{"M", 73}, {"N", 17}, {"K", 7}});
  check_schedule(GetParam(), {{"M", 1}, {"N", 1}, {"K", 1}});
  check_schedule(GetParam(), {{"M", 3}, {"N", 4}, {"K", 0}});
}

TEST_P(Int8MatmulSchedules, TakeStridedInputs) {
  check_schedule_on_strided_inputs(GetParam(), {{"M", 19}, {"N", 37}, {"K", 29}});
}

INSTANTIATE_TEST_SUITE_P(Operators, Int8MatmulSchedules, testing::ValuesIn(schedule_cases("int8_matmul")),
                         case_name);

}  // namespace
}  // namespace calotype::test
