// Asynchronous copies and software pipelines: the values of the reference, for all element sizes, ragged ends
// and numbers of iterations; and nothing that is waited for could be left out.

#include <array>

#include "codegen/cuda/device_program.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"
#include "runtime/nvrtc.h"
#include "schedule/apply.h"
#include "sim/simulator.h"
#include "support/copies.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::async_product;
using testing::random_buffer;
using testing::typed_product;

const Target kInterpreter = Target::interpreter("sm_90a");

/// Type of the operands, of the sums, and the elements of 16 bytes.
struct Element {
  Type type, sum;
  int vector;
};
const std::vector<Element> kElements = {
    {UInt(8), Int(32), 16},    {Int(8), Int(32), 16}, {BFloat(16), Float(32), 8}, {Float(16), Float(32), 8},
    {Float(32), Float(32), 4}, {Int(32), Int(32), 4}, {Float(64), Float(64), 2},  {UInt(64), UInt(64), 2}};

void expect_product(const Element& e, const Schedule& s, std::int64_t m, std::int64_t n, std::int64_t k) {
  testing::expect_matches(typed_product(e.type, e.sum), s, kInterpreter,
                          {random_buffer(e.type, {k, m}, 1), random_buffer(e.type, {n, k}, 2)},
                          {Buffer(e.sum, {n, m})}, {{"K", k}});
}

TEST(AsyncCopies, MatchForAllElementSizes) {
  for (const Element& e : kElements)
    for (const int depth : {1, 3})
      for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
               {1, 1, 1}, {16, 16, 32}, {17, 5, 33}, {9, 35, 15}, {3, 33, 50}})
        expect_product(e, async_product(e.vector, depth), m, n, k);
}

TEST(AsyncCopies, OfSingleElements) {
  for (const Element& e : kElements)
    if (e.type.bytes() >= 4) expect_product(e, async_product(1, 2), 18, 7, 37);
}

TEST(AsyncCopies, OfVectorsOfSeveralPieces) {
  for (const Element& e : kElements)
    if (e.vector <= 8) expect_product(e, async_product(16, 3), 18, 40, 37);
}

// 0, 1, depth - 1, depth and depth + 1 iterations, the last one whole or not.
TEST(SoftwarePipelines, MatchForAnyNumberOfIterations) {
  const Element e{Float(32), Float(32), 4};
  for (const int depth : {2, 3, 4, 5})
    for (const int iterations : {0, 1, depth - 1, depth, depth + 1, 2 * depth + 1})
      for (const int missing : {0, 5})
        if (iterations > 0 || missing == 0)
          expect_product(e, async_product(4, depth), 20, 17, 16 * iterations - missing);
}

TEST(SoftwarePipelines, MatchInsideALoop) {
  const Element e{Float(32), Float(32), 4};
  for (const int depth : {2, 3, 4})
    for (const int inner : {1, 2, 3})
      for (const int k : {0, 1, 16, 47, 48, 49, 100, 144})
        expect_product(e, async_product(4, depth, inner), 17, 17, k);
}

TEST(SoftwarePipelines, OfOneOperandAlone) {
  const Element e{Float(32), Float(32), 4};
  for (const int k : {1, 16, 33, 70}) {
    Schedule s = testing::copied_product(4);
    s["A.in(acc)"].copy(Copy::Async);
    Schedule one;  // the other one is read where it lies
    for (const schedule::Directive& d : s.directives())
      if (d.stage != "B.in(acc)" && !(d.name == "in" && std::get<std::string>(d.args[0].second.data) == "B"))
        one.append(d);
    one["acc"].update().pipeline("ro", 3);
    expect_product(e, one, 17, 18, k);
  }
}

TEST(SoftwarePipelines, GiveTheValuesOfEachStage) {
  for (const int depth : {1, 3})
    testing::expect_stages_match(
        typed_product(Float(32), Float(32)), async_product(4, depth), kInterpreter,
        {random_buffer(Float(32), {37, 18}, 1), random_buffer(Float(32), {21, 37}, 2)});
}

// What is computed at the loop from a copy runs in the iteration that it belongs to.
TEST(SoftwarePipelines, WithOtherStagesAtTheLoop) {
  Dim M("M"), N("N"), K("K");
  ImageParam A(BFloat(16), {K, M}, "A");
  Var i("i"), j("j"), k("k");
  RDom r(0, K, "r");
  Func wide("wide"), acc("acc"), C("C");
  wide(k, i) = cast<float>(A(k, i)) * 2.0f;
  acc(j, i) += wide(r, i) * cast<float>(j + r);
  C(j, i) = acc(j, i);
  const Pipeline p("scaled", {A}, {Output(C, {N, M})});
  Schedule s;
  s["C"].tile("j", "i", "jo", "io", "ji", "ii", 16, 8).gpu_blocks("jo", "io").gpu_threads("ji", "ii");
  s["acc"].compute_at("C", "jo").store_in(Memory::Register).gpu_threads("j", "i");
  s["acc"].update().split("r", "ro", "ri", 16).reorder("ri", "j", "i", "ro").gpu_threads("j", "i");
  Stage copy = s.in("A", {"wide"});
  s["wide"].compute_at(s["acc"].update(), "ro").store_in(Memory::Shared);
  s[copy].compute_at(s["acc"].update(), "ro").store_in(Memory::Shared).vectorize("d0", 8).copy(Copy::Async);
  s["acc"].update().pipeline("ro", 3);
  for (const auto& [m, n, depth] :
       std::vector<std::array<std::int64_t, 3>>{{9, 17, 1}, {8, 16, 48}, {3, 5, 100}})
    testing::expect_matches(p, s, kInterpreter, {random_buffer(BFloat(16), {depth, m}, 3)},
                            {Buffer(Float(32), {n, m})}, {{"N", n}});
}

