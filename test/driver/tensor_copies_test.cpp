// Tensor copies: boxes that one thread starts and a barrier in shared memory counts; the values of the
// reference for all element sizes, numbers of dimensions, swizzles and ragged ends, in rings and by
// themselves, and calls whose buffers are no tensors.

#include <gtest/gtest.h>

#include <array>

#include "calotype/calotype.h"
#include "codegen/cuda/device_program.h"
#include "runtime/nvrtc.h"
#include "support/centred.h"
#include "support/copies.h"
#include "support/powers.h"
#include "support/run.h"
#include "support/tensors.h"

namespace calotype {
namespace {

using testing::and_on_gpu;
using testing::centred;
using testing::expect_matches;
using testing::powers;
using testing::random_buffer;
using testing::tensor_of;

const Target target = Target::interpreter("sm_90a");
const Var c("c"), x("x"), y("y"), z("z"), u("u"), v("v");
const std::vector<Type> kTypes = {UInt(8), E5M2(), BFloat(16), Float(16), Int(32), Float(32), Float(64)};

/// The call is refused, with every part in the message.
void expect_call_refused(const Kernel& kernel, const std::vector<Arg>& args,
                         const std::vector<std::string>& parts) {
  try {
    kernel.call(args);
    ADD_FAILURE() << "called";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Argument);
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << "\nin\n" << e.what();
  }
}

/// Rows, each as a box.
Schedule rows(int most, int threads, int blocks, int depth) {
  return testing::copied_rows(Copy::Tma, most, threads, blocks, depth);
}

TEST(TensorCopies, RowsOfAllElementSizes) {
  for (const Type type : {UInt(8), BFloat(16), Float(16), Int(32), Float(32), Float(64)})
    for (const int depth : {1, 2, 3})
      for (const std::int64_t k : {1, 15, 16, 64, 77, 100})
        expect_matches(centred(type), rows(100, 32, 2, depth), target,
                       {tensor_of(powers(type, {k, 7}, static_cast<unsigned>(k)))}, {Buffer(type, {k, 7})});
}

// 0, 1, depth - 1, depth and depth + 1 iterations in a block, some blocks one less.
TEST(TensorCopies, AnyNumberOfIterations) {
  for (const int depth : {1, 2, 3, 4})
    for (const std::int64_t n : {0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 12, 13})
      expect_matches(centred(Float(32)), rows(40, 64, 3, depth), target,
                     {powers(Float(32), {40, n}, static_cast<unsigned>(n))}, {Buffer(Float(32), {40, n})});
}

/// out(x, y) = in(x, H - 1 - y), by tiles of 32 by 8.
Pipeline turned(Type type) {
  Dim W("W"), H("H");
  ImageParam in(type, {W, H}, "in");
  Func out("out");
  out(x, y) = in(x, H - 1 - y);
  return Pipeline("turned", {in}, {Output(out, {W, H})});
}

Schedule tiles(int width, int height) {
  Schedule s;
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", width, height).gpu_blocks("xo", "yo");
  s["out"].gpu_threads("xi", "yi");
  s.in("in").compute_at("out", "xo").store_in(Memory::Shared).copy(Copy::Tma);
  return s;
}

/// Tiles that are read from the last row on.
TEST(TensorCopies, TilesOfAllElementSizes) {
  for (const Type type : kTypes)
    for (const auto& [w, h] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {32, 8}, {33, 9}, {64, 17}})
      expect_matches(turned(type), tiles(32, 8), target, {tensor_of(random_buffer(type, {w, h}, 4))},
                     {Buffer(type, {w, h})});
}

