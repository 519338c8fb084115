// Every operation on every type against ir::fold, with random and extreme operands, over lanes and uniform.

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "ir/value.h"
#include "sim/cell.h"
#include "sim/kernel_maker.h"

namespace calotype::sim {
namespace {

using ir::Op;

const std::vector<Type> kInts = {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64)};
const std::vector<Type> kFloats = {Float(16), BFloat(16), Float(32), Float(64)};
constexpr int kThreads = 96;

std::vector<Type> all_types() {
  std::vector<Type> types = kInts;
  types.insert(types.end(), kFloats.begin(), kFloats.end());
  types.push_back(Bool());
  return types;
}

class Operands {
 public:
  explicit Operands(unsigned seed) : random_(seed) {}

  Expr of(Type type) {
    if (type.is_float()) return ir::make_float(type, number());
    const auto bits = static_cast<std::int64_t>(random_());
    switch (random_() % 5) {
      case 0:
        return ir::make_int(type, bits % 5);
      case 1:
        return ir::make_int(type, type.min_int() + (bits & 3));
      case 2:
        return ir::make_int(type, type.max_int() - (bits & 3));
      case 3:
        return ir::make_int(type, bits % 100);
      default:
        return ir::make_int(type, bits);
    }
  }

 private:
  double number() {
    static const double special[] = {0.0,          -0.0,
                                     1.0,          -1.0,
                                     0.5,          -2.5,
                                     1e-7,         3e-5,
                                     65504,        65519,
                                     1e5,          -2147483648.0,
                                     4294967295.0, 9.3e18,
                                     1.9e19,       3e38,
                                     1e-40,        1e-310,
                                     1e300,        INFINITY,
                                     -INFINITY,    std::numeric_limits<double>::quiet_NaN()};
    const auto pick = random_();
    if (pick % 4 == 0) return special[pick / 4 % std::size(special)];
    const double unit = static_cast<double>(static_cast<std::int64_t>(random_())) * 0x1p-63;
    return std::ldexp(unit, static_cast<int>(random_() % 24) - 6);
  }

  std::mt19937_64 random_;
};

/// Element `i` of a buffer of the type in `bytes`.
void put(std::vector<std::byte>& bytes, int i, const Expr& constant) {
  const ir::Value v = ir::value_of(constant);
  encode(v.type, v.type.is_float() ? of_float(v.f) : of_int(v.i), bytes.data() + i * v.type.bytes());
}

bool same(Type type, const std::byte* a, const std::byte* b) {
  if (type.is_float()) {
    const double x = decode(type, a).f, y = decode(type, b).f;
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  }
  return std::memcmp(a, b, static_cast<std::size_t>(type.bytes())) == 0;
}

/// Runs result = op(operands) for random operands, one element a thread, and compares with ir::fold. Where
/// `uniform` says so, that operand is the same constant for all threads.
void check_op(Op op, Type type, const std::vector<Type>& operands, int uniform, Operands& random) {
  SCOPED_TRACE(std::string(ir::info(op).name) + " " + operands[0].str() + " to " + type.str());
  KernelMaker k("op");
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::vector<Expr>> constants(kThreads);
  std::vector<Expr> args;
  for (std::size_t a = 0; a < operands.size(); ++a) {
    const auto buffer = k.argument("arg", operands[a]);
    bytes.emplace_back(kThreads * operands[a].bytes());
    const Expr same_for_all = random.of(operands[a]);
    const bool is_uniform = static_cast<int>(a) == uniform;
    for (int i = 0; i < kThreads; ++i) {
      constants[i].push_back(is_uniform ? same_for_all : random.of(operands[a]));
      put(bytes.back(), i, constants[i].back());
    }
    args.push_back(is_uniform ? same_for_all : load(buffer, k.thread()));
  }
  const auto result = k.argument("result", type);
  k.function.body = ir::store(result, ir::make(op, type, args), {k.thread()});
  std::vector<std::byte> got(kThreads * type.bytes()), expected(got.size());
  Launch launch{.block = {kThreads, 1, 1}};
  for (auto& b : bytes) launch.buffers.push_back(memory_of(b));
  launch.buffers.push_back(memory_of(got));
  const Report report = k.run(launch);
  ASSERT_TRUE(report.clean()) << to_string(report);
  for (int i = 0; i < kThreads; ++i) {
    const Expr folded = ir::fold(op, type, constants[i]);
    ASSERT_TRUE(folded.defined());
    put(expected, i, folded);
    ASSERT_TRUE(same(type, &got[i * type.bytes()], &expected[i * type.bytes()]))
        << ir::to_string(ir::make(op, type, constants[i])) << " is " << ir::to_string(folded);
  }
}

void check_all(Op op, const std::vector<Type>& types, std::size_t arity, Type result = {}) {
  Operands random(static_cast<unsigned>(op) + 17);
  for (const Type t : types)
    for (int uniform = -1; uniform < static_cast<int>(arity); ++uniform)
      check_op(op, result.is_bool() ? result : t, std::vector<Type>(arity, t), uniform, random);
}

TEST(Arithmetic, Binary) {
  for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Min, Op::Max}) {
    check_all(op, kInts, 2);
    check_all(op, kFloats, 2);
  }
  for (const Op op : {Op::TruncDiv, Op::TruncMod, Op::BitAnd, Op::BitOr, Op::BitXor, Op::Shl, Op::Shr})
    check_all(op, kInts, 2);
  for (const Op op : {Op::Pow, Op::Atan2, Op::Hypot, Op::FastDivide}) check_all(op, kFloats, 2);
  for (const Op op : {Op::And, Op::Or, Op::BitAnd, Op::BitOr, Op::BitXor}) check_all(op, {Bool()}, 2);
}

