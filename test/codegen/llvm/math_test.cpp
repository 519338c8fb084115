// Math functions: the worst error in ulps over sweeps of all exponents, and the special values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "harness.h"

namespace calotype::llvm_backend {
namespace {

using ir::Op;

constexpr int kLanes = 16;

/// out[i] = op(x[i] [, y[i]]) for `n` elements, a multiple of 16 (the scalar form for the first 64 of them).
lower::Function math_function(Op op, Type type, const std::string& name, int lanes, bool binary_op) {
  lower::Function f;
  f.name = name;
  auto n = ir::make_symbol(ir::SymbolKind::Param, "n");
  f.scalars = {n};
  auto i = loop_var("i");
  Expr at = ramp(binary(Op::Mul, ir::make_var(i), ir::index(lanes)), 1, lanes);
  std::vector<Expr> args;
  for (int k = 0; k < (binary_op ? 2 : 1); ++k) {
    f.buffers.push_back(argument("x", type, true));
    args.push_back(load(f.buffers.back(), at));
  }
  f.buffers.push_back(argument("out", type));
  Expr extent = binary(Op::Div, ir::make_var(n), ir::index(lanes));
  f.body = loop(i, ir::index(0), extent,
                ir::store(f.buffers.back(), ir::make(op, type.with_lanes(lanes), args), {at}));
  return f;
}

/// Distance of `got` from the exact value in units of the last place of an f32 of that size.
double ulps(float got, double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
  float rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(got)) {
    if (rounded == got) return 0;
    if (std::isinf(got) && std::abs(exact) < 0x1.ffffffp127 * (1 - 0x1p-23)) return INFINITY;
  }
  int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::abs(static_cast<double>(got) - exact) / std::ldexp(1.0, std::min(exponent, 127) - 23);
}

std::vector<float> sweep() {
  std::vector<float> x;
  std::mt19937 random(7);
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (int k = 0; k < 4096; ++k) {
      std::uint32_t bits = exponent << 23 | (random() & 0x807fffff);
      if (k == 0) bits = exponent << 23;
      if (k == 1) bits = 0x80000000 | exponent << 23;
      if (k == 2) bits = exponent << 23 | 0x7fffff;
      x.push_back(std::bit_cast<float>(bits));
    }
  }
  // Ends of the parts that tables have, and the middles between them.
  for (int k = -64; k <= 64; ++k) x.push_back(static_cast<float>(k) / 2 * 67 / 256);
  return x;
}

/// Arguments where the function does something: dense in [low, high].
void add_dense(std::vector<float>& x, double low, double high) {
  for (int k = 0; k < 1 << 20; ++k) x.push_back(static_cast<float>(low + (high - low) * k / (1 << 20)));
}

struct MathCase {
  const char* name;
  Op op;
  double (*exact)(double);
  double low, high;
};

class MathF32 : public testing::TestWithParam<MathCase> {};

TEST_P(MathF32, WithinTwoUlp) {
  const MathCase& c = GetParam();
  std::vector<float> x = sweep();
  add_dense(x, c.low, c.high);
  while (x.size() % kLanes != 0) x.push_back(static_cast<float>(c.low));  // the code takes whole vectors
  for (const char* arch : {"", "x86_64-avx2"}) {
    Options options;
    options.arch = arch;
    auto module = compile({math_function(c.op, Float(32), "vector", kLanes, false),
                           math_function(c.op, Float(32), "scalar", 1, false),
                           math_function(c.op, Float(32), "ragged", 3, false)},
                          options);
    std::vector<float> out(x.size());
    ASSERT_EQ(call(*module, "vector", {static_cast<std::int64_t>(x.size())}, {x.data(), out.data()}), kGood);
    double worst = 0;
    float at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double error = ulps(out[i], c.exact(x[i]));
      if (error > worst) worst = error, at = x[i];
    }
    std::printf("  %-6s %-12s max %.3f ulp at %a (%g)\n", c.name, *arch ? arch : "host", worst,
                static_cast<double>(at), static_cast<double>(at));
    EXPECT_LE(worst, 2.0) << c.name << " at " << at;
    for (const char* form : {"scalar", "ragged"}) {  // the same code at other lanes gives the same bits
      std::vector<float> other(x.size(), 0);
      const std::int64_t n = static_cast<std::int64_t>(x.size()) / 3 * 3;
      ASSERT_EQ(call(*module, form, {n}, {x.data(), other.data()}), kGood);
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        ASSERT_TRUE(other[i] == out[i] || (std::isnan(other[i]) && std::isnan(out[i])))
            << form << " at " << x[i];
      }
    }
  }
}