/// out(m, n) = x(n, m), rows of `row` bytes swizzled.
TEST(TensorCopies, Swizzles) {
  Dim N("N"), M("M");
  for (const Type type : {UInt(8), E5M2(), BFloat(16), Float(32), Float(64)})
    for (const int row : {32, 64, 128})
      for (const int depth : {1, 2}) {
        ImageParam in(type, {N, M}, "in");
        Var m("m"), n("n");
        Func out("out");
        out(m, n) = in(n, m);
        const Pipeline p("transposed", {in}, {Output(out, {M, N})});
        Schedule s;
        s["out"].tile("m", "n", "mo", "no", "mi", "ni", 16, row / type.bytes()).gpu_blocks("no");
        s["out"].reorder("mi", "ni", "mo", "no").gpu_threads("mi").gpu_threads("ni", 4);
        s.in("in").compute_at("out", "mo").store_in(Memory::Shared).copy(Copy::Tma).swizzle(row);
        if (depth > 1) s["out"].pipeline("mo", depth);
        for (const auto& [w, h] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {128, 32}, {67, 45}})
          expect_matches(p, s, target, {tensor_of(random_buffer(type, {w, h}, 1))}, {Buffer(type, {h, w})});
      }
}

/// Panels of 128 bytes, as operands of matrix products lie: a box each.
TEST(TensorCopies, SwizzledPanels) {
  Dim N("N"), M("M");
  ImageParam in(BFloat(16), {N, M}, "in");
  Func out("out");
  out(x, y) = in(x, y) + in(x, y);
  const Pipeline p("doubled", {in}, {Output(out, {N, M})});
  Schedule s;
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 128, 16).gpu_blocks("xo", "yo");
  s["out"].gpu_threads("xi", 64).gpu_threads("yi", 4);
  Stage panels = s.in("in");
  panels.compute_at("out", "xo").store_in(Memory::Shared).layout({"d0 % 64", "d1", "d0 / 64"}).swizzle(128);
  panels.split("d0", "panel", "k", 64).reorder("k", "d1", "panel").copy(Copy::Tma);
  for (const auto& [w, h] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {128, 16}, {200, 33}})
    expect_matches(p, s, target, {tensor_of(random_buffer(BFloat(16), {w, h}, 2))},
                   {Buffer(BFloat(16), {w, h})});
  EXPECT_NE(
      p.compile(s, Target::interpreter("sm_90a")).show("lowered").find("64 x 16 elements, swizzled by 128"),
      std::string::npos);
}

/// out(x, ...) = in(x + 4, ...) + in(x + 5, ...) over a tensor of `rank` dimensions.
Pipeline shifted(Type type, int rank) {
  const std::vector<Var> all = {x, y, z, u, v};
  const std::vector<Var> vars(all.begin(), all.begin() + rank);
  std::vector<Dim> dims;
  std::vector<Expr> near(vars.begin(), vars.end()), far = near;
  for (int d = 0; d < rank; ++d) dims.emplace_back("N" + std::to_string(d));
  std::vector<Expr> extents(dims.begin(), dims.end());
  extents[0] = extents[0] + 8;
  near[0] = near[0] + 4;
  far[0] = far[0] + 5;
  ImageParam in(type, extents, "in");
  Func out("out");
  out.at(std::vector<Expr>(vars.begin(), vars.end())) = in.at(near) + in.at(far);
  return Pipeline("shifted", {in}, {Output(out, std::vector<Expr>(dims.begin(), dims.end()))});
}

/// Tiles of 16 by 2 by 2 .. as boxes of 20 by 2 by 2 .., a block those of one x.
TEST(TensorCopies, BoxesOfUpToFiveDimensions) {
  const std::vector<std::string> names = {"x", "y", "z", "u", "v"};
  for (const Type type : {Float(32), Int(32)})
    for (int rank = 1; rank <= 5; ++rank) {
      Schedule s;
      std::vector<LoopName> order;
      for (int d = 0; d < rank; ++d)
        s["out"].split(names[d], names[d] + "o", names[d] + "i", d == 0 ? 16 : 2);
      for (int d = 0; d < rank; ++d) order.emplace_back(names[d] + "i");
      for (int d = rank - 1; d >= 0; --d) order.emplace_back(names[d] + "o");
      s["out"].reorder(order).gpu_threads("xi").gpu_blocks("xo");
      s.in("in").compute_at("out", names[rank - 1] + "o").store_in(Memory::Shared).copy(Copy::Tma);
      for (const std::int64_t w : {1, 16, 37}) {
        std::vector<std::int64_t> extents = {w, 3, 2, 1, 5};
        extents.resize(static_cast<std::size_t>(rank));
        std::vector<std::int64_t> larger = extents;
        larger[0] += 8;
        expect_matches(shifted(type, rank), s, target, {tensor_of(random_buffer(type, larger, 3))},
                       {Buffer(type, extents)}, {{"N0", w}});
      }
    }
}

