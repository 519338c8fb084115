// Planted faults: each is found, named and placed; what looks like one and is none is not.

#include "calotype/error.h"
#include "sim/kernel_maker.h"

namespace calotype::sim {
namespace {

using ir::MemorySpace;

/// A kernel of one shared buffer of 64 floats and an output, for short programs over them.
struct Block64 : KernelMaker {
  ir::BufferPtr out, tile;
  Expr t;
  std::vector<float> result = std::vector<float>(64, 0);

  Block64() : KernelMaker("block64") {
    out = argument("out", Float(32));
    tile = storage("tile", Float(32), MemorySpace::Shared, 64);
    t = thread();
  }
  Expr number() const { return cast(Float(32), t); }
  Report run_parts(std::vector<ir::Stmt> parts, std::uint64_t seed = 1) {
    function.body = ir::allocate(tile, ir::block(std::move(parts)));
    return run({{1, 1, 1}, {64, 1, 1}, {}, {memory_of(result)}}, {.seed = seed});
  }
};

void expect_only(const Report& report, const std::string& kind, const std::string& buffer) {
  ASSERT_FALSE(report.clean()) << kind;
  for (const Finding& f : report.findings) {
    EXPECT_EQ(f.kind, kind) << to_string(report);
    EXPECT_EQ(f.buffer, buffer);
  }
}

TEST(Faults, ReadBeforeBarrierOfAnotherWarp) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Block64 k;
    const Report report = k.run_parts(
        {ir::store(k.tile, k.number(), {k.t}), ir::store(k.out, load(k.tile, ir::index(63) - k.t), {k.t})},
        seed);
    EXPECT_GE(count_kind(report, "data race"), 1) << seed;
  }
}

TEST(Faults, ReadOfAnotherLaneOfTheWarp) {
  Block64 k;
  const Report report = k.run_parts(
      {ir::store(k.tile, k.number(), {k.t}), ir::store(k.out, load(k.tile, (k.t / 2) * 2), {k.t})});
  expect_only(report, "data race", "tile");
  const Finding& f = first(report);
  EXPECT_EQ(f.threads.at(0)[0], f.threads.at(1)[0] + 1);
  EXPECT_EQ(f.index, f.threads.at(1)[0]);
  EXPECT_NE(f.message.find("tile["), std::string::npos) << f.message;
  EXPECT_NE(f.message.find("no barrier"), std::string::npos) << f.message;
  EXPECT_EQ(f.count, 32);
}

TEST(Faults, OwnElementNeedsNoBarrier) {
  Block64 k;
  const Report report =
      k.run_parts({ir::store(k.tile, k.number(), {k.t}), ir::store(k.out, load(k.tile, k.t), {k.t})});
  EXPECT_TRUE(report.clean()) << to_string(report);
}

TEST(Faults, WriteAfterReadWithoutBarrier) {
  // The second round overwrites what others still read: the barrier at the end of the loop is missing.
  const auto program = [](bool barrier_at_end) {
    Block64 k;
    const ir::Stmt rounds = loop("i", 3, [&](const Expr& i) {
      std::vector<ir::Stmt> parts{ir::store(k.tile, k.number() + cast(Float(32), i), {k.t}),
                                  ir::barrier("filled"),
                                  ir::store(k.out, load(k.tile, ir::index(63) - k.t), {k.t})};
      if (barrier_at_end) parts.push_back(ir::barrier("read"));
      return ir::block(parts);
    });
    return k.run_parts({rounds});
  };
  expect_only(program(false), "data race", "tile");
  EXPECT_TRUE(program(true).clean());
}

TEST(Faults, WriteByOneOfTheReaders) {
  // Thread 0 reads the element first and writes it: the conflict is with the readers after it.
  Block64 k;
  const Report report =
      k.run_parts({ir::store(k.tile, k.number(), {k.t}), ir::barrier("filled"),
                   ir::if_then(k.t < 2, ir::store(k.out, load(k.tile, ir::index(0)), {k.t})),
                   ir::if_then(k.t == 0, ir::store(k.tile, Expr(9.0f), {ir::index(0)}))});
  expect_only(report, "data race", "tile");
  EXPECT_EQ(first(report).threads.at(1)[0], 1);
}