double rsqrt(double x) { return 1 / std::sqrt(x); }

INSTANTIATE_TEST_SUITE_P(
    All, MathF32,
    testing::Values(
        MathCase{"exp", Op::Exp, std::exp, -105, 90}, MathCase{"log", Op::Log, std::log, 0.2, 4},
        MathCase{"tanh", Op::Tanh, std::tanh, -10, 10}, MathCase{"erf", Op::Erf, std::erf, -4.2, 4.2},
        MathCase{"sin", Op::Sin, std::sin, -100, 100}, MathCase{"cos", Op::Cos, std::cos, -100, 100},
        MathCase{"exp2", Op::Exp2, std::exp2, -150, 129}, MathCase{"expm1", Op::Expm1, std::expm1, -2, 2},
        MathCase{"log2", Op::Log2, std::log2, 0.2, 4}, MathCase{"log1p", Op::Log1p, std::log1p, -1, 2},
        MathCase{"fast_log", Op::FastLog, std::log, 0.2, 4},
        MathCase{"fast_sin", Op::FastSin, std::sin, -100, 100},
        MathCase{"fast_cos", Op::FastCos, std::cos, -100, 100},
        MathCase{"fast_tanh", Op::FastTanh, std::tanh, -10, 10}, MathCase{"tan", Op::Tan, std::tan, -10, 10},
        MathCase{"asin", Op::Asin, std::asin, -1, 1}, MathCase{"acos", Op::Acos, std::acos, -1, 1},
        MathCase{"atan", Op::Atan, std::atan, -10, 10}, MathCase{"sinh", Op::Sinh, std::sinh, -10, 10},
        MathCase{"cosh", Op::Cosh, std::cosh, -10, 10}, MathCase{"asinh", Op::Asinh, std::asinh, -10, 10},
        MathCase{"acosh", Op::Acosh, std::acosh, 1, 10}, MathCase{"atanh", Op::Atanh, std::atanh, -1, 1},
        MathCase{"sqrt", Op::Sqrt, std::sqrt, 0, 10}, MathCase{"rsqrt", Op::Rsqrt, rsqrt, 0, 10}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Math, FastExpWithinItsError) {
  std::vector<float> x = sweep();
  add_dense(x, -105, 90);
  add_dense(x, -1, 1);
  while (x.size() % kLanes != 0) x.push_back(0);
  for (const char* arch : {"", "x86_64-avx2"}) {
    Options options;
    options.arch = arch;
    auto module = compile({math_function(Op::FastExp, Float(32), "vector", kLanes, false),
                           math_function(Op::FastExp, Float(32), "ragged", 3, false)},
                          options);
    const auto n = static_cast<std::int64_t>(x.size());
    std::vector<float> out(x.size()), ragged(x.size());
    ASSERT_EQ(call(*module, "vector", {n}, {x.data(), out.data()}), kGood);
    ASSERT_EQ(call(*module, "ragged", {n / 3 * 3}, {x.data(), ragged.data()}), kGood);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = std::exp(static_cast<double>(x[i]));
      if (i < x.size() / 3 * 3) {
        ASSERT_EQ(std::memcmp(&out[i], &ragged[i], 4), 0) << x[i];
      }
      if (std::isnan(x[i])) {
        ASSERT_TRUE(std::isnan(out[i]));
      } else if (exact > static_cast<double>(std::numeric_limits<float>::max())) {
        ASSERT_TRUE(std::isinf(out[i]) || out[i] > 3.4e38f) << x[i];
      } else if (exact < 0x1p-126) {
        ASSERT_LE(out[i], 0x1p-126f) << x[i];
      } else {
        const double bound = 0x1p-21 + std::abs(static_cast<double>(x[i])) * 0x1p-23;
        ASSERT_LE(std::abs(static_cast<double>(out[i]) / exact - 1), bound) << x[i];
      }
    }
    for (const float whole : {0.0f, -0.0f}) {
      const auto at = static_cast<std::size_t>(std::find(x.begin(), x.end(), whole) - x.begin());
      ASSERT_LT(at, x.size());
      EXPECT_EQ(out[at], 1.0f);
    }
  }
}

