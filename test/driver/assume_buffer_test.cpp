// Forms of buffers: what the compiler makes of them, and what a call that has another is told.

#include <cstddef>

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::poison;
using testing::product;
using testing::random_buffer;
using testing::stencil;
using testing::targets;

const Target interpreter = Target::interpreter("sm_90a");

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The same values in other memory: `pitch` elements from row to row, the first one `past` bytes after a
/// multiple of 4096.
Buffer moved(const Buffer& values, std::int64_t pitch, std::int64_t past = 0) {
  const std::int64_t bytes = values.type().bytes(), rows = values.rank() > 1 ? values.extent(1) : 1;
  Buffer memory(UInt(8), {std::abs(pitch) * rows * bytes + past + 2 * 4096});
  memory.fill(113);
  auto at = reinterpret_cast<std::uintptr_t>(memory.data()) + (pitch < 0 ? -pitch * (rows - 1) * bytes : 0);
  at = (at + 4095) / 4096 * 4096 + static_cast<std::uintptr_t>(past);
  std::vector<std::int64_t> extents, strides = {1};
  for (int d = 0; d < values.rank(); ++d) extents.push_back(values.extent(d));
  if (values.rank() > 1) strides.push_back(pitch);
  Buffer b(values.type(), reinterpret_cast<void*>(at), extents, strides, std::make_shared<Buffer>(memory));
  for (std::int64_t y = 0; y < rows; ++y)
    for (std::int64_t x = 0; x < values.extent(0); ++x) {
      const std::vector<std::int64_t> c = values.rank() > 1 ? std::vector{x, y} : std::vector{x};
      b.set_value(c, values.value(c));
    }
  return b;
}

