// Lines printed by an algorithm, from every target and from the reference.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/printed.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::Lines;
using testing::Printed;
using testing::targets_with_lines;

std::vector<Schedule> schedules(const Target& target) {
  std::vector<Schedule> all(1);
  if (target.is_gpu()) {
    all.emplace_back()["out"].vectorize("x", 4).gpu_blocks("x.o");
    return all;
  }
  all.emplace_back()["out"].vectorize("x", 8, Tail::Predicate);
  all.emplace_back()["out"].vectorize("x", 4, Tail::Guard).parallel("x.o");
  all.emplace_back()["out"].serial("x");
  return all;
}

TEST(Print, EachPointOnce) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x");
  Func out("out");
  out(x) = print(in(x) * 2, "at", x, "of {N} 100%", cast<std::uint8_t>(x), x > 2);
  const Pipeline p("printing", {in}, {{out, {N}}});
  Printed printed;
  for (const std::int64_t n : {1, 5, 19}) {
    Buffer input(Float(32), {n}), output(Float(32), {n});
    Lines expected;
    for (std::int64_t i = 0; i < n; ++i) {
      input.set_value({i}, static_cast<double>(i) / 4);
      expected.push_back(
          fmt::format("{} at {} of {{N}} 100% {} {}", static_cast<double>(i) / 2, i, i, i > 2));
    }
    p.evaluate({input});
    EXPECT_EQ(printed.in_order(), expected);
    std::sort(expected.begin(), expected.end());
    for (const Target& target : targets_with_lines())
      for (const Schedule& s : schedules(target)) {
        SCOPED_TRACE(target.str() + s.str());
        const Kernel kernel = p.compile(s, target);
        kernel.call({input, output}, printed.context);
        EXPECT_EQ(printed.sorted(), expected);
        kernel.call({input, output});  // no context: where calotype_set_print says
        EXPECT_EQ(printed.sorted(), expected);
        for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(output.value({i}), static_cast<double>(i) / 2);
      }
  }
}

TEST(Print, OnlyWhereTheConditionHolds) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  RDom r(0, N, "r");
  r.where(r % 2 == 0);
  Func first("first"), out("out");
  first(x) = print_when(in(x) < 0, in(x), "negative at", x);
  out(x) = first(x) + 1;
  out(r) = print(out(r) * 10);
  const Pipeline p("warning", {in}, {{out, {N}}});
  Printed printed;
  const std::int64_t n = 21;
  Buffer input(Int(32), {n}), output(Int(32), {n});
  Lines expected;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t v = i * 37 % 11 - 5;
    input.set_value({i}, static_cast<double>(v));
    if (v < 0) expected.push_back(fmt::format("{} negative at {}", v, i));
    if (i % 2 == 0) expected.push_back(fmt::format("{}", (v + 1) * 10));
  }
  std::sort(expected.begin(), expected.end());
  const Evaluation reference = p.evaluate({input});
  EXPECT_EQ(printed.sorted(), expected);
  for (const Target& target : targets_with_lines())
    for (Schedule s : schedules(target)) {
      s["first"].compute_root();
      SCOPED_TRACE(target.str() + s.str());
      p.compile(s, target).call({input, output}, printed.context);
      EXPECT_EQ(printed.sorted(), expected);
      EXPECT_TRUE(lang::compare_with_reference(output, reference, 0, true).ok);
    }
}

TEST(Print, ValuesOfEveryTypeAreToldApart) {
  const std::pair<Expr, const char*> cases[] = {
      {Expr(0.1f), "0.1"},
      {Expr(16777217.0), "16777217"},
      {Expr(0.1), "0.1"},
      {Expr(1.0 / 3), "0.3333333333333333"},
      {Expr(1.0f / 3), "0.33333334"},
      {cast<std::int8_t>(Expr(-5)), "-5"},
      {cast<std::uint8_t>(Expr(250)), "250"},
      {Expr(std::uint64_t{18446744073709551615u}), "18446744073709551615"},
      {Expr(std::int64_t{-9223372036854775807}), "-9223372036854775807"},
      {Expr(float16_t(1.5f)), "1.5"},
      {Expr(bfloat16_t(-2.25f)), "-2.25"},
      {Expr(float8_e4m3_t(448.0f)), "448"},
      {cast<float>(Expr(1)) / 0.0f, "inf"},
      {Expr(true), "true"},
  };
  Dim N("N");
  Var x("x");
  Func out("out");
  Lines expected;
  Expr value = 0;
  for (const auto& [e, text] : cases) {
    // A selected value is none that a compiler could fold.
    value = print_when(x == 3, value, "value", select(x > 1, e, e));
    expected.push_back(fmt::format("0 value {}", text));
  }
  out(x) = value;
  const Pipeline p("types", {}, {{out, {N}}});
  std::sort(expected.begin(), expected.end());
  Printed printed;
  p.evaluate({}, {}, {{"N", 5}});
  EXPECT_EQ(printed.sorted(), expected);
  for (const Target& target : targets_with_lines())
    for (const Schedule& s : schedules(target)) {
      const Buffer output(Int(32), {5});
      p.compile(s, target).call({output}, printed.context);
      EXPECT_EQ(printed.sorted(), expected) << target.str() << s.str();
    }
}

TEST(Print, IsRefusedOutsideOfValues) {
  Var x("x");
  ImageParam in(Int(32), 1, "in");
  const auto refused = [](const std::function<void()>& f, const char* text) {
    try {
      f();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Algorithm);
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  refused(
      [&] {
        Func f("f");
        f(x) = 0;
        f(print(Expr(x))) = 1;
      },
      "prints");
  refused([&] { RDom r(0, print(Expr(3)), "r"); }, "prints");
  refused([&] { print(Expr()); }, "undefined");
  refused([&] { print_when(Expr(1), Expr(2)); }, "bool");
}

// Funcs that print are inlined into an update's coordinates and into the condition of its domain, which is
// asked at every point.
TEST(Print, InPlacesAndConditionsOfUpdates) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  RDom r(0, N, "r");
  Func asked("asked"), placed("placed"), f("f");
  asked(x) = print_when(in(x) == 2, in(x), " asked");
  placed(x) = print_when(in(x) == 3, in(x), " placed");
  r.where(asked(r) > 0);
  f(x) = 0;
  f(clamp(placed(r), 0, 7)) += 1;
  const Pipeline p("p", {in}, {Output(f, {8})});
  const Buffer input(Int(32), {12}), output(Int(32), {8});
  for (std::int64_t i = 0; i < 12; ++i) input.set_value({i}, static_cast<double>(i % 4));
  Schedule s;
  s["asked"].compute_inline();
  s["placed"].compute_inline();
  for (const Target& target : targets_with_lines()) {
    Printed printed;
    testing::poison(output);
    p.compile(s, target)(input, output);
    EXPECT_EQ(printed.sorted(),
              (Lines{"2  asked", "2  asked", "2  asked", "3  placed", "3  placed", "3  placed"}));
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(output.value({i}), i > 0 && i < 4 ? 3 : 0) << i;
  }
}

}  // namespace
}  // namespace calotype
