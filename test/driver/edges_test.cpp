// Edges of partitioned loops: every size around the widths of vectors, blocks and strips, on dense and
// interleaved images, agrees with the reference.

#include "support/run.h"

namespace calotype {
namespace {

#ifdef CALOTYPE_HAS_LLVM

struct Blur {
  explicit Blur(Type type) : type(type) {
    Dim W("W"), H("H");
    ImageParam in(type, {W, H}, "in");
    Var x("x"), y("y");
    Func edged = boundary::repeat_edge(in, "edged");
    Func across("across"), out("out");
    const Type wide = type.is_float() ? type : Int(32);
    auto at = [&](Expr i) { return cast(wide, edged(i, y)); };
    across(x, y) = at(x - 2) + at(x) * 3 + at(x + 1);
    out(x, y) = cast(type, across(x, y - 1) + across(x, y) * 2 - across(x, y + 2));
    pipeline.emplace("blur", std::vector<Input>{in}, std::vector<Output>{Output(out, {W, H})});
  }

  // Rows of vectors in blocks; the clamped reads stay in the middle stage, or have a stage of their own.
  Schedule blocks(int vector, int rows, bool staged) const {
    Schedule s;
    s["out"]
        .split("y", "yo", "yi", 4 * rows)
        .split("yi", "yb", "row", rows)
        .split("x", "xo", "lane", vector)
        .reorder("lane", "row", "xo", "yb", "yo")
        .vectorize("lane")
        .unroll("row");
    s["across"].compute_at("out", "xo").store_in(Memory::Stack).vectorize("x", vector).unroll("y");
    if (staged)
      s["edged"].store_at("out", "yo").compute_at("out", "yb").vectorize("x", vector);
    else
      s["edged"].compute_inline();
    return s;
  }

  // Compiled once for all sizes.
  void expect_right_at_all_sizes(const Schedule& schedule, int channels) const {
    const Kernel kernel = pipeline->compile(schedule, Target::host());
    for (std::int64_t w : {1, 2, 3, 7, 8, 15, 16, 17, 18, 31, 32, 33, 34, 47, 48, 63, 64, 65, 66, 97})
      for (std::int64_t h : {1, 3, 4, 5, 8, 15, 16, 17, 21}) {
        const Buffer from = testing::random_buffer(type, {channels, w, h}, 7), to(type, {channels, w, h});
        const Buffer in = last_channel(from), out = last_channel(to);
        testing::poison(out);
        kernel.call({in, out});
        const auto result = lang::compare_with_reference(out, pipeline->evaluate({in}, {}, {}), 0, false);
        ASSERT_TRUE(result.ok) << w << " x " << h << "\n" << schedule.str() << "\n" << result.str();
      }
  }

  // Channels are innermost; what lies between the samples belongs to the others.
  static Buffer last_channel(const Buffer& image) {
    const std::int64_t channels = image.extent(0);
    auto* data = static_cast<std::byte*>(image.data()) + (channels - 1) * image.type().bytes();
    return Buffer(image.type(), data, {image.extent(1), image.extent(2)},
                  {channels, channels * image.extent(1)});
  }

  Type type;
  std::optional<Pipeline> pipeline;
};

TEST(Edges, OfBlocksWithClampedReads) {
  for (Type type : {Float(32), UInt(8)}) {
    const Blur blur(type);
    for (int vector : {8, 16, 32}) blur.expect_right_at_all_sizes(blur.blocks(vector, 4, false), 1);
  }
}

TEST(Edges, OfBlocksOfInterleavedImages) {
  for (Type type : {Float(32), UInt(8)}) {
    const Blur blur(type);
    for (bool staged : {false, true}) blur.expect_right_at_all_sizes(blur.blocks(16, 4, staged), 3);
  }
}

TEST(Edges, OfStagesOfTheirOwn) {
  const Blur blur(Int(16));
  for (int vector : {4, 16, 32}) blur.expect_right_at_all_sizes(blur.blocks(vector, 3, true), 1);
}

TEST(Edges, WithoutAnySchedule) {
  for (Type type : {Float(32), UInt(8)}) Blur(type).expect_right_at_all_sizes({}, 1);
}

#endif

}  // namespace
}  // namespace calotype