/// out = in * 3 + 1 pixel by pixel.
Pipeline scaled(Type type = Float(32)) {
  Dim W("W"), H("H");
  ImageParam in(type, {W, H}, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = in(x, y) * 3 + 1;
  return Pipeline("scaled", {in}, {Output(out, {W, H})});
}

/// Vectors, blocks and threads along rows.
Schedule rows(const Target& target) {
  Schedule s;
  if (target.is_gpu())
    s["out"].vectorize("x", 4).gpu_threads("x.o", 8).gpu_blocks("y");
  else
    s["out"].vectorize("x", 8).parallel("y");
  return s;
}

void assume(Schedule& s, const BufferForm& form) {
  for (const char* name : {"in", "out"}) {
    BufferForm own = form;
    own.buffer = name;
    s.assume_buffer(own);
  }
}

/// A call is refused before anything is written; the message has every part.
void expect_refused(const Kernel& kernel, const Buffer& in, const Buffer& out,
                    const std::vector<std::string>& parts) {
  poison(out);
  const double before = out.value({0, 0});
  try {
    kernel.call({in, out});
    ADD_FAILURE() << "ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Argument);
    for (const std::string& part : parts)
      EXPECT_TRUE(has(e.diagnostic().str(), part)) << part << "\nin\n" << e.what();
  }
  EXPECT_EQ(out.value({0, 0}), before) << "something was written";
}

/// Runs a kernel of scaled().
void expect_right(const Kernel& kernel, const Buffer& in, const Buffer& out) {
  poison(out);
  kernel.call({in, out});
  const lang::EqualityReport result =
      lang::compare_with_reference(out, scaled(in.type()).evaluate({in}), 0, false);
  EXPECT_TRUE(result.ok) << kernel.target().str() << " " << in.extent(0) << " x " << in.extent(1) << "\n"
                         << result.str() << "\n"
                         << kernel.show("lowered");
}

TEST(AssumeBuffer, ResultsAreTheReferences) {
  for (const Target& target : targets())
    for (const Type type : {Float(32), UInt(8), Float(64), BFloat(16)}) {
      Schedule dense = rows(target), pitch = rows(target);
      assume(dense, {.dense = true});
      assume(pitch, {.pitch_multiple = 64, .base_align = 64});
      const Kernel of_dense = scaled(type).compile(dense, target),
                   of_pitch = scaled(type).compile(pitch, target);
      for (const auto& [w, h] : {std::pair{32, 5}, {7, 4}, {1, 1}, {64, 1}, {1, 9}}) {
        const Buffer in = random_buffer(type, {w, h}, 3);
        expect_right(of_dense, in, Buffer(type, {w, h}));
        const std::int64_t row = (w * type.bytes() + 63) / 64 * 64 / type.bytes();
        expect_right(of_pitch, moved(in, row), moved(in, row + 64 / type.bytes()));
        expect_right(of_pitch, moved(in, -row), moved(in, row));
      }
    }
}

TEST(AssumeBuffer, WholePipelinesUnderIt) {
  for (const Target& target : targets()) {
    Schedule s;
    s.assume_buffer({.buffer = "A", .dense = true}).assume_buffer({.buffer = "C", .dense = true});
    s.assume_buffer({.buffer = "B", .pitch_multiple = 32, .base_align = 32});
    for (const auto& [m, n, k] : {std::tuple{5, 7, 3}, {1, 1, 1}, {16, 24, 8}}) {
      const Buffer A = random_buffer(Float(32), {k, m}, 1), B = random_buffer(Float(32), {n, k}, 2);
      expect_matches(product(), s, target, {A, moved(B, (n + 7) / 8 * 8)}, {Buffer(Float(32), {n, m})});
    }
    Schedule edges = rows(target);
    assume(edges, {.dense = true, .pitch_multiple = 16});
    edges["bx"].compute_root();
    expect_matches(stencil(), edges, target, {random_buffer(Float(32), {20, 6}, 1)},
                   {Buffer(Float(32), {20, 6})});
    testing::expect_stages_match(stencil(), edges, target, {random_buffer(Float(32), {20, 6}, 1)});
  }
}

TEST(AssumeBuffer, DenseStridesAreNoScalars) {
  for (const Target& target : targets()) {
    Schedule with = rows(target), without = rows(target);
    assume(with, {.dense = true});
    const std::string plan = scaled().compile(with, target).show("lowered");
    EXPECT_FALSE(has(plan, "in.stride.1") || has(plan, "out.stride.1")) << plan;
    EXPECT_TRUE(has(scaled().compile(without, target).show("lowered"), "in.stride.1"));
  }
}

TEST(AssumeBuffer, FusedLoopsOverDenseMemoryAreContiguous) {
  for (const Target& target : targets()) {
    Schedule s;
    s["out"].fuse("x", "y", "f").split("f", "fo", "fi", 4).vectorize("fi");
    if (target.is_gpu()) s["out"].gpu_threads("fo", 16);
    if (target.is_gpu()) s["out"].gpu_blocks("fo.o");
    const std::string loose = scaled().compile(s, target).show("lowered");
    assume(s, {.dense = true});
    const std::string text = scaled().compile(s, target).show("lowered");
    EXPECT_TRUE(has(loose, "/broadcast(W, 4)")) << loose;
    EXPECT_FALSE(has(text, "broadcast(W, 4)")) << text;
    for (const auto& [w, h] : {std::pair{7, 5}, {1, 9}, {33, 3}})
      expect_matches(scaled(), s, target, {random_buffer(Float(32), {w, h}, 1)}, {Buffer(Float(32), {w, h})});
  }
}

TEST(AssumeBuffer, ADensePitchLeavesNoTail) {
  for (const Target& target : targets()) {
    Schedule s = rows(target);
    const std::size_t with_tail = scaled().compile(s, target).show("lowered").size();
    assume(s, {.dense = true, .pitch_multiple = 128});
    const Kernel kernel = scaled().compile(s, target);
    EXPECT_LT(kernel.show("lowered").size(), with_tail) << kernel.show("lowered");
    expect_matches(scaled(), s, target, {random_buffer(Float(32), {64, 3}, 1)}, {Buffer(Float(32), {64, 3})});
    expect_refused(kernel, random_buffer(Float(32), {20, 1}, 1), Buffer(Float(32), {20, 1}),
                   {"the stride of dimension 1 is 80 bytes", "is for multiples of 128"});
  }
}

TEST(AssumeBuffer, OneRowMayHaveAnyStride) {
  for (const Target& target : targets()) {
    Schedule dense = rows(target), pitch = rows(target);
    assume(dense, {.dense = true});
    assume(pitch, {.pitch_multiple = 16});
    const Buffer in = random_buffer(Float(32), {13, 1}, 3);
    for (const Schedule& s : {dense, pitch})
      expect_matches(scaled(), s, target, {moved(in, 17)}, {moved(in, 19)});
  }
}

TEST(AssumeBuffer, CallsWithOtherBuffersAreRefused) {
  for (const Target& target : targets()) {
    const Buffer in = random_buffer(Float(32), {12, 5}, 3), out(Float(32), {12, 5});
    Schedule dense = rows(target), pitch = rows(target), base = rows(target);
    assume(dense, {.dense = true});
    assume(pitch, {.pitch_multiple = 64});
    assume(base, {.base_align = 64});
    const Kernel of_dense = scaled().compile(dense, target), of_pitch = scaled().compile(pitch, target),
                 of_base = scaled().compile(base, target);
    const std::string d = target.is_gpu() ? "#4" : "#3", after = target.is_gpu() ? "#5" : "#4";
    expect_refused(of_dense, moved(in, 13), out,
                   {"in", "dimension 1 has stride 13", d + " assume_buffer(in, dense) is for 12"});
    expect_refused(of_dense, in, moved(in, 16),
                   {"out", "dimension 1 has stride 16", after + " assume_buffer(out, dense)"});
    expect_refused(of_dense, in.transpose({1, 0}).copy().transpose({1, 0}), out,
                   {"in", "dimension 0 has stride 5", "is for 1"});
    expect_refused(
        of_pitch, moved(in, 24), moved(in, 16),
        {"in", "the stride of dimension 1 is 96 bytes", d + " assume_buffer(in, 64) is for multiples of 64",
         "a pitch that is a multiple of 64 bytes"});
    expect_refused(of_pitch, moved(in, 16), moved(in, 12), {"out", "is 48 bytes"});
    if (target.is_gpu()) continue;
    expect_refused(of_base, moved(in, 12, 32), out,
                   {"in", "the data lies 32 bytes past a multiple of 64", d + " assume_buffer(in, 64)",
                    "an address that is a multiple of 64 bytes"});
    expect_refused(of_base, in, moved(in, 12, 4), {"out", "the data lies 4 bytes past a multiple of 64"});
  }
}

TEST(AssumeBuffer, CopiesOnADeviceHaveTheBase) {
  Schedule s = rows(interpreter);
  assume(s, {.base_align = 4096});
  const Buffer in = random_buffer(Float(32), {13, 5}, 3);
  expect_matches(scaled(), s, interpreter, {moved(in, -17, 36)}, {moved(in, -13, 4)});
}

TEST(AssumeBuffer, NothingIsAskedOfEmptyBuffers) {
  for (const Target& target : targets()) {
    Schedule s = rows(target);
    assume(s, {.dense = true, .base_align = 64});
    scaled().compile(s, target).call({Buffer(Float(32), {5, 0}), Buffer(Float(32), {5, 0})});
  }
}

TEST(AssumeBuffer, HoldsBesideDeclaredAliases) {
  const Pipeline p = scaled().alias("out", "in");
  for (const Target& target : targets()) {
    Schedule s = rows(target);
    assume(s, {.pitch_multiple = 16, .base_align = 16});
    const Kernel kernel = p.compile(s, target);
    const Buffer in = random_buffer(Float(32), {12, 5}, 3);
    const Evaluation reference = p.evaluate({in});
    const Buffer both = moved(in, 16);
    kernel.call({both, both});
    const lang::EqualityReport result = lang::compare_with_reference(both, reference, 0, false);
    EXPECT_TRUE(result.ok) << result.str();
    Schedule dense = rows(target);
    dense.assume_buffer({.buffer = "in", .dense = true});
    const Buffer image = in.copy();
    p.compile(dense, target).call({image, image});
    EXPECT_TRUE(lang::compare_with_reference(image, reference, 0, false).ok);
  }
}

TEST(AssumeBuffer, HoldsBesideConditionsOnStrides) {
  for (const Target& target : targets())
    for (const BufferForm& form : {BufferForm{.dense = true}, BufferForm{.pitch_multiple = 32}})
      for (const char* condition :
           {"in.stride.1 == 16", "in.stride.1%8 == 0 && W > 4", "in.stride.1%16 == 0", "in.stride.1 == W"}) {
        Schedule s;
        if (target.is_gpu())
          s["out"].specialize(condition).gpu_threads("x", 8).gpu_blocks("y");
        else
          s["out"].specialize(condition).vectorize("x", 8);
        assume(s, form);
        const Kernel kernel = scaled().compile(s, target);
        for (const auto& [w, h, pitch] :
             {std::tuple{16, 3, 16}, {8, 3, 8}, {7, 3, 8}, {7, 1, 7}, {16, 1, 17}, {24, 2, 24}, {3, 1, 5}}) {
          if (form.dense && h > 1 && pitch != w) continue;
          const Buffer in = random_buffer(Float(32), {w, h}, 3);
          const Buffer out = moved(in, pitch);
          poison(out);
          kernel.call({moved(in, pitch), out});
          const lang::EqualityReport result =
              lang::compare_with_reference(out, scaled().evaluate({in}), 0, false);
          EXPECT_TRUE(result.ok) << condition << " " << w << " " << h << " " << pitch << result.str();
        }
      }
}

TEST(AssumeBuffer, EachBufferOfATuple) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = Tuple(in(x, y) + 1, cast<std::uint8_t>(in(x, y) * in(x, y)));
  const Pipeline p("both", {in}, {Output(out, {W, H})});
  for (const Target& target : targets()) {
    Schedule s = rows(target);
    s.assume_buffer({.buffer = "out.0", .dense = true})
        .assume_buffer({.buffer = "out.1", .pitch_multiple = 16});
    const Buffer image = random_buffer(Float(32), {20, 3}, 5);
    const Buffer bytes = random_buffer(UInt(8), {20, 3}, 6);
    expect_matches(p, s, target, {moved(image, 23)}, {Buffer(Float(32), {20, 3}), moved(bytes, 32)});
    try {
      p.compile(s, target).call({image, Buffer(Float(32), {20, 3}), bytes});
      ADD_FAILURE() << "ran";
    } catch (const Error& e) {
      EXPECT_TRUE(has(e.diagnostic().str(), "out.1")) << e.what();
    }
  }
}

