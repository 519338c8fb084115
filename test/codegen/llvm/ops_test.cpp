// Every operation on every type, at several numbers of lanes, against the definition in ir::apply.
#include <cmath>

#include "harness.h"

namespace calotype::llvm_backend {
namespace {

using ir::Op;

const std::vector<Type> kIntegers = {Int(8),  Int(16),  Int(32),  Int(64),
                                     UInt(8), UInt(16), UInt(32), UInt(64)};
const std::vector<Type> kFloats = {Float(16), Float(32), Float(64), BFloat(16)};
constexpr int kLanes[] = {1, 3, 4, 5, 8, 16};
constexpr std::int64_t kVectors = 40;

/// One function per case, all compiled together, then run on random operands and compared lane by lane.
class OpBatch {
 public:
  using Apply = std::function<Expr(const std::vector<Expr>&)>;
  using Reference = std::function<ir::Value(const std::vector<ir::Value>&)>;

  void add(const std::string& label, std::vector<Type> operands, int lanes, const Apply& apply,
           Reference reference) {
    Case c{label, std::move(operands), {}, lanes, std::move(reference)};
    lower::Function f;
    f.name = "f" + std::to_string(cases_.size());
    auto i = loop_var("i");
    Expr at = ramp(binary(Op::Mul, ir::make_var(i), ir::index(lanes)), 1, lanes);
    std::vector<Expr> args;
    for (Type type : c.operands) {
      f.buffers.push_back(argument("a", type, true));
      args.push_back(load(f.buffers.back(), at));
    }
    Expr value = apply(args);
    c.result = value->type.element();
    f.buffers.push_back(argument("out", c.result));
    f.body = loop(i, ir::index(0), ir::index(kVectors), ir::store(f.buffers.back(), value, {at}));
    functions_.push_back(f);
    cases_.push_back(c);
  }

  void run(unsigned seed, Options options = {}) {
    auto module = compile(functions_, options);
    Values values(seed);
    for (std::size_t n = 0; n < cases_.size(); ++n) run_case(*module, n, values);
  }

 private:
  struct Case {
    std::string label;
    std::vector<Type> operands;
    Type result;
    int lanes;
    Reference reference;
  };

  void run_case(const Module& module, std::size_t n, Values& values) {
    const Case& c = cases_[n];
    const auto size = static_cast<std::size_t>(kVectors * c.lanes);
    std::vector<Array> inputs;
    std::vector<void*> pointers;
    for (Type type : c.operands) {
      inputs.emplace_back(type, size);
      for (std::size_t i = 0; i < size; ++i) inputs.back().set(i, values.any(type));
    }
    Array out(c.result, size);
    for (Array& input : inputs) pointers.push_back(input.data());
    pointers.push_back(out.data());
    ASSERT_EQ(call(module, functions_[n].name, {}, pointers), kGood);
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<ir::Value> operands;
      std::string text;
      for (const Array& input : inputs) {
        operands.push_back(input.get(i));
        text += " " + describe(operands.back());
      }
      ir::Value expected = c.reference(operands), got = out.get(i);
      ASSERT_TRUE(same(expected, got)) << c.label << " x" << c.lanes << " of" << text << " expected "
                                       << describe(expected) << " got " << describe(got);
    }
  }

  std::vector<lower::Function> functions_;
  std::vector<Case> cases_;
};

Type result_type(Op op, Type operand) {
  if (ir::info(op).group == ir::OpGroup::compare) return Bool();
  if (op == Op::Abs && operand.is_int()) return UInt(operand.bits);
  return operand;
}

void add_op(OpBatch& batch, Op op, Type type, int arity, int lanes) {
  Type result = result_type(op, type);
  batch.add(
      std::string(ir::info(op).name) + " " + type.str(),
      std::vector<Type>(static_cast<std::size_t>(arity), type), lanes,
      [=](const std::vector<Expr>& args) { return ir::make(op, result.with_lanes(lanes), args); },
      [=](const std::vector<ir::Value>& v) { return *ir::apply(op, result, v); });
}

TEST(Ops, IntegerBinary) {
  for (int lanes : kLanes) {
    OpBatch batch;
    for (Type type : kIntegers) {
      for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Min, Op::Max, Op::Eq, Op::Ne, Op::Lt,
                    Op::Le, Op::BitAnd, Op::BitOr, Op::BitXor, Op::Shl, Op::Shr}) {
        add_op(batch, op, type, 2, lanes);
      }
    }
    batch.run(1);
  }
}

TEST(Ops, IntegerUnaryAndFma) {
  OpBatch batch;
  for (int lanes : kLanes) {
    for (Type type : kIntegers) {
      for (Op op :
           {Op::Neg, Op::Abs, Op::BitNot, Op::Popcount, Op::CountLeadingZeros, Op::CountTrailingZeros})
        add_op(batch, op, type, 1, lanes);
      add_op(batch, Op::Fma, type, 3, lanes);
    }
    for (Op op : {Op::And, Op::Or, Op::Eq, Op::Ne, Op::BitXor}) add_op(batch, op, Bool(), 2, lanes);
    for (Op op : {Op::Not, Op::BitNot}) add_op(batch, op, Bool(), 1, lanes);
  }
  batch.run(2);
}