TEST(Arithmetic, ShiftsByOtherTypes) {
  Operands random(5);
  for (const Type amount : {Int(8), UInt(8), Int(64)})
    for (const Type t : kInts) check_op(Op::Shr, t, {t, amount}, -1, random);
}

TEST(Arithmetic, Comparisons) {
  for (const Op op : {Op::Eq, Op::Ne, Op::Lt, Op::Le}) check_all(op, all_types(), 2, Bool());
}

TEST(Arithmetic, Unary) {
  for (const Op op : {Op::Neg, Op::BitNot, Op::Popcount, Op::CountLeadingZeros, Op::CountTrailingZeros})
    check_all(op, kInts, 1);
  check_all(Op::Not, {Bool()}, 1);
  check_all(Op::BitNot, {Bool()}, 1);
  for (const Op op :
       {Op::Neg,  Op::Abs,   Op::Exp,   Op::Log,   Op::Sqrt,    Op::Rsqrt,   Op::Tanh,    Op::Erf,
        Op::Sin,  Op::Cos,   Op::Floor, Op::Ceil,  Op::Trunc,   Op::Round,   Op::FastExp, Op::Tan,
        Op::Asin, Op::Acos,  Op::Atan,  Op::Sinh,  Op::Cosh,    Op::Asinh,   Op::Acosh,   Op::Atanh,
        Op::Exp2, Op::Expm1, Op::Log2,  Op::Log1p, Op::FastLog, Op::FastSin, Op::FastCos, Op::FastTanh})
    check_all(op, kFloats, 1);
  Operands random(7);
  for (const Type t : kInts) check_op(Op::Abs, UInt(t.bits), {t}, -1, random);
}

TEST(Arithmetic, FmaAndSelect) {
  check_all(Op::Fma, kInts, 3);
  check_all(Op::Fma, kFloats, 3);
  Operands random(8);
  for (const Type t : all_types())
    for (int uniform = -1; uniform < 3; ++uniform) check_op(Op::Select, t, {Bool(), t, t}, uniform, random);
}

TEST(Arithmetic, Casts) {
  Operands random(9);
  for (const Type from : all_types())
    for (const Type to : all_types())
      for (int round = 0; round < 4; ++round) check_op(Op::Cast, to, {from}, -1, random);
}

TEST(Arithmetic, Bitcasts) {
  Operands random(10);
  for (const Type from : all_types())
    for (const Type to : all_types())
      if (from.bits == to.bits) check_op(Op::Bitcast, to, {from}, -1, random);
}

/// Operations on vectors of 4 are those on each lane.
TEST(Arithmetic, VectorsLaneByLane) {
  KernelMaker k("vectors");
  const auto a = k.argument("a", Int(16)), out = k.argument("out", Int(16));
  const Expr at = ramp(k.thread() * 4, 4);
  const Expr factor =
      ir::make(Op::Ramp, Int(16, 4), {ir::make_int(Int(16), -7), ir::make_int(Int(16), 3000)});
  const Expr product = ir::make(Op::Mul, Int(16, 4), {load(a, at), factor});
  k.function.body =
      ir::store(out, ir::make(Op::Add, Int(16, 4), {product, broadcast(ir::make_int(Int(16), 5), 4)}), {at});
  std::vector<std::int16_t> xs(kThreads * 4), ys(xs.size());
  for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<std::int16_t>(i * 977 + 3);
  EXPECT_TRUE(k.run({{1, 1, 1}, {kThreads, 1, 1}, {}, {memory_of(xs), memory_of(ys)}}).clean());
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const int wanted = xs[i] * (-7 + static_cast<int>(i % 4) * 3000) + 5;
    ASSERT_EQ(ys[i], static_cast<std::int16_t>(wanted)) << i;
  }
}

/// Reductions combine neighbours: ((0 1) (2 3)) 4.
TEST(Arithmetic, ReductionsAreATree) {
  KernelMaker k("reduce");
  const auto in = k.argument("in", Float(32)), out = k.argument("out", Float(32));
  const Expr v = load(in, ramp(k.thread() * 5, 5));
  const std::vector<Op> ops = {Op::ReduceAdd, Op::ReduceMul, Op::ReduceMin, Op::ReduceMax};
  std::vector<ir::Stmt> parts;
  for (std::size_t i = 0; i < ops.size(); ++i)
    parts.push_back(ir::store(out, ir::make(ops[i], Float(32), {v}), {k.thread() * 4 + static_cast<int>(i)}));
  k.function.body = ir::block(parts);
  std::mt19937 random(3);
  std::vector<float> xs(32 * 5), ys(32 * 4);
  for (float& x : xs) x = static_cast<float>(random()) * 0x1p-30f - 1.7f;
  EXPECT_TRUE(k.run({{1, 1, 1}, {32, 1, 1}, {}, {memory_of(xs), memory_of(ys)}}).clean());
  for (int i = 0; i < 32; ++i) {
    const float* x = &xs[i * 5];
    const float left = x[0] + x[1], right = x[2] + x[3], both = left + right;
    EXPECT_EQ(ys[i * 4], both + x[4]);
    const float left_product = x[0] * x[1], right_product = x[2] * x[3],
                product = left_product * right_product;
    EXPECT_EQ(ys[i * 4 + 1], product * x[4]);
    EXPECT_EQ(ys[i * 4 + 2], *std::min_element(x, x + 5));
    EXPECT_EQ(ys[i * 4 + 3], *std::max_element(x, x + 5));
  }
}

}  // namespace
}  // namespace calotype::sim
