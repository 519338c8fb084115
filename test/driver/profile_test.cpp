// Profiles of host kernels: counts against closed forms, the same results, and what is warned of.

#include "driver/profile.h"

#include <algorithm>

#include "support/pipelines.h"
#include "support/run.h"

#ifdef CALOTYPE_HAS_LLVM

namespace calotype {
namespace {

using driver::FuncProfile;
using driver::Profile;
using testing::random_buffer;

/// Profiles the schedule and expects the outputs of the reference.
Profile profile_of(const Pipeline& pipeline, const Schedule& schedule, const std::vector<Buffer>& inputs,
                   const std::vector<std::int64_t>& extents, const std::map<std::string, double>& params = {},
                   std::int64_t cache_bytes = 0) {
  const lang::Graph& graph = pipeline.graph();
  const schedule::Scheduled scheduled = schedule::apply_or_throw(graph, schedule, Target::host());
  const Evaluation reference = pipeline.evaluate(inputs, params);
  std::vector<Buffer> outputs;
  for (const lang::OutputDef& output : graph.outputs) {
    outputs.emplace_back(graph.output_type(output), extents);
    testing::poison(outputs.back());
  }
  Profile profile = driver::profile(graph, scheduled, {inputs, params, {}}, outputs, cache_bytes);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    EXPECT_TRUE(lang::compare_with_reference(outputs[i], reference, i, false).ok);
  return profile;
}

const FuncProfile& func(const Profile& profile, const std::string& name) {
  const auto at = std::find_if(profile.funcs.begin(), profile.funcs.end(),
                               [&](const FuncProfile& f) { return f.name == name; });
  if (at == profile.funcs.end()) throw std::logic_error("no Func " + name);
  return *at;
}

bool warns(const FuncProfile& f, const std::string& text) {
  return std::any_of(f.warnings.begin(), f.warnings.end(),
                     [&](const std::string& w) { return w.find(text) != std::string::npos; });
}

Pipeline doubled() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = in(x, y) * 2.0f;
  return Pipeline("doubled", {in}, {Output(out, {W, H})});
}

/// out <- sums <- taps: each row of out needs taps on the rows above and below.
Pipeline rows_above_and_below() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func taps("taps"), out("out");
  Func edged = boundary::repeat_edge(in, "edged");
  taps(x, y) = edged(x, y) * 2.0f;
  out(x, y) = taps(x, y - 1) + taps(x, y + 1);
  return Pipeline("rows", {in}, {Output(out, {W, H})});
}

TEST(Profile, CountsEveryElementOnceWhateverTheTail) {
  constexpr std::int64_t W = 29, H = 5;
  const Buffer in = random_buffer(Float(32), {W, H}, 1);
  struct Case {
    Tail tail;
    std::int64_t stored;  // of a row
  };
  for (const Case& c : {Case{Tail::Guard, W}, Case{Tail::Predicate, W}, Case{Tail::ShiftInwards, 32}})
    for (const bool vector : {false, true})
      for (const bool parallel : {false, true}) {
        Schedule s;
        s["out"].split("x", "xo", "xi", 8, c.tail);
        if (vector) s["out"].vectorize("xi");
        parallel ? s["out"].parallel("y") : s["out"].serial("y");
        const Profile profile = profile_of(doubled(), s, {in}, {W, H});
        const FuncProfile& out = func(profile, "out");
        EXPECT_EQ(out.points, c.stored * H) << s.str();
        EXPECT_EQ(out.stores, c.stored * H) << s.str();
        EXPECT_EQ(out.loads, c.stored * H) << s.str();
        EXPECT_EQ(out.needed, W * H);
        EXPECT_EQ(out.gathers, 0);
        EXPECT_EQ(out.peak_bytes, 0);
        EXPECT_TRUE(vector || out.scalars == out.stores) << s.str();
        EXPECT_EQ(warns(out, "scalar innermost loop"), out.scalars * 2 > out.stores) << s.str();
        EXPECT_GT(out.seconds, 0);
        EXPECT_DOUBLE_EQ(out.share, 1);
        EXPECT_LE(out.seconds, profile.call_seconds * static_cast<double>(profile.threads) * 1.05);
      }
}

