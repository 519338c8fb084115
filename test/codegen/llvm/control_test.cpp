// Statements: loops, conditions, names, allocations and their failure, checks, parallel loops, vector
// operations.
#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include "harness.h"

namespace calotype::llvm_backend {
namespace {

using ir::Op;

Expr i32(std::int64_t value) { return ir::make_int(Int(32), value); }
Expr add(Expr a, Expr b) { return binary(Op::Add, std::move(a), std::move(b)); }
Expr mul(Expr a, Expr b) { return binary(Op::Mul, std::move(a), std::move(b)); }
Expr var(const ir::SymbolPtr& s) { return ir::make_var(s); }
Expr to_i32(Expr e) {
  Type type = Int(32, e->type.lanes);
  return ir::make(Op::Cast, type, {std::move(e)});
}

lower::Function function(std::vector<ir::SymbolPtr> scalars, std::vector<ir::BufferPtr> buffers,
                         ir::Stmt body, const std::string& name = "f") {
  lower::Function f;
  f.name = name;
  f.scalars = std::move(scalars);
  f.buffers = std::move(buffers);
  f.body = std::move(body);
  return f;
}

/// Hooks that count what is alive and refuse the n-th allocation.
struct Counting : FailureRecord {
  int allocations = 0, alive = 0, refuse = -1;
  Counting() {
    allocate = [](Hooks* self, std::int64_t bytes) -> void* {
      auto* c = static_cast<Counting*>(self);
      if (c->allocations++ == c->refuse) return nullptr;
      ++c->alive;
      return std::aligned_alloc(64, static_cast<std::size_t>((bytes + 63) / 64 * 64));
    };
    release = [](Hooks* self, void* memory) {
      --static_cast<Counting*>(self)->alive;
      std::free(memory);
    };
  }
};

TEST(Control, LoopsFromAnyMinimumAndOfNoIterations) {
  auto out = argument("out", Int(64));
  auto min = ir::make_symbol(ir::SymbolKind::Param, "min"),
       extent = ir::make_symbol(ir::SymbolKind::Dim, "extent");
  auto i = loop_var("i"), j = loop_var("j");
  Expr at = binary(Op::Sub, var(i), var(min));
  auto body = loop(i, var(min), var(extent),
                   ir::block({ir::store(out, mul(var(i), ir::index(10)), {at}),
                              loop(j, ir::index(0), at, ir::store(out, add(load(out, at), var(j)), {at}))}));
  auto module = compile({function({min, extent}, {out}, body)}, {});
  for (std::int64_t n : {-2, 0, 1, 5}) {
    std::vector<std::int64_t> got(6, -1), expected(6, -1);
    ASSERT_EQ(call(*module, "f", {-2, n}, {got.data()}), kGood);
    for (std::int64_t k = 0; k < n; ++k)
      expected[static_cast<std::size_t>(k)] = (k - 2) * 10 + k * (k - 1) / 2;
    EXPECT_EQ(got, expected) << n;
  }
}

TEST(Control, ScalarArgumentsOfEveryType) {
  std::vector<ir::SymbolPtr> scalars;
  std::vector<ir::BufferPtr> buffers;
  std::vector<ir::Stmt> stores;
  std::vector<Array> got;
  std::vector<std::int64_t> slots;
  std::vector<ir::Value> expected;
  Values values(3);
  for (Type type : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64), Float(16),
                    BFloat(16), Float(32), Float(64), Bool()}) {
    scalars.push_back(ir::make_symbol(ir::SymbolKind::Param, "p", type));
    buffers.push_back(argument("out", type));
    stores.push_back(ir::store(buffers.back(), var(scalars.back()), {ir::index(0)}));
    expected.push_back(values.any(type));
    Array slot(type, 8);
    slot.set(0, expected.back());
    std::int64_t bits = 0;
    std::memcpy(&bits, slot.data(), static_cast<std::size_t>(type.bytes()));
    if (type.is_int()) bits = expected.back().i;
    slots.push_back(bits);
    got.emplace_back(type, 1);
  }
  auto module = compile({function(scalars, buffers, ir::block(stores))}, {});
  std::vector<void*> pointers;
  for (Array& a : got) pointers.push_back(a.data());
  ASSERT_EQ(call(*module, "f", slots, pointers), kGood);
  for (std::size_t n = 0; n < got.size(); ++n)
    EXPECT_TRUE(same(got[n].get(0), expected[n])) << describe(expected[n]);
}

