// Registers that other threads read: stencils, reversals, transposes, broadcasts and reductions of what lanes
// of a warp or threads of a block hold, of every type, at ragged sizes, against the reference.

#include <gtest/gtest.h>

#include <functional>

#include "calotype/calotype.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"
#include "runtime/nvrtc.h"
#include "schedule/apply.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::expect_stages_match;
using testing::random_buffer;
using testing::targets;

const Var x("x"), y("y");

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string tiles_of(const Pipeline& p, const Schedule& s) {
  return p.compile(s, Target::interpreter("sm_90a")).show("tiles");
}

/// The CUDA C of a kernel for an architecture, compiled to machine code where there is a compiler.
std::string code_of(const Pipeline& p, const Schedule& s, const std::string& arch = "sm_90a") {
  const Target target = Target::cuda(arch);
  const lower::Program program =
      lower::lower(schedule::apply_or_throw(p.graph(), s, target), {.target = target});
  std::string code = cuda::print(program.functions);
  calotype_context context{};
  if (calotype_nvrtc_version(&context) != 0) {
    EXPECT_FALSE(cuda::compile(code, arch, {.cache = false}).cubin.empty()) << code;
  }
  return code;
}

void expect_compiles(const Pipeline& p, const Schedule& s) {
  for (const char* arch : {"sm_80", "sm_90a"}) code_of(p, s, arch);
}

/// On every target: the schedule on GPUs, the defaults on hosts.
void expect_right(const Pipeline& p, const Schedule& s, const std::vector<Buffer>& in,
                  const std::vector<Buffer>& out) {
  for (const Target& target : targets()) {
    expect_matches(p, target.is_gpu() ? s : Schedule(), target, in, out);
    if (target.is_gpu()) expect_stages_match(p, s, target, in);
  }
}

Expr scaled(const Expr& e, Type type) {
  if (type.is_bool()) return !e;
  return type.is_float() ? e * cast(type, 2) : e + cast(type, 1);
}

/// out(x, y) of the elements at x - 1, x and x + 1 of f = a function of the input.
Pipeline blur(Type type = Float(32)) {
  Dim W("W"), H("H");
  ImageParam in(type, {W, H}, "in");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), out("out");
  f(x, y) = scaled(edged(x, y), type);
  out(x, y) = type.is_bool() ? (f(x - 1, y) != f(x, y)) != f(x + 1, y)
                             : f(x - 1, y) + cast(type, 3) * f(x, y) - f(x + 1, y);
  return Pipeline("blur", {in}, {Output(out, {W, H})});
}

/// A tile of so many elements of a row a block, by threads of x.
Schedule row_tiles(int width) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].split("x", "xo", "xi", width).gpu_blocks("xo", "y");
  s["f"].compute_at("out", "xo").store_in(Memory::Register);
  return s;
}

void expect_blurred(const Schedule& s, Type type = Float(32)) {
  for (const std::int64_t w : {1, 2, 29, 30, 31, 32, 33, 64, 65, 131})
    expect_right(blur(type), s, {random_buffer(type, {w, 3}, 7)}, {Buffer(type, {w, 3})});
  expect_compiles(blur(type), s);
}

TEST(LaneReads, NeighboursInOneWarp) {
  Schedule s = row_tiles(30);
  s["out"].gpu_lanes("xi");
  s["f"].gpu_lanes("x");
  expect_blurred(s);
  EXPECT_TRUE(has(tiles_of(blur(), s), "f: converted by shuffles for out")) << tiles_of(blur(), s);
  const std::string code = code_of(blur(), s);
  EXPECT_EQ(count(code, "__shfl_sync("), 2) << code;  // the first one is the thread's own
  EXPECT_EQ(count(code, "__shared__"), 0) << code;
  EXPECT_EQ(count(code, "__syncthreads"), 0) << code;
}

