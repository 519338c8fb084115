// Programs encoded as plans and run: size expressions against the language's arithmetic, scalars, checks,
// workspace.

#include "driver/plan_encoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "calotype/error.h"
#include "driver/size_encoder.h"
#include "ir/runtime_type.h"
#include "ir/value.h"

namespace {

using namespace calotype;
using ir::Op;

Expr node(Op op, Type type, std::vector<Expr> args) { return ir::make(op, type, std::move(args)); }

std::optional<std::int64_t> evaluate(driver::SizeEncoder& encoder, const Expr& e,
                                     const std::vector<std::int64_t>& slots) {
  const calotype_code code = encoder.encode(e);
  std::vector<calotype_cell> stack(encoder.stack_size()), temps(encoder.temp_count() + 1);
  std::int64_t result = 0;
  if (calotype_evaluate(encoder.ops().data(), code, slots.data(), stack.data(), temps.data(), &result))
    return std::nullopt;
  return result;
}

Expr random_size(std::mt19937_64& random, const std::vector<ir::SymbolPtr>& symbols, int depth) {
  const auto sub = [&] { return random_size(random, symbols, depth - 1); };
  const auto condition = [&] {
    const Op op = std::vector<Op>{Op::Lt, Op::Le, Op::Eq, Op::Ne}[random() % 4];
    const Expr c = node(op, Bool(), {sub(), sub()});
    return random() % 3 ? c : node(Op::Not, Bool(), {c});
  };
  if (depth == 0)
    return random() % 3 ? ir::make_var(symbols[random() % symbols.size()])
                        : ir::index(static_cast<std::int64_t>(random() % 41) - 20);
  const std::vector<Op> binary{Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Min, Op::Max};
  switch (random() % 12) {
    case 0:
      return node(Op::Select, Int(64),
                  {node(random() % 2 ? Op::And : Op::Or, Bool(), {condition(), condition()}), sub(), sub()});
    case 1:
      return node(Op::Neg, Int(64), {sub()});
    case 2:
      return node(
          Op::Cast, Int(64),
          {node(Op::Add, Int(32), {node(Op::Cast, Int(32), {sub()}), node(Op::Cast, Int(32), {sub()})})});
    case 3:
      return node(Op::Cast, Int(64), {node(Op::Cast, UInt(8), {sub()})});
    case 4:
      return node(Op::Shr, Int(64), {sub(), ir::index(3)});
    case 5: {
      const ir::SymbolPtr s = ir::make_symbol(ir::SymbolKind::Let, "s");
      return ir::make(Op::Let, Int(64), {sub(), node(Op::Mul, Int(64), {ir::make_var(s), ir::make_var(s)})},
                      s);
    }
    default:
      return node(binary[random() % binary.size()], Int(64), {sub(), sub()});
  }
}

/// By constant folding; lets are substituted.
std::int64_t reference(const Expr& e, const ir::Substitution& values) {
  const Expr closed = ir::substitute(e, values);
  const Expr value = ir::rewrite(closed, [](const Expr& n) -> Expr {
    if (ir::is_const(n) || ir::is(n, Op::Variable)) return n;
    if (!ir::is(n, Op::Let)) {
      const Expr folded = ir::fold(n->op, n->type, n->args);
      return folded.defined() ? folded : n;
    }
    const Expr body = ir::substitute(n->args[1], {{ir::symbol_of(n), n->args[0]}});
    return ir::rewrite(body, [](const Expr& m) -> Expr {
      const Expr folded = ir::is_const(m) ? m : ir::fold(m->op, m->type, m->args);
      return folded.defined() ? folded : m;
    });
  });
  return *ir::as_int(value);
}

TEST(SizeEncoder, RandomExpressions) {
  std::mt19937_64 random(21);
  const std::vector<ir::SymbolPtr> symbols{ir::make_symbol(ir::SymbolKind::Dim, "W"),
                                           ir::make_symbol(ir::SymbolKind::Dim, "H")};
  int compared = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    driver::SizeEncoder encoder;
    encoder.bind(symbols[0], 0);
    encoder.bind(symbols[1], 1);
    const Expr e = random_size(random, symbols, 4);
    const std::vector<std::int64_t> slots{static_cast<std::int64_t>(random() % 2001) - 1000,
                                          static_cast<std::int64_t>(random() % 15) - 3};
    const auto got = evaluate(encoder, e, slots);
    if (!got) continue;  // left 64 bits
    ++compared;
    EXPECT_EQ(*got, reference(e, {{symbols[0], ir::index(slots[0])}, {symbols[1], ir::index(slots[1])}}))
        << ir::to_string(e);
  }
  EXPECT_GT(compared, 2500);
}

TEST(SizeEncoder, SharedNodesAreComputedOnce) {
  const ir::SymbolPtr w = ir::make_symbol(ir::SymbolKind::Dim, "W");
  driver::SizeEncoder encoder;
  encoder.bind(w, 0);
  Expr e = node(Op::Add, Int(64), {ir::make_var(w), ir::index(1)});
  for (int i = 0; i < 40; ++i) e = node(Op::Max, Int(64), {node(Op::Sub, Int(64), {e, ir::index(i)}), e});
  EXPECT_EQ(evaluate(encoder, e, {5}), 6);
  EXPECT_LT(encoder.ops().size(), 300u);
}

