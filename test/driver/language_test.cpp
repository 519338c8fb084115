// Every operation of the language as a Pipeline, on the host (in vectors, with a ragged end) and on the
// interpreter, against the reference evaluator.

#include <cmath>
#include <cstring>
#include <functional>

#include "support/run.h"

namespace calotype {
namespace {

using testing::targets;

const Type kIntegers[] = {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64)};
const Type kFloats[] = {Float(16), BFloat(16), Float(32), Float(64)};

using Make = std::function<Expr(Expr, Expr)>;

/// Whole range of an integer type, ends included, without 0 most of the time; floats of moderate size.
Buffer any_values(Type type, std::int64_t n, std::uint64_t seed) {
  if (type.is_float()) return testing::random_buffer(type, {n}, seed);
  Buffer b(type, {n});
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t bits = random() >> (random() % 3 == 0 ? 64 - type.bits : random() % 60);
    std::memcpy(static_cast<char*>(b.data()) + i * type.bytes(), &bits,
                static_cast<std::size_t>(type.bytes()));
  }
  return b;
}

/// One Pipeline of several outputs, all of f's on inputs of the type.
void expect_agree(Type type, const std::vector<Make>& makes) {
  Dim N("N");
  ImageParam a(type, {N}, "a"), b(type, {N}, "b");
  const Var x("x");
  std::vector<Output> outputs;
  std::vector<Type> types;
  for (std::size_t i = 0; i < makes.size(); ++i) {
    Func f("f" + std::to_string(i));
    f(x) = makes[i](a(x), b(x));
    types.push_back(f.type());
    outputs.emplace_back(f, std::vector<Expr>{N});
  }
  const Pipeline pipeline("language_" + type.str(), {a, b}, outputs);
  for (const Target& target : targets()) {
    for (const std::int64_t n : {1, 77}) {
      SCOPED_TRACE(type.str() + " on " + target.str() + " of " + std::to_string(n));
      std::vector<Buffer> out;
      out.reserve(types.size());
      for (const Type t : types) out.emplace_back(t, std::vector<std::int64_t>{n});
      testing::expect_matches(pipeline, {}, target, {any_values(type, n, 3), any_values(type, n, 4)}, out);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(Language, IntegersAndBits) {
  const std::vector<Make> makes = {
      [](Expr a, Expr b) { return absd(a, b); },
      [](Expr a, Expr b) { return mux(a % 4, {a, b, a + b}); },
      [](Expr a, Expr) { return popcount(a); },
      [](Expr a, Expr) { return count_leading_zeros(a); },
      [](Expr a, Expr) { return count_trailing_zeros(a); },
      [](Expr a, Expr b) { return div_round_to_zero(a, b); },
      [](Expr a, Expr) { return div_round_to_zero(a, 7); },
      [](Expr a, Expr b) { return mod_round_to_zero(a, b); },
      [](Expr a, Expr b) { return fma(a, b, a); },
      [](Expr a, Expr) {
        return reinterpret(a.type().is_int() ? UInt(a.type().bits) : Int(a.type().bits), a);
      },
      [](Expr a, Expr) { return extract_bits<std::uint8_t>(a, 3); },
      [](Expr a, Expr b) { return extract_bits<std::int16_t>(a, b % 40 - 9); },
      [](Expr a, Expr b) { return extract_bits<float>(a, cast<std::int8_t>(b % 9)); },
      [](Expr a, Expr b) { return likely_if_innermost(a) + b; },
  };
  for (const Type t : kIntegers) {
    expect_agree(t, makes);
    if (t.bits < 64) expect_agree(t, {[](Expr a, Expr b) { return concat_bits({a, b}); }});
    if (t.bits == 8) expect_agree(t, {[](Expr a, Expr b) { return concat_bits({a, b, a + b, 7}); }});
  }
}

TEST(Language, FixedPoint) {
  const std::vector<Make> narrow = {
      [](Expr a, Expr b) { return widening_add(a, b); },
      [](Expr a, Expr b) { return widening_sub(a, b); },
      [](Expr a, Expr b) { return widening_mul(a, b); },
      [](Expr a, Expr b) { return widening_shift_left(a, b & 7); },
      [](Expr a, Expr b) { return lerp(a, b, cast<std::uint8_t>(a)); },
      [](Expr a, Expr b) { return lerp(a, b, cast<float>(cast<std::uint8_t>(b)) / 255.0f); },
  };
  const std::vector<Make> all = {
      [](Expr a, Expr b) { return saturating_add(a, b); },
      [](Expr a, Expr b) { return saturating_sub(a, b); },
      [](Expr a, Expr b) { return halving_add(a, b); },
      [](Expr a, Expr b) { return rounding_halving_add(a, b); },
      [](Expr a, Expr b) { return halving_sub(a, b); },
      [](Expr a, Expr b) { return rounding_shift_left(a, b % 40); },
      [](Expr a, Expr b) { return rounding_shift_right(a, b % 40 - 9); },
      [](Expr a, Expr) { return rounding_shift_right(a, 3); },
      [](Expr a, Expr b) { return mul_shift_right(a, b, a.type().bits); },
      [](Expr a, Expr b) { return rounding_mul_shift_right(a, b, a.type().bits - 1); },
      [](Expr a, Expr b) { return rounding_mul_shift_right(a, b, cast<std::uint8_t>(a) % 130); },
  };
  for (const Type t : kIntegers) {
    if (t.bits < 64) expect_agree(t, narrow);
    expect_agree(t, all);
  }
}

TEST(Language, Math) {
  const std::vector<Make> makes = {
      [](Expr a, Expr b) { return exp2(a) + log2(abs(b)); },
      [](Expr a, Expr b) { return expm1(a) + log1p(abs(b)); },
      [](Expr a, Expr b) { return tan(a / 2) + atan2(a, b); },
      [](Expr a, Expr b) { return asin(a / 2) - acos(b / 2); },
      [](Expr a, Expr b) { return sinh(a) + cosh(b) - atan(a); },
      [](Expr a, Expr b) { return asinh(a) + acosh(abs(b) + 1) - atanh(a / 4); },
      [](Expr a, Expr b) { return hypot(a, b); },
      [](Expr a, Expr b) { return fma(a, b, a); },
      [](Expr a, Expr b) { return lerp(a, b, 0.25f) + absd(a, b); },
      [](Expr a, Expr b) { return lerp(a, b, cast<std::uint8_t>(abs(a) * 100)); },
      [](Expr a, Expr b) { return fast::exp(a) + fast::log(abs(b)); },
      [](Expr a, Expr b) { return fast::sin(a) * fast::cos(b) + fast::tanh(a); },
      [](Expr a, Expr b) { return fast::pow(abs(a), b) + fast::inverse(a) * fast::inverse_sqrt(abs(b)); },
      [](Expr a, Expr b) { return select(is_nan(a) || is_inf(b), 1, is_finite(a / b), a, b); },
  };
  for (const Type t : kFloats) expect_agree(t, makes);
}

TEST(Language, KindsOfNumbers) {
  Dim N("N");
  for (const Type type : kFloats) {
    ImageParam a(type, {N}, "a");
    const Var x("x");
    Func f("f");
    f(x) = select(is_nan(a(x)), 4, 0) + select(is_inf(a(x)), 2, 0) + select(is_finite(a(x)), 1, 0);
    const Pipeline pipeline("kinds", {a}, {{f, {N}}});
    const double values[] = {NAN, INFINITY, -INFINITY, 0, -1.5, 65504};
    const double wanted[] = {4, 2, 2, 1, 1, 1};
    Buffer in(type, {6});
    for (std::int64_t i = 0; i < 6; ++i) in.set_value({i}, values[i]);
    for (const Target& target : targets()) {
      const Buffer out(Int(32), {6});
      pipeline.compile({}, target).call({in, out});
      for (std::int64_t i = 0; i < 6; ++i)
        EXPECT_EQ(out.value({i}), wanted[i]) << type.str() << " " << values[i];
    }
  }
}

// ---- Promises, undefined values, random numbers

TEST(Language, APromiseBoundsWhatIsRead) {
  Dim N("N");
  ImageParam at(Int(32), {N}, "at"), table(Float(32), {Expr(10)}, "table");
  const Var x("x");
  Func f("f"), twice("twice");
  twice(x) = table(x) * 2;
  f(x) = table(promise_clamped(at(x), 0, 9)) + twice(promise_clamped(at(x), 0, 9));
  const Pipeline pipeline("promise", {at, table}, {{f, {N}}});
  Schedule stored;
  stored["twice"].compute_root();
  Buffer index(Int(32), {45});
  for (std::int64_t i = 0; i < 45; ++i) index.set_value({i}, static_cast<double>(i * 7 % 10));
  for (const Target& target : targets()) {
    for (const Schedule& s : {Schedule{}, stored}) {
      testing::expect_matches(pipeline, s, target, {index, testing::random_buffer(Float(32), {10}, 2)},
                              {Buffer(Float(32), {45})});
      EXPECT_EQ(pipeline.compile(s, target).show("lowered").find("promise_clamped"), std::string::npos);
    }
  }
  EXPECT_THROW(pipeline.evaluate({index, Buffer(Float(32), {9})}, {}, {}), Error);
}

TEST(Language, APromiseOfNoCoordinateIsOneToo) {
  Dim N("N");
  Param start(Int(32), "start");
  ImageParam at(Int(32), {Expr(1)}, "at"), table(Float(32), {Expr(10)}, "table");
  const Var x("x");
  Func f("f");
  f(x) = table(promise_clamped(at(0), 0, 9)) + table(promise_clamped(start, 2, 5)) + cast<float>(x);
  const Pipeline pipeline("promise", {at, table, start}, {{f, {N}}});
  Buffer index(Int(32), {1});
  index.set_value({0}, 8);
  const Buffer values = testing::random_buffer(Float(32), {10}, 2);
  for (const Target& target : targets()) {
    const Buffer out(Float(32), {33});
    pipeline.compile({}, target).call({index, values, 4, out});
    for (std::int64_t i = 0; i < 33; ++i)
      EXPECT_FLOAT_EQ(static_cast<float>(out.value({i})),
                      static_cast<float>(values.value({8}) + values.value({4})) + static_cast<float>(i));
  }
}

TEST(Language, UndefinedElementsAreNotStored) {
  Dim N("N");
  ImageParam a(Int(32), {N}, "a");
  const Var x("x");
  Func f("f"), g("g");
  g(x) = undef<std::int32_t>();
  g(x) = a(x) * 3;
  f(x) = select(a(x) > 0, g(x), undef<std::int32_t>());
  const Pipeline pipeline("undef", {a}, {{f, {N}}});
  Schedule stored;
  stored["g"].compute_root();
  Schedule serial;
  serial["f"].serial("x");
  const Buffer in = testing::random_buffer(Int(32), {71}, 5);
  for (const Target& target : targets()) {
    for (const Schedule& s : {Schedule{}, stored}) {
      const Buffer out(Int(32), {71});
      testing::poison(out);
      const double before = out.value({0});
      pipeline.compile(s, target).call({in, out});
      for (std::int64_t i = 0; i < 71; ++i)
        EXPECT_EQ(out.value({i}), in.value({i}) > 0 ? in.value({i}) * 3 : before)
            << i << " on " << target.str();
    }
  }
}

TEST(Language, RandomNumbersAreTheSameUnderEverySchedule) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  const Var x("x"), y("y");
  RDom r(0, 5, "r");
  Func noise("noise"), total("total"), out("out");
  noise(x, y) = random_float(7) + cast<float>(random_int() & 3);
  total(x, y) += cast<float>(random_uint() >> 20) + cast<float>(r);
  out(x, y) = in(x, y) + noise(x + 1, y) - noise(x, y + 1) + total(x, y);
  const Pipeline pipeline("random", {in}, {{out, {W, H}}});
  const Buffer input = testing::random_buffer(Float(32), {37, 11}, 6), result(Float(32), {37, 11});
  Schedule roots, tiled;
  roots["noise"].compute_root();
  roots["total"].compute_root();
  tiled["noise"].compute_inline();
  for (const Target& target : targets())
    for (const Schedule& s : {Schedule{}, roots, tiled})
      testing::expect_matches(pipeline, s, target, {input}, {result});
#ifdef CALOTYPE_HAS_LLVM
  Schedule host;
  host["out"].tile("x", "y", "xo", "yo", "xi", "yi", 16, 4).vectorize("xi").parallel("yo");
  host["noise"].compute_at("out", "xo").vectorize("x", 8);
  host["total"].compute_at("out", "yi");
  testing::expect_matches(pipeline, host, Target::host(), {input}, {result});
#endif
}

// ---- Requirements

/// out = table(index) with an index that must be below 10, in an update on the odd points only.
Pipeline requirement() {
  Dim N("N");
  ImageParam index(Int(32), {N}, "index");
  const Var x("x");
  RDom r(0, N, "r");
  r.where(r % 2 == 1);
  Func good("good"), out("out");
  const Expr here = index(x), there = index(r);
  good(x) = require(here < 10, here * 2, "an index below 10");
  out(x) = good(x) + 1;
  out(r) = require(there != 7, there, "no 7 at an odd place");
  return {"requirement", {index}, {{out, {N}}}};
}

Buffer indices(std::int64_t n) {
  Buffer b(Int(32), {n});
  for (std::int64_t i = 0; i < n; ++i) b.set_value({i}, static_cast<double>(i % 6));
  return b;
}

/// The call's Error: of kind Argument, with the Func and the text.
void expect_required(const std::function<void()>& call, const std::string& text) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown for " << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Argument);
    EXPECT_NE(error.diagnostic().message.find(text), std::string::npos) << error.what();
  }
}

