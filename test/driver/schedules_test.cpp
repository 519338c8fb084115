// The same algorithms under many schedules, on the host and (lowered for a GPU) on the interpreter, each
// compared with the reference evaluator on random inputs of ragged sizes.

#include <atomic>
#include <functional>
#include <thread>

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::expect_matches;
using testing::random_buffer;

/// A pipeline with inputs and outputs of one size.
struct Case {
  Pipeline pipeline;
  std::vector<Buffer> inputs, outputs;
};

using Edit = std::function<void(Schedule&)>;

#ifdef CALOTYPE_HAS_LLVM
const Target kHost = Target::host();
#endif
const Target kInterpreter = Target::interpreter("sm_90a");

Case stencil(std::int64_t w, std::int64_t h) {
  return {testing::stencil(), {random_buffer(Float(32), {w, h}, 1)}, {Buffer(Float(32), {w, h})}};
}

Case product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {testing::product(),
          {random_buffer(Float(32), {k, m}, 2), random_buffer(Float(32), {n, k}, 3)},
          {Buffer(Float(32), {n, m})}};
}

Case row_sums(std::int64_t n, std::int64_t rows) {
  return {testing::row_sums(), {random_buffer(Float(32), {n, rows}, 4)}, {Buffer(Float(32), {n, rows})}};
}

void run_all(const std::function<Case(int)>& make, int sizes, const Target& target,
             const std::vector<Edit>& edits) {
  for (int size = 0; size < sizes; ++size)
    for (std::size_t e = 0; e < edits.size(); ++e) {
      SCOPED_TRACE("size " + std::to_string(size) + ", schedule " + std::to_string(e));
      Case c = make(size);
      Schedule s;
      edits[e](s);
      expect_matches(c.pipeline, s, target, c.inputs, c.outputs);
      testing::expect_stages_match(c.pipeline, s, target, c.inputs);
      if (::testing::Test::HasFailure()) return;
    }
}

Case stencil_of_size(int i) {
  const std::int64_t w[] = {1, 7, 31, 64, 130}, h[] = {1, 3, 17, 64, 37};
  return stencil(w[i], h[i]);
}
Case product_of_size(int i) {
  const std::int64_t m[] = {1, 7, 31, 48}, n[] = {1, 5, 37, 64}, k[] = {1, 9, 17, 32};
  return product(m[i], n[i], k[i]);
}
Case rows_of_size(int i) {
  const std::int64_t n[] = {1, 7, 100, 256}, r[] = {1, 3, 5, 8};
  return row_sums(n[i], r[i]);
}

#ifdef CALOTYPE_HAS_LLVM

TEST(HostSchedules, Stencil) {
  run_all(stencil_of_size, 5, kHost,
          {
              [](Schedule&) {},
              [](Schedule& s) {
                s["edged"].compute_root();
                s["bx"].compute_root();
                s["out"].compute_root().serial("y");
              },
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["bx"].compute_inline();
                s["out"].vectorize("x", 8);
              },
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["bx"].compute_at("out", "y");
                s["out"].serial("y");
              },
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["bx"].compute_at("out", "y").vectorize("x", 8);
                s["out"].vectorize("x", 8).parallel("y");
              },
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["bx"].store_root().compute_at("out", "y");
                s["out"].serial("y");
              },
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["bx"].store_root().compute_at("out", "y").vectorize("x", 8);
                s["out"].vectorize("x", 8);
              },
              [](Schedule& s) {
                s["edged"].store_root().compute_at("out", "y");
                s["bx"].store_root().compute_at("out", "y");
                s["out"].serial("y");
              },
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["out"].split("y", "yo", "yi", 8).reorder("x", "yi", "yo").vectorize("x", 8).parallel("yo");
                s["bx"].store_at("out", "yo").compute_at("out", "yi").vectorize("x", 8);
              },
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4).vectorize("xi", 4).unroll("yi");
                s["bx"].compute_at("out", "xo").vectorize("x", 4);
              },
              [](Schedule& s) {
                s["edged"].compute_at("out", "yo");
                s["out"]
                    .split("y", "yo", "yi", 5, Tail::Guard)
                    .split("x", "xo", "xi", 8, Tail::Predicate)
                    .vectorize("xi");
                s["bx"].compute_at("out", "yo").split("x", "xo", "xi", 8, Tail::RoundUp).vectorize("xi");
              },
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["out"]
                    .split("x", "xo", "xi", 6, Tail::Guard)
                    .vectorize("xi")
                    .fuse("xo", "y", "f")
                    .parallel("f");
                s["bx"].compute_at("out", "f");
              },
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["bx"]
                    .compute_root()
                    .split("x", "xo", "xi", 8, Tail::ShiftInwards)
                    .vectorize("xi")
                    .split("y", "yo", "yi", 3)
                    .unroll("yi");
                s["out"].reorder("y", "x").unroll("y", 3).serial("x");
              },
              [](Schedule& s) {
                s["edged"].store_root().compute_at("out", "x");
                s["bx"].store_root().compute_at("out", "x");
                s["out"].serial("y");
              },
          });
}