TEST(LaneReads, AHaloInRegistersOfItsOwn) {
  Schedule s = row_tiles(32);
  s["out"].gpu_threads("xi");
  s["f"].split("x", "xr", "xl", 32).gpu_lanes("xl");
  expect_blurred(s);
  EXPECT_TRUE(has(tiles_of(blur(), s), "f: converted by shuffles for out")) << tiles_of(blur(), s);
  for (const Tail tail : {Tail::Guard, Tail::Predicate, Tail::RoundUp}) {
    Schedule t = row_tiles(32);
    t["out"].gpu_threads("xi");
    t["f"].split("x", "xr", "xl", 32, tail).gpu_threads("xl").unroll("xr");
    expect_blurred(t);
  }
}

TEST(LaneReads, ThreadsOfOneWarpThatTheBlockDoesNotFill) {
  for (const int width : {1, 5, 11, 17}) {
    Schedule s = row_tiles(width);
    s["out"].gpu_threads("xi");
    s["f"].gpu_threads("x");
    expect_blurred(s);
    EXPECT_TRUE(has(tiles_of(blur(), s), "f: converted by shuffles for out")) << tiles_of(blur(), s);
  }
}

TEST(LaneReads, ByWarpsThatHoldARowEach) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].split("x", "xo", "xi", 30).split("y", "yo", "yi", 3).reorder("xi", "yi", "xo", "yo");
  s["out"].gpu_blocks("xo", "yo").gpu_lanes("xi").gpu_warps("yi");
  s["f"].compute_at("out", "xo").store_in(Memory::Register).gpu_lanes("x").gpu_warps("y");
  expect_blurred(s);
  EXPECT_TRUE(has(tiles_of(blur(), s), "f: converted by shuffles for out")) << tiles_of(blur(), s);
  // Every warp has all rows.
  Schedule all;
  all["edged"].compute_inline();
  all["out"].split("x", "xo", "xi", 30).split("y", "yo", "yi", 3).reorder("xi", "yi", "xo", "yo");
  all["out"].gpu_blocks("xo", "yo").gpu_lanes("xi").gpu_warps("yi");
  all["f"].compute_at("out", "xo").store_in(Memory::Register).gpu_lanes("x").unroll("y");
  expect_blurred(all);
  EXPECT_TRUE(has(tiles_of(blur(), all), "f: converted by shuffles for out")) << tiles_of(blur(), all);
}

TEST(LaneReads, OfVectors) {
  for (const int vector : {2, 4}) {
    Schedule s = row_tiles(30 * vector);
    s["out"].vectorize("xi", vector).gpu_lanes("xi.o");
    s["f"].split("x", "xt", "xv", vector).split("xt", "xr", "xl", 32).vectorize("xv").gpu_lanes("xl");
    expect_blurred(s);
    EXPECT_TRUE(has(tiles_of(blur(), s), "f: converted by shuffles for out")) << tiles_of(blur(), s);
  }
}

TEST(LaneReads, LoopsOverRegistersInsideAndOutside) {
  for (const bool outside : {false, true})
    for (const bool unrolled : {false, true}) {
      Schedule s = row_tiles(64);
      s["out"].split("xi", "xr", "xl", 32);
      if (!outside) s["out"].reorder("xr", "xl", "xo", "y");
      if (unrolled) s["out"].unroll("xr");
      s["out"].gpu_lanes("xl");
      s["f"].split("x", "xr", "xl", 32).gpu_lanes("xl").unroll("xr");
      expect_blurred(s);
      EXPECT_TRUE(has(tiles_of(blur(), s), "f: converted by shuffles for out")) << tiles_of(blur(), s);
    }
}

