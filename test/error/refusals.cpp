// What a refusal must say, and the pipeline on which most are tried.

#include "error/refusals.h"

#include "support/run.h"

namespace calotype::test {

void expect_refusal(const Diagnostic& found, const Refusal& expected) {
  EXPECT_EQ(found.kind, expected.kind) << to_string(found.kind);
  EXPECT_NE(found.message.find(expected.message), std::string::npos) << found.message;
  EXPECT_EQ(found.func, expected.func);
  EXPECT_EQ(found.directive, expected.directive);
  EXPECT_EQ(found.value, expected.value);
  EXPECT_FALSE(expected.legal.empty()) << "every refusal says what would be legal";
  for (const std::string& part : expected.legal)
    EXPECT_NE(found.legal.find(part), std::string::npos) << part << "\nin\n" << found.legal;
}

void expect_refused(const std::function<void()>& run, const Refusal& expected) {
  try {
    run();
    ADD_FAILURE() << "not refused: " << expected.message;
  } catch (const Error& e) {
    SCOPED_TRACE(e.what());
    expect_refusal(e.diagnostic(), expected);
  }
}

Pipeline sample() {
  Dim W("W"), H("H");
  ImageParam image(Float(32), {W, H}, "image");
  Var x("x"), y("y");
  RDom k(0, W, "k"), r({{1, W - 1}, {1, H - 1}, {0, 2}}, "r");
  Func rows("rows"), scan("scan"), total("total"), out("out");
  rows(x, y) = image(x, y) * 2.0f;
  scan(x, y) = rows(x, y);
  scan(r.x(), r.y()) = scan(r.x() - 1, r.y()) * 0.5f + scan(r.x(), r.y() - 1) * 0.25f;
  total(y) += rows(k, y);
  out(x, y) = scan(x, y) + total(y);
  return Pipeline("sample", {image}, {Output(out, {W, H})});
}

void expect_usable(const Pipeline& sample) {
  testing::expect_matches(sample, {}, gpu, {testing::random_buffer(Float(32), {9, 5}, 3)},
                          {Buffer(Float(32), {9, 5})});
}

void expect_refused_schedules(const std::vector<ScheduleRow>& rows, const Target& target) {
  const Pipeline pipeline = sample();
  for (const ScheduleRow& row : rows) {
    SCOPED_TRACE(row.what);
    Schedule schedule;
    row.edit(schedule);
    const Schedule before = schedule;
    expect_refused([&] { pipeline.compile(schedule, target); }, row.refusal);
    const std::vector<Diagnostic> all = schedule.check(pipeline, target);
    ASSERT_EQ(all.size(), 1u) << (all.empty() ? "" : all.back().str());
    expect_refusal(all[0], row.refusal);
    EXPECT_TRUE(schedule == before);
  }
  expect_usable(pipeline);
}

}  // namespace calotype::test