TEST(HostSchedules, ShiftInwardsOnAnOutput) {
  for (std::int64_t w : {16, 17, 31, 64}) {
    Case c = stencil(w, 9);
    Schedule s;
    s["edged"].compute_inline();
    s["bx"].compute_at("out", "y").vectorize("x", 8);
    s["out"].split("x", "xo", "xi", 16, Tail::ShiftInwards).vectorize("xi", 8).parallel("y");
    expect_matches(c.pipeline, s, kHost, c.inputs, c.outputs);
  }
}

TEST(HostSchedules, Product) {
  run_all(product_of_size, 4, kHost,
          {
              [](Schedule&) {},
              [](Schedule& s) {
                s["acc"].compute_root();
                s["C"].compute_root().serial("i");
              },
              [](Schedule& s) {
                s["acc"].compute_at("C", "j");
                s["C"].serial("i");
              },
              [](Schedule& s) {
                s["acc"].compute_root().vectorize("j", 8);
                s["acc"].update().reorder("j", "r", "i").vectorize("j", 8).parallel("i");
                s["C"].vectorize("j", 8);
              },
              [](Schedule& s) {
                s["C"]
                    .tile("j", "i", "jo", "io", "ji", "ii", 16, 4)
                    .vectorize("ji", 8)
                    .unroll("ii")
                    .parallel("io");
                s["acc"].compute_at("C", "jo").store_in(Memory::Stack).vectorize("j", 8).unroll("i");
                s["acc"].update().reorder("j", "i", "r").vectorize("j", 8).unroll("j.o").unroll("i");
              },
              [](Schedule& s) {
                s["C"].compute_root().parallel("i");
                s["acc"].compute_root();
                s["acc"].update().split("r", "ro", "ri", 4);
                Stage partial = s["acc"].update().rfactor({{"ri", "u"}}, "partial");
                s[partial].compute_at("acc.update(0)", "i");
              },
          });
}

TEST(HostSchedules, RowSums) {
  run_all(rows_of_size, 4, kHost,
          {
              [](Schedule&) {},
              [](Schedule& s) {
                s["total"].compute_at("out", "y");
                s["out"].vectorize("x", 8).parallel("y");
              },
              [](Schedule& s) {
                s["out"].vectorize("x", 8).parallel("y");
                s["total"].compute_at("out", "y");
                s["total"].update().split("k", "ko", "ki", 8);
                Stage lanes = s["total"].update().rfactor({{"ki", "lane"}}, "lanes");
                s[lanes].compute_at("out", "y").vectorize("lane");
                s[lanes].update().reorder("lane", "ko").vectorize("lane");
              },
              [](Schedule& s) {
                Stage copy = s.in("in", {"total"});
                s[copy].compute_at("out", "y");
                s["total"].compute_at("out", "y");
                s["out"].serial("y");
              },
          });
}