TEST(Profile, TellsWhatIsComputedSeveralTimesOver) {
  constexpr std::int64_t W = 16, H = 10;
  const Buffer in = random_buffer(Float(32), {W, H}, 2);
  Schedule s;
  s["edged"].compute_inline();
  s["taps"].compute_at("out", "y").vectorize("x", 8);
  s["out"].serial("y").vectorize("x", 8);
  const Profile profile = profile_of(rows_above_and_below(), s, {in}, {W, H});
  const FuncProfile& taps = func(profile, "taps");
  EXPECT_EQ(taps.points, W * 3 * H);
  EXPECT_EQ(taps.needed, W * (H + 2));
  EXPECT_NEAR(taps.times_over(), 3.0 * H / (H + 2), 1e-12);
  EXPECT_TRUE(warns(taps, "computed 2.5 times over"));
  EXPECT_EQ(taps.peak_bytes, W * 3 * 4);  // of one iteration at a time
  EXPECT_EQ(func(profile, "out").loads, 2 * W * H);
  EXPECT_EQ(profile.inlined, std::vector<std::string>{"edged"});

  Schedule root;
  root["edged"].compute_inline();
  root["taps"].compute_root().vectorize("x", 8);
  root["out"].serial("y").vectorize("x", 8);
  const Profile once = profile_of(rows_above_and_below(), root, {in}, {W, H});
  EXPECT_EQ(func(once, "taps").points, W * (H + 2));
  EXPECT_EQ(func(once, "taps").peak_bytes, W * (H + 2) * 4);
  EXPECT_FALSE(warns(func(once, "taps"), "times over"));
}

TEST(Profile, ARingHoldsItsRowsAlone) {
  constexpr std::int64_t W = 16, H = 10;
  Schedule s;
  s["edged"].compute_inline();
  s["taps"].store_root().compute_at("out", "y");
  s["out"].serial("y");
  const Profile profile =
      profile_of(rows_above_and_below(), s, {random_buffer(Float(32), {W, H}, 3)}, {W, H});
  EXPECT_EQ(func(profile, "taps").points, W * (H + 2));
  EXPECT_EQ(func(profile, "taps").peak_bytes, W * 4 * 4);  // three rows in a ring of four
}

TEST(Profile, ThreadsHaveMemoryOfTheirOwn) {
  constexpr std::int64_t W = 64, H = 64;
  Schedule s;
  s["edged"].compute_inline();
  s["taps"].compute_at("out", "y").store_in(Memory::Heap);
  s["out"].parallel("y");
  const Profile profile =
      profile_of(rows_above_and_below(), s, {random_buffer(Float(32), {W, H}, 4)}, {W, H});
  const FuncProfile& taps = func(profile, "taps");
  const std::int64_t row = W * 3 * 4;
  EXPECT_EQ(taps.points, W * 3 * H);
  EXPECT_EQ(taps.peak_bytes % row, 0);
  EXPECT_GE(taps.peak_bytes, row);
  EXPECT_LE(taps.peak_bytes, row * static_cast<std::int64_t>(profile.threads));
  EXPECT_GE(profile.waiting_seconds, 0);
}

TEST(Profile, GathersAreTold) {
  constexpr std::int64_t N = 53;
  Dim n("N");
  ImageParam index(Int(32), {n}, "index"), table(Float(32), {Expr(16)}, "table");
  Var x("x");
  Func out("out");
  out(x) = table(clamp(index(x), 0, 15));
  const Pipeline pipeline("lookup", {index, table}, {Output(out, {n})});
  Schedule s;
  s["out"].vectorize("x", 8);
  const Profile profile =
      profile_of(pipeline, s, {random_buffer(Int(32), {N}, 5), random_buffer(Float(32), {16}, 6)}, {N});
  EXPECT_EQ(func(profile, "out").loads, 2 * N);
  EXPECT_GE(func(profile, "out").gathers, N / 8 * 8);  // the rest may be done one by one
  EXPECT_LE(func(profile, "out").gathers, N);
  EXPECT_TRUE(warns(func(profile, "out"), "gather"));
}

TEST(Profile, UpdatesAreStoresAndNoPoints) {
  constexpr std::int64_t N = 100;
  Dim n("N");
  ImageParam in(UInt(8), {n}, "in");
  Var i("i");
  RDom r(0, n, "r");
  Func histogram("histogram");
  histogram(i) = cast<std::int32_t>(0);
  histogram(in(r)) += 1;
  const Pipeline pipeline("histogram", {in}, {Output(histogram, {Expr(256)})});
  const Profile profile = profile_of(pipeline, Schedule{}, {random_buffer(UInt(8), {N}, 7)}, {256});
  const FuncProfile& f = func(profile, "histogram");
  EXPECT_EQ(f.points, 256);
  EXPECT_EQ(f.stores, 256 + N);
  EXPECT_EQ(f.loads, 2 * N);
  EXPECT_EQ(f.scalars, 0);  // whole numbers
}

