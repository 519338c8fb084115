// Funcs that a function computes, under schedules: values, boxes, calls, failures.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "driver/profile.h"
#include "support/externs.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::Box;
using testing::box_of;
using testing::Calls;
using testing::expect_matches;
using testing::random_buffer;
using testing::sort_rows;
using testing::sum_of_three;

#ifdef CALOTYPE_HAS_LLVM

const Target kHost = Target::host();

/// sorted = rows of `in`, sorted; out = sorted - the row's least.
struct Sorting {
  Dim W{"W"}, H{"H"};
  ImageParam in{Float(32), {W, H}, "in"};
  Var x{"x"}, y{"y"};
  RDom row{0, W, "row"};
  Func sorted{"sorted"}, out{"out"};
  Sorting() {
    sorted.define_extern({x, y}, {Float(32)}, {"sort_rows", sort_rows}, {in(row, y)});
    out(x, y) = sorted(x, y) - sorted(0, y);
  }
  Pipeline pipeline() { return Pipeline("sorting", {in}, {Output(out, {W, H})}); }
};

std::vector<Schedule> placements() {
  std::vector<Schedule> all(6);
  all[1]["sorted"].compute_at("out", "y");
  all[1]["out"].serial("y");
  all[2]["sorted"].compute_at("out", "y");
  all[2]["out"].parallel("y");
  all[3]["out"].split("y", "yo", "yi", 3).parallel("yo");
  all[3]["sorted"].compute_at("out", "yo").reorder_storage({"y", "x"}).align_storage("y", 8);
  all[4]["out"].split("y", "yo", "yi", 3);
  all[4]["sorted"].compute_at("out", "yi").store_at("out", "yo").pad("x", 3).store_in(Memory::Heap);
  all[5]["out"].split("y", "yo", "yi", 2).unroll("yi").vectorize("x", 4);
  all[5]["sorted"].compute_at("out", "yi").hoist_storage_root();
  return all;
}

TEST(Extern, SortsRowsUnderEverySchedule) {
  Sorting s;
  const Pipeline p = s.pipeline();
  for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 5}, {33, 10}})
    for (const Schedule& schedule : placements())
      expect_matches(p, schedule, kHost, {random_buffer(Float(32), {w, h}, 3)}, {Buffer(Float(32), {w, h})});
}

TEST(Extern, TheReferenceIsWhatTheFunctionReturns) {
  Sorting s;
  const Buffer in = random_buffer(Float(32), {9, 4}, 5);
  const Evaluation e = Pipeline("sorting", {s.in}, {Output(s.sorted, {s.W, s.H})}).evaluate({in});
  for (std::int64_t y = 0; y < 4; ++y) {
    std::vector<float> row;
    for (std::int64_t x = 0; x < 9; ++x) row.push_back(in.at<float>({x, y}));
    std::sort(row.begin(), row.end());
    for (std::int64_t x = 0; x < 9; ++x) {
      EXPECT_EQ(e.outputs[0].at<float>({x, y}), row[static_cast<std::size_t>(x)]);
      EXPECT_EQ(e.exact[0].value({x, y}), row[static_cast<std::size_t>(x)]);
      EXPECT_EQ(e.bound[0].value({x, y}), 0);
    }
  }
}

TEST(Extern, OfRoundedValuesNothingIsKnown) {
  Sorting s;
  Func third("third"), sorted("of_thirds");
  third(s.x, s.y) = s.in(s.x, s.y) / 3;
  sorted.define_extern({s.x, s.y}, {Float(32)}, {"sort_rows", sort_rows}, {third(s.row, s.y)});
  const Pipeline p("thirds", {s.in}, {Output(sorted, {s.W, s.H})});
  const Evaluation e = p.evaluate({random_buffer(Float(32), {5, 2}, 6)});
  EXPECT_GT(e.bound[0].value({0, 0}), 1e30);
  expect_matches(p, {}, kHost, {random_buffer(Float(32), {5, 2}, 6)}, {Buffer(Float(32), {5, 2})});
}