TEST(HostSchedules, LanesOfAFactoredSumEndApart) {
  for (std::int64_t n : {1, 7, 30, 64}) {
    Dim N("N");
    ImageParam a(Float(32), {N}, "a");
    RDom k(0, N, "k");
    Func total("total");
    total() += a(k);
    Pipeline pipeline("total", {a}, {Output(total, {})});
    Schedule s;
    s["total"].update().split("k", "ko", "ki", 4);
    s["total"].update().rfactor({{"ki", "lane"}}, "lanes");
    expect_matches(pipeline, s, kHost, {random_buffer(Float(32), {n}, 9)},
                   {Buffer(Float(32), std::vector<std::int64_t>{})});
  }
}

TEST(HostSchedules, StridedAndCroppedBuffers) {
  Case c = stencil(20, 10);
  // Interleaved in, padded rows out.
  Buffer interleaved(Float(32), {3, 20, 10});
  Buffer in = Buffer(Float(32), interleaved.data(), {20, 10}, {3, 60});
  for (std::int64_t y = 0; y < 10; ++y)
    for (std::int64_t x = 0; x < 20; ++x) in.set_value({x, y}, c.inputs[0].value({x, y}));
  Buffer padded(Float(32), {32, 10});
  padded.fill(7);
  Buffer out(Float(32), padded.data(), {20, 10}, {1, 32});
  Schedule s;
  s["out"].vectorize("x", 8).parallel("y");
  expect_matches(c.pipeline, s, kHost, {in}, {out});
  for (std::int64_t y = 0; y < 10; ++y)
    for (std::int64_t x = 20; x < 32; ++x) EXPECT_EQ(padded.value({x, y}), 7) << x << "," << y;
  Buffer column_major(Float(32), {10, 20});
  expect_matches(c.pipeline, s, kHost, {in}, {column_major.transpose({1, 0})});
}

