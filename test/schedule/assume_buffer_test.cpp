// assume_buffer.
#include "helpers.h"
#include "ir/simplify.h"
#include "schedule/forms.h"
#include "schedule/ways.h"

namespace calotype::test {

namespace {

/// Sum and difference of an image's pixels and their neighbours: an output with two buffers.
Pipeline pairs() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W + 1, H}, "in");
  Var x("x"), y("y");
  Func both("both");
  both(x, y) = Tuple(in(x, y) + in(x + 1, y), in(x, y) - in(x + 1, y));
  return Pipeline("pairs", {in}, {Output(both, {W, H})});
}

TEST(AssumeBuffer, IsRecordedAndSpelled) {
  Schedule s;
  s.assume_buffer({.buffer = "A", .dense = true});
  s.assume_buffer({.buffer = "B", .pitch_multiple = 16, .base_align = 64});
  s.assume_buffer({.buffer = "C", .dense = true, .base_align = 32});
  expect_round_trip(matmul(), s);
  expect_spelling(matmul(), s, R"({ "do": "assume_buffer", "buffer": "A", "strides": "dense" })",
                  R"(s.assume_buffer({.buffer = "A", .dense = true});)");
  expect_spelling(matmul(), s,
                  R"({ "do": "assume_buffer", "buffer": "B", "pitch_multiple": 16, "base_align": 64 })",
                  R"(s.assume_buffer({.buffer = "B", .pitch_multiple = 16, .base_align = 64});)");
  const std::string text = to_string(apply(matmul(), s));
  EXPECT_TRUE(
      has_line(text, "B pitch multiple of 16 bytes, base aligned to 64 bytes  [#2 assume_buffer(B, 16, 64)]"))
      << text;
}

TEST(AssumeBuffer, KnobsAreValues) {
  Schedule s;
  s.knob("P", 32);
  s.append({.name = "assume_buffer", .args = {{"buffer", "A"}, {"pitch_multiple", schedule::KnobRef{"P"}}}});
  expect_round_trip(matmul(), s);
  expect_spelling(matmul(), s, R"({ "do": "assume_buffer", "buffer": "A", "pitch_multiple": "P" })",
                  R"(s.assume_buffer({.buffer = "A", .pitch_multiple = P.value});)");
  EXPECT_EQ(apply(matmul(), s).forms[0].form.pitch_multiple, 32);
}

TEST(AssumeBuffer, SeveralOfOneBufferHoldTogether) {
  Schedule s;
  s.assume_buffer({.buffer = "B", .pitch_multiple = 16});
  s.assume_buffer({.buffer = "A", .pitch_multiple = 6, .base_align = 16});
  s.assume_buffer({.buffer = "A", .dense = true, .pitch_multiple = 4, .base_align = 8});
  const schedule::Scheduled applied = apply(matmul(), s);
  EXPECT_EQ(schedule::joined_form(applied.forms, {false, 0}), (BufferForm{"A", true, 12, 16}));
  EXPECT_EQ(schedule::joined_form(applied.forms, {false, 1}), (BufferForm{"B", false, 16, 1}));
  EXPECT_EQ(schedule::joined_form(applied.forms, {true, 0}), BufferForm{});
}

TEST(AssumeBuffer, EachBufferOfATupleHasItsName) {
  Schedule s;
  s.assume_buffer({.buffer = "both.1", .dense = true});
  expect_round_trip(pairs(), s);
  EXPECT_EQ(apply(pairs(), s).forms[0].argument, 1);
  Schedule whole;
  whole.assume_buffer({.buffer = "both", .dense = true});
  expect_refused(pairs(), whole, {"there is no input or output 'both'", "both.0, both.1"});
}

TEST(AssumeBuffer, IsRefused) {
  const auto refused = [](const BufferForm& form, const std::vector<std::string>& parts) {
    Schedule s;
    s.assume_buffer(form);
    expect_refused(matmul(), s, parts);
  };
  refused({.buffer = "a", .dense = true}, {"there is no input or output 'a'", "did you mean 'A'", "A, B, C"});
  refused({.buffer = "acc", .dense = true}, {"there is no input or output 'acc'"});
  refused({.buffer = "A"}, {"nothing is said of 'A'", "#1 assume_buffer(A)", "2 or more"});
  refused({.buffer = "A", .base_align = 48}, {"powers of two", "#1 assume_buffer(A, 48)", "64"});
  refused({.buffer = "A", .base_align = -1}, {"'base_align' is out of range"});
  refused({.buffer = "A", .pitch_multiple = 0}, {"'pitch_multiple' is out of range"});
  Schedule s;
  s.assume_buffer({.buffer = "out", .pitch_multiple = 16});
  expect_refused(histogram(), s, {"'out' has 1 dimensions", "dense strides or a base_align"});
}

/// The ways through a condition of a matmul whose A is {K, M}.
schedule::Ways ways(const std::string& condition, const BufferForm& form) {
  Schedule s;
  s["C"].specialize(condition).parallel("m");
  s.assume_buffer(form);
  return schedule::ways_or_throw(matmul().graph(), s, Target::host());
}

TEST(AssumeBuffer, ConditionsOnDenseStridesAreOnSizes) {
  const BufferForm dense{.buffer = "A", .dense = true};
  const schedule::Ways some = ways("A.stride.1 == 64", dense);
  ASSERT_EQ(some.ways.size(), 2u);
  EXPECT_FALSE(ir::as_int(some.ways[0].scheduled.graph.inputs[0].extents[0]));
  EXPECT_EQ(ir::as_int(some.ways[1].scheduled.graph.inputs[0].extents[0]), 64) << "K";
  EXPECT_FALSE(ir::as_int(ways("B.stride.1 == 64", dense).ways[1].scheduled.graph.inputs[1].extents[0]));
  // What a form settles holds, or does not, for every call, and says nothing of the others.
  const schedule::Ways all = ways("A.stride.1 == K", dense), none = ways("A.stride.0 != 1", dense);
  EXPECT_EQ(all.choose({true}), 1u);
  ASSERT_EQ(none.ways.size(), 1u);
  for (const schedule::Way& way : all.ways) EXPECT_TRUE(way.scheduled.decisions.empty());
}

TEST(AssumeBuffer, APitchDecidesNoCondition) {
  // A single row may have any stride.
  const BufferForm pitch{.buffer = "A", .pitch_multiple = 32};
  for (const char* condition : {"A.stride.1%8 != 0", "A.stride.1%16 != 0", "A.stride.0%8 != 0"})
    EXPECT_EQ(ways(condition, pitch).ways.size(), 2u) << condition;
}

}  // namespace

}  // namespace calotype::test