TEST(AssumeBuffer, OneRowTakesTheBranchOfItsOwnStride) {
  // A multiple that is assumed says nothing of the stride of a single row: the branch is for what it is.
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Param p(Int(32), "p");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = select(p > 0, in(x, y), -in(x, y));
  const Pipeline signed_rows("signed_rows", {in, p}, {Output(out, {W, H})});
  for (const Target& target : testing::targets()) {
    Schedule s;
    s.assume_buffer({.buffer = "in", .pitch_multiple = 16});
    Stage positive = s["out"].specialize("p > 0");
    positive.specialize("in.stride.1 % 4 == 0");
    const Kernel kernel = signed_rows.compile(s, target);
    const Buffer memory = random_buffer(Float(32), {202, 1}, 3);
    for (const std::int64_t stride : {100, 101})
      for (const double sign : {1.0, -1.0}) {
        const Buffer row(Float(32), memory.data(), {13, 1}, {1, stride});
        const Buffer got(Float(32), {13, 1});
        kernel.call({row, sign, got});
        for (std::int64_t i = 0; i < 13; ++i)
          EXPECT_EQ(got.value({i, 0}), sign * row.value({i, 0})) << stride << " on " << target.str();
      }
  }
}

TEST(AssumeBuffer, OneKindOfCodeForDenseArguments) {
  // A call with another stride of dimension 0 compiles nothing: it is refused by the code that there is.
  Schedule s = rows(interpreter);
  s.assume_buffer({.buffer = "in", .dense = true});
  const Kernel kernel = scaled().compile(s, interpreter);
  const Buffer wide = random_buffer(Float(32), {26, 5}, 3);
  const Buffer every_second(Float(32), wide.data(), {13, 5}, {2, 26});
  expect_refused(kernel, every_second, Buffer(Float(32), {13, 5}), {"dimension 0 has stride 2", "is for 1"});
}

