// Work in place: what is declared gives the values of separate memory, what would not is refused.

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::targets;

/// out = in * in + extra, with an update of every row's first element, in place of `in`.
Pipeline pointwise(Type type) {
  Dim W("W"), H("H");
  ImageParam in(type, {W, H}, "in"), extra(type, {W, H}, "extra");
  Var x("x"), y("y");
  Func square("square"), out("out");
  square(x, y) = in(x, y) * in(x, y);
  out(x, y) = square(x, y) + extra(x, y);
  out(0, y) = out(0, y) * 2 + 1;
  return {"pointwise", {in, extra}, {{out, {W, H}}}};
}

std::vector<Schedule> schedules(const Target& target) {
  std::vector<Schedule> all(1);
  if (target.is_gpu()) {
    all.emplace_back()["out"]
        .tile("x", "y", "xo", "yo", "xi", "yi", 8, 4)
        .gpu_blocks("xo", "yo")
        .gpu_threads("xi", "yi");
    all.emplace_back()["out"].vectorize("x", 4).gpu_blocks("y").gpu_threads("x.o", 8);
  } else {
    all.emplace_back()["out"].vectorize("x", 8).parallel("y");
    all.emplace_back()["out"].vectorize("x", 16, Tail::Guard).unroll("y", 2);
    all.emplace_back()["out"]
        .tile("x", "y", "xo", "yo", "xi", "yi", 16, 4, Tail::Predicate)
        .vectorize("xi")
        .parallel("yo");
    all.emplace_back()["out"].fuse("x", "y", "f").split("f", "fo", "fi", 8).vectorize("fi");
  }
  for (Schedule& s : all) s["square"].compute_inline();
  return all;
}

/// The same values in memory with the strides given, behind `guard` elements.
Buffer strided(const Buffer& values, std::int64_t step, std::int64_t row, std::int64_t first) {
  const Buffer memory(values.type(),
                      {values.extent(1) * std::abs(row) + first + values.extent(0) * std::abs(step) + 8});
  testing::poison(memory);
  Buffer b(values.type(), static_cast<std::byte*>(memory.data()) + first * values.type().bytes(),
           {values.extent(0), values.extent(1)}, {step, row}, std::make_shared<Buffer>(memory));
  for (std::int64_t y = 0; y < b.extent(1); ++y)
    for (std::int64_t x = 0; x < b.extent(0); ++x) b.set_value({x, y}, values.value({x, y}));
  return b;
}

TEST(Alias, InPlaceGivesTheValuesOfSeparateMemory) {
  for (const Type type : {Float(32), UInt(8), Float(64)}) {
    const Pipeline apart = pointwise(type), p = apart.alias("out", "in");
    EXPECT_EQ(p.fingerprint(), apart.fingerprint());
    for (const Target& target : targets())
      for (const Schedule& s : schedules(target)) {
        const Kernel kernel = p.compile(s, target);
        for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 3}, {37, 10}, {64, 8}}) {
          SCOPED_TRACE(target.str() + s.str() + std::to_string(w));
          const Buffer in = random_buffer(type, {w, h}, 5), extra = random_buffer(type, {w, h}, 6);
          const Evaluation reference = apart.evaluate({in, extra});
          const auto expect_right = [&](const Buffer& b) {
            const lang::EqualityReport result = lang::compare_with_reference(b, reference, 0, false);
            EXPECT_TRUE(result.ok) << result.str();
          };
          const Buffer separate(type, {w, h});
          testing::poison(separate);
          kernel(in, extra, separate);
          expect_right(separate);
          for (const Buffer& b : {in.copy(), strided(in, 1, w + 3, 2), strided(in, 2, 2 * w + 1, 0),
                                  strided(in, -1, w, w - 1), strided(in, 1, -w, w * (h - 1))}) {
            kernel(b, extra, b);
            expect_right(b);
          }
        }
      }
  }
}

TEST(Alias, OverlapOfAnotherKindIsRefusedAtTheCall) {
  const Buffer memory(Float(32), {200}), extra = random_buffer(Float(32), {10, 4}, 1);
  testing::poison(memory);
  auto* data = static_cast<float*>(memory.data());
  const Buffer in(data, {10, 4}), shifted(data + 1, {10, 4}), steeper(data, {10, 4}, {1, 12}),
      far(data + 100, {10, 4});
  for (const Target& target : targets()) {
    const auto refused = [&](const Kernel& kernel, const Buffer& out, const char* text) {
      try {
        kernel(in, extra, out);
        ADD_FAILURE() << "taken";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Argument);
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
      }
      for (int i = 0; i < 200; ++i) EXPECT_EQ(data[i], -12345.0f);
    };
    const Kernel declared = pointwise(Float(32)).alias("out", "in").compile({}, target);
    refused(declared, shifted, "not element for element");
    refused(declared, steeper, "not element for element");
    const Kernel plain = pointwise(Float(32)).compile({}, target);
    refused(plain, in, "the output shares memory with input 'in'");
    refused(plain, shifted, "the output shares memory with input 'in'");
    plain(in, extra, far);
    declared(in, extra, far);
    testing::poison(memory);
  }
}