TEST(HostSchedules, OneAlgorithmManySchedulesFromManyThreads) {
  Case c = stencil(64, 33);
  const Evaluation reference = c.pipeline.evaluate(c.inputs);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Schedule s;
      s["edged"].compute_inline();
      s["bx"].compute_at("out", "y");
      s["out"].vectorize("x", 4 << (t % 3)).parallel("y");
      Kernel kernel = c.pipeline.compile(s, kHost);
      Buffer out(Float(32), {64, 33});
      for (int i = 0; i < 5; ++i) {
        testing::poison(out);
        kernel(c.inputs[0], out);
        good += lang::compare_with_reference(out, reference, 0, false).ok;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(good, 20);
}

#endif  // CALOTYPE_HAS_LLVM

TEST(GpuSchedules, Stencil) {
  run_all(stencil_of_size, 5, kInterpreter,
          {
              [](Schedule&) {},
              [](Schedule& s) {
                s["edged"].compute_inline();
                s["bx"].compute_inline();
                s["out"]
                    .tile("x", "y", "xo", "yo", "xi", "yi", 16, 4)
                    .gpu_blocks("xo", "yo")
                    .gpu_threads("xi", "yi");
              },
              [](Schedule& s) {  // a tile in shared memory, dealt out by hand
                s["edged"].compute_inline();
                s["out"]
                    .tile("x", "y", "xo", "yo", "xi", "yi", 16, 4)
                    .gpu_blocks("xo", "yo")
                    .gpu_threads("xi", "yi");
                s["bx"].compute_at("out", "xo").store_in(Memory::Shared).gpu_threads("x", "y");
              },
              [](Schedule& s) {  // the same, left to inference
                s["edged"].compute_inline();
                s["out"]
                    .tile("x", "y", "xo", "yo", "xi", "yi", 16, 4)
                    .gpu_blocks("xo", "yo")
                    .gpu_threads("xi", "yi");
                s["bx"].compute_at("out", "xo");
              },
              [](Schedule& s) {  // two shared stages
                s["out"]
                    .tile("x", "y", "xo", "yo", "xi", "yi", 8, 8)
                    .gpu_blocks("xo", "yo")
                    .gpu_threads("xi", "yi");
                s["edged"].compute_at("out", "xo").store_in(Memory::Shared);
                s["bx"].compute_at("out", "xo").store_in(Memory::Shared);
              },
              [](Schedule& s) {  // rows in a loop inside the block: shared storage is written again in each
                s["edged"].compute_inline();
                s["out"]
                    .split("y", "yo", "yi", 4)
                    .split("x", "xo", "xi", 32)
                    .reorder("xi", "yi", "xo", "yo")
                    .gpu_blocks("xo", "yo")
                    .gpu_threads("xi");
                s["bx"].compute_at("out", "yi").store_in(Memory::Shared);
              },
              [](Schedule& s) {  // private to the thread
                s["edged"].compute_inline();
                s["out"]
                    .tile("x", "y", "xo", "yo", "xi", "yi", 16, 4)
                    .gpu_blocks("xo", "yo")
                    .gpu_threads("xi", "yi");
                s["bx"].compute_at("out", "xi").store_in(Memory::Local);
              },
              [](Schedule& s) {  // kernels at root
                s["edged"].compute_inline();
                s["bx"].compute_root().gpu_blocks("y").gpu_threads("x", 32);
                s["out"].gpu_blocks("y").gpu_threads("x", 32);
              },
          });
}

TEST(GpuSchedules, Product) {
  run_all(
      product_of_size, 4, kInterpreter,
      {
          [](Schedule&) {},
          [](Schedule& s) {
            s["C"]
                .tile("j", "i", "jo", "io", "ji", "ii", 16, 16)
                .gpu_blocks("jo", "io")
                .gpu_threads("ji", "ii");
            s["acc"].compute_at("C", "ji");
          },
          [](Schedule& s) {  // sums in registers of the block, operands through shared memory
            s["C"]
                .tile("j", "i", "jo", "io", "jt", "it", 8, 8)
                .gpu_blocks("jo", "io")
                .gpu_threads("jt", "it");
            s["acc"].compute_at("C", "jo").store_in(Memory::Register).gpu_threads("j", "i");
            s["acc"].update().split("r", "ro", "ri", 4).reorder("ri", "j", "i", "ro").gpu_threads("j", "i");
            Stage a = s.in("A", {"acc"}), b = s.in("B", {"acc"});
            s[a].compute_at(s["acc"].update(), "ro").store_in(Memory::Shared);
            s[b].compute_at(s["acc"].update(), "ro").store_in(Memory::Shared);
          },
      });
}

TEST(GpuSchedules, RowSums) {
  run_all(rows_of_size, 4, kInterpreter,
          {
              [](Schedule&) {},
              [](Schedule& s) {
                s["out"].gpu_blocks("y").gpu_threads("x", 32);
                s["total"].compute_at("out", "y").store_in(Memory::Shared);
                s["total"].update().split("k", "ko", "ki", 32);
                Stage part = s["total"].update().rfactor({{"ki", "t"}}, "part");
                s[part].compute_at("out", "y").store_in(Memory::Shared).gpu_threads("t");
                s[part].update().reorder("ko", "t").gpu_threads("t");
              },
              [](Schedule& s) {  // every thread adds up the parts for itself
                s["out"].gpu_blocks("y").vectorize("x", 4).gpu_threads("x.o", 32);
                s["total"].compute_at("out", "y").store_in(Memory::Register);
                s["total"].update().split("k", "ko", "ki", 32);
                Stage part = s["total"].update().rfactor({{"ki", "t"}}, "part");
                s[part].compute_at("out", "y").store_in(Memory::Shared).gpu_threads("t");
                s[part].update().reorder("ko", "t").gpu_threads("t");
              },
          });
}

}  // namespace
}  // namespace calotype