// What differs from one iteration to the next is counted inside: the rows of a triangle, and elements under
// a condition that depends on the input.
TEST(Profile, CountsWhatDiffersBetweenIterations) {
  constexpr std::int64_t N = 21;
  Dim n("N");
  ImageParam in(Int(32), {n, n}, "in");
  Var y("y");
  RDom r(0, n, "r");
  r.where(r.x() <= y && in(r, y) > 0);
  Func total("total");
  total(y) = cast<std::int32_t>(0);
  total(y) += in(r, y);
  const Pipeline pipeline("triangle", {in}, {Output(total, {n})});
  const Buffer values = random_buffer(Int(32), {N, N}, 8);
  std::int64_t under = 0;
  for (std::int64_t row = 0; row < N; ++row)
    for (std::int64_t column = 0; column <= row; ++column) under += values.value({column, row}) > 0;
  Schedule s;
  s["total"].compute_root();
  const Profile profile = profile_of(pipeline, s, {values}, {N});
  EXPECT_EQ(func(profile, "total").points, N);
  EXPECT_EQ(func(profile, "total").stores, N + under);
}

TEST(Profile, OfSeveralStagesIsTheSameResult) {
  const Pipeline pipeline = testing::row_sums();
  const lang::Graph& graph = pipeline.graph();
  std::vector<Buffer> inputs = {random_buffer(graph.inputs[0].type, {37, 9}, 9)};
  Schedule s;
  s["total"].compute_root();
  s["total"].update().split("k", "ko", "ki", 8);
  Stage lanes = s["total"].update().rfactor({{"ki", "lane"}}, "lanes");
  s[lanes].compute_root();
  const Profile profile = profile_of(pipeline, s, inputs, {37, 9});
  EXPECT_EQ(func(profile, "lanes").points, 8 * 9);
  EXPECT_EQ(func(profile, "total").points, 9);
  double shares = 0;
  for (const FuncProfile& f : profile.funcs) shares += f.share;
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST(Profile, LargeStagesAtRootAreTold) {
  constexpr std::int64_t W = 64, H = 30;
  Schedule s;
  s["edged"].compute_inline();
  s["taps"].compute_root().vectorize("x", 8);
  s["out"].vectorize("x", 8);
  const Buffer in = random_buffer(Float(32), {W, H}, 10);
  const std::int64_t bytes = W * (H + 2) * 4;
  const Profile fits = profile_of(rows_above_and_below(), s, {in}, {W, H}, {}, bytes);
  EXPECT_EQ(func(fits, "taps").peak_bytes, bytes);
  EXPECT_FALSE(warns(func(fits, "taps"), "last-level cache"));
  const Profile large = profile_of(rows_above_and_below(), s, {in}, {W, H}, {}, bytes - 1);
  EXPECT_TRUE(warns(func(large, "taps"), "last-level cache"));
  Schedule inside;
  inside["edged"].compute_inline();
  inside["taps"].compute_at("out", "y").vectorize("x", 8);
  inside["out"].serial("y").vectorize("x", 8);
  const Profile no_root = profile_of(rows_above_and_below(), inside, {in}, {W, H}, {}, 1);
  EXPECT_FALSE(warns(func(no_root, "taps"), "last-level cache"));
}

TEST(Profile, OrdinaryCodeHasNoMeters) {
  const Kernel kernel = doubled().compile(Schedule{}, Target::host());
  for (const char* level : {"lowered", "llvm"}) {
    EXPECT_EQ(kernel.show(level).find("measured"), std::string::npos);
    EXPECT_EQ(kernel.show(level).find("calotype_host_enter"), std::string::npos);
    EXPECT_EQ(kernel.show(level).find("calotype_host_count"), std::string::npos);
  }
}

TEST(Profile, IsOfTheHost) {
  const Pipeline pipeline = doubled();
  const schedule::Scheduled scheduled =
      schedule::apply_or_throw(pipeline.graph(), Schedule{}, Target::interpreter("sm_90a"));
  try {
    driver::profile(pipeline.graph(), scheduled, {{random_buffer(Float(32), {4, 4}, 1)}, {}, {}},
                    {Buffer(Float(32), {4, 4})});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_NE(error.diagnostic().legal.find("host"), std::string::npos);
  }
}

}  // namespace
}  // namespace calotype

#endif