TEST(Faults, WritesOfSeveralThreads) {
  {
    Block64 k;  // different values in one instruction
    expect_only(k.run_parts({ir::if_then(k.t < 32, ir::store(k.tile, k.number(), {ir::index(5)}))}),
                "data race", "tile");
  }
  {
    Block64 k;  // equal values by lanes of one instruction
    EXPECT_TRUE(k.run_parts({ir::if_then(k.t < 32, ir::store(k.tile, Expr(1.0f), {ir::index(5)}))}).clean());
  }
  {
    Block64 k;  // equal values by two warps
    expect_only(k.run_parts({ir::store(k.tile, Expr(1.0f), {ir::index(5)})}), "data race", "tile");
  }
}

TEST(Faults, BuffersThatSeveralBlocksMayWriteTheSameValueTo) {
  const auto report = [](Expr (*value)(const Expr& block, const Expr& same)) {
    KernelMaker k("twice");
    k.function.buffers.push_back(ir::make_buffer(
        {.name = "out", .type = Int(32), .space = ir::MemorySpace::Argument, .idempotent = true}));
    const Expr block = cast(Int(32), k.block()), same = cast(Int(32), k.thread());
    k.function.body = ir::store(k.function.buffers[0], value(block, same), {k.thread()});
    std::vector<std::int32_t> out(32);
    return k.run({{3, 1, 1}, {32, 1, 1}, {}, {memory_of(out)}});
  };
  EXPECT_TRUE(report([](const Expr&, const Expr& same) { return same; }).clean());
  expect_only(report([](const Expr& block, const Expr&) { return block; }), "data race", "out");
}

TEST(Faults, BlocksOfALaunchAreNotOrdered) {
  KernelMaker k("blocks");
  const auto out = k.argument("out", Int(32));
  const auto in = k.argument("in", Int(32));
  const Expr i = k.block() * 32 + k.thread();
  k.function.body = ir::store(out, load(in, i + 1), {i});
  std::vector<std::int32_t> data(65, 1), other(64);
  const Memory all = memory_of(data);
  const Launch apart{{2, 1, 1}, {32, 1, 1}, {}, {memory_of(other), all}};
  EXPECT_TRUE(k.run(apart).clean());
  // The same memory as input and output: element 32 is read by block 0 and written by block 1.
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Report report = k.run({{2, 1, 1}, {32, 1, 1}, {}, {all, all}}, {.seed = seed, .max_findings = 100});
    ASSERT_GE(count_kind(report, "data race"), 1) << seed;
  }
  // Each thread its own element: no race.
  k.function.body = ir::store(out, load(in, i) + 1, {i});
  EXPECT_TRUE(k.run({{2, 1, 1}, {32, 1, 1}, {}, {all, all}}).clean());
  EXPECT_EQ(data[63], 2);
  // All blocks write one element.
  k.function.body = ir::if_then(k.thread() == 0, ir::store(out, cast(Int(32), k.block()), {ir::index(0)}));
  const Report report = k.run({{4, 1, 1}, {32, 1, 1}, {}, {all, memory_of(other)}});
  expect_only(report, "data race", "out");
  EXPECT_EQ(first(report).count, 3);
  EXPECT_NE(first(report).message.find("same launch"), std::string::npos);
}

TEST(Faults, BarrierInADivergentBranch) {
  {
    Block64 k;
    const Report report = k.run_parts({ir::if_then(k.t < 16, ir::barrier("half"))});
    EXPECT_GE(count_kind(report, "barrier divergence"), 1);
    EXPECT_NE(first(report).message.find("half"), std::string::npos) << first(report).message;
  }
  {
    Block64 k;  // whole warps, but not all of them
    expect_only(k.run_parts({ir::if_then(k.t < 32, ir::barrier("first warp"))}), "barrier divergence", "");
  }
  {
    Block64 k;  // other numbers of iterations
    expect_only(k.run_parts({loop("i", k.t / 32 + 1, [](const Expr&) { return ir::barrier("round"); })}),
                "barrier divergence", "");
  }
}

TEST(Faults, WarpsWaitAtDifferentBarriers) {
  Block64 k;
  const Report report = k.run_parts({ir::if_then(k.t < 32, ir::barrier("one"), ir::barrier("other"))});
  expect_only(report, "deadlock", "");
}