TEST(Math, PowWithinTwoUlp) {
  std::vector<float> x = sweep(), y;
  std::mt19937_64 random(11);
  for (float v : x) {
    // Half of the exponents keep the result in range, the rest are anything, with many small integers among
    // them.
    std::uint64_t bits = random();
    double limit = 140 / std::max(1e-3, std::abs(std::log2(std::abs(static_cast<double>(v)))));
    double unit = std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), -63);
    float chosen = static_cast<float>(unit * limit);
    if (bits % 8 == 0) chosen = std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32));
    if (bits % 8 < 3 && bits % 8 > 0) chosen = std::round(chosen);
    if (bits % 64 == 3) chosen = static_cast<float>((bits >> 32) % 9) - 4;
    y.push_back(chosen);
  }
  const float special[] = {0.0f, -0.0f, 1,        -1,        2,   -2,    3,      -3,
                           0.5f, -0.5f, INFINITY, -INFINITY, NAN, 1e38f, 1e-45f, 2.5f};
  for (float a : special) {
    for (float b : special) x.push_back(a), y.push_back(b);
  }
  while (x.size() % kLanes != 0) x.push_back(2), y.push_back(3);  // the code takes whole vectors
  auto module = compile({math_function(Op::Pow, Float(32), "pow", kLanes, true)}, {});
  std::vector<float> out(x.size());
  ASSERT_EQ(call(*module, "pow", {static_cast<std::int64_t>(x.size())}, {x.data(), y.data(), out.data()}),
            kGood);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    double exact = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    double error = ulps(out[i], exact);
    ASSERT_LE(error, 2.0) << x[i] << " ^ " << y[i] << " gave " << out[i] << ", exactly " << exact;
    if (exact == 0) {
      ASSERT_EQ(std::signbit(out[i]), std::signbit(exact)) << x[i] << " ^ " << y[i];
    }
    worst = std::max(worst, error);
  }
  std::printf("  pow    max %.3f ulp\n", worst);
}

TEST(Math, Atan2AndHypotWithinTwoUlp) {
  std::vector<float> x = sweep(), y = x;
  std::shuffle(y.begin(), y.end(), std::mt19937(5));
  const float special[] = {0.0f, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 1e38f, -1e-45f, 2.5f};
  for (float a : special) {
    for (float b : special) x.push_back(a), y.push_back(b);
  }
  while (x.size() % kLanes != 0) x.push_back(2), y.push_back(3);  // the code takes whole vectors
  x.resize(x.size() / kLanes * kLanes);
  y.resize(x.size());
  using Binary = double (*)(double, double);
  const std::vector<std::pair<Op, Binary>> cases = {{Op::Atan2, std::atan2}, {Op::Hypot, std::hypot}};
  for (auto [op, function] : cases) {
    auto module = compile({math_function(op, Float(32), "f", kLanes, true)}, {});
    std::vector<float> out(x.size());
    ASSERT_EQ(call(*module, "f", {static_cast<std::int64_t>(x.size())}, {x.data(), y.data(), out.data()}),
              kGood);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = function(x[i], y[i]);
      ASSERT_LE(ulps(out[i], exact), 2.0) << ir::info(op).name << " of " << x[i] << " and " << y[i]
                                          << " gave " << out[i] << ", exactly " << exact;
    }
  }
}