TEST(LaneReads, OfEveryType) {
  Schedule s = row_tiles(30);
  s["out"].gpu_lanes("xi");
  s["f"].gpu_lanes("x");
  Schedule vectors = row_tiles(60);
  vectors["out"].vectorize("xi", 2).gpu_lanes("xi.o");
  vectors["f"].vectorize("x", 2).gpu_lanes("x.o");
  for (const Type type : {Float(16), BFloat(16), Float(64), Int(8), UInt(8), Int(16), UInt(16), UInt(32),
                          Int(64), UInt(64), Bool()})
    for (const Schedule& each : {s, vectors}) {
      for (const std::int64_t w : {1, 61, 95})
        expect_right(blur(type), each, {random_buffer(type, {w, 2}, 3)}, {Buffer(type, {w, 2})});
      expect_compiles(blur(type), each);
    }
}

TEST(LaneReads, OfFloatsOfEightBits) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), out("out");
  f(x, y) = cast(E4M3(), edged(x, y));
  out(x, y) = cast<float>(f(x - 1, y)) + cast<float>(f(x + 1, y));
  const Pipeline p("small", {in}, {Output(out, {W, H})});
  Schedule s = row_tiles(30);
  s["out"].gpu_lanes("xi");
  s["f"].gpu_lanes("x");
  for (const std::int64_t w : {1, 30, 77})
    expect_right(p, s, {random_buffer(Float(32), {w, 2}, 3)}, {Buffer(Float(32), {w, 2})});
  expect_compiles(p, s);
}

TEST(LaneReads, OfTuples) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), out("out");
  f(x, y) = Tuple{edged(x, y) * 3, cast<float>(edged(x, y)) + 0.5f};
  out(x, y) = cast<float>(f(x - 1, y)[0]) + f(x + 1, y)[1];
  const Pipeline p("pairs", {in}, {Output(out, {W, H})});
  Schedule s = row_tiles(30);
  s["out"].gpu_lanes("xi");
  s["f"].gpu_lanes("x");
  for (const std::int64_t w : {1, 30, 77})
    expect_right(p, s, {random_buffer(Int(32), {w, 2}, 3)}, {Buffer(Float(32), {w, 2})});
  EXPECT_EQ(count(code_of(p, s), "__shfl_sync("), 1);  // f(x - 1) is the thread's own
}

/// Rows of n elements, read at other places of them.
Pipeline rows(std::int64_t n, const std::function<Expr(Func)>& read) {
  Dim H("H");
  ImageParam in(Int(32), {static_cast<int>(n), H}, "in");
  Func f("f"), out("out");
  f(x, y) = in(x, y) * 3 + cast<int>(x);
  out(x, y) = read(f);
  return Pipeline("rows", {in}, {Output(out, {static_cast<int>(n), H})});
}

Schedule rows_by_lanes() {
  Schedule s;
  s["out"].gpu_blocks("y");
  s["f"].compute_at("out", "y").store_in(Memory::Register);
  return s;
}

void expect_rows(const Pipeline& p, const Schedule& s, std::int64_t n, const char* how) {
  expect_right(p, s, {random_buffer(Int(32), {n, 3}, 5)}, {Buffer(Int(32), {n, 3})});
  EXPECT_TRUE(has(tiles_of(p, s), how)) << tiles_of(p, s);
  expect_compiles(p, s);
}

constexpr const char* kByShuffles = "f: converted by shuffles for out";
constexpr const char* kThroughMemory = "f: converted through shared memory for out";

TEST(LaneReads, Reversed) {
  for (const int n : {1, 2, 7, 32}) {
    Schedule s = rows_by_lanes();
    s["out"].gpu_lanes("x");
    s["f"].gpu_lanes("x");
    const Pipeline p = rows(n, [&](const Func& f) { return f(n - 1 - x, y); });
    if (n > 1)
      expect_rows(p, s, n, kByShuffles);
    else
      expect_right(p, s, {random_buffer(Int(32), {n, 3}, 5)}, {Buffer(Int(32), {n, 3})});
  }
  // Of more elements than lanes the slot moves too.
  for (const int n : {40, 64, 100}) {
    Schedule s = rows_by_lanes();
    s["out"].split("x", "xr", "xl", 32).gpu_lanes("xl");
    s["f"].split("x", "xr", "xl", 32).gpu_lanes("xl");
    expect_rows(rows(n, [&](const Func& f) { return f(n - 1 - x, y); }), s, n, kByShuffles);
  }
}