TEST(Require, EvaluateChecksEveryPointThatIsComputed) {
  const Pipeline p = requirement();
  Buffer in = indices(77);
  in.set_value({40}, 7);  // an even place
  const Buffer out = p.evaluate({in}).outputs[0];
  EXPECT_EQ(out.value({40}), 15);
  EXPECT_EQ(out.value({41}), 41 % 6);
  in.set_value({41}, 7);
  expect_required([&] { p.evaluate({in}); }, "'out': no 7 at an odd place");
  in.set_value({76}, 10);
  expect_required([&] { p.evaluate({in}); }, "'good': an index below 10");
}

#ifdef CALOTYPE_HAS_LLVM

TEST(Require, TheHostEndsTheCall) {
  const Pipeline p = requirement();
  Schedule serial, root, guarded;
  serial["out"].serial("x");
  root["good"].compute_root().vectorize("x", 8);
  guarded["out"].vectorize("x", 16, Tail::Guard);
  for (const Schedule& s : {Schedule{}, serial, root, guarded}) {
    const Kernel kernel = p.compile(s, Target::host());
    for (const std::int64_t n : {1, 16, 77}) {
      SCOPED_TRACE(s.str() + std::to_string(n));
      const Buffer in = indices(n), out(Int(32), {n});
      testing::expect_matches(p, s, Target::host(), {in}, {out});
      Buffer bad = indices(n);
      bad.set_value({n - 1}, 10);
      expect_required([&] { kernel.call({bad, out}); }, "'good': an index below 10");
      kernel.call({in, out});  // usable as before
      if (n < 2) continue;
      bad.set_value({n - 1}, 3);
      bad.set_value({n / 4 * 2 + 1 < n ? n / 4 * 2 + 1 : 1}, 7);
      expect_required([&] { kernel.call({bad, out}); }, "'out': no 7 at an odd place");
    }
  }
}

#endif

TEST(Require, KernelsOfAGpuRefuseIt) {
  try {
    requirement().compile({}, Target::interpreter("sm_90a"));
    ADD_FAILURE() << "compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Target);
    EXPECT_NE(error.diagnostic().message.find("an index below 10"), std::string::npos) << error.what();
    EXPECT_EQ(error.diagnostic().func, "out");
  }
}

}  // namespace
}  // namespace calotype