TEST(Extern, AnyStrides) {
  Sorting s;
  const Pipeline sorted("rows", {s.in}, {Output(s.sorted, {s.W, s.H})});
  const Buffer planes = random_buffer(Float(32), {6, 9}, 7);
  Buffer out(Float(32), {6, 9});
  // Dimension 0 has stride 6, dimension 1 stride 1; the output runs backwards along dimension 0.
  const Buffer in = planes.transpose({1, 0});
  auto* last = static_cast<float*>(out.transpose({1, 0}).data()) + 8 * 6;
  const Buffer backwards(last, {9, 6}, {-6, 1});
  expect_matches(sorted, {}, kHost, {in}, {backwards});
}

/// shifted(x, y) = the sum of three neighbours of g along x, by a function that notes its boxes.
struct Stencil {
  Dim W{"W"}, H{"H"};
  ImageParam in{Int(32), {W + 2, H}, "in"};
  Var x{"x"}, y{"y"};
  Func g{"g"}, sums{"sums"}, out{"out"};
  Calls calls;
  explicit Stencil(bool tall = false) {
    g(x, y) = in(x, y) * 3;
    sums.define_extern({x, y}, {Int(32)}, {"sum_of_three", sum_of_three, &calls},
                       {g(x, y), g(x + 1, y), g(x + 2, y)});
    out(x, y) = tall ? sums(x, y) + sums(x, min(y + 1, H - 1)) : sums(x, y) * 2;
  }
  Pipeline pipeline() { return Pipeline("stencil", {in}, {Output(out, {W, H})}); }
};