/// The Schedule error that names the reader.
void expect_refused(const Pipeline& p, const Schedule& s, const std::string& func, const std::string& text,
                    const std::string& legal = "", const std::vector<Target>& on = targets()) {
  for (const Target& target : on) {
    try {
      p.compile(s, target);
      ADD_FAILURE() << "compiled for " << target.str() << " under " << s.str();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Schedule) << error.what();
      EXPECT_EQ(error.diagnostic().func, func);
      EXPECT_NE(error.diagnostic().message.find(text), std::string::npos) << error.what();
      EXPECT_FALSE(error.diagnostic().legal.empty());
      EXPECT_TRUE(legal.empty() || error.diagnostic().legal == legal) << error.what();
    }
  }
}

TEST(Alias, ReadsOfWhatIsOverwrittenAreRefused) {
  Dim W("W"), H("H");
  Var x("x"), y("y");
  const auto with = [&](const std::function<void(const ImageParam&, Func&)>& define) {
    ImageParam in(Float(32), {W, H}, "in");
    Func out("out");
    define(in, out);
    return Pipeline("p", {in}, {{out, {W, H}}}).alias("out", "in");
  };
  expect_refused(
      with([&](const ImageParam& in, Func& out) { out(x, y) = in(x, y) + in(clamp(x - 1, 0, W - 1), y); }),
      {}, "out", "at other coordinates than it writes");
  expect_refused(with([&](const ImageParam& in, Func& out) { out(x, y) = in(y, x); }), {}, "out",
                 "at other coordinates");
  expect_refused(with([&](const ImageParam& in, Func& out) {
                   out(x, y) = in(x, y);
                   out(x, 0) += in(x, 0);
                 }),
                 {}, "out", "an earlier definition has overwritten it");
  Schedule root;
  root["square"].compute_root();
  expect_refused(pointwise(Float(32)).alias("out", "in"), root, "square",
                 "reads it, while 'out' overwrites it",
                 "compute_inline for 'square', or the Pipeline without this alias");
  // Two outputs of one input.
  ImageParam in(Float(32), {W, H}, "in");
  Func one("one"), two("two");
  one(x, y) = in(x, y) + 1.0f;
  two(x, y) = in(x, y) * 2.0f;
  expect_refused(Pipeline("p", {in}, {{one, {W, H}}, {two, {W, H}}}).alias("one", "in"), {}, "two",
                 "reads it", "the Pipeline without this alias");
  // A Func with updates is never inlined either.
  ImageParam row(Float(32), {W}, "row");
  Func sums("sums"), shifted("shifted");
  sums(x) = row(x);
  sums(x) += 1.0f;
  shifted(x) = sums(x) + row(x);
  expect_refused(Pipeline("p", {row}, {{shifted, {W}}}).alias("shifted", "row"), {}, "sums", "reads it",
                 "the Pipeline without this alias");
}

TEST(Alias, TailsThatComputeTwiceAreRefused) {
  for (const Target& target : targets()) {
    Schedule s;
    s["square"].compute_inline();
    s["out"].split("x", "xo", "xi", 8, Tail::ShiftInwards);
    if (target.is_gpu()) s["out"].gpu_blocks("y");
    (void)pointwise(Float(32)).compile(s, target);
    expect_refused(pointwise(Float(32)).alias("out", "in"), s, "out", "computes elements twice",
                   "another tail", {target});
  }
}

TEST(Alias, DeclarationsAreChecked) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in"), bytes(UInt(8), {W, H}, "bytes"), row(Float(32), {W}, "row");
  Var x("x"), y("y");
  Func out("out"), pair("pair"), anywhere("anywhere");
  out(x, y) = in(x, y) + cast<float>(bytes(x, y)) + row(x);
  pair(x, y) = Tuple(in(x, y), 1);
  anywhere(x, y) = in(x, y);
  const Pipeline p("p", {in, bytes, row}, {{out, {W, H}}, {pair, {W, H}}, anywhere});
  const auto refused = [](const Pipeline& from, const std::string& o, const std::string& i,
                          const char* text) {
    try {
      (void)from.alias(o, i);
      ADD_FAILURE() << "declared " << o << " and " << i;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Algorithm) << error.what();
      EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
  };
  refused(p, "outt", "in", "no output 'outt'");
  refused(p, "out", "inn", "no input 'inn'");
  refused(p, "out", "bytes", "types differ");
  refused(p, "out", "row", "numbers of dimensions");
  refused(p, "pair.0", "in", "several values");
  refused(p, "anywhere", "in", "may begin anywhere");
  refused(p.alias("out", "in"), "out", "in", "declared already");
}

TEST(Alias, ThePlanSaysSo) {
  const Kernel kernel = pointwise(Float(32)).alias("out", "in").compile({}, Target::interpreter("sm_90a"));
  EXPECT_NE(kernel.show("plan").find("may be the memory of 'in'"), std::string::npos) << kernel.show("plan");
}

}  // namespace
}  // namespace calotype