TEST(LaneReads, RotatedByAnyNumber) {
  for (const int n : {32, 64})
    for (const int by : {1, 5, 31}) {
      Schedule s = rows_by_lanes();
      s["out"].split("x", "xr", "xl", 32).gpu_lanes("xl");
      s["f"].split("x", "xr", "xl", 32).gpu_lanes("xl");
      expect_rows(rows(n, [&](const Func& f) { return f((x + by) % n, y) - f(x / 2 * 2 + 1 - x % 2, y); }), s,
                  n, kByShuffles);
    }
}

TEST(LaneReads, Broadcast) {
  for (const int n : {1, 9, 32}) {
    Schedule s = rows_by_lanes();
    s["out"].gpu_threads("x");
    s["f"].gpu_threads("x");
    const Pipeline p = rows(n, [&](const Func& f) { return f(x, y) - f(n / 2, y) * 2; });
    expect_right(p, s, {random_buffer(Int(32), {n, 3}, 5)}, {Buffer(Int(32), {n, 3})});
    expect_compiles(p, s);
    // By the first thread, which alone writes.
    Schedule first = rows_by_lanes();
    first["f"].gpu_threads("x");
    expect_right(p, first, {random_buffer(Int(32), {n, 3}, 5)}, {Buffer(Int(32), {n, 3})});
    expect_compiles(p, first);
  }
}

TEST(LaneReads, ASelectHidesNoShuffle) {
  Schedule s = rows_by_lanes();
  s["out"].gpu_lanes("x");
  s["f"].gpu_lanes("x");
  const Pipeline p = rows(30, [&](const Func& f) {
    return select(x % 3 == 0, f(clamp(x + 1, 0, 29), y), x > 20, 7, f(clamp(x - 1, 0, 29), y) * 2);
  });
  expect_rows(p, s, 30, kByShuffles);
}

TEST(LaneReads, WhereTheElementIsToldByWhatIsReadMemoryIsUsed) {
  Dim H("H");
  ImageParam in(Int(32), {32, H}, "in"), at(UInt(8), {Expr(32)}, "at");
  Func f("f"), out("out");
  f(x, y) = in(x, y) * 3;
  out(x, y) = f(clamp(cast<int>(at(x)), 0, 31), y);
  const Pipeline p("gather", {in, at}, {Output(out, {32, H})});
  Schedule s = rows_by_lanes();
  s["out"].gpu_lanes("x");
  s["f"].gpu_lanes("x");
  expect_right(p, s, {random_buffer(Int(32), {32, 3}, 5), random_buffer(UInt(8), {32}, 6)},
               {Buffer(Int(32), {32, 3})});
  EXPECT_TRUE(has(tiles_of(p, s), kThroughMemory)) << tiles_of(p, s);
}

TEST(LaneReads, ATransposeInAWarp) {
  for (const int n : {4, 8, 16}) {
    Dim T("T");
    const Var t("t");
    ImageParam in(Float(32), {32, n, T}, "in");
    Func f("f"), out("out");
    f(x, y, t) = in(x, y, t) + 1.0f;
    out(x, y, t) = f(y, x, t);
    const Pipeline p("transpose", {in}, {Output(out, {n, 32, T})});
    Schedule s;
    s["out"].gpu_blocks("t").gpu_lanes("x");
    s["f"].compute_at("out", "t").store_in(Memory::Register).gpu_lanes("x").unroll("y");
    expect_right(p, s, {random_buffer(Float(32), {32, n, 3}, 5)}, {Buffer(Float(32), {n, 32, 3})});
    EXPECT_TRUE(has(tiles_of(p, s), n <= 8 ? kByShuffles : kThroughMemory)) << tiles_of(p, s);
    expect_compiles(p, s);
  }
}

