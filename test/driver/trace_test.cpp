// Lines of `trace`: what is produced, stored and loaded, on every target.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/externs.h"
#include "support/printed.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::Lines;
using testing::Printed;
using testing::random_buffer;
using testing::targets_with_lines;

const std::vector<Trace> kAll = {Trace::Loads, Trace::Stores, Trace::Productions};

/// The lines of a call, which must give what the reference does.
Lines lines_of(const Pipeline& p, const Schedule& s, const Target& target, const Buffer& in,
               const std::vector<Buffer>& outs, const std::map<std::string, std::int64_t>& sizes = {}) {
  Printed printed;
  std::vector<Arg> args{in};
  for (const Buffer& out : outs) {
    testing::poison(out);
    args.emplace_back(out);
  }
  const Evaluation reference = p.evaluate({in}, {}, sizes);
  p.compile(s, target).call(args, printed.context);
  for (std::size_t i = 0; i < outs.size(); ++i) {
    const lang::EqualityReport report = lang::compare_with_reference(outs[i], reference, i, true);
    EXPECT_TRUE(report.ok) << report.str() << s.str();
  }
  return printed.in_order();
}

Lines only(const Lines& lines, const std::string& start) {
  Lines found;
  for (const std::string& line : lines)
    if (line.starts_with(start)) found.push_back(line);
  return found;
}

/// out = wide(x, y) + wide(x, y + 1) + wide(x, y + 2), wide = in * 3.
struct Blur {
  Dim W{"W"}, H{"H"};
  ImageParam in{Int(32), {W, H + 2}, "in"};
  Var x{"x"}, y{"y"};
  Func wide{"wide"}, out{"out"};
  Blur() {
    wide(x, y) = in(x, y) * 3;
    out(x, y) = wide(x, y) + wide(x, y + 1) + wide(x, y + 2);
  }
  Pipeline pipeline() { return Pipeline("blur", {in}, {Output(out, {W, H})}); }
};

std::vector<Schedule> schedules(const Target& target) {
  std::vector<Schedule> all(2);
  all[0]["wide"].compute_root();
  all[1]["wide"].compute_root();
  if (target.is_gpu()) {
    all[1]["out"]
        .tile("x", "y", "xo", "yo", "xi", "yi", 4, 4)
        .gpu_blocks({"xo", "yo"})
        .gpu_threads({"xi", "yi"});
  } else {
    all[1]["out"].vectorize("x", 8, Tail::Predicate).parallel("y");
    all[1]["wide"].vectorize("x", 4, Tail::Guard);
  }
  return all;
}

TEST(Trace, EveryAccessOnceOnEveryTarget) {
  Blur b;
  const Pipeline p = b.pipeline();
  for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {11, 3}}) {
    const Buffer in = random_buffer(Int(32), {w, h + 2}, 7), out(Int(32), {w, h});
    for (const Target& target : targets_with_lines())
      for (Schedule s : schedules(target)) {
        s.trace("in", {Trace::Loads});
        s.trace("wide", kAll);
        s.trace("out");
        SCOPED_TRACE(target.str() + s.str());
        Lines expected{fmt::format("produce wide [0, {}) x [0, {})", w, h + 2),
                       fmt::format("produce out [0, {}) x [0, {})", w, h)};
        for (std::int64_t y = 0; y < h + 2; ++y)
          for (std::int64_t x = 0; x < w; ++x) {
            const auto v = static_cast<std::int64_t>(in.value({x, y}));
            expected.push_back(fmt::format("load in({}, {}) = {}", x, y, v));
            expected.push_back(fmt::format("store wide({}, {}) = {}", x, y, 3 * v));
          }
        for (std::int64_t y = 0; y < h; ++y)
          for (std::int64_t x = 0; x < w; ++x) {
            std::int64_t sum = 0;
            for (std::int64_t d = 0; d < 3; ++d) {
              const auto v = 3 * static_cast<std::int64_t>(in.value({x, y + d}));
              expected.push_back(fmt::format("load wide({}, {}) = {}", x, y + d, v));
              sum += v;
            }
            expected.push_back(fmt::format("store out({}, {}) = {}", x, y, sum));
          }
        Lines got = lines_of(p, s, target, in, {out}, {{"H", out.extent(1)}});
        std::sort(got.begin(), got.end());
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(got, expected);
      }
  }
}