TEST(Ops, DivisionAndShiftsByConstants) {
  for (int lanes : {1, 5, 16}) {
    OpBatch batch;
    for (Type type : kIntegers) {
      for (std::int64_t c :
           {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, std::int64_t{2}, std::int64_t{3},
            std::int64_t{7}, std::int64_t{9}, std::int64_t{16}, std::int64_t{-8}, std::int64_t{-3},
            std::int64_t{100}, type.min_int(), type.max_int(), std::int64_t{type.bits}}) {
        for (Op op : {Op::Div, Op::Mod, Op::Shl, Op::Shr}) {
          Expr constant = ir::make_int(type, c);
          batch.add(
              std::string(ir::info(op).name) + " by " + std::to_string(c) + " " + type.str(), {type}, lanes,
              [=](const std::vector<Expr>& args) { return binary(op, args[0], broadcast(constant, lanes)); },
              [=](const std::vector<ir::Value>& v) {
                return *ir::apply(op, type, std::vector<ir::Value>{v[0], ir::value_of(constant)});
              });
        }
      }
    }
    batch.run(3);
  }
}

TEST(Ops, ShiftsByOtherTypes) {
  OpBatch batch;
  for (Type type : kIntegers) {
    for (Type amount : {Int(8), UInt(8), Int(32), Int(64), UInt(64)}) {
      for (Op op : {Op::Shl, Op::Shr}) {
        batch.add(
            std::string(ir::info(op).name) + " " + type.str() + " by " + amount.str(), {type, amount}, 4,
            [=](const std::vector<Expr>& args) { return ir::make(op, type.with_lanes(4), args); },
            [=](const std::vector<ir::Value>& v) { return *ir::apply(op, type, v); });
      }
    }
  }
  batch.run(4);
}

/// Operands made non-negative and the divisor positive, as lowering promises.
TEST(Ops, TruncatingDivision) {
  OpBatch batch;
  for (int lanes : kLanes) {
    for (Type type : kIntegers) {
      for (Op op : {Op::TruncDiv, Op::TruncMod}) {
        std::int64_t mask = type.is_int() ? type.max_int() : -1;
        auto vector = [=](std::int64_t v) { return broadcast(ir::make_int(type, v), lanes); };
        batch.add(
            std::string(ir::info(op).name) + " " + type.str(), {type, type}, lanes,
            [=](const std::vector<Expr>& args) {
              Expr x = binary(Op::BitAnd, args[0], vector(mask)),
                   y = binary(Op::BitAnd, args[1], vector(mask));
              return binary(op, x, binary(Op::BitOr, y, vector(1)));
            },
            [=](const std::vector<ir::Value>& v) {
              ir::Value x = ir::Value::of_int(type, v[0].i & mask),
                        y = ir::Value::of_int(type, (v[1].i & mask) | 1);
              return *ir::apply(op, type, std::vector<ir::Value>{x, y});
            });
      }
    }
  }
  batch.run(5);
}

/// -0 and +0 compare equal, and which of them min and max give is not said.
ir::Value without_signed_zero(ir::Value v) {
  if (v.type.is_float() && v.f == 0) v.f = 0;
  return v;
}

TEST(Ops, Float) {
  for (const char* arch : {"", "x86_64-avx2"}) {
    OpBatch batch;
    for (int lanes : kLanes) {
      for (Type type : kFloats) {
        for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Eq, Op::Ne, Op::Lt, Op::Le}) {
          add_op(batch, op, type, 2, lanes);
        }
        for (Op op : {Op::Neg, Op::Abs, Op::Sqrt, Op::Floor, Op::Ceil, Op::Trunc, Op::Round}) {
          add_op(batch, op, type, 1, lanes);
        }
        for (Op op : {Op::Min, Op::Max}) {
          batch.add(
              std::string(ir::info(op).name) + " " + type.str(), {type, type}, lanes,
              [=](const std::vector<Expr>& args) {
                Expr m = binary(op, args[0], args[1]);
                return binary(Op::Add, m, broadcast(ir::make_float(type, 0), lanes));
              },
              [=](const std::vector<ir::Value>& v) { return without_signed_zero(*ir::apply(op, type, v)); });
        }
      }
    }
    Options options;
    options.arch = arch;
    batch.run(6, options);
  }
}