TEST(SizeEncoder, RefusesWhatTheRuntimeCannotCompute) {
  driver::SizeEncoder encoder;
  EXPECT_THROW(encoder.encode(ir::make_var(ir::make_symbol(ir::SymbolKind::Dim, "unknown"))), Error);
  EXPECT_THROW(encoder.encode(node(Op::Cast, Int(64), {ir::make_float(Float(32), 2)})), Error);
  EXPECT_THROW(
      encoder.encode(node(Op::Add, UInt(64), {ir::make_int(UInt(64), 1), ir::make_int(UInt(64), 1)})), Error);
}

// out(x) = 2 * in(x) for a named size N, by two functions and a workspace of N + 1 elements.
struct Doubler {
  lower::Program program;
  Doubler() {
    const auto n = ir::make_symbol(ir::SymbolKind::Dim, "N"),
               m = ir::make_symbol(ir::SymbolKind::Let, "out.extent.0"),
               gain = ir::make_symbol(ir::SymbolKind::Param, "gain", Float(64)),
               whole = ir::make_symbol(ir::SymbolKind::Let, "whole");
    const auto in = ir::make_buffer({.name = "in",
                                     .type = Int(32),
                                     .space = ir::MemorySpace::Argument,
                                     .argument = 0,
                                     .read_only = true});
    const auto out =
        ir::make_buffer({.name = "out", .type = Int(32), .space = ir::MemorySpace::Argument, .argument = 2});
    const auto tmp = ir::make_buffer({.name = "tmp", .type = Int(32), .space = ir::MemorySpace::Heap});
    const Expr N = ir::make_var(n), M = ir::make_var(m);
    program.name = "doubler";
    program.arguments = {{"in", false, false, Int(32), 1},
                         {"gain", true, false, Float(64), 0},
                         {"out", false, true, Int(32), 1}};
    using Kind = lower::ScalarSource::Kind;
    program.scalars = {
        {n, {.kind = Kind::Extent, .argument = 0}},
        {m, {.kind = Kind::Extent, .argument = 2}},
        {gain, {.kind = Kind::Param, .argument = 1}},
        {whole, {.kind = Kind::Value, .value = node(Op::Cast, Int(64), {ir::make_var(gain)})}}};
    program.checks = {{node(Op::Eq, Bool(), {N, M}), "extent {} is not {}", "out", {M, N}},
                      {node(Op::Lt, Bool(), {ir::index(0), ir::make_var(whole)}),
                       "gain {} is too small",
                       "gain",
                       {ir::make_var(gain)}}};
    program.workspace = {
        {tmp, node(Op::Mul, Int(64), {node(Op::Add, Int(64), {N, ir::index(1)}), ir::index(4)})}};
    lower::Function first, second;
    first.name = "first";
    first.buffers = {in, tmp};
    first.scalars = {n, whole};
    second.name = "second";
    second.buffers = {tmp, out};
    second.scalars = {n};
    program.functions = {second, first};
    program.steps = {{1}, {0}};
  }
};

int first(void*, const std::int64_t* s, void* const* b) {
  for (std::int64_t i = 0; i < s[0]; ++i)
    static_cast<std::int32_t*>(b[1])[i] =
        static_cast<std::int32_t>(s[1]) * static_cast<std::int32_t*>(b[0])[i];
  static_cast<std::int32_t*>(b[1])[s[0]] = 0;
  return 0;
}
int second(void*, const std::int64_t* s, void* const* b) {
  for (std::int64_t i = 0; i < s[0]; ++i)
    static_cast<std::int32_t*>(b[1])[i] = static_cast<std::int32_t*>(b[0])[i];
  return 0;
}

TEST(PlanEncoder, EncodedProgramRuns) {
  const std::shared_ptr<const driver::EncodedPlan> encoded = driver::encode_plan(Doubler().program);
  std::vector<std::int32_t> in{3, 4, 5}, out{0, 0, 0};
  const auto buffer = [](std::vector<std::int32_t>& v) {
    calotype_buffer b{};
    b.data = v.data();
    b.type = ir::runtime_type(Int(32));
    b.rank = 1;
    b.dims[0] = {0, static_cast<std::int64_t>(v.size()), 1};
    return b;
  };
  calotype_buffer a = buffer(in), o = buffer(out);
  const calotype_host_function functions[] = {second, first};
  const calotype_plan_code code{functions, nullptr};
  calotype_context context{};
  const auto call = [&](double gain) {
    std::int64_t bits;
    memcpy(&bits, &gain, sizeof bits);
    const calotype_argument arguments[] = {{&a, 0}, {nullptr, bits}, {&o, 0}};
    return calotype_plan_run(&encoded->plan(), &code, &context, arguments, 3);
  };
  ASSERT_EQ(call(2.75), CALOTYPE_GOOD) << context.error.message;
  EXPECT_EQ(out, (std::vector<std::int32_t>{6, 8, 10}));
  EXPECT_EQ(call(0.5), CALOTYPE_BAD_ARGUMENT);
  EXPECT_STREQ(context.error.message, "gain 0.5 is too small");
  o.dims[0].extent = 2;
  EXPECT_EQ(call(2), CALOTYPE_BAD_ARGUMENT);
  EXPECT_STREQ(context.error.message, "extent 2 is not 3");
  EXPECT_STREQ(context.error.func, "out");
}

TEST(PlanEncoder, UnknownStorageIsRefused) {
  Doubler d;
  d.program.workspace.clear();
  EXPECT_THROW(driver::encode_plan(d.program), Error);
}

}  // namespace