TEST(AsyncCopies, ThroughABoundaryAndOfAnyStride) {
  Dim W("W"), H("H");
  for (const Type type : {UInt(8), Float(32), E4M3()}) {
    ImageParam in(type, {W, H}, "in");
    Var x("x"), y("y");
    Func edged = boundary::repeat_edge(in, "edged"), out("out");
    out(x, y) = cast<float>(edged(x - 2, y)) + cast<float>(edged(x + 1, y + 1));
    const Pipeline p("edges", {in}, {Output(out, {W, H})});
    Schedule s;
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
    Stage tile = s.in("edged", {"out"});
    s["edged"].compute_inline();
    s[tile].compute_at("out", "xo").store_in(Memory::Shared).vectorize("x", 4).copy(Copy::Async);
    if (type.bytes() < 4) {
      // Clamped coordinates have no neighbours.
      ASSERT_EQ(s.check(p, kInterpreter).size(), 1u);
      EXPECT_NE(s.check(p, kInterpreter)[0].message.find("single elements of 1 byte"), std::string::npos);
    } else {
      testing::expect_matches(p, s, kInterpreter, {random_buffer(type, {45, 7}, 5)},
                              {Buffer(Float(32), {45, 7})});
    }
    Func plain("plain");
    plain(x, y) = cast<float>(in(x, y)) + 1.0f;
    const Pipeline q("plain", {in}, {Output(plain, {W, H})});
    Schedule t;
    t["plain"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
    Stage copy = t.in("in", {"plain"});
    t[copy].compute_at("plain", "xo").store_in(Memory::Shared).vectorize("d0", 4).copy(Copy::Async);
    const Buffer all = random_buffer(type, {90, 7}, 6), every_second(type, all.data(), {45, 7}, {2, 90});
    for (const Buffer& b : {all, every_second})
      testing::expect_matches(q, t, kInterpreter, {b}, {Buffer(Float(32), {b.extent(0), 7})});
  }
}

/// C(j, i) sums A(at(r), i) over r, where at is a table of places in A.
Pipeline gathered() {
  Dim M("M"), N("N"), K("K");
  ImageParam A(Float(32), {K, M}, "A"), places(Int(32), {K}, "places");
  Var i("i"), j("j"), k("k");
  RDom r(0, K, "r");
  Func at("at"), row("row"), acc("acc"), C("C");
  at(k) = places(k) * 5 - 3;
  row(k, i) = A(clamp(at(k), 0, K - 1), i);
  acc(j, i) += row(r, i) * cast<float>(j + 1);
  C(j, i) = acc(j, i);
  return Pipeline("gathered", {A, places}, {Output(C, {N, M})});
}

TEST(AsyncCopies, OfWhereAFuncSays) {
  const auto schedule = [](const std::string& place, int depth) {
    Schedule s;
    s["C"].tile("j", "i", "jo", "io", "ji", "ii", 16, 8).gpu_blocks("jo", "io").gpu_threads("ji", "ii");
    s["acc"].compute_at("C", "jo").store_in(Memory::Register).gpu_threads("j", "i");
    s["acc"].update().split("r", "ro", "ri", 8).reorder("ri", "j", "i", "ro").gpu_threads("j", "i");
    s["row"].compute_at(s["acc"].update(), "ro").store_in(Memory::Shared).copy(Copy::Async);
    if (place == "root")
      s["at"].compute_root();
    else
      s["at"].compute_at(s["acc"].update(), place).store_in(Memory::Shared);
    if (depth > 1) s["acc"].update().pipeline("ro", depth);
    return s;
  };
  Buffer places(Int(32), {37});
  for (std::int64_t k = 0; k < 37; ++k) places.set_value({k}, static_cast<double>(k * 11 % 37));
  for (const Schedule& s : {schedule("root", 1), schedule("root", 3), schedule("ro", 1)})
    testing::expect_matches(gathered(), s, kInterpreter, {random_buffer(Float(32), {37, 9}, 1), places},
                            {Buffer(Float(32), {17, 9})}, {{"N", 17}});
  const std::vector<Diagnostic> found = schedule("ro", 2).check(gathered(), kInterpreter);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].message.find("is computed in the iteration that the copy is to run ahead of"),
            std::string::npos)
      << found[0].str();
}

