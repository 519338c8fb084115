// Funcs with several values under schedules, for the host and for the interpreter of kernels, against the
// reference.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::expect_stages_match;
using testing::random_buffer;
using testing::targets;

const Var x("x"), y("y");

/// Each update of a step needs both values from before it.
Pipeline swaps() {
  Dim N("N"), K("K");
  RDom k(0, K, "k");
  ImageParam in(Int(32), {N, K}, "in");
  Func f("f");
  f(x) = Tuple(cast<int>(x), cast<int>(x) * 2);
  f(x) = Tuple(f(x)[1] + in(x, k), f(x)[0] - in(x, k));
  return Pipeline("swaps", {in}, {Output(f, {N})});
}

/// Mean and variance of rows from one pass over them, then rows less the mean: the Tuple is no output.
Pipeline moments() {
  Dim N("N"), R("R");
  ImageParam in(Float(32), {N, R}, "in");
  RDom k(0, N, "k");
  Func sums("sums"), stats("stats"), out("out");
  sums(y) = Tuple(0.0f, 0.0f);
  sums(y) = Tuple(sums(y)[0] + in(k, y), sums(y)[1] + in(k, y) * in(k, y));
  const Expr n = cast<float>(N);
  stats(y) = Tuple(sums(y)[0] / n, sums(y)[1] / n);
  out(x, y) = in(x, y) - stats(y)[0] * stats(y)[1];
  return Pipeline("moments", {in}, {Output(out, {N, R})});
}

Pipeline largest() {
  Dim N("N"), R("R");
  ImageParam in(Float(32), {N, R}, "in");
  RDom k(0, N, "k");
  Func out("out");
  const Tuple most = argmax(in(k, y), "most");
  out(y) = Tuple(cast<int>(most[0]), most[1]);
  return Pipeline("largest", {in}, {Output(out, {R})});
}

/// Every schedule on rows of many lengths: `host` by the CPU, `gpu` by the interpreter of kernels.
void try_all(const Pipeline& pipeline, const std::vector<Schedule>& host, const std::vector<Schedule>& gpu) {
  const lang::Graph& graph = pipeline.graph();
  for (const Target& target : targets())
    for (const std::int64_t n : {1, 2, 7, 16, 33})
      for (const std::int64_t r : {1, 5, 19}) {
        const Buffer input = random_buffer(graph.inputs[0].type, {n, r}, static_cast<unsigned>(n + 100 * r));
        std::vector<Buffer> outputs;
        for (const lang::OutputDef& o : graph.outputs) {
          std::vector<std::int64_t> extents;
          for (const Expr& e : o.extents) extents.push_back(ir::equal(e, graph.inputs[0].extents[0]) ? n : r);
          outputs.emplace_back(graph.output_type(o), extents);
        }
        for (const Schedule& schedule : target.is_gpu() ? gpu : host)
          expect_matches(pipeline, schedule, target, {input}, outputs);
      }
}

TEST(Tuples, UpdatesThatNeedAllValuesFromBefore) {
  Schedule vectors, tiles, unrolled, parallel, threads;
  vectors["f"].vectorize("x", 8);
  vectors["f"].update().reorder("x", "k").vectorize("x", 8);
  tiles["f"].update().split("x", 4).reorder("x.i", "k", "x.o");
  unrolled["f"].update().unroll("x", 2, Tail::Guard);
  parallel["f"].update().split("x", 4).parallel("x.o").vectorize("x.i");
  for (Stage stage : {threads["f"], threads["f"].update()})
    stage.split("x", "block", "thread", 8, Tail::Guard).gpu_blocks("block").gpu_threads("thread");
  try_all(swaps(), {Schedule{}, vectors, tiles, unrolled, parallel}, {Schedule{}, threads});
}

TEST(Tuples, OnTheWay) {
  Schedule root, at, inlined, copied;
  root["stats"].compute_root();
  at["stats"].compute_at("out", "y");
  at["sums"].compute_at("out", "y");
  inlined["stats"].compute_inline();
  copied.in("sums", {"stats"}).compute_root();
  Schedule shared, registers;
  shared["out"].gpu_blocks("y").gpu_threads("x", 32);
  shared["sums"].compute_at("out", "y").store_in(Memory::Shared);
  shared["stats"].compute_at("out", "y");
  registers["out"].gpu_blocks("y").gpu_threads("x", 32);
  registers["sums"].compute_at("out", "x.t").store_in(Memory::Register);
  registers["stats"].compute_at("out", "x.t").store_in(Memory::Local);
  try_all(moments(), {Schedule{}, root, at, inlined, copied}, {Schedule{}, shared, registers});
}

