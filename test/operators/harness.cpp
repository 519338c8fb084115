// How operators are tested; see harness.h.
#include "operators/harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cli/check.h"
#include "cli/convert.h"
#include "schedule/scheduled.h"

namespace calotype::test {
namespace {

bool is_poisoned(const Buffer& buffer) {
  const auto* bytes = static_cast<const unsigned char*>(buffer.data());
  return std::all_of(bytes, bytes + buffer.elements() * buffer.type().bytes(),
                     [](unsigned char byte) { return byte == 0xff; });
}

void run_on(const Target& target, const Schedule& schedule, const ScheduleCase& c, const Pipeline& pipeline,
            const cli::Call& call, const Evaluation& reference) {
  const Kernel kernel = pipeline.compile(schedule, target);
  for (const Buffer& output : call.outputs)
    if (output.elements() > 0) std::memset(output.data(), 0xff, output.elements() * output.type().bytes());
  const bool fits = is_for(pipeline, schedule, target, call.sizes);
  try {
    kernel.call(call.arguments(pipeline.graph()));
    EXPECT_TRUE(fits) << c.schedule << " ran at sizes that it is not for: " << cli::to_string(call.sizes);
  } catch (const Error& error) {
    if (fits || error.kind() != ErrorKind::Argument) throw;
    for (const Buffer& output : call.outputs) EXPECT_TRUE(is_poisoned(output)) << error.what();
    return;
  }
  for (const cli::Comparison& result : cli::compare_outputs(pipeline, call.outputs, reference)) {
    EXPECT_TRUE(result.passed()) << fmt::format(
        "{} on {}, sizes {}: {} of {} differ; first at ({}): got {}, expected {} within {}", c.schedule,
        target.str(), cli::to_string(call.sizes), result.different, result.elements,
        fmt::join(result.first.at, ", "), result.first.got, result.first.expected, result.first.allowed);
  }
}

void check_call_under(const Schedule& schedule, const ScheduleCase& c, const Pipeline& pipeline,
                      const cli::Call& call) {
  const Evaluation reference = pipeline.evaluate(call.inputs, call.params, call.sizes);
#ifdef CALOTYPE_HAS_LLVM
  if (!c.gpu) run_on(Target::host(), schedule, c, pipeline, call, reference);
#else
  if (!c.gpu) GTEST_SKIP() << "this build has no CPU backend";
#endif
  if (!c.gpu) return;
  run_on(Target::interpreter(), schedule, c, pipeline, call, reference);
  if (std::getenv("CALOTYPE_TEST_GPU")) run_on(Target::cuda(), schedule, c, pipeline, call, reference);
}

}  // namespace

bool is_for(const Pipeline& pipeline, const Schedule& schedule, const Target& target,
            const cli::Sizes& sizes) {
  const schedule::Scheduled scheduled = schedule::apply_or_throw(pipeline.graph(), schedule, target);
  return std::all_of(
      scheduled.assumptions.begin(), scheduled.assumptions.end(),
      [&](const schedule::SizeAssumption& a) { return a.range.contains(sizes.at(a.range.size)); });
}

Schedule make_schedule(const ScheduleCase& c) {
  if (c.schedule == "empty") return Schedule{};
  return find_operator(c.op).schedule(c.schedule).make(OperatorTypes::parse(c.types));
}

Target test_target(const ScheduleCase& c) { return c.gpu ? Target::interpreter() : Target::host(); }

cli::Call random_call(const std::string& op, const Pipeline& pipeline, const cli::Sizes& sizes,
                      const std::map<std::string, double>& params) {
  cli::RunOptions options;
  options.select.sizes = sizes;
  options.params = params;
  options.seed = 11;
  return cli::make_call(find_operator(op), pipeline, {}, options);
}

std::vector<ScheduleCase> schedule_cases(const std::string& name) {
  const Operator& op = find_operator(name);
  std::vector<ScheduleCase> cases;
  for (const OperatorTypes& types : op.types) {
    cases.push_back({name, types.str(), "empty", false});
    cases.push_back({name, types.str(), "empty", true});
    for (const NamedSchedule& s : op.schedules)
      cases.push_back({name, types.str(), s.name, s.kind != Target::Kind::Host});
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<ScheduleCase>& info) {
  std::string text = info.param.types + "_" + info.param.schedule + (info.param.gpu ? "_on_gpu" : "_on_host");
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

void check_reference(const std::string& op, const std::string& types, const cli::Sizes& sizes,
                     const std::map<std::string, double>& params, const ClosedForm& expected, double relative,
                     std::size_t output) {
  const Pipeline pipeline = find_operator(op).pipeline(OperatorTypes::parse(types));
  const cli::Call call = random_call(op, pipeline, sizes, params);
  const Evaluation reference = pipeline.evaluate(call.inputs, call.params, call.sizes);
  const Buffer& got = reference.outputs[output];
  const bool is_float = got.type().is_float();
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const std::vector<std::int64_t> at = cli::coordinates_of(got, i);
    const double want = expected(call, at);
    if (!is_float) {
      ASSERT_EQ(got.value(at), want) << types << " at (" << fmt::format("{}", fmt::join(at, ", ")) << ")";
      continue;
    }
    ASSERT_NEAR(reference.exact[output].value(at), want, relative * (std::fabs(want) + 1e-3))
        << types << " element " << i;
    ASSERT_NEAR(got.value(at), want, reference.bound[output].value(at) + 1e-30) << types << " element " << i;
  }
}

void check_call(const ScheduleCase& c, const Pipeline& pipeline, const cli::Call& call) {
  check_call_under(make_schedule(c), c, pipeline, call);
}

namespace {

Buffer spread(const Buffer& dense) {
  constexpr std::int64_t kStep = 2, kGap = 3;
  std::vector<std::int64_t> extents, strides;
  std::int64_t elements = kStep;
  for (int d = 0; d < dense.rank(); ++d) {
    extents.push_back(dense.extent(d));
    strides.push_back(elements);
    elements = elements * dense.extent(d) + kGap;
  }
  const auto memory = std::make_shared<Buffer>(dense.type(), std::vector<std::int64_t>{elements});
  std::memset(memory->data(), 0xff, static_cast<std::size_t>(elements * dense.type().bytes()));
  const Buffer wide(dense.type(), memory->data(), extents, strides, memory);
  for (std::int64_t i = 0; i < dense.elements(); ++i) {
    const std::vector<std::int64_t> at = cli::coordinates_of(dense, i);
    wide.set_value(at, dense.value(at));
  }
  return wide;
}

}  // namespace

void check_schedule(const ScheduleCase& c, const cli::Sizes& sizes,
                    const std::map<std::string, double>& params) {
  const Pipeline pipeline = find_operator(c.op).pipeline(OperatorTypes::parse(c.types));
  check_call(c, pipeline, random_call(c.op, pipeline, sizes, params));
}

void check_schedule(const Schedule& schedule, const ScheduleCase& c, const cli::Sizes& sizes) {
  const Pipeline pipeline = find_operator(c.op).pipeline(OperatorTypes::parse(c.types));
  check_call_under(schedule, c, pipeline, random_call(c.op, pipeline, sizes));
}

void check_schedule_on_strided_inputs(const ScheduleCase& c, const cli::Sizes& sizes,
                                      const std::map<std::string, double>& params) {
  const Pipeline pipeline = find_operator(c.op).pipeline(OperatorTypes::parse(c.types));
  cli::Call call = random_call(c.op, pipeline, sizes, params);
  for (Buffer& input : call.inputs) input = spread(input);
  check_call(c, pipeline, call);
}

}  // namespace calotype::test