TEST(Trace, LinesHaveTheGrammarOfTheManual) {
  Blur b;
  const std::regex line(R"((load|store) [\w.]+\((-?\d+(, -?\d+)*)?\) = \S+|)"
                        R"(produce [\w.]+( \[-?\d+, -?\d+\)( x \[-?\d+, -?\d+\))*)?)");
  const Buffer in = random_buffer(Int(32), {5, 4}, 7), out(Int(32), {5, 2});
  for (const Target& target : targets_with_lines())
    for (Schedule s : schedules(target)) {
      s.trace("wide", kAll);
      for (const std::string& text : lines_of(b.pipeline(), s, target, in, {out}, {{"H", out.extent(1)}}))
        EXPECT_TRUE(std::regex_match(text, line)) << text;
    }
}

TEST(Trace, AProductionAnnouncesItsStores) {
  Blur b;
  Schedule s;
  s["wide"].compute_root();
  s.trace("wide");
  const Buffer in = random_buffer(Int(32), {3, 4}, 7), out(Int(32), {3, 2});
  for (const Target& target : targets_with_lines()) {
    const Lines lines = lines_of(b.pipeline(), s, target, in, {out}, {{"H", out.extent(1)}});
    ASSERT_EQ(lines.size(), 13u);
    EXPECT_EQ(lines[0], "produce wide [0, 3) x [0, 4)");
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(Trace, ASlidingWindowProducesEachRowOnce) {
  Blur b;
  Schedule s;
  s["out"].serial("y");
  s["wide"].compute_at("out", "y").store_root();
  s.trace("wide", {Trace::Productions});
  const Buffer in = random_buffer(Int(32), {6, 5}, 7), out(Int(32), {6, 3});
  EXPECT_EQ(lines_of(b.pipeline(), s, Target::host(), in, {out}, {{"H", out.extent(1)}}),
            (Lines{"produce wide [0, 6) x [0, 3)", "produce wide [0, 6) x [3, 4)",
                   "produce wide [0, 6) x [4, 5)"}));
}

TEST(Trace, SlideThroughSplitLoopsTouchesEachRowOnce) {
  Blur b;
  Schedule s;
  s["out"].split("y", "yo", "yi", 2).serial("yo");
  s["wide"].compute_at("out", "yi").store_root().slide("out", "y");
  s.trace("wide", {Trace::Loads, Trace::Stores});
  const Buffer in = random_buffer(Int(32), {4, 9}, 7), out(Int(32), {4, 7});
  const Lines lines = lines_of(b.pipeline(), s, Target::host(), in, {out}, {{"H", out.extent(1)}});
  const Lines stores = only(lines, "store");
  EXPECT_EQ(stores.size(), 4u * 9u);
  EXPECT_EQ(std::set<std::string>(stores.begin(), stores.end()).size(), stores.size());
  EXPECT_EQ(only(lines, "load").size(), 3u * 4u * 7u);
}

TEST(Trace, TilesOfAnExternStage) {
  Dim N("N");
  ImageParam in(Int(32), {N + 2}, "in");
  Var x("x");
  Func sums("sums"), out("out");
  sums.define_extern({x}, {Int(32)}, {"sum_of_three", testing::sum_of_three}, {in(x), in(x + 1), in(x + 2)});
  out(x) = sums(x) + 1;
  const Pipeline p("tiles", {in}, {Output(out, {N})});
  Schedule s;
  s["out"].split("x", "xo", "xi", 4).serial("xo");
  s["sums"].compute_at("out", "xo");
  s.trace("sums", {Trace::Loads, Trace::Productions});
  const Buffer input = random_buffer(Int(32), {8}, 3), output(Int(32), {6});
  const Lines lines = lines_of(p, s, Target::host(), input, {output}, {{"N", 6}});
  EXPECT_EQ(only(lines, "produce"), (Lines{"produce sums [0, 4)", "produce sums [4, 6)"}));
  EXPECT_EQ(only(lines, "load").size(), 6u);
}

#endif

TEST(Trace, UpdatesAndTuples) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Var x("x");
  RDom r(0, N, "r");
  Func pair("pair"), out("out");
  pair(x) = Tuple(0, 10);
  pair(0)[1] += in(r);
  out(x) = pair(x)[0] + pair(x)[1];
  const Pipeline p("pairs", {in}, {Output(out, {2})});
  const Buffer input = random_buffer(Int(32), {3}, 3), output(Int(32), {2});
  std::int64_t sum = 10;
  Lines expected{"store pair.0(0) = 0", "store pair.0(1) = 0", "store pair.1(0) = 10",
                 "store pair.1(1) = 10"};
  for (std::int64_t i = 0; i < 3; ++i) {
    expected.push_back(fmt::format("load pair.1(0) = {}", sum));
    sum += static_cast<std::int64_t>(input.value({i}));
    expected.push_back(fmt::format("store pair.1(0) = {}", sum));
  }
  for (const std::int64_t i : {0, 1}) {
    expected.push_back(fmt::format("load pair.0({}) = 0", i));
    expected.push_back(fmt::format("load pair.1({}) = {}", i, i == 0 ? sum : 10));
  }
  std::sort(expected.begin(), expected.end());
  Schedule s;
  s.trace("pair", {Trace::Loads, Trace::Stores});
  for (const Target& target : targets_with_lines()) {
    Lines got = lines_of(p, s, target, input, {output});
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, expected) << target.str();
  }
}