TEST(Control, IfElseAndNotes) {
  auto out = argument("out", Int(32));
  auto i = loop_var("i");
  Expr small = binary(Op::Lt, var(i), ir::index(3)),
       even = binary(Op::Eq, binary(Op::Mod, var(i), ir::index(2)), ir::index(0));
  auto put = [&](std::int64_t v) { return ir::store(out, i32(v), {var(i)}); };
  auto body = ir::note({"a comment"}, ir::if_then(small, put(1), ir::if_then(even, put(2))));
  auto module = compile({function({}, {out}, loop(i, ir::index(0), ir::index(6), body))}, {});
  std::vector<std::int32_t> got(6, 7);
  ASSERT_EQ(call(*module, "f", {}, {got.data()}), kGood);
  EXPECT_EQ(got, (std::vector<std::int32_t>{1, 1, 1, 7, 2, 7}));
}

/// One symbol bound several times, side by side and nested, with nodes shared between the bindings.
TEST(Control, LetsThatShareSymbols) {
  auto out = argument("out", Int(32));
  auto t = ir::make_symbol(ir::SymbolKind::Let, "t", Int(32));
  Expr shared = add(mul(var(t), var(t)), i32(1));
  auto let = [&](Expr value, Expr body) {
    return ir::make(Op::Let, Int(32), {std::move(value), std::move(body)}, t);
  };
  auto body =
      ir::block({ir::store(out, add(let(i32(2), shared), mul(let(i32(5), shared), i32(100))), {ir::index(0)}),
                 ir::let_stmt(t, i32(3),
                              ir::store(out,
                                        add(add(shared, mul(let(add(var(t), i32(1)), shared), i32(100))),
                                            mul(shared, i32(10000))),
                                        {ir::index(1)}))});
  auto module = compile({function({}, {out}, body)}, {});
  std::vector<std::int32_t> got(2);
  ASSERT_EQ(call(*module, "f", {}, {got.data()}), kGood);
  EXPECT_EQ(got[0], 5 + 2600);
  EXPECT_EQ(got[1], 10 + 1700 + 100000);
}

/// A store between two statements changes what an equal load gives.
TEST(Control, LoadsAreRepeatedAfterStores) {
  auto a = argument("a", Int(32));
  Expr x = load(a, ir::index(0));
  auto body = ir::block(
      {ir::store(a, add(x, i32(1)), {ir::index(0)}), ir::store(a, mul(x, i32(10)), {ir::index(0)})});
  auto module = compile({function({}, {a}, body)}, {});
  std::int32_t value = 4;
  ASSERT_EQ(call(*module, "f", {}, {&value}), kGood);
  EXPECT_EQ(value, 50);
}