TEST(Faults, UninitialisedShared) {
  Block64 k;
  const Report report = k.run_parts({ir::if_then(k.t < 40, ir::store(k.tile, k.number(), {k.t})),
                                     ir::barrier("filled"), ir::store(k.out, load(k.tile, k.t), {k.t})});
  expect_only(report, "uninitialised read", "tile");
  EXPECT_EQ(first(report).count, 24);
  EXPECT_GE(first(report).index, 40);
}

TEST(Faults, SharedMemoryDoesNotOutliveABlock) {
  Block64 k;
  k.function.body = ir::allocate(
      k.tile,
      ir::block({ir::if_then(k.block() == 0, ir::store(k.tile, k.number(), {k.t})), ir::barrier("filled"),
                 ir::if_then(k.block() == 1, ir::store(k.out, load(k.tile, k.t), {k.t}))}));
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Report report = k.run({{2, 1, 1}, {64, 1, 1}, {}, {memory_of(k.result)}}, {.seed = seed});
    expect_only(report, "uninitialised read", "tile");
    EXPECT_EQ(first(report).block[0], 1);
  }
}

TEST(Faults, UninitialisedRegister) {
  for (const MemorySpace space : {MemorySpace::Register, MemorySpace::Local}) {
    KernelMaker k("registers");
    const auto out = k.argument("out", Float(32));
    const auto r = k.storage("r", Float(32), space, 4);
    const Expr t = k.thread(), zero = ir::index(0);
    // Written by even threads in the first round; the allocation of the second round starts afresh.
    k.function.body = loop("i", 2, [&](const Expr& i) {
      return ir::allocate(r, ir::block({ir::if_then(t % 2 == 0 && i == 0, ir::store(r, Expr(3.0f), {zero})),
                                        ir::if_then(t % 2 == 0, ir::store(out, load(r, zero), {t}))}));
    });
    std::vector<float> result(32, 1);
    const Report report = k.run({{1, 1, 1}, {32, 1, 1}, {}, {memory_of(result)}});
    expect_only(report, "uninitialised read", "r");
    EXPECT_EQ(first(report).count, 16);
    EXPECT_NE(result[0], 3);
    EXPECT_NE(result[0], result[0]);  // poison is no number
    EXPECT_EQ(result[1], 1);
  }
}

TEST(Faults, OutOfBounds) {
  KernelMaker k("bounds");
  const auto in = k.argument("in", Float(32)), out = k.argument("out", Float(32));
  const Expr shift = k.scalar("shift"), t = k.thread();
  k.function.body = ir::store(out, load(in, t + shift), {t - shift});
  std::vector<float> xs = whole_numbers(34, 5), ys(34, 0);
  const Memory inner{&ys[1], 0, 32 * 4};
  const auto run = [&](std::int64_t by) {
    return k.run({{1, 1, 1}, {32, 1, 1}, {by}, {memory_of(xs), inner}});
  };
  EXPECT_TRUE(run(0).clean());
  const Report report = run(3);
  ASSERT_EQ(count_kind(report, "out of bounds"), 2) << to_string(report);
  EXPECT_EQ(first(report).buffer, "in");
  EXPECT_EQ(first(report).index, 34);
  EXPECT_EQ(report.findings.at(1).buffer, "out");
  EXPECT_EQ(report.findings.at(1).index, -3);
  EXPECT_EQ(report.findings.at(1).count, 3);
  EXPECT_EQ(ys[0], 0);  // suppressed
  const std::int64_t far = INT64_MAX / 2;
  EXPECT_EQ(count_kind(run(far), "out of bounds"), 2);
}

TEST(Faults, OutOfBoundsOfStorage) {
  for (const MemorySpace space : {MemorySpace::Register, MemorySpace::Local, MemorySpace::Shared}) {
    KernelMaker k("storage");
    const auto b = k.storage("b", UInt(8), space, 8);
    const Expr t = k.thread();
    k.function.body =
        ir::allocate(b, ir::block({ir::store(b, cast(UInt(8), t), {t}),
                                   ir::store(b, Expr(std::uint8_t{1}) + cast(UInt(8), t), {ir::index(8)})}));
    const Report report = k.run({{1, 1, 1}, {9, 1, 1}, {}, {}});
    ASSERT_EQ(report.findings.size(), 2u) << to_string(report);
    EXPECT_EQ(count_kind(report, "out of bounds"), 2);
    EXPECT_EQ(first(report).count, 1);
    EXPECT_EQ(report.findings.at(1).count, 9);
  }
}