/// Both operands of a product in one ring, counted together; one of them in groups, or in rows.
TEST(TensorCopies, OfOperandsTogether) {
  for (const Copy other : {Copy::Tma, Copy::Bulk, Copy::Async})
    for (const int depth : {1, 2, 4})
      for (const std::int64_t k : {1, 16, 47, 64, 100}) {
        Schedule s = testing::copied_product(1);
        s["A.in(acc)"].copy(Copy::Tma);
        if (other == Copy::Bulk) s["B.in(acc)"].gpu_threads("d1");
        if (other == Copy::Async) s["B.in(acc)"].vectorize("d0", 4);
        s["B.in(acc)"].copy(other);
        if (depth > 1) s["acc"].update().pipeline("ro", depth);
        expect_matches(
            testing::typed_product(Float(32), Float(32)), s, target,
            {tensor_of(random_buffer(Float(32), {k, 18}, 1)), random_buffer(Float(32), {20, k}, 2)},
            {Buffer(Float(32), {20, 18})}, {{"K", k}});
      }
}

/// Operands of 16 bits in boxes whose rows of 128 bytes are swizzled.
TEST(TensorCopies, OfSwizzledOperands) {
  for (const int depth : {1, 3})
    for (const std::int64_t k : {1, 64, 100, 136}) {
      Schedule s;
      s["C"].tile("j", "i", "jo", "io", "ji", "ii", 64, 64).tile("ji", "ii", "jt", "it", "jr", "ir", 4, 8);
      s["C"].gpu_blocks("jo", "io").gpu_threads("jt", "it");
      s["acc"].compute_at("C", "jo").store_in(Memory::Register);
      s["acc"].tile("j", "i", "jt", "it", "jr", "ir", 4, 8).gpu_threads("jt", "it");
      Stage sums = s["acc"].update();
      sums.split("r", "ro", "ri", 64).tile("j", "i", "jt", "it", "jr", "ir", 4, 8);
      sums.reorder("jr", "ir", "ri", "jt", "it", "ro").gpu_threads("jt", "it");
      for (const char* operand : {"A", "B"}) {
        Stage tile = s.in(operand, {"acc"});
        s[tile].compute_at(sums, "ro").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
      }
      if (depth > 1) sums.pipeline("ro", depth);
      expect_matches(testing::typed_product(BFloat(16), Float(32)), s, target,
                     {tensor_of(powers(BFloat(16), {k, 70}, 1)), tensor_of(powers(BFloat(16), {90, k}, 2))},
                     {Buffer(Float(32), {90, 70})}, {{"K", k}});
    }
}

/// A tile by boxes of 4 rows, which the loop around starts.
TEST(TensorCopies, BoxesInALoop) {
  for (const std::int64_t h : {1, 8, 13, 16}) {
    Schedule s = tiles(32, 16);
    s["in.in"].split("d1", "part", "row", 4);
    expect_matches(turned(Float(32)), s, target, {tensor_of(random_buffer(Float(32), {40, h}, 4))},
                   {Buffer(Float(32), {40, h})});
  }
}

/// A part of each row for each block of the cluster, in its own shared memory.
TEST(TensorCopies, RowsDealtOutToClusters) {
  for (const Type type : {Float(32), BFloat(16), UInt(8)})
    for (const int blocks : {1, 2, 4})
      for (const int depth : {1, 2, 3})
        for (const std::int64_t k : {1, 64, 65, 64 * blocks - 3, 64 * blocks})
          if (k <= 64 * blocks)
            expect_matches(centred(type), testing::copied_rows_in_clusters(Copy::Tma, blocks, depth), target,
                           {tensor_of(powers(type, {k, 5}, static_cast<unsigned>(k)))},
                           {Buffer(type, {k, 5})});
}