TEST(Control, VectorLetsRampsAndLanes) {
  auto out = argument("out", Int(32)), in = argument("in", Int(32), true);
  auto v = ir::make_symbol(ir::SymbolKind::Let, "v", Int(64, 4));
  Expr index = var(v);  // an address pattern behind a name
  Expr lane = ir::make(Op::Lane, Int(32), {load(in, index), ir::index(2)});
  Type eight = Int(64, 8);
  Expr nested = ir::make(Op::Ramp, eight,
                         {ramp(ir::index(0), 10, 4), broadcast(ir::index(1), 4)});  // two groups of four
  Expr repeated = ir::make(Op::Broadcast, eight, {ramp(ir::index(7), 1, 2)});
  auto body = ir::let_stmt(v, ramp(ir::index(1), 2, 4),
                           ir::block({ir::store(out, load(in, index), {ramp(ir::index(0), 1, 4)}),
                                      ir::store(out, lane, {ir::index(4)}),
                                      ir::store(out, to_i32(nested), {ramp(ir::index(5), 1, 8)}),
                                      ir::store(out, to_i32(repeated), {ramp(ir::index(13), 1, 8)})}));
  auto module = compile({function({}, {in, out}, body)}, {});
  std::vector<std::int32_t> x = {0, 1, 2, 3, 4, 5, 6, 7}, got(21);
  ASSERT_EQ(call(*module, "f", {}, {x.data(), got.data()}), kGood);
  EXPECT_EQ(got,
            (std::vector<std::int32_t>{1, 3, 5, 7, 5, 0, 10, 20, 30, 1, 11, 21, 31, 7, 8, 7, 8, 7, 8, 7, 8}));
}

/// An index bound by Let keeps its value when the memory it was computed from changes.
TEST(Control, VectorLetsDoNotReadMemoryAgain) {
  auto a = argument("a", Int(64)), out = argument("out", Int(32)), in = argument("in", Int(32), true);
  auto v = ir::make_symbol(ir::SymbolKind::Let, "v", Int(64, 4));
  auto body = ir::let_stmt(v, add(broadcast(load(a, ir::index(0)), 4), ramp(ir::index(0), 1, 4)),
                           ir::block({ir::store(a, ir::index(0), {ir::index(0)}),
                                      ir::store(out, load(in, var(v)), {ramp(ir::index(0), 1, 4)})}));
  auto module = compile({function({}, {a, out, in}, body)}, {});
  std::int64_t base = 3;
  std::vector<std::int32_t> x = {0, 1, 2, 3, 4, 5, 6, 7}, got(4);
  ASSERT_EQ(call(*module, "f", {}, {&base, got.data(), x.data()}), kGood);
  EXPECT_EQ(got, (std::vector<std::int32_t>{3, 4, 5, 6}));
}