TEST(Faults, MisalignedArgument) {
  KernelMaker k("aligned");
  const auto out = k.argument("out", Float(32));
  k.function.body = ir::store(out, Expr(1.0f), {k.thread()});
  std::vector<float> ys(34, 0);
  const Memory off{reinterpret_cast<char*>(ys.data()) + 1, 0, 32 * 4};
  expect_only(k.run({{1, 1, 1}, {32, 1, 1}, {}, {off}}), "misaligned access", "out");
}

TEST(Faults, FailedCheckStopsTheRun) {
  KernelMaker k("checked");
  const auto out = k.argument("out", Float(32));
  const Expr n = k.scalar("n"), t = k.thread();
  k.function.body =
      ir::block({ir::check(t < n, "thread {} of {} is too many", {t, n}), ir::store(out, Expr(1.0f), {t})});
  std::vector<float> ys(32, 0);
  const Report report = k.run({{1, 1, 1}, {32, 1, 1}, {7}, {memory_of(ys)}});
  expect_only(report, "check failed", "");
  EXPECT_EQ(first(report).message.rfind("thread 7 of 7 is too many", 0), 0u) << first(report).message;
  EXPECT_EQ(ys[0], 0);
  EXPECT_TRUE(k.run({{1, 1, 1}, {32, 1, 1}, {32}, {memory_of(ys)}}).clean());
}

TEST(Faults, EndlessLoopEnds) {
  KernelMaker k("endless");
  const auto out = k.argument("out", Int(64));
  k.function.body = loop("i", k.scalar("n"), [&](const Expr& i) { return ir::store(out, i, {k.thread()}); });
  std::vector<std::int64_t> ys(32, 0);
  const Report report = k.run({{1, 1, 1}, {32, 1, 1}, {INT64_MAX}, {memory_of(ys)}}, {.max_steps = 10000});
  expect_only(report, "step limit", "");
}

TEST(Faults, FindingsAreLimited) {
  Block64 k;
  std::vector<ir::Stmt> parts;
  for (int i = 0; i < 30; ++i) parts.push_back(ir::store(k.out, load(k.tile, k.t), {k.t}));
  k.function.body = ir::allocate(k.tile, ir::block(parts));
  const Report report = k.run({{1, 1, 1}, {64, 1, 1}, {}, {memory_of(k.result)}}, {.max_findings = 5});
  EXPECT_EQ(report.findings.size(), 5u);
  EXPECT_EQ(report.dropped, 25);
  const std::string text = to_string(report);
  EXPECT_NE(text.find("uninitialised read: thread ("), std::string::npos) << text;
  EXPECT_NE(text.find("25 more"), std::string::npos) << text;
}

template <class F>
void expect_internal(F f) {
  try {
    f();
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Internal) << e.what();
  }
}

TEST(Faults, WhatIsNotLoweredIsRefused) {
  const auto compiled = [](auto make_body) {
    expect_internal([&] {
      KernelMaker k("bad");
      const auto out = k.argument("out", Float(32));
      k.function.body = make_body(k, out);
      Kernel kernel(k.function);
    });
  };
  const Expr zero = ir::index(0), one = Expr(1.0f);
  compiled([&](KernelMaker& k, auto&) {
    return ir::store(k.storage("stranger", Float(32), MemorySpace::Shared, 1), one, {zero});
  });
  compiled([&](KernelMaker&, auto& out) {
    return ir::store(out, ir::make_var(ir::make_symbol(ir::SymbolKind::Let, "unbound", Float(32))), {zero});
  });
  compiled([&](KernelMaker&, auto& out) { return ir::store(out, one, {zero, zero}); });
  compiled([&](KernelMaker&, auto& out) { return ir::store(out, Expr(1), {zero}); });
  compiled([&](KernelMaker&, auto& out) {
    const auto callee = std::make_shared<const ir::Callee>(ir::Callee{ir::CalleeKind::Func, "f"});
    return ir::store(out, ir::make(ir::Op::Call, Float(32), {}, callee), {zero});
  });
  compiled([&](KernelMaker&, auto& out) {
    const ir::SymbolPtr s = ir::make_symbol(ir::SymbolKind::Loop, "v");
    return ir::for_loop({.var = s, .binding = ir::Binding::Vector}, zero, ir::index(8),
                        ir::store(out, one, {zero}));
  });
  compiled([&](KernelMaker& k, auto& out) {
    const auto heap = k.storage("heap", Float(32), MemorySpace::Heap, 1);
    return ir::allocate(heap, ir::store(out, one, {zero}));
  });
}