#ifdef CALOTYPE_HAS_LLVM
TEST(AssumeBuffer, HostCodeKnowsAlignment) {
  Schedule s = rows(Target::host());
  EXPECT_FALSE(has(scaled().compile(s, Target::host()).show("llvm"), "<8 x float>, ptr %1, align 32"));
  const auto aligned = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find("<8 x float>", at)) != std::string::npos; ++at)
      count += text.substr(at, text.find('\n', at) - at).find(", align 32") != std::string::npos;
    return count;
  };
  const std::size_t before = aligned(scaled().compile(s, Target::host()).show("llvm"));
  assume(s, {.pitch_multiple = 32, .base_align = 32});
  EXPECT_GE(aligned(scaled().compile(s, Target::host()).show("llvm")), before + 2);
}

TEST(AssumeBuffer, StreamedStoresNeedNoTestOfTheirAddress) {
  Schedule s;
  s["out"].vectorize("x", 8).stream_stores();
  s.assume("W", Assumption::multiple(8));
  const auto tests = [](const Schedule& schedule) {
    return has(scaled().compile(schedule, Target::host()).show("llvm"), "through");
  };
  EXPECT_TRUE(tests(s));
  assume(s, {.pitch_multiple = 64, .base_align = 64});
  EXPECT_FALSE(tests(s));
  const Buffer in = random_buffer(Float(32), {16, 5}, 3);
  expect_matches(scaled(), s, Target::host(), {in}, {Buffer(Float(32), {16, 5})});
}
#endif

}  // namespace
}  // namespace calotype