/// g(x, y) = 2 * in(x, y) at root, of which out sums three rows; its first coordinate is -4 or -1.
struct OfAFunc {
  static Pipeline pipeline() {
    Dim W("W"), H("H");
    ImageParam in(Float(32), {W, H}, "in");
    Func edged = boundary::repeat_edge(in, "edged"), g("g"), out("out");
    g(x, y) = edged(x, y) * 2.0f;
    out(x, y) = g(x - 4, y - 1) + g(x, y) + g(x + 4, y + 1);
    return Pipeline("column", {in}, {Output(out, {W, H})});
  }
  static Schedule schedule(bool aligned) {
    Schedule s;
    s["g"].compute_root().gpu_threads("x", 32).gpu_blocks("y");
    if (aligned) s["g"].align_storage("x", 4);
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
    s.in("g", {"out"}).compute_at("out", "xo").store_in(Memory::Shared).copy(Copy::Tma);
    return s;
  }
};

TEST(TensorCopies, OfAFuncInGlobalMemory) {
  for (const auto& [w, h] : std::vector<std::array<std::int64_t, 2>>{{1, 1}, {32, 4}, {37, 11}, {64, 3}})
    expect_matches(OfAFunc::pipeline(), OfAFunc::schedule(true), target,
                   {random_buffer(Float(32), {w, h}, 5)}, {Buffer(Float(32), {w, h})});
}

/// g is an output as well, in memory of the call.
TEST(TensorCopies, OfAnOutput) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Func g("g"), out("out");
  g(x, y) = in(x, y) * 2.0f;
  out(x, y) = g(x, H - 1 - y) + 1.0f;
  const Pipeline p("both", {in}, {Output(g, {W, H}), Output(out, {W, H})});
  Schedule s;
  s["g"].gpu_threads("x", 32).gpu_blocks("y");
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s.in("g", {"out"}).compute_at("out", "xo").store_in(Memory::Shared).copy(Copy::Tma);
  for (const auto& [w, h] : std::vector<std::array<std::int64_t, 2>>{{4, 1}, {32, 4}, {36, 11}})
    expect_matches(p, s, target, {random_buffer(Float(32), {w, h}, 5)},
                   {Buffer(Float(32), {w, h}), Buffer(Float(32), {w, h})});
  for (const Target& one : and_on_gpu(target)) {
    const Kernel kernel = p.compile(s, one);
    const auto args = [](std::int64_t w) {
      return std::vector<Arg>{random_buffer(Float(32), {w, 3}, 5), Buffer(Float(32), {w, 3}),
                              Buffer(Float(32), {w, 3})};
    };
    expect_call_refused(kernel, args(33), {"g", "stride of dimension 1 is 132 bytes", "copy(tma)"});
  }
}

TEST(TensorCopies, GiveTheValuesOfEachStage) {
  for (const int depth : {1, 2})
    testing::expect_stages_match(centred(Float(32)), rows(40, 32, 2, depth), Target::interpreter("sm_90a"),
                                 {powers(Float(32), {36, 7}, 1)});
}

// ---- Calls that pass no tensors

TEST(TensorCopies, RefuseBuffersThatAreNoTensors) {
  for (const Target& one : and_on_gpu(target)) {
    const Kernel kernel = turned(Float(32)).compile(tiles(32, 8), one);
    const Buffer in = random_buffer(Float(32), {9, 5}, 1), out(Float(32), {9, 5});
    expect_call_refused(kernel, {tensor_of(in, 52), out},
                        {"in", "stride of dimension 1 is 52 bytes", "multiples of 16", "copy(tma)"});
    expect_call_refused(kernel, {tensor_of(in, -48), out},
                        {"in", "stride of dimension 1 is -48 bytes", "positive"});
    std::vector<float> data(200, 1);
    const Buffer apart(Float(32), data.data(), {9, 5}, {2, 20}), same(Float(32), data.data(), {9, 5}, {1, 0});
    expect_call_refused(kernel, {apart, out}, {"in", "dimension 0 has stride 2", "copy(tma)"});
    expect_call_refused(kernel, {same, out}, {"in", "stride of dimension 1 is 0 bytes"});
    EXPECT_NO_THROW(
        kernel.call({tensor_of(random_buffer(Float(32), {9, 1}, 1), 52), Buffer(Float(32), {9, 1})}));
  }
}

