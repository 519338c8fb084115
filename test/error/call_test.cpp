// Calls that must be refused: buffers and numbers that do not fit. Nothing is written.

#include <algorithm>
#include <functional>
#include <limits>

#include "error/refusals.h"
#include "support/run.h"

namespace calotype::test {
namespace {

using testing::random_buffer;
using testing::targets;

/// out(x, y) = image(x, y) + image(x + 1, y) scaled by `gain`, with an image of one column more.
Pipeline scale() {
  Dim W("W"), H("H");
  ImageParam image(UInt(8), {W + 1, H}, "image");
  Param gain(UInt(8), "gain");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = (image(x, y) + image(x + 1, y)) * gain;
  return Pipeline("scale", {image, gain}, {Output(out, {W, H})});
}

/// The arguments of a call, of which a row spoils one.
struct Call {
  Buffer image = random_buffer(UInt(8), {13, 7}, 1), out = Buffer(UInt(8), {12, 7});
  Arg gain = 2;
  std::vector<Buffer> more;
  std::vector<Arg> args() const {
    std::vector<Arg> all{image, gain, out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

struct Row {
  const char* what;
  void (*spoil)(Call&);
  Refusal refusal;
};

void expect_poisoned(const Buffer& poisoned) {
  Buffer expected = poisoned.copy();
  testing::poison(expected);
  for (std::int64_t v = 0; v < poisoned.extent(1); ++v)
    for (std::int64_t u = 0; u < poisoned.extent(0); ++u)
      ASSERT_EQ(poisoned.value({u, v}), expected.value({u, v})) << u << "," << v;
}

void expect_rows(const std::vector<Row>& rows) {
  for (const Target& target : targets()) {
    const Kernel kernel = scale().compile({}, target);
    for (const Row& row : rows) {
      SCOPED_TRACE(target.str() + ": " + row.what);
      Call call;
      const Buffer memory = call.out;
      testing::poison(memory);
      row.spoil(call);
      expect_refused([&] { kernel.call(call.args()); }, row.refusal);
      expect_poisoned(memory);
    }
    Call good;
    kernel.call(good.args());
    EXPECT_EQ(good.out.value({3, 2}),
              static_cast<std::uint8_t>(2 * (good.image.value({3, 2}) + good.image.value({4, 2}))));
  }
}

constexpr ErrorKind kArgument = ErrorKind::Argument;

TEST(RefusedCalls, Shapes) {
  expect_rows({
      {"rank",
       [](Call& c) { c.image = random_buffer(UInt(8), {13, 7, 1}, 1); },
       {kArgument, "rank 3, where rank 2 is needed", "image", "", "3", {"2"}}},
      {"type",
       [](Call& c) { c.out = Buffer(Int(8), c.out.data(), {12, 7}); },
       {kArgument, "element type s8, where u8 is needed", "out", "", "s8", {"u8"}}},
      {"extent of the output",
       [](Call& c) { c.out = c.out.crop(1, 0, 6); },
       {kArgument, "dimension 1 has extent 6 but must have 7", "out", "", "6", {"7"}}},
      {"extent of the input",
       [](Call& c) { c.image = c.image.crop(0, 0, 12); },
       {kArgument, "dimension 0 has extent 12 but must have 11", "out", "", "12", {"11"}}},
      {"no elements in the output alone",
       [](Call& c) { c.out = c.out.crop(1, 0, 0); },
       {kArgument, "dimension 1 has extent 0 but must have 7", "out", "", "0", {"7"}}},
      {"coordinates",
       [](Call& c) { c.image = c.image.translate({1, 0}); },
       {kArgument, "dimension 0 starts at 1 but must start at 0", "image", "", "1", {"translate"}}},
      {"no Buffer",
       [](Call& c) { c.image = Buffer(); },
       {kArgument,
        "argument 0 ('image') is an undefined Buffer",
        "image",
        "",
        "an undefined Buffer",
        {"a Buffer of u8 with rank 2"}}},
  });
}

TEST(RefusedCalls, Memory) {
  expect_rows({
      {"null input",
       [](Call& c) { c.image = Buffer(UInt(8), nullptr, {13, 7}); },
       {kArgument, "the buffer has no data", "image", "", "null", {"memory"}}},
      {"null output",
       [](Call& c) { c.out = Buffer(UInt(8), nullptr, {12, 7}); },
       {kArgument, "the buffer has no data", "out", "", "null", {"memory"}}},
      {"output onto itself",
       [](Call& c) { c.out = Buffer(UInt(8), c.out.data(), {12, 7}, {1, 5}); },
       {kArgument, "several elements share memory", "out", "", "", {"strides"}}},
      {"output of stride 0",
       [](Call& c) { c.out = Buffer(UInt(8), c.out.data(), {12, 7}, {1, 0}); },
       {kArgument, "dimension 1 has stride 0", "out", "", "0", {"strides"}}},
      {"output onto the input",
       [](Call& c) { c.image = Buffer(UInt(8), c.out.data(), {13, 7}, {1, 10}); },
       {kArgument, "shares memory with input 'image'", "out", "", "image", {"memory of its own"}}},
      {"strides beyond the address space",
       [](Call& c) {
         c.image =
             Buffer(UInt(8), c.image.data(), {13, 7}, {1, std::numeric_limits<std::int64_t>::max() / 2});
       },
       {kArgument, "beyond the 64-bit address space", "image", "", "", {"strides"}}},
  });
}

TEST(RefusedCalls, Numbers) {
  expect_rows({
      {"one too few or many",
       [](Call& c) { c.more = {c.out}; },
       {kArgument, "scale takes 3 arguments, not 4", "scale", "", "4", {"image, gain, out"}}},
      {"buffer for a number",
       [](Call& c) { c.gain = Arg(c.image); },
       {kArgument, "argument 1 ('gain') is a buffer", "gain", "", "a buffer", {"u8"}}},
      {"number that its type does not hold",
       [](Call& c) { c.gain = 256; },
       {kArgument, "of type u8 cannot hold 256", "gain", "", "256", {"0 to 255"}}},
      {"number that is not whole",
       [](Call& c) { c.gain = 1.5; },
       {kArgument, "of type u8 cannot hold 1.5", "gain", "", "1.5", {"whole number"}}},
      {"no number",
       [](Call& c) { c.gain = std::numeric_limits<double>::quiet_NaN(); },
       {kArgument, "of type u8 cannot hold nan", "gain", "", "nan", {"whole number"}}},
  });
}

TEST(RefusedCalls, SizeZeroWritesNothing) {
  for (const Target& target : targets()) {
    const Kernel kernel = scale().compile({}, target);
    Buffer image(UInt(8), {1, 7}), out(UInt(8), {0, 7});
    EXPECT_NO_THROW(kernel.call({image, 2, out}));
  }
}

// image(0 .. W + 1) and image(0 .. H) of an image that promises less.
TEST(RefusedCalls, TooSmallForWhatIsRead) {
  ImageParam image(Float(32), 2, "image");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = image(x + 3, y) + image(x, y + 1);
  const Pipeline pipeline("reach", {image}, {out});
  for (const Target& target : targets()) {
    const Kernel kernel = pipeline.compile({}, target);
    const Buffer result(Float(32), {8, 4});
    testing::poison(result);
    expect_refused([&] { kernel(random_buffer(Float(32), {10, 5}, 1), result); },
                   {kArgument,
                    "dimension 0 is read from 0 to 10 but holds 0 to 9",
                    "image",
                    "",
                    "0",
                    {"boundary condition"}});
    expect_refused([&] { kernel(random_buffer(Float(32), {11, 4}, 1), result); },
                   {kArgument,
                    "dimension 1 is read from 0 to 4 but holds 0 to 3",
                    "image",
                    "",
                    "0",
                    {"boundary condition"}});
    expect_refused(
        [&] { kernel(random_buffer(Float(32), {11, 5}, 1), result.translate({-1, 0})); },
        {kArgument, "dimension 0 is read from -1 to 9", "image", "", "-1", {"boundary condition"}});
    expect_poisoned(result);
  }
}

TEST(RefusedCalls, OneOfSeveralOutputsWithoutElements) {
  Dim W("W"), H("H");
  ImageParam image(Float(32), {W, H}, "image");
  Var x("x"), y("y");
  RDom k(0, W, "k");
  Func out("out"), total("total");
  total(y) += image(k, y);
  out(x, y) = image(x, y) * 2.0f;
  const Pipeline pipeline("both", {image}, {Output(out, {W, H}), Output(total, {H})});
  for (const Target& target : targets()) {
    const Kernel kernel = pipeline.compile({}, target);
    Buffer none(Float(32), {0, 5}), sums(Float(32), {5, 1});
    testing::poison(sums);
    expect_refused([&] { kernel(none, none, Buffer(Float(32), sums.data(), {5})); },
                   {kArgument, "no elements, and output 'total' has", "out", "", "0 elements", {"or none"}});
    expect_poisoned(sums);
  }
}

// Promises of a schedule that a call breaks.
TEST(RefusedCalls, BrokenPromises) {
  for (const Target& target : targets()) {
    SCOPED_TRACE(target.str());
    Buffer in = random_buffer(Float(32), {9, 5}, 1), out(Float(32), {9, 5});
    testing::poison(out);
    Schedule of_output, of_stage;
    of_output["out"].bound("x", 0, 8);
    expect_refused([&] { sample().compile(of_output, target)(in, out); },
                   {kArgument,
                    "#1 bound(x, 0, 8) fits only an extent of 8 from 0, not 9",
                    "out",
                    "",
                    "9",
                    {"an extent of 8"}});
    of_stage["rows"].compute_root().bound("x", 0, 8);
    expect_refused([&] { sample().compile(of_stage, target)(in, out); },
                   {kArgument,
                    "#2 bound(x, 0, 8) does not hold what is needed, 0 to 8",
                    "rows",
                    "",
                    "0",
                    {"a larger bound"}});
    expect_poisoned(out);
  }
}

#ifdef CALOTYPE_HAS_LLVM
// A table of a size that no machine has. On a GPU one that large is refused before, as beyond indices.
TEST(RefusedCalls, WithoutMemory) {
  Dim N("N");
  ImageParam in(Int(64), {N}, "in");
  Param most(Int(64), "most");
  Var x("x");
  Func table("table"), out("out");
  table(x) = cast<float>(x) * 0.5f;
  out(x) = table(clamp(in(x), 0, most)) + 1.0f;
  const Pipeline pipeline("look", {in, most}, {Output(out, {N})});
  Schedule s;
  s["table"].compute_root();
  const Kernel kernel = pipeline.compile(s, Target::host());
  const Buffer index = random_buffer(Int(64), {7}, 1), result(Float(32), {7});
  testing::poison(result);
  const double huge = static_cast<double>((std::int64_t{1} << 46) - 1);
  expect_refused([&] { kernel(index, huge, result); },
                 {ErrorKind::Memory,
                  "look: no memory for 281474976710656 bytes of storage",
                  "table",
                  "",
                  "281474976710656 bytes",
                  {"smaller sizes", "compute_at"}});
  for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(result.value({i}), -12345.0);
  kernel(index, 60.0, result);  // nothing is left of the failure
  for (std::int64_t i = 0; i < 7; ++i)
    EXPECT_EQ(result.value({i}), std::clamp(index.value({i}), 0.0, 60.0) * 0.5 + 1.0);
}
#endif

// The name in a refusal says what it is.
TEST(RefusedCalls, NamesSayWhatTheyAre) {
  const auto what = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& e) {
      const std::string text = e.what();
      const std::size_t at = text.find("in: ");
      return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
    }
    return std::string("good");
  };
  for (const Target& target : targets()) {
    Schedule s;
    s.assume("W", Assumption::multiple(4));
    const Kernel kernel = scale().compile(s, target);
    Call c;
    EXPECT_EQ(what([&] { kernel.call(c.args()); }), "good");
    EXPECT_EQ(what([&] { kernel(random_buffer(UInt(8), {14, 7}, 1), 2, Buffer(UInt(8), {13, 7})); }),
              "in: Size 'W'");
    EXPECT_EQ(what([&] { kernel(random_buffer(UInt(8), {13, 7, 1}, 1), 2, c.out); }), "in: Input 'image'");
    EXPECT_EQ(what([&] { kernel(c.image, 2, c.out.crop(1, 0, 6)); }), "in: Func 'out'");
    EXPECT_EQ(what([&] { kernel(c.image, 256, c.out); }), "in: Param 'gain'");
    EXPECT_EQ(what([&] { kernel(c.image, c.image, c.out); }), "in: Param 'gain'");
    EXPECT_EQ(what([&] { kernel(c.image, c.out); }), "in: Pipeline 'scale'");
    Schedule of_input;
    of_input["image"].compute_root();
    EXPECT_NE(what([&] { (void)scale().compile(of_input, target); }).find("in: Input 'image'"),
              std::string::npos)
        << what([&] { (void)scale().compile(of_input, target); });
  }
}

#ifdef CALOTYPE_HAS_LLVM
TEST(RefusedCalls, TooSmallToShiftInwards) {
  Schedule s;
  s["out"].split("x", "xo", "xi", 16, Tail::ShiftInwards).vectorize("xi");
  const Kernel kernel = sample().compile(s, Target::host());
  Buffer out(Float(32), {9, 5});
  testing::poison(out);
  expect_refused([&] { kernel(random_buffer(Float(32), {9, 5}, 1), out); },
                 {kArgument, "needs an extent of at least 16, not 9", "out", "", "9", {"at least 16"}});
  expect_poisoned(out);
}
#endif

}  // namespace
}  // namespace calotype::test