/// Names used only through the definition of an index vector reach the body of a parallel loop.
TEST(Control, ParallelLoopsSeeThroughVectorLets) {
  auto out = argument("out", Int(32));
  auto base = ir::make_symbol(ir::SymbolKind::Param, "base");
  auto v = ir::make_symbol(ir::SymbolKind::Let, "v", Int(64, 4));
  auto i = loop_var("i");
  Expr at = add(var(v), broadcast(mul(var(i), ir::index(4)), 4));
  auto body = ir::let_stmt(
      v, ramp(var(base), 1, 4),
      loop(i, ir::index(0), ir::index(3), ir::store(out, to_i32(at), {at}), ir::Binding::Parallel));
  auto module = compile({function({base}, {out}, body)}, {});
  std::vector<std::int32_t> got(14, -1);
  ASSERT_EQ(call(*module, "f", {2}, {got.data()}), kGood);
  EXPECT_EQ(got, (std::vector<std::int32_t>{-1, -1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
}

TEST(Control, ReductionsAreTheTreeOfLanesInOrder) {
  for (int lanes : {2, 3, 5, 8, 16}) {
    auto in = argument("in", Float(32), true), out = argument("out", Float(32));
    auto ints = argument("ints", Int(8), true), iout = argument("iout", Int(8));
    std::vector<ir::Stmt> stores;
    const Op ops[] = {Op::ReduceAdd, Op::ReduceMul, Op::ReduceMin, Op::ReduceMax};
    for (std::int64_t n = 0; n < 4; ++n) {
      Expr at = ramp(ir::index(0), 1, lanes);
      stores.push_back(ir::store(out, ir::make(ops[n], Float(32), {load(in, at)}), {ir::index(n)}));
      stores.push_back(ir::store(iout, ir::make(ops[n], Int(8), {load(ints, at)}), {ir::index(n)}));
    }
    auto module = compile({function({}, {in, out, ints, iout}, ir::block(stores))}, {});
    std::vector<float> x, got(4);
    std::vector<std::int8_t> k, kgot(4);
    std::mt19937 random(9);
    for (int i = 0; i < lanes; ++i) {
      x.push_back(std::ldexp(static_cast<float>(random() % 1000 + 1), static_cast<int>(random() % 30) - 15));
      k.push_back(static_cast<std::int8_t>(random()));
    }
    ASSERT_EQ(call(*module, "f", {}, {x.data(), got.data(), k.data(), kgot.data()}), kGood);
    auto tree = [](auto values, auto op) {
      while (values.size() > 1) {
        decltype(values) next;
        for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
          next.push_back(static_cast<typename decltype(values)::value_type>(op(values[i], values[i + 1])));
        }
        if (values.size() % 2 == 1) next.push_back(values.back());
        values = next;
      }
      return values[0];
    };
    auto plus = [](auto a, auto b) { return a + b; };
    auto times = [](auto a, auto b) { return a * b; };
    auto least = [](auto a, auto b) { return std::min(a, b); };
    auto most = [](auto a, auto b) { return std::max(a, b); };
    EXPECT_EQ(got, (std::vector<float>{tree(x, plus), tree(x, times), tree(x, least), tree(x, most)}))
        << lanes;
    EXPECT_EQ(kgot, (std::vector<std::int8_t>{tree(k, plus), tree(k, times), tree(k, least), tree(k, most)}))
        << lanes;
  }
}

/// Heap allocations at two levels, with a check in the middle that fails for one element.
lower::Function nested_allocations() {
  auto out = argument("out", Int(32));
  auto n = ir::make_symbol(ir::SymbolKind::Dim, "n"), bad = ir::make_symbol(ir::SymbolKind::Param, "bad");
  auto i = loop_var("i");
  auto outer = local("outer", Int(32), ir::MemorySpace::Heap, var(n));
  auto inner = local("inner", Int(32), ir::MemorySpace::Heap, add(var(n), ir::index(1)));
  auto inside = ir::block(
      {ir::store(inner, to_i32(mul(var(i), var(i))), {var(i)}),
       ir::check(binary(Op::Ne, var(i), var(bad)), "element {} of {} is bad", {var(i), var(n)}),
       ir::store(outer, load(inner, var(i)), {var(i)}), ir::store(out, load(outer, var(i)), {var(i)})});
  return function({n, bad}, {out},
                  ir::allocate(outer, loop(i, ir::index(0), var(n), ir::allocate(inner, inside))));
}

TEST(Control, AllocationsAreReleasedOnEveryWayOut) {
  auto module = compile({nested_allocations()}, {});
  std::vector<std::int32_t> got(4, -1);
  Counting good;
  ASSERT_EQ(call(*module, "f", {4, -1}, {got.data()}, &good), kGood);
  EXPECT_EQ(got, (std::vector<std::int32_t>{0, 1, 4, 9}));
  EXPECT_EQ(good.allocations, 5);
  EXPECT_EQ(good.alive, 0);
  ASSERT_EQ(call(*module, "f", {4, -1}, {got.data()}), kGood);  // and with the default hooks
  for (int refuse = 0; refuse < 5; ++refuse) {
    Counting hooks;
    hooks.refuse = refuse;
    EXPECT_EQ(call(*module, "f", {4, -1}, {got.data()}, &hooks), kOutOfMemory) << refuse;
    EXPECT_EQ(hooks.alive, 0) << refuse;
  }
  Counting failing;
  EXPECT_EQ(call(*module, "f", {4, 2}, {got.data()}, &failing), kCheckFailed);
  EXPECT_EQ(failing.message(), "element 2 of 4 is bad");
  EXPECT_EQ(failing.alive, 0);
  EXPECT_EQ(call(*module, "f", {4, 2}, {got.data()}), kCheckFailed);
}

TEST(Control, CheckMessagesShowEveryKindOfValue) {
  auto x = ir::make_symbol(ir::SymbolKind::Param, "x", Float(32)),
       u = ir::make_symbol(ir::SymbolKind::Param, "u", UInt(8));
  auto body = ir::check(binary(Op::Lt, var(x), ir::make_float(Float(32), 0)), "x = {}, u = {}, again {}{{}",
                        {var(x), var(u), ir::index(-3)});
  auto module = compile({function({x, u}, {}, body)}, {});
  FailureRecord record;
  EXPECT_EQ(call(*module, "f", {std::bit_cast<std::int32_t>(1.5f), 200}, {}, &record), kCheckFailed);
  EXPECT_EQ(record.message(), "x = 1.5, u = 200, again -3{{}");
}

/// Accumulators on the stack become registers: no stack memory is left in the code.
TEST(Control, StackTilesLiveInRegisters) {
  auto a = argument("a", Float(32), true), out = argument("out", Float(32));
  auto n = ir::make_symbol(ir::SymbolKind::Dim, "n");
  auto tile = local("tile", Float(32), ir::MemorySpace::Stack, ir::index(64));
  auto k = loop_var("k");
  std::vector<ir::Stmt> clear, step, write;
  for (std::int64_t r = 0; r < 4; ++r) {
    Expr at = ramp(ir::index(r * 16), 1, 16);
    clear.push_back(ir::store(tile, broadcast(ir::make_float(Float(32), 0), 16), {at}));
    Expr factor = broadcast(load(a, add(var(k), ir::index(r))), 16);
    Expr row = load(a, ramp(mul(var(k), ir::index(16)), 1, 16));
    step.push_back(ir::store(tile, add(load(tile, at), mul(factor, row)), {at}));
    write.push_back(ir::store(out, load(tile, at), {at}));
  }
  auto body = ir::allocate(
      tile, ir::block({ir::block(clear), loop(k, ir::index(0), var(n), ir::block(step)), ir::block(write)}));
  auto f = function({n}, {a, out}, body);
  auto module = compile({f}, {});
  EXPECT_EQ(module->llvm_text().find(" = alloca "), std::string::npos);
  EXPECT_NE(module->llvm_text().find("@llvm.fma.v16f32"), std::string::npos);
  std::vector<float> x(16 * 20), got(64), expected(64, 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i % 7) - 3;  // exact in any order and contraction
  ASSERT_EQ(call(*module, "f", {20}, {x.data(), got.data()}), kGood);
  for (std::size_t kk = 0; kk < 20; ++kk) {
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t c = 0; c < 16; ++c) expected[r * 16 + c] += x[kk + r] * x[kk * 16 + c];
    }
  }
  EXPECT_EQ(got, expected);
}