TEST(LaneReads, BySerialReductions) {
  Dim H("H");
  for (const std::int64_t n : {1, 31, 32, 50}) {
    ImageParam in(Int(32), {static_cast<int>(n), H}, "in");
    RDom k(0, static_cast<int>(n), "k");
    Func f("f"), total("total"), out("out");
    f(x, y) = in(x, y) * 3 + cast<int>(x);
    total(y) += f(k, y) * cast<int>(k + 1);
    out(x, y) = total(y) - f(x, y);
    const Pipeline p("weights", {in}, {Output(out, {static_cast<int>(n), H})});
    for (const Memory memory : {Memory::Register, Memory::Shared}) {
      Schedule s;
      s["out"].gpu_blocks("y").split("x", "xr", "xl", 32).gpu_lanes("xl");
      s["total"].compute_at("out", "y").store_in(memory);
      s["f"].compute_at("out", "y").store_in(Memory::Register).split("x", "xr", "xl", 32).gpu_lanes("xl");
      expect_right(p, s, {random_buffer(Int(32), {n, 3}, 5)}, {Buffer(Int(32), {n, 3})});
      EXPECT_TRUE(has(tiles_of(p, s), "f: converted by shuffles for total")) << tiles_of(p, s);
      expect_compiles(p, s);
    }
  }
}

TEST(LaneReads, ByReductionsOfThreads) {
  Dim H("H");
  for (const int n : {2, 20, 31, 32}) {
    ImageParam in(Int(32), {n, H}, "in");
    RDom k(0, n - 1, "k");
    k.where(k % 3 != 1);
    Func f("f"), total("total"), out("out");
    f(x, y) = in(x, y) * 3 + cast<int>(x);
    total(y) += (f(k + 1, y) - f(k, y)) * cast<int>(k + 1);
    out(x, y) = total(y) - f(x, y);
    const Pipeline p("differences", {in}, {Output(out, {n, H})});
    Schedule s;
    s["out"].gpu_blocks("y").gpu_lanes("x");
    s["total"].compute_at("out", "y").store_in(Memory::Register).update().gpu_lanes("k");
    s["f"].compute_at("out", "y").store_in(Memory::Register).gpu_lanes("x");
    expect_right(p, s, {random_buffer(Int(32), {n, 3}, 5)}, {Buffer(Int(32), {n, 3})});
    EXPECT_TRUE(has(tiles_of(p, s), "f: converted by shuffles for total.update(0)")) << tiles_of(p, s);
    expect_compiles(p, s);
  }
}

TEST(LaneReads, AcrossWarps) {
  for (const int width : {62, 64, 100, 256}) {
    Schedule s = row_tiles(width);
    s["out"].gpu_threads("xi");
    s["f"].gpu_threads("x");
    expect_blurred(s);
    const std::string tiles = tiles_of(blur(), s);
    EXPECT_TRUE(has(tiles, kThroughMemory)) << tiles;
    const std::string code = code_of(blur(), s);
    EXPECT_EQ(count(code, "__syncthreads"), 1) << code;
    EXPECT_EQ(count(code, "__shfl_sync("), 0) << code;
  }
  Schedule vectors = row_tiles(256);
  vectors["out"].vectorize("xi", 4).gpu_threads("xi.o");
  vectors["f"].vectorize("x", 4).gpu_threads("x.o");
  for (const Type type : {Float(32), BFloat(16), Int(8), Float(64), Bool()}) expect_blurred(vectors, type);
}

