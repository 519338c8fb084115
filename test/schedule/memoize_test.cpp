// memoize.
#include "helpers.h"

namespace calotype::test {

namespace {

/// out(x, y) = in(x, y) * table(x) + of_input(x); table is of coordinates, a size and a Param, through
/// `step`.
Pipeline tables() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Param scale(Float(32), "scale", 1.0);
  Var x("x"), y("y");
  Func step("step"), table("table"), of_input("of_input"), out("out");
  step(x) = cast<float>(x) / cast<float>(W);
  table(x) = step(x) * scale;
  of_input(x) = table(x) + in(x, 0);
  out(x, y) = in(x, y) * table(x) + of_input(x);
  return Pipeline("tables", {in, scale}, {Output(out, {W, H})});
}

}  // namespace

TEST(Memoize, IsRecorded) {
  Schedule s;
  s["table"].compute_root().memoize();
  const auto applied = apply(tables(), s);
  EXPECT_EQ(applied.of(applied.graph.find_func("table")->id).memoize_origin, "#2 memoize()");
  EXPECT_TRUE(applied.of(applied.graph.find_func("step")->id).memoize_origin.empty());
  EXPECT_TRUE(has_line(schedule::to_string(applied), "  kept from one call to the next  [#2 memoize()]"))
      << schedule::to_string(applied);
  expect_round_trip(tables(), s);
  expect_spelling(tables(), s, R"({ "stage": "table", "do": "memoize" })", R"(s["table"].memoize();)");
}

TEST(Memoize, IsRefused) {
  Schedule output, twice, device, inside, stack, input, inlined, shared;
  output["out"].memoize();
  expect_refused(tables(), output, {"'out' is an output, which lives in the caller's memory"});
  twice["table"].compute_root().memoize().memoize();
  expect_refused(tables(), twice, {"the values of 'table' stay already, by #2 memoize()"});
  device["table"].compute_root().memoize();
  expect_refused(tables(), device, {"on a device nothing stays between calls", "a host target"}, gpu);
  inside["table"].compute_at("out", "y").memoize();
  expect_refused(tables(), inside, {"'table' is computed inside a loop", "compute_root"});
  stack["table"].compute_root().store_in(Memory::Stack).memoize();
  expect_refused(tables(), stack, {"'table' is stored on the stack, which is gone after the call"});
  input["of_input"].compute_root().memoize();
  expect_refused(tables(), input,
                 {"'of_input' reads the input 'in', whose contents may change from one call to the next"});
  inlined["table"].compute_inline().memoize();
  expect_refused(tables(), inlined, {"'table' is inlined by #1 compute_inline()"});
}

TEST(Memoize, RefusesAnInputBehindOtherFuncs) {
  Dim W("W");
  ImageParam in(Float(32), {W}, "in");
  Var x("x");
  Func first("first"), second("second"), out("out");
  first(x) = in(x);
  second(x) = first(x) * 2.0f;
  second(x) += 1.0f;
  out(x) = second(x);
  Schedule s;
  s["second"].compute_root().memoize();
  expect_refused(Pipeline("behind", {in}, {Output(out, {W})}), s,
                 {"'second' reads 'first' reads the input 'in', whose contents may change"});
}

TEST(Memoize, RefusesSharedLoops) {
  Dim W("W");
  Var x("x");
  Func a("a"), b("b"), out("out");
  a(x) = cast<float>(x) * 2.0f;
  b(x) = cast<float>(x) * 3.0f;
  out(x) = a(x) + b(x);
  Schedule s;
  s["a"].compute_root();
  s["b"].compute_root().memoize().compute_with("a", "x");
  expect_refused(Pipeline("both", {}, {Output(out, {W})}), s,
                 {"'b' is computed in the loops of another Func", "loops of its own"});
}

}  // namespace calotype::test