TEST(AsyncCopies, OfElementsThatAreCopiedTwice) {
  for (const int depth : {1, 3}) {
    Schedule s = testing::copied_product(1);
    for (const char* copy : {"A.in(acc)", "B.in(acc)"})
      s[copy].split("d1", "d1o", "d1i", 6, Tail::ShiftInwards).gpu_threads("d0", "d1i").copy(Copy::Async);
    if (depth > 1) s["acc"].update().pipeline("ro", depth);
    expect_product({Float(32), Float(32), 4}, s, 16, 16, 48);
  }
}

// ---- Code

lower::Program program_of(const Schedule& s, const Element& e,
                          const Target& target = Target::cuda("sm_90a")) {
  return lower::lower(schedule::apply_or_throw(typed_product(e.type, e.sum).graph(), s, target),
                      {.target = target});
}

std::string code_of(const Schedule& s, const Element& e) {
  const lower::Program program = program_of(s, e);
  return cuda::print(program.functions,
                     {.aligned_arguments = true, .facts = cuda::aligned_stride_facts(program)});
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(AsyncCopies, AreAsWideAsMemoryAllows) {
  for (const Element& e : kElements) {
    const std::string aligned = code_of(async_product(e.vector, 3), e);
    EXPECT_EQ(count(aligned, "copy_async_16(&"), 4) << aligned;  // two before the loop, two in it
    EXPECT_EQ(count(aligned, "commit_copies();"), 2) << aligned;
    EXPECT_EQ(count(aligned, "wait_copies<1>();"), 1) << aligned;
    EXPECT_EQ(count(aligned, "__syncthreads();"), 1) << aligned;
    const std::string general = cuda::print(program_of(async_product(e.vector, 3), e).functions);
    EXPECT_EQ(count(general, "copy_async_16(&"), 0) << general;
    EXPECT_EQ(count(general, "copy_async_") > 0, e.type.bytes() >= 4) << general;
  }
}

TEST(AsyncCopies, CompileForEachArchitecture) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  for (const Element& e : kElements)
    for (const Schedule& s : {async_product(e.vector, 1), async_product(e.vector, 4), async_product(16, 2)})
      for (const char* arch : {"sm_80", "sm_90a"}) {
        if (e.vector > 8 && s == async_product(16, 2)) continue;
        EXPECT_EQ(cuda::compile(code_of(s, e), arch, {.cache = false}).kernels.size(), 1u);
        EXPECT_EQ(
            cuda::compile(cuda::print(program_of(s, e).functions), arch, {.cache = false}).kernels.size(),
            1u);
      }
}

// ---- Nothing is superfluous

/// The statement without its n-th synchronisation of that kind; false if it has fewer.
bool drop_sync(ir::Stmt& body, ir::SyncInfo::Kind kind, int n) {
  int seen = 0;
  body = ir::rewrite(body, [&](const ir::Stmt& s) -> ir::Stmt {
    if (s->kind != ir::StmtKind::Barrier || s->sync().kind != kind || seen++ != n) return s;
    return ir::block({});
  });
  return seen > n;
}

/// Findings of the only kernel of the program on a product of 24 x 24 and 16 * iterations.
sim::Report simulate(const lower::Program& program, std::int64_t iterations) {
  const std::int64_t k = 16 * iterations;
  Buffer a = random_buffer(Float(32), {k, 24}, 1), b = random_buffer(Float(32), {24, k}, 2),
         c(Float(32), {24, 24});
  sim::Launch launch{.grid = {2, 2, 1}, .block = {16, 16, 1}};
  const lower::Function& f = program.functions.front();
  for (const ir::SymbolPtr& s : f.scalars)
    launch.scalars.push_back(s->name == "K" || s->name.starts_with("A.stride") ? k : 24);
  for (const ir::BufferPtr& buffer : f.buffers) {
    const Buffer& data = buffer->name == "A" ? a : buffer->name == "B" ? b : c;
    launch.buffers.push_back({data.data(), 0, data.elements() * 4});
  }
  return sim::Kernel(f).run(launch);
}

TEST(SoftwarePipelines, NeedEverySynchronisation) {
  const Element e{Float(32), Float(32), 4};
  for (const int depth : {1, 2, 3, 4}) {
    const lower::Program whole = program_of(async_product(4, depth), e, kInterpreter);
    EXPECT_TRUE(simulate(whole, 7).clean()) << to_string(simulate(whole, 7));
    int dropped = 0;
    for (const auto kind : {ir::SyncInfo::Kind::Block, ir::SyncInfo::Kind::Commit, ir::SyncInfo::Kind::Wait})
      for (int n = 0;; ++n, ++dropped) {
        lower::Program program = whole;
        if (!drop_sync(program.functions.front().body, kind, n)) break;
        EXPECT_FALSE(simulate(program, 7).clean())
            << depth << ": " << static_cast<int>(kind) << " " << n << "\n"
            << to_string(program.functions.front());
      }
    EXPECT_GE(dropped, 4);
  }
}

}  // namespace
}  // namespace calotype