TEST(Extern, AStencilIsAskedForTheTilesOfItsConsumer) {
  Stencil s;
  const Pipeline p = s.pipeline();
  Schedule tiles;
  tiles["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4);
  tiles["sums"].compute_at("out", "xo");
  tiles["g"].compute_at("out", "yo");
  expect_matches(p, tiles, kHost, {random_buffer(Int(32), {22, 10}, 8)}, {Buffer(Int(32), {20, 10})},
                 {{"W", 20}});
  s.calls.take();
  const Kernel kernel = p.compile(tiles, kHost);
  const Buffer out(Int(32), {20, 10});
  kernel(random_buffer(Int(32), {22, 10}, 8), out);
  const std::vector<testing::Call> calls = s.calls.take();
  ASSERT_EQ(calls.size(), 9u);  // 3 by 3 tiles
  std::size_t i = 0;
  for (std::int64_t y = 0; y < 10; y += 4)
    for (std::int64_t x = 0; x < 20; x += 8, ++i) {
      const Box& box = calls[i].outputs[0];
      EXPECT_EQ(box[0].first, x);
      EXPECT_EQ(box[1].first, y);
      EXPECT_GE(box[0].second, std::min<std::int64_t>(8, 20 - x));
      EXPECT_GE(box[1].second, std::min<std::int64_t>(4, 10 - y));
      EXPECT_LE(box[0].second, 8);
      EXPECT_LE(box[1].second, 4);
      EXPECT_EQ(calls[i].inputs[0], (Box{{x, box[0].second + 2}, box[1]}));
    }
}

TEST(Extern, ASlidingWindowAsksForNewRowsAlone) {
  Stencil s(true);
  const Pipeline p = s.pipeline();
  Schedule slide;
  slide["out"].serial("y");
  slide["sums"].compute_at("out", "y").store_root();
  slide["g"].compute_root();
  expect_matches(p, slide, kHost, {random_buffer(Int(32), {13, 7}, 9)}, {Buffer(Int(32), {11, 7})},
                 {{"W", 11}});
  s.calls.take();
  p.compile(slide, kHost)(random_buffer(Int(32), {13, 7}, 9), Buffer(Int(32), {11, 7}));
  std::int64_t rows = 0;
  for (const testing::Call& call : s.calls.take()) rows += call.outputs[0][1].second;
  EXPECT_EQ(rows, 7);  // each once: no ring that would fold rows together
}

TEST(Extern, ValuesReadByOneAnotherAndSeveralAtOnce) {
  Dim N("N");
  ImageParam in(Int(32), {N}, "in");
  Param by(Int(32), "by", 3);
  Var x("x");
  RDom r(0, N, "r");
  Func pair("pair"), twice("twice"), out("out");
  pair.define_extern({x}, {Int(32), Float(64)}, {"scaled_and_half", testing::scaled_and_half}, {in(x)},
                     {by, cast<double>(N) / 2});
  twice.define_extern({x}, {Int(32)}, {"sum_of_parts", testing::sum_of_parts},
                      {pair(x)[1], pair(x)[0], in(r)});
  out(x) = Tuple(twice(x), pair(x)[1]);
  const Pipeline p("parts", {in, by}, {Output(out, {N}), Output(twice, {N})});
  std::vector<Schedule> schedules(3);
  schedules[2]["out"].split("x", "xo", "xi", 4).parallel("xo");
  schedules[1].in("pair", {"twice"}).compute_root();
  schedules[1].in("in", {"pair"}).compute_root().pad("d0", 5);
  schedules[1].clone_in("pair", {"out"}).compute_root();
  const std::int64_t n = 11;
  const Buffer input = random_buffer(Int(32), {n}, 4);
  const Evaluation reference = p.evaluate({input}, {{"by", 5}});
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += input.at<std::int32_t>({i});
  for (const Schedule& schedule : schedules) {
    const Buffer first(Int(32), {n}), second(Float(64), {n}), third(Int(32), {n});
    for (const Buffer& b : {first, second, third}) testing::poison(b);
    p.compile(schedule, kHost)(input, 5, first, second, third);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t v = input.at<std::int32_t>({i});
      EXPECT_EQ(second.at<double>({i}), v + n / 2.0);
      EXPECT_EQ(first.at<std::int32_t>({i}), v * 5 + static_cast<std::int32_t>(v + n / 2.0) + sum);
      EXPECT_EQ(third.at<std::int32_t>({i}), first.at<std::int32_t>({i}));
      EXPECT_EQ(reference.outputs[0].value({i}), first.value({i}));
      EXPECT_EQ(reference.outputs[1].value({i}), second.value({i}));
      EXPECT_EQ(reference.outputs[2].value({i}), third.value({i}));
    }
  }
}

TEST(Extern, EveryTypeIsNamed) {
  const Type types[] = {Bool(),   Int(8),    Int(16),   Int(32),   Int(64),    UInt(8), UInt(16), UInt(32),
                        UInt(64), Float(16), Float(32), Float(64), BFloat(16), E4M3(),  E5M2()};
  for (const Type type : types) {
    Dim N("N");
    ImageParam in(type, {N}, "in");
    Var x("x");
    Func reversed("reversed"), out("out");
    RDom r(0, N, "r");
    testing::Types seen;
    reversed.define_extern({x}, {type}, {"reversed", testing::reversed, &seen}, {in(r)});
    out(x) = reversed(x);
    const Pipeline p("types", {in}, {Output(out, {N})});
    const Buffer input = random_buffer(type, {9}, 2), output(type, {9});
    expect_matches(p, {}, kHost, {input}, {output});
    for (std::int64_t i = 0; i < 9; ++i) EXPECT_EQ(output.value({i}), input.value({8 - i})) << type.str();
    EXPECT_EQ(seen.output.code, input.raw().type.code) << type.str();
    EXPECT_EQ(seen.output.bits, input.raw().type.bits) << type.str();
    EXPECT_EQ(seen.input.code, seen.output.code);
    EXPECT_EQ(seen.input.bits, seen.output.bits);
  }
}

// ---- Failures

int fails_at_row_5(const calotype_extern_call* call) {
  const calotype_dim y = call->outputs[0].dims[1];
  if (y.min <= 5 && 5 < y.min + y.extent) return 42;
  return sort_rows(call);
}