TEST(TensorCopies, RefuseFuncsWhoseRowsLieOtherwise) {
  const Kernel kernel = OfAFunc::pipeline().compile(OfAFunc::schedule(false), Target::interpreter("sm_90a"));
  kernel.call({random_buffer(Float(32), {32, 3}, 1), Buffer(Float(32), {32, 3})});
  expect_call_refused(kernel, {random_buffer(Float(32), {33, 3}, 1), Buffer(Float(32), {33, 3})},
                      {"g", "stride of dimension 1 is 164 bytes", "multiples of 16", "align_storage by 4"});
}

TEST(TensorCopies, OtherCallsTakeTheNextCase) {
  for (const Target& one : and_on_gpu(target)) {
    ScheduleFile file("turned", one);
    file.add(turned(Float(32)), {});
    file.add(turned(Float(32)), tiles(32, 8), {.when = {{"W", 8, {}}}});
    const Kernel kernel = turned(Float(32)).compile(file, one);
    const Buffer in = random_buffer(Float(32), {9, 5}, 1);
    const struct {
      Buffer in;
      const char* why;
    } calls[] = {{tensor_of(in), "case 0: W 8 or more; template f32: taken"},
                 {tensor_of(in, 52), "in.pitch is 52 bytes in dimension 1, not a multiple of 16 bytes"},
                 {tensor_of(in, -48), "in.pitch is -48 bytes in dimension 1, not from 16 to below"}};
    for (const auto& call : calls) {
      const Buffer out(Float(32), {9, 5});
      testing::poison(out);
      kernel(call.in, out);
      for (std::int64_t i = 0; i < 45; ++i)
        ASSERT_EQ(out.value({i % 9, i / 9}), in.value({i % 9, 4 - i / 9}));
      EXPECT_NE(kernel.explain({call.in, out}).find(call.why), std::string::npos)
          << kernel.explain({call.in, out});
    }
  }
}

// ---- What is printed

TEST(TensorCopies, ArePrinted) {
  const Kernel kernel = centred(Float(32)).compile(rows(100, 64, 3, 2), Target::interpreter("sm_90a"));
  const std::string lowered = kernel.show("lowered"), plan = kernel.show("plan");
  EXPECT_NE(lowered.find("tensor in.boxes (in, 100 x 1)"), std::string::npos) << lowered;
  EXPECT_NE(lowered.find("box = in at (0, "), std::string::npos) << lowered;
  EXPECT_NE(lowered.find("100 x 1 elements, to turn.full["), std::string::npos) << lowered;
  EXPECT_NE(plan.find("tensor in.boxes (in, 100 x 1) of "), std::string::npos) << plan;
}

TEST(TensorCopies, AreStartedByOneThread) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  for (const char* arch : {"cuda-sm_90a", "cuda-sm_100a"}) {
    const Kernel kernel = centred(Float(32)).compile(rows(100, 64, 3, 2), Target::parse(arch));
    const std::string text = kernel.show("cuda");
    for (const char* part :
         {"struct __align__(128) tensor_map { unsigned char bytes[128]; };",
          "const __grid_constant__ tensor_map in_boxes", "fetch_tensor_map(&in_boxes);",
          "__shared__ __align__(128) float in_in[", "if (thread_in_block() == 0) copy_box_2d(&in_in[",
          ", &in_boxes, 0, ", ", 400, &turn_full[",
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
          "await(&turn_full["})
      EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
    EXPECT_NE(kernel.show("ptx").find("cp.async.bulk.tensor.2d"), std::string::npos);
  }
}

}  // namespace
}  // namespace calotype