TEST(Ops, FloatMinMaxWithConstants) {
  OpBatch batch;
  for (Type type : {Float(32), Float(64), Float(16)}) {
    for (double c : {255.0, -1.5, static_cast<double>(NAN)}) {
      for (Op op : {Op::Min, Op::Max}) {
        for (bool first : {false, true}) {
          Expr constant = ir::make_float(type, c);
          batch.add(
              std::string(ir::info(op).name) + " const " + type.str(), {type}, 8,
              [=](const std::vector<Expr>& args) {
                Expr k = broadcast(constant, 8);
                return first ? binary(op, k, args[0]) : binary(op, args[0], k);
              },
              [=](const std::vector<ir::Value>& v) {
                return *ir::apply(op, type, std::vector<ir::Value>{v[0], ir::value_of(constant)});
              });
        }
      }
    }
  }
  batch.run(7);
}

TEST(Ops, FusedMultiplyAdd) {
  OpBatch batch;
  for (int lanes : {1, 5, 8, 16}) {
    for (Type type : kFloats) add_op(batch, Op::Fma, type, 3, lanes);
  }
  batch.run(8);
}

TEST(Ops, CastsBetweenAllTypes) {
  std::vector<Type> types = kIntegers;
  types.insert(types.end(), kFloats.begin(), kFloats.end());
  types.push_back(Bool());
  for (const char* arch : {"", "x86_64-avx2"}) {
    for (int lanes : {1, 5, 16}) {
      OpBatch batch;
      for (Type from : types) {
        for (Type to : types) {
          batch.add(
              "cast " + from.str() + " to " + to.str(), {from}, lanes,
              [=](const std::vector<Expr>& args) { return ir::make(Op::Cast, to.with_lanes(lanes), args); },
              [=](const std::vector<ir::Value>& v) { return ir::convert(to, v[0]); });
        }
      }
      Options options;
      options.arch = arch;
      batch.run(9, options);
    }
  }
}

TEST(Ops, Bitcasts) {
  OpBatch batch;
  const std::vector<std::pair<Type, Type>> pairs = {
      {Float(32), UInt(32)},  {Int(32), Float(32)}, {Float(16), UInt(16)}, {BFloat(16), Int(16)},
      {UInt(16), BFloat(16)}, {Float(64), Int(64)}, {UInt(64), Float(64)}, {Int(8), UInt(8)}};
  for (int lanes : kLanes) {
    for (auto [from, to] : pairs) {
      batch.add(
          "bitcast", {from}, lanes,
          [=, to = to](const std::vector<Expr>& args) {
            return ir::make(Op::Bitcast, to.with_lanes(lanes), args);
          },
          [=, to = to](const std::vector<ir::Value>& v) { return *ir::apply(Op::Bitcast, to, v); });
    }
  }
  batch.run(10);
}

TEST(Ops, SelectAndBoolStores) {
  OpBatch batch;
  std::vector<Type> types = kIntegers;
  types.insert(types.end(), kFloats.begin(), kFloats.end());
  types.push_back(Bool());
  for (int lanes : kLanes) {
    for (Type type : types) {
      batch.add(
          "select " + type.str(), {Bool(), type, type}, lanes,
          [=](const std::vector<Expr>& args) { return ir::make(Op::Select, type.with_lanes(lanes), args); },
          [](const std::vector<ir::Value>& v) { return v[0].i != 0 ? v[1] : v[2]; });
    }
  }
  batch.run(11);
}

/// Rounding of every f32 whose cut bits matter: all upper halves with the interesting lower ones.
TEST(Ops, NarrowRoundingAgreesWithTheHost) {
  auto in = argument("in", Float(32), true);
  auto half = argument("half", Float(16)), brain = argument("brain", BFloat(16));
  auto i = loop_var("i");
  Expr at = ramp(binary(Op::Mul, ir::make_var(i), ir::index(16)), 1, 16);
  lower::Function f;
  f.name = "round";
  f.buffers = {in, half, brain};
  auto rounded = [&](Type t) { return ir::make(Op::Cast, t.with_lanes(16), {load(in, at)}); };
  f.body = loop(
      i, ir::index(0), ir::index(65536 * 8 / 16),
      ir::block({ir::store(half, rounded(Float(16)), {at}), ir::store(brain, rounded(BFloat(16)), {at})}));
  std::vector<float> input;
  for (std::uint32_t high = 0; high < 65536; ++high) {
    for (std::uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      input.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  std::vector<std::uint16_t> halves(input.size()), brains(input.size());
  auto module = compile({f}, {});
  ASSERT_EQ(call(*module, "round", {}, {input.data(), halves.data(), brains.data()}), kGood);
  for (std::size_t n = 0; n < input.size(); ++n) {
    ASSERT_EQ(brains[n], float_to_bfloat_bits(input[n])) << input[n];
    if (std::isnan(input[n])) {
      ASSERT_TRUE(std::isnan(half_bits_to_float(halves[n])));
    } else {
      ASSERT_EQ(halves[n], float_to_half_bits(input[n])) << input[n];
    }
  }
}

}  // namespace
}  // namespace calotype::llvm_backend