/// 3 x 3 stencil of what threads along x and y hold.
TEST(LaneReads, OfBlocksOfTwoDimensions) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), out("out");
  f(x, y) = edged(x, y) * 2.0f;
  out(x, y) = f(x - 1, y) + f(x + 1, y) + f(x, y - 1) + f(x, y + 1) + f(x, y);
  const Pipeline p("cross", {in}, {Output(out, {W, H})});
  for (const auto& [w, h, how] : std::vector<std::tuple<int, int, const char*>>{
           {6, 2, kByShuffles}, {3, 4, kByShuffles}, {14, 6, kThroughMemory}, {30, 4, kThroughMemory}}) {
    Schedule s;
    s["edged"].compute_inline();
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", w, h).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
    s["f"].compute_at("out", "xo").store_in(Memory::Register).gpu_threads("x", "y");
    for (const auto& [a, b] : std::vector<std::pair<int, int>>{{1, 1}, {7, 5}, {33, 17}})
      expect_right(p, s, {random_buffer(Float(32), {a, b}, 5)}, {Buffer(Float(32), {a, b})});
    EXPECT_TRUE(has(tiles_of(p, s), how)) << tiles_of(p, s);
    expect_compiles(p, s);
  }
  // Rows of 8 threads, of which a warp has 4: neighbours along x are in one warp always.
  Func g("g");
  g(x, y) = edged(x, y) * 2.0f;
  Func across("across");
  across(x, y) = g(x - 1, y) + g(x + 1, y);
  const Pipeline q("across", {in}, {Output(across, {W, H})});
  Schedule s;
  s["edged"].compute_inline();
  s["across"].tile("x", "y", "xo", "yo", "xi", "yi", 6, 8).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s["g"].compute_at("across", "xo").store_in(Memory::Register).gpu_threads("x", "y");
  expect_right(q, s, {random_buffer(Float(32), {33, 17}, 5)}, {Buffer(Float(32), {33, 17})});
  EXPECT_TRUE(has(tiles_of(q, s), "g: converted by shuffles for across")) << tiles_of(q, s);
}

/// A product accumulated in tiles of registers, of which each thread then reads another part.
TEST(LaneReads, OfAccumulators) {
  Dim M("M"), N("N"), K("K");
  ImageParam a(Float(32), {K, M}, "a"), b(Float(32), {N, K}, "b");
  const Var i("i"), j("j");
  RDom k(0, K, "k");
  Func acc("acc"), out("out");
  acc(j, i) += a(k, i) * b(j, k);
  out(j, i) = acc(j, i) + acc(j, i / 2 * 2 + 1 - i % 2) * 2.0f;
  const Pipeline p("products", {a, b}, {Output(out, {N, M})});
  Schedule s;
  s["out"].tile("j", "i", "jo", "io", "ji", "ii", 16, 16).gpu_blocks("jo", "io").gpu_threads("ji", "ii");
  s["acc"].compute_at("out", "jo").store_in(Memory::Register);
  s["acc"].tile("j", "i", "jt", "it", "jr", "ir", 4, 2).gpu_threads("jt", "it").unroll("jr").unroll("ir");
  s["acc"].update().tile("j", "i", "jt", "it", "jr", "ir", 4, 2).reorder("jr", "ir", "k", "jt", "it");
  s["acc"].update().gpu_threads("jt", "it").unroll("jr").unroll("ir");
  for (const auto& [m, n] : std::vector<std::pair<int, int>>{{2, 1}, {16, 16}, {34, 37}})
    expect_right(p, s, {random_buffer(Float(32), {9, m}, 1), random_buffer(Float(32), {n, 9}, 2)},
                 {Buffer(Float(32), {n, m})});
  EXPECT_TRUE(has(tiles_of(p, s), "acc: converted through shared memory for out")) << tiles_of(p, s);
  expect_compiles(p, s);
}

/// What was published in one iteration has been read before the next one is.
TEST(LaneReads, InEachIterationOfALoop) {
  for (const int width : {30, 64}) {
    Schedule s;
    s["edged"].compute_inline();
    s["out"].split("x", "xo", "xi", width).reorder("xi", "y", "xo").gpu_blocks("xo").gpu_threads("xi");
    s["f"].compute_at("out", "y").store_in(Memory::Register).gpu_threads("x");
    for (const std::int64_t w : {1, 30, 77})
      expect_right(blur(), s, {random_buffer(Float(32), {w, 5}, 7)}, {Buffer(Float(32), {w, 5})});
    expect_compiles(blur(), s);
  }
}

