// argmax against a loop that keeps the first of the largest.
#include <cmath>
#include <limits>

#include "operators/harness.h"

namespace calotype::test {
namespace {

std::pair<std::int64_t, double> largest(const cli::Call& call, const std::vector<std::int64_t>& at) {
  std::pair<std::int64_t, double> best{0, call.inputs[0].value({0, at[0], at[1], at[2]})};
  for (std::int64_t n = 1; n < call.sizes.at("N"); ++n) {
    const double value = call.inputs[0].value({n, at[0], at[1], at[2]});
    if (value > best.second) best = {n, value};
  }
  return best;
}

TEST(Argmax, TheReferenceIsTheDefinition) {
  // 8-bit rows this long have their largest value many times.
  const cli::Sizes boxes[] = {
      {{"N", 2000}, {"D1", 3}}, {{"N", 1}}, {{"N", 17}, {"D1", 3}, {"D2", 2}, {"D3", 2}}};
  for (const char* types : {"f32", "bf16", "s32", "u8"})
    for (const cli::Sizes& sizes : boxes) {
      check_reference("argmax", types, sizes, {},
                      [](const auto& call, const auto& at) { return largest(call, at).first; });
      check_reference(
          "argmax", types, sizes, {},
          [](const auto& call, const auto& at) { return largest(call, at).second; }, 0, 1);
    }
}

TEST(Argmax, ANanIsNeverChosenAndARowOfNansHasPlace0) {
  const Pipeline pipeline = find_operator("argmax").pipeline(OperatorTypes::parse("f32"));
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  std::vector<float> rows = {nan, -3,        7,         nan, 7,    //
                             nan, nan,       nan,       nan, nan,  //
                             nan, -infinity, -infinity, nan, nan};
  const Buffer x(rows.data(), {5, 3, 1, 1});
  std::vector<Target> targets{Target::interpreter()};
#ifdef CALOTYPE_HAS_LLVM
  targets.push_back(Target::host());
#endif
  for (const Target& target : targets) {
    const Schedule s =
        find_operator("argmax").schedule(target.is_gpu() ? "gpu" : "host").make(OperatorTypes::parse("f32"));
    const Buffer place(Int(32), {3, 1, 1}), value(Float(32), {3, 1, 1});
    pipeline.compile(s, target)(x, place, value);
    EXPECT_EQ(place.value({0, 0, 0}), 2);
    EXPECT_EQ(value.value({0, 0, 0}), 7);
    EXPECT_EQ(place.value({1, 0, 0}), 0);
    EXPECT_EQ(value.value({1, 0, 0}), -infinity);
    EXPECT_EQ(place.value({2, 0, 0}), 1);
    EXPECT_EQ(value.value({2, 0, 0}), -infinity);
  }
}

class ArgmaxSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(ArgmaxSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"N", 2003}, {"D1", 5}});
  check_schedule(GetParam(), {{"N", 133}, {"D1", 5}, {"D2", 2}, {"D3", 3}});
  check_schedule(GetParam(), {{"N", 128}, {"D1", 4}});
  check_schedule(GetParam(), {{"N", 7}, {"D1", 9}});
  check_schedule(GetParam(), {{"N", 33}, {"D1", 16}});
  check_schedule(GetParam(), {{"N", 1}});
}

TEST_P(ArgmaxSchedules, TakeStridedInputs) {
  check_schedule_on_strided_inputs(GetParam(), {{"N", 133}, {"D1", 5}, {"D2", 2}});
}

INSTANTIATE_TEST_SUITE_P(Operators, ArgmaxSchedules, testing::ValuesIn(schedule_cases("argmax")), case_name);

}  // namespace
}  // namespace calotype::test