int throws(const calotype_extern_call*) { throw std::runtime_error("out of paper"); }

/// Memory of a context, counted.
struct Counted {
  std::atomic<int> alive{0}, made{0};
  calotype_context context{};
  Counted() {
    context.user = this;
    context.allocate = [](void* user, std::size_t bytes) -> void* {
      ++static_cast<Counted*>(user)->alive;
      ++static_cast<Counted*>(user)->made;
      return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    };
    context.release = [](void* user, void* memory) {
      --static_cast<Counted*>(user)->alive;
      std::free(memory);
    };
  }
};

TEST(Extern, AFailureEndsTheCallAndReleasesMemory) {
  Sorting s;
  Func failing("failing"), out("out2");
  failing.define_extern({s.x, s.y}, {Float(32)}, {"fails_at_row_5", fails_at_row_5}, {s.in(s.row, s.y)});
  out(s.x, s.y) = failing(s.x, s.y) * 2;
  const Pipeline p("failures", {s.in}, {Output(out, {s.W, s.H})});
  Schedule schedule;
  schedule["out2"].parallel("y");
  schedule["failing"].compute_at("out2", "y").store_in(Memory::Heap);
  const Kernel kernel = p.compile(schedule, kHost);
  const auto call = [&](std::int64_t rows, Counted& memory) {
    kernel.call({random_buffer(Float(32), {8, rows}, 1), Buffer(Float(32), {8, rows})}, memory.context);
  };
  for (int round = 0; round < 3; ++round) {
    Counted memory;
    try {
      call(9, memory);
      FAIL() << "nothing was thrown";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Argument);
      EXPECT_NE(std::string(e.what()).find("'failing': the function 'fails_at_row_5' failed with 42"),
                std::string::npos)
          << e.what();
    }
    EXPECT_EQ(memory.alive, 0);
    EXPECT_GT(memory.made, 0);
    Counted again;
    EXPECT_NO_THROW(call(5, again));
    EXPECT_EQ(again.alive, 0);
  }
  try {
    p.evaluate({random_buffer(Float(32), {8, 9}, 1)});
    FAIL() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Argument);
    EXPECT_NE(std::string(e.what()).find("failed with 42"), std::string::npos) << e.what();
  }
}

TEST(Extern, AnExceptionIsAFailure) {
  Sorting s;
  Func f("f");
  f.define_extern({s.x, s.y}, {Float(32)}, {"throws", throws}, {s.in(s.x, s.y)});
  const Pipeline p("throwing", {s.in}, {Output(f, {s.W, s.H})});
  const Buffer in = random_buffer(Float(32), {3, 3}, 1), out(Float(32), {3, 3});
  for (const bool compiled : {true, false}) try {
      compiled ? p.compile({}, kHost)(in, out) : (void)p.evaluate({in});
      FAIL() << "nothing was thrown";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Argument);
      EXPECT_NE(std::string(e.what()).find("'throws' threw an exception: out of paper"), std::string::npos)
          << e.what();
    }
}

TEST(Extern, WhatIsReadIsChecked) {
  Dim N("N");
  ImageParam in(Int(32), 2, "in");
  Var x("x"), y("y");
  Func sums("sums"), out("out");
  sums.define_extern({x, y}, {Int(32)}, {"sum_of_three", sum_of_three},
                     {in(x, y), in(x + 1, y), in(x + 2, y)});
  out(x, y) = sums(x, y);
  const Pipeline p("small", {in}, {Output(out, {N, N})});
  const Buffer small = random_buffer(Int(32), {5, 4}, 1), result(Int(32), {4, 4});
  EXPECT_THROW(p.compile({}, kHost)(small, result), Error);
  EXPECT_THROW(p.evaluate({small}, {}, {{"N", 4}}), Error);
  const auto needed = p.required_inputs({{4, 4}});
  ASSERT_EQ(needed.size(), 1u);
  EXPECT_EQ(needed[0].extents, (std::vector<std::int64_t>{6, 4}));
}