/// A parallel loop in a parallel loop, with scalars, buffers, an allocation and a vector captured.
lower::Function nested_parallel() {
  auto in = argument("in", Int(32), true), out = argument("out", Int(32));
  auto n = ir::make_symbol(ir::SymbolKind::Dim, "n"),
       scale = ir::make_symbol(ir::SymbolKind::Param, "scale", Int(32));
  auto bad = ir::make_symbol(ir::SymbolKind::Param, "bad");
  auto v = ir::make_symbol(ir::SymbolKind::Let, "v", Int(32, 4));
  auto y = loop_var("y"), x = loop_var("x");
  auto row = local("row", Int(32), ir::MemorySpace::Heap, mul(var(n), ir::index(4)));
  Expr at = ramp(mul(var(x), ir::index(4)), 1, 4);
  Expr in_out = ramp(mul(add(mul(var(y), var(n)), var(x)), ir::index(4)), 1, 4);
  auto compute =
      loop(x, ir::index(0), var(n), ir::store(row, add(load(in, at), var(v)), {at}), ir::Binding::Parallel);
  auto copy =
      loop(x, ir::index(0), var(n), ir::store(out, mul(load(row, at), broadcast(var(scale), 4)), {in_out}),
           ir::Binding::Parallel);
  Expr lanes = add(broadcast(to_i32(var(y)), 4), to_i32(ramp(ir::index(0), 100, 4)));
  auto check = ir::check(binary(Op::Ne, var(y), var(bad)), "row {}", {var(y)});
  auto body = loop(y, ir::index(0), var(n),
                   ir::let_stmt(v, lanes, ir::allocate(row, ir::block({compute, check, copy}))),
                   ir::Binding::Parallel);
  return function({n, scale, bad}, {in, out}, body);
}