TEST(LaneReads, InsideTheThreadsOfAnotherStage) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), g("g"), out("out");
  f(x, y) = edged(x, y) * 2.0f;
  g(x, y) = f(x - 1, y) + f(x + 1, y);
  out(x, y) = g(x, y) * g(x, y);
  const Pipeline p("squares", {in}, {Output(out, {W, H})});
  Schedule s = row_tiles(30);
  s["out"].gpu_lanes("xi");
  s["g"].compute_at("out", "xi");
  s["f"].gpu_lanes("x");
  for (const std::int64_t w : {1, 30, 77})
    expect_right(p, s, {random_buffer(Float(32), {w, 2}, 3)}, {Buffer(Float(32), {w, 2})});
  EXPECT_TRUE(has(tiles_of(p, s), "f: converted through shared memory for g")) << tiles_of(p, s);
}

/// By a stage that the schedule leaves to the compiler to deal out.
TEST(LaneReads, ByStagesThatAreDealtOut) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), g("g"), out("out");
  f(x, y) = edged(x, y) * 2.0f;
  g(x, y) = f(x - 1, y) + f(x + 1, y);
  out(x, y) = g(x - 1, y) * g(x, y);
  const Pipeline p("dealt", {in}, {Output(out, {W, H})});
  Schedule s = row_tiles(28);
  s["out"].gpu_threads("xi");
  s["g"].compute_at("out", "xo").store_in(Memory::Shared);
  s["f"].gpu_threads("x");
  for (const std::int64_t w : {1, 30, 77})
    expect_right(p, s, {random_buffer(Float(32), {w, 2}, 3)}, {Buffer(Float(32), {w, 2})});
  expect_compiles(p, s);
}

/// One layout after the other, each converted to the next.
TEST(LaneReads, InChains) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Func edged = boundary::repeat_edge(in, "edged"), f("f"), g("g"), h("h"), out("out");
  f(x, y) = edged(x, y) * 2.0f;
  g(x, y) = f(x - 1, y) + f(x + 1, y);
  h(x, y) = g(x - 1, y) * g(x, y) + f(x, y);
  out(x, y) = h(x - 1, y) - h(x + 1, y);
  const Pipeline p("chain", {in}, {Output(out, {W, H})});
  for (const int width : {26, 90}) {
    Schedule s = row_tiles(width);
    s["out"].gpu_threads("xi");
    for (const char* name : {"g", "h"}) s[name].compute_at("out", "xo").store_in(Memory::Register);
    for (const char* name : {"f", "g", "h"}) s[name].gpu_threads("x");
    for (const std::int64_t w : {1, 26, 77, 91})
      expect_right(p, s, {random_buffer(Float(32), {w, 2}, 3)}, {Buffer(Float(32), {w, 2})});
    expect_compiles(p, s);
  }
}

// ---- What is left to refuse

TEST(LaneReads, AnUpdateDoesNotReadItsOwnFuncInOtherThreads) {
  Dim H("H");
  ImageParam in(Int(32), {32, H}, "in");
  Func f("f"), out("out");
  RDom k(1, 31, "k");
  f(x, y) = in(x, y);
  f(k, y) += f(k - 1, y);
  out(x, y) = f(x, y);
  const Pipeline p("own", {in}, {Output(out, {32, H})});
  Schedule s;
  s["out"].gpu_blocks("y").gpu_threads("x");
  s["f"].compute_at("out", "y").store_in(Memory::Register).gpu_threads("x");
  const std::vector<Diagnostic> found = s.check(p, Target::interpreter("sm_90a"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].func, "f");
  EXPECT_TRUE(has(found[0].legal, "store_in(Shared)")) << found[0].str();
}

}  // namespace
}  // namespace calotype