// ---- Calls at the same time

TEST(Extern, SeveralThreadsCallOneKernel) {
  Sorting s;
  const Pipeline p = s.pipeline();
  Schedule schedule;
  schedule["out"].parallel("y");
  schedule["sorted"].compute_at("out", "y");
  const Kernel kernel = p.compile(schedule, kHost);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const Buffer in = random_buffer(Float(32), {17, 6 + t}, static_cast<std::uint64_t>(t));
      const Evaluation reference = p.evaluate({in});
      for (int i = 0; i < 20; ++i) {
        const Buffer out(Float(32), {17, 6 + t});
        kernel(in, out);
        if (!lang::compare_with_reference(out, reference, 0, true).ok) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// ---- With the rest

TEST(Extern, StagesAreComparedWithTheReference) {
  Sorting s;
  for (const Schedule& schedule : placements())
    testing::expect_stages_match(s.pipeline(), schedule, kHost, {random_buffer(Float(32), {9, 7}, 3)});
  Stencil t(true);
  Schedule slide;
  slide["out"].serial("y");
  slide["sums"].compute_at("out", "y").store_root();
  testing::expect_stages_match(t.pipeline(), slide, kHost, {random_buffer(Int(32), {13, 7}, 9)}, {{"W", 11}});
}

TEST(Extern, AProfileCountsWhatTheFunctionWrites) {
  Sorting s;
  const Pipeline p = s.pipeline();
  Schedule schedule;
  schedule["out"].serial("y");
  schedule["sorted"].compute_at("out", "y").store_in(Memory::Heap);
  const Buffer in = random_buffer(Float(32), {16, 6}, 3), out(Float(32), {16, 6});
  const schedule::Scheduled scheduled = schedule::apply_or_throw(p.graph(), schedule, kHost);
  const driver::Profile profile = driver::profile(p.graph(), scheduled, {{in}, {}, {}}, {out});
  EXPECT_TRUE(lang::compare_with_reference(out, p.evaluate({in}), 0, true).ok);
  for (const driver::FuncProfile& f : profile.funcs) {
    if (f.name != "sorted") continue;
    EXPECT_EQ(f.points, 16 * 6);
    EXPECT_EQ(f.stores, 16 * 6);
    EXPECT_EQ(f.loads, 0);  // what the function loads it alone knows
    EXPECT_EQ(f.needed, 16 * 6);
    EXPECT_EQ(f.peak_bytes, 16 * 4);
    return;
  }
  FAIL() << "no row for 'sorted'";
}

TEST(Extern, BranchesAndConditionsSkipTheCalls) {
  Stencil s;
  Param wanted(Bool(), "wanted");
  Func either("either");
  either(s.x, s.y) = select(wanted, s.sums(s.x, s.y), 7);
  const Pipeline p("either", {s.in, wanted}, {Output(either, {s.W, s.H})});
  const Buffer in = random_buffer(Int(32), {8, 3}, 2), out(Int(32), {6, 3});
  Schedule branch;
  branch["either"].specialize("wanted").parallel("y");
  for (const Schedule& schedule : {Schedule{}, branch}) {
    const Kernel kernel = p.compile(schedule, kHost);
    s.calls.take();
    kernel(in, false, out);
    EXPECT_EQ(s.calls.take().size(), 0u);
    EXPECT_EQ(out.value({5, 2}), 7);
    kernel(in, true, out);
    EXPECT_EQ(s.calls.take().size(), 1u);
    EXPECT_EQ(out.value({5, 2}), 3 * (in.value({5, 2}) + in.value({6, 2}) + in.value({7, 2})));
  }
}

TEST(Extern, OfNothingNothingIsCalled) {
  Stencil s;
  const Kernel kernel = s.pipeline().compile({}, kHost);
  kernel(Buffer(Int(32), {2, 3}), Buffer(Int(32), {0, 3}));
  EXPECT_EQ(s.calls.take().size(), 0u);
}

#endif

}  // namespace
}  // namespace calotype