TEST(Control, ParallelLoops) {
  auto module = compile({nested_parallel()}, {});
  for (int threads : {1, 2, 0}) {
    set_threads(threads);
    for (std::size_t n : {1, 7, 40}) {
      std::vector<std::int32_t> in(n * 4), out(n * n * 4), expected;
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i * i % 97);
      ASSERT_EQ(call(*module, "f", {static_cast<std::int64_t>(n), 3, -1}, {in.data(), out.data()}), kGood);
      for (std::size_t y = 0; y < n; ++y) {
        for (std::size_t i = 0; i < in.size(); ++i) {
          expected.push_back((in[i] + static_cast<std::int32_t>(y + i % 4 * 100)) * 3);
        }
      }
      EXPECT_EQ(out, expected) << n << " with " << threads << " threads";
    }
  }
  std::vector<std::int32_t> in(80), out(20 * 80);
  FailureRecord record;
  EXPECT_EQ(call(*module, "f", {20, 3, 13}, {in.data(), out.data()}, &record), kCheckFailed);
  EXPECT_EQ(record.message(), "row 13");
}

TEST(Control, ParallelLoopsGoThroughTheHook) {
  struct Reversed : Hooks {
    int calls = 0;
  } hooks;
  hooks.parallel_for = [](Hooks* self, ParallelBody body, std::int64_t begin, std::int64_t end,
                          void* closure) {
    ++static_cast<Reversed*>(self)->calls;
    for (std::int64_t i = end; i-- > begin;) {
      if (int status = body(self, i, i + 1, closure)) return status;
    }
    return 0;
  };
  auto module = compile({nested_parallel()}, {});
  std::vector<std::int32_t> in(12, 1), out(36);
  ASSERT_EQ(call(*module, "f", {3, 2, -1}, {in.data(), out.data()}, &hooks), kGood);
  EXPECT_EQ(hooks.calls, 1 + 3 * 2);
  EXPECT_EQ(out[35], (1 + 2 + 300) * 2);
}

TEST(Control, ThreadsAreLimitedAndUsed) {
  static std::mutex mutex;
  static std::set<std::thread::id> seen;
  auto out = argument("out", Int(32));
  auto i = loop_var("i");
  auto big = local("big", Int(32), ir::MemorySpace::Heap, ir::index(1));
  auto module =
      compile({function({}, {out},
                        loop(i, ir::index(0), ir::index(64),
                             ir::allocate(big, ir::store(out, i32(1), {var(i)})), ir::Binding::Parallel))},
              {});
  FailureRecord hooks;
  hooks.allocate = [](Hooks*, std::int64_t bytes) -> void* {
    {
      std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::aligned_alloc(64, static_cast<std::size_t>((bytes + 63) / 64 * 64));
  };
  hooks.release = [](Hooks*, void* memory) { std::free(memory); };
  std::vector<std::int32_t> got(64);
  set_threads(1);
  ASSERT_EQ(call(*module, "f", {}, {got.data()}, &hooks), kGood);
  EXPECT_EQ(seen.size(), 1u);
  set_threads(0);
  ASSERT_EQ(call(*module, "f", {}, {got.data()}, &hooks), kGood);
  if (std::thread::hardware_concurrency() > 1) {
    EXPECT_GT(seen.size(), 1u);
  }
}

}  // namespace
}  // namespace calotype::llvm_backend