TEST(Trace, PartialResultsAreToldWhenTheyAreCombined) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  RDom r(0, N, "r");
  Func total("total");
  total() += in(r);
  const Pipeline p("total", {in}, {Output(total, {})});
  const Buffer input = random_buffer(Int(32), {21}, 3), output(Int(32), {});
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < 21; ++i) sum += static_cast<std::int64_t>(input.value({i}));
  Schedule s;
  s["total"].update().vectorize("r", 8);
  s.trace("total", {Trace::Stores});
  for (const Target& target : targets_with_lines())
    EXPECT_EQ(lines_of(p, s, target, input, {output}),
              (Lines{"store total() = 0", fmt::format("store total() = {}", sum)}));
}

TEST(Trace, ValuesOfEveryType) {
  for (const Type type :
       {Bool(), Int(8), UInt(16), Int(64), Float(16), BFloat(16), Float(32), Float(64), E4M3(), E5M2()}) {
    Dim N("N");
    ImageParam in(type, {N}, "in");
    Var x("x");
    Func out("out");
    out(x) = in(x);
    const Pipeline p("copy", {in}, {Output(out, {N})});
    Schedule s;
    s.trace("in", {Trace::Loads});
    s.trace("out", {Trace::Stores});
    Buffer input(type, {2}), output(type, {2});
    input.set_value({0}, type.is_bool() ? 1 : type.is_float() ? 1.5 : 3);
    input.set_value({1}, type.is_bool() ? 0 : type.is_float() ? 96 : 7);
    const char* first = type.is_bool() ? "true" : type.is_float() ? "1.5" : "3";
    const char* second = type.is_bool() ? "false" : type.is_float() ? "96" : "7";
    for (const Target& target : targets_with_lines()) {
      Lines got = lines_of(p, s, target, input, {output});
      std::sort(got.begin(), got.end());
      EXPECT_EQ(got,
                (Lines{fmt::format("load in(0) = {}", first), fmt::format("load in(1) = {}", second),
                       fmt::format("store out(0) = {}", first), fmt::format("store out(1) = {}", second)}))
          << type.str() << " " << target.str();
    }
  }
}

TEST(Trace, ProductionsInsideBlocksAreToldOnceABlock) {
  Blur b;
  Schedule s;
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 4, 2).gpu_blocks({"xo", "yo"}).gpu_threads({"xi", "yi"});
  s["wide"].compute_at("out", "xo").gpu_threads({"x", "y"});
  s["out"].bound("x", 0, 8).bound("y", 0, 4);
  s.trace("wide", {Trace::Productions});
  s.trace("out", {Trace::Productions});
  const Buffer in = random_buffer(Int(32), {8, 6}, 7), out(Int(32), {8, 4});
  Lines got = lines_of(b.pipeline(), s, Target::interpreter("sm_90a"), in, {out}, {{"H", 4}});
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, (Lines{"produce out [0, 8) x [0, 4)", "produce wide [0, 4) x [0, 4)",
                        "produce wide [0, 4) x [2, 6)", "produce wide [4, 8) x [0, 4)",
                        "produce wide [4, 8) x [2, 6)"}));
}

}  // namespace
}  // namespace calotype