TEST(Math, FastDivideIsWithinItsPromise) {
  std::vector<float> x = sweep(), y = x;
  std::mt19937 random(5);
  std::shuffle(y.begin(), y.end(), random);
  x.resize(x.size() / kLanes * kLanes);
  y.resize(x.size());
  const float infinity = std::numeric_limits<float>::infinity();
  x[0] = 3, y[0] = infinity, x[1] = -3, y[1] = infinity, x[2] = 3, y[2] = 0.0f, x[3] = 3, y[3] = -0.0f;
  for (const std::string arch : {"", "x86_64-avx2"}) {
    Options options;
    options.arch = arch;
    auto module = compile({math_function(Op::FastDivide, Float(32), "f", kLanes, true)}, options);
    std::vector<float> out(x.size());
    ASSERT_EQ(call(*module, "f", {static_cast<std::int64_t>(x.size())}, {x.data(), y.data(), out.data()}),
              kGood);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = x[i], b = y[i], exact = a / b;
      const bool subnormal = b != 0 && std::abs(b) < 0x1p-126;
      if (!std::isfinite(a) || subnormal) continue;
      if (std::isnan(exact)) {
        ASSERT_TRUE(std::isnan(out[i])) << a << " / " << b;
      } else if (std::isinf(static_cast<float>(exact)) || std::isinf(out[i])) {
        ASSERT_TRUE(std::abs(exact) >= 0x1p128 * (1 - 0x1p-21)) << a << " / " << b << " gave " << out[i];
        ASSERT_EQ(std::signbit(out[i]), std::signbit(exact));
      } else {
        ASSERT_LE(std::abs(out[i] - exact), std::abs(exact) * 0x1p-21 + std::abs(a) * 0x1p-126 + 0x1p-149)
            << a << " / " << b << " gave " << out[i];
      }
    }
  }
}

TEST(Math, SignedZeros) {
  for (Op op : {Op::Tanh, Op::Erf, Op::Sin, Op::Sqrt, Op::Tan, Op::Asin, Op::Atan, Op::Sinh, Op::Asinh,
                Op::Atanh, Op::Expm1, Op::Log1p}) {
    auto module = compile({math_function(op, Float(32), "f", 4, false)}, {});
    std::vector<float> x = {0.0f, -0.0f, 1e-45f, -1e-45f}, out(4);
    ASSERT_EQ(call(*module, "f", {4}, {x.data(), out.data()}), kGood);
    EXPECT_FALSE(std::signbit(out[0])) << ir::info(op).name;
    EXPECT_TRUE(std::signbit(out[1]) && out[1] == 0) << ir::info(op).name;
  }
}

TEST(Math, DoubleIsTheLibrarys) {
  const std::vector<std::pair<Op, double (*)(double)>> cases = {
      {Op::Exp, std::exp},         {Op::Log, std::log},   {Op::Tanh, std::tanh},  {Op::Erf, std::erf},
      {Op::Sin, std::sin},         {Op::Cos, std::cos},   {Op::Sqrt, std::sqrt},  {Op::Floor, std::floor},
      {Op::Round, std::nearbyint}, {Op::Exp2, std::exp2}, {Op::Log2, std::log2},  {Op::Tan, std::tan},
      {Op::Atan, std::atan},       {Op::Sinh, std::sinh}, {Op::Asinh, std::asinh}};
  for (auto [op, exact] : cases) {
    auto module = compile({math_function(op, Float(64), "f", 4, false)}, {});
    std::vector<double> x = {0.3, 1.7, 2.5, 11.25}, out(4);
    ASSERT_EQ(call(*module, "f", {4}, {x.data(), out.data()}), kGood);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(out[i], exact(x[i])) << ir::info(op).name;
  }
}

TEST(Math, NarrowFloatsRoundTheF32Result) {
  for (Type type : {Float(16), BFloat(16)}) {
    auto module = compile({math_function(Op::Exp, type, "f", 8, false)}, {});
    Array x(type, 64), out(type, 64);
    for (std::size_t i = 0; i < 64; ++i)
      x.set(i, ir::Value::of_float(type, (static_cast<double>(i) - 32) / 4));
    ASSERT_EQ(call(*module, "f", {64}, {x.data(), out.data()}), kGood);
    for (std::size_t i = 0; i < 64; ++i) {
      double exact = std::exp(x.get(i).f);
      EXPECT_NEAR(out.get(i).f, exact, exact * (type.code == TypeCode::BFloat ? 0x1p-8 : 0x1p-10))
          << x.get(i).f;
    }
  }
}

}  // namespace
}  // namespace calotype::llvm_backend