TEST(Tuples, LargestOfRows) {
  Schedule split, at, blocks;
  split["most"].compute_root().update().split("y", 3).reorder("k", "y.i", "y.o");
  at["most"].compute_at("out", "y");
  blocks["out"].gpu_blocks("y");
  blocks["most"].compute_at("out", "y");
  try_all(largest(), {Schedule{}, split, at}, {Schedule{}, blocks});
}

TEST(Tuples, PartialResults) {
  Schedule chunks, parallel, blocks;
  chunks["most"].update().split("k", "ko", "ki", 8).rfactor({{"ko", "u"}}, "part");
  parallel = chunks;
  parallel["part"].compute_root().update().parallel("y").vectorize("u", 4).reorder("u.v", "ki", "u.o", "y");
  blocks["out"].gpu_blocks("y");
  blocks["most"].compute_at("out", "y").update().split("k", "ko", "ki", 8).rfactor({{"ko", "u"}}, "part");
  blocks["part"].compute_at("out", "y").bound("u", 0, 5);
  blocks["part"].update().gpu_threads("u");
  const Pipeline p = largest();
  try_all(p, {chunks, parallel}, {});

  Schedule sums;
  sums["sums"].update().split("k", "ko", "ki", 4).rfactor({{"ki", "u"}}, "part");
  sums["part"].vectorize("u", 4).update().reorder("u", "ko", "y").vectorize("u", 4);
  try_all(moments(), {sums}, {});
}

TEST(Tuples, BitsAndLogicAreReductions) {
  Dim N("N"), R("R");
  ImageParam in(Int(32), {N, R}, "in");
  RDom k(0, N, "k");
  Func f("f"), out("out");
  f(y) = Tuple(cast<int>(-1), cast<int>(0), cast<int>(0), cast<bool>(true), cast<bool>(false));
  const Expr v = in(k, y);
  f(y) = Tuple(f(y)[0] & v, f(y)[1] | v, v ^ f(y)[2], f(y)[3] && v > -7, v == 3 || f(y)[4]);
  out(y) = Tuple(f(y)[0], f(y)[1], f(y)[2], cast<int>(f(y)[3]) + cast<int>(f(y)[4]));
  Schedule s;
  s["f"].update().split("k", "ko", "ki", 4).rfactor({{"ki", "u"}}, "part");
  try_all(Pipeline("bits", {in}, {Output(out, {R})}), {Schedule{}, s}, {Schedule{}});
}

TEST(Tuples, StagesAreStoredByComponent) {
  const Pipeline p = moments();
  Schedule host, gpu;
  host["stats"].compute_at("out", "y");
  gpu["out"].gpu_blocks("y").gpu_threads("x", 32);
  gpu["stats"].compute_at("out", "y");
  for (const Target& target : targets()) {
    const Buffer input = random_buffer(Float(32), {9, 4}, 2);
    const Schedule& s = target.is_gpu() ? gpu : host;
    expect_stages_match(p, s, target, {input});
    std::vector<std::string> names;
    for (const auto& stage : testing::compared_stages(p, s, target, {input})) names.push_back(stage.name);
    EXPECT_EQ(names, (std::vector<std::string>{"sums.0", "sums.1", "stats.0", "stats.1", "out"}));
  }
}

TEST(Tuples, OutputsHaveOneShape) {
  const Pipeline p = largest();
  const Kernel kernel = p.compile(Schedule{}, targets()[0]);
  const Buffer input = random_buffer(Float(32), {9, 4}, 2);
  try {
    kernel(input, Buffer(Int(32), {4}), Buffer(Float(32), {5}));
    FAIL() << "outputs of two shapes were taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.diagnostic().kind, ErrorKind::Argument) << e.what();
    EXPECT_NE(std::string(e.what()).find("out.1"), std::string::npos) << e.what();
  }
}

TEST(Tuples, AValueThatIsKeptIsNotStored) {
  Dim N("N");
  Func f("f");
  f(x) = Tuple(cast<int>(x), cast<int>(x) * 2);
  f(x)[1] += 5;
  const Pipeline p("kept", {}, {Output(f, {N})});
  for (const Target& target : targets()) {
    const std::string text = p.compile(Schedule{}, target).show("lowered");
    EXPECT_EQ(text.find("= f.0["), std::string::npos) << text;
    EXPECT_NE(text.find("= f.1["), std::string::npos) << text;
    expect_matches(p, Schedule{}, target, {}, {Buffer(Int(32), {13}), Buffer(Int(32), {13})}, {{"N", 13}});
  }
}

}  // namespace
}  // namespace calotype