TEST(Faults, LaunchesThatDoNotFitAreRefused) {
  KernelMaker k("launch");
  const auto out = k.argument("out", Float(32));
  k.function.max_threads = 64;
  k.function.body = ir::store(out, cast(Float(32), k.scalar("n")), {k.thread()});
  const Kernel kernel(k.function);
  std::vector<float> ys(64);
  const Launch good{{1, 1, 1}, {64, 1, 1}, {3}, {memory_of(ys)}};
  EXPECT_TRUE(kernel.run(good).clean());
  const auto refused = [&](auto change) {
    Launch launch = good;
    change(launch);
    expect_internal([&] { kernel.run(launch); });
  };
  refused([](Launch& l) { l.scalars.clear(); });
  refused([](Launch& l) { l.buffers.clear(); });
  refused([](Launch& l) { l.buffers[0].data = nullptr; });
  refused([](Launch& l) { l.buffers[0].low = 1000; });
  refused([](Launch& l) { l.block = {65, 1, 1}; });
  refused([](Launch& l) { l.block = {0, 1, 1}; });
  refused([](Launch& l) { l.grid = {-1, 1, 1}; });
}

// Atomic updates of one element by all threads conflict with none of each other, but with plain accesses.
TEST(Faults, AtomicUpdatesAreNoRace) {
  const auto program = [](bool barrier, bool plain_store) {
    Block64 k;
    std::vector<ir::Stmt> parts{ir::store(k.tile, k.number() * 0.0f, {k.t}), ir::barrier("cleared"),
                                ir::atomic_store(k.tile, ir::Op::Add, k.number(), {k.t / 8})};
    if (plain_store) parts.push_back(ir::store(k.tile, k.number(), {k.t / 8}));
    if (barrier) parts.push_back(ir::barrier("summed"));
    parts.push_back(ir::store(k.out, load(k.tile, k.t / 8), {k.t}));
    const Report report = k.run_parts(parts);
    for (int t = 0; t < 64 && report.clean(); ++t) EXPECT_EQ(k.result[t], 64 * (t / 8) + 28) << t;
    return report;
  };
  EXPECT_TRUE(program(true, false).clean()) << to_string(program(true, false));
  expect_only(program(false, false), "data race", "tile");
  EXPECT_NE(first(program(false, false)).message.find("an atomic update has written"), std::string::npos);
  expect_only(program(true, true), "data race", "tile");
}

TEST(Faults, AtomicUpdatesOfSeveralBlocks) {
  KernelMaker k("blocks");
  const ir::BufferPtr out = k.argument("out", UInt(8));
  std::vector<std::uint8_t> result(4, 3);
  const Expr t = k.thread(), b = k.block();
  k.function.body =
      ir::atomic_store(out, ir::Op::Mul, ir::make_int(UInt(8), 3), {(t + b) % 4}, t < ir::index(6));
  const Report report = k.run({{3, 1, 1}, {8, 1, 1}, {}, {memory_of(result)}});
  EXPECT_TRUE(report.clean()) << to_string(report);
  // 18 updates in all: three blocks take places from b on, six each.
  const int counts[] = {4, 5, 5, 4};
  for (int i = 0; i < 4; ++i) {
    std::uint8_t expected = 3;
    for (int n = 0; n < counts[i]; ++n) expected = static_cast<std::uint8_t>(expected * 3);
    EXPECT_EQ(result[i], expected) << i;
  }
}

}  // namespace
}  // namespace calotype::sim
