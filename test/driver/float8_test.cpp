// 8-bit floats through kernels: every pattern and every rounding boundary against the closed form.

#include "support/float8.h"

#include <cmath>
#include <cstring>

#include "support/run.h"

namespace calotype {
namespace {

using testing::float8_nearest;
using testing::float8_number;
using testing::targets;

const Type kTypes[] = {E4M3(), E5M2()};

std::uint8_t bits_at(const Buffer& b, std::int64_t i) {
  return static_cast<const std::uint8_t*>(b.data())[i];
}

/// Every pattern of bits, over and over.
Buffer patterns(Type type, std::int64_t n) {
  Buffer b(type, {n});
  for (std::int64_t i = 0; i < n; ++i) static_cast<std::uint8_t*>(b.data())[i] = static_cast<std::uint8_t>(i);
  return b;
}

std::vector<Schedule> schedules(const Target& target) {
  std::vector<Schedule> all(1);
  if (target.is_gpu()) return all;
  for (const int lanes : {4, 8, 16}) all.emplace_back()["out"].vectorize("x", lanes, Tail::Predicate);
  return all;
}

/// out(x) = value of in(x), for 1-dimensional in and out.
Pipeline mapped(Type from, const std::function<Expr(Expr)>& value) {
  Dim N("N");
  ImageParam in(from, {N}, "in");
  Var x("x");
  Func out("out");
  out(x) = value(in(x));
  return {"mapped", {in}, {{out, {N}}}};
}

/// Calls `check(out, i)` for each element of the Pipeline's result on every target and schedule, and from
/// evaluate().
void each_result(const Pipeline& p, const Buffer& in, Type type,
                 const std::function<void(const Buffer&, std::int64_t)>& check) {
  const std::int64_t n = in.extent(0);
  for (const Target& target : targets())
    for (const Schedule& schedule : schedules(target)) {
      SCOPED_TRACE(target.str() + " " + schedule.str());
      const Buffer out(type, {n});
      std::memset(out.data(), 0xa5, static_cast<std::size_t>(n) * type.bytes());
      p.compile(schedule, target)(in, out);
      for (std::int64_t i = 0; i < n; ++i) check(out, i);
    }
  SCOPED_TRACE("evaluate");
  const Buffer reference = p.evaluate({in}).outputs[0];
  for (std::int64_t i = 0; i < n; ++i) check(reference, i);
}

TEST(Float8, EveryNumberBecomesEveryType) {
  for (const Type from : kTypes) {
    const Buffer in = patterns(from, 263);
    for (const Type to : {Float(16), BFloat(16), Float(32), Float(64)})
      each_result(
          mapped(from, [&](const Expr& e) { return cast(to, e); }), in, to,
          [&](const Buffer& out, std::int64_t i) {
            const double expected = float8_number(from, static_cast<int>(i & 255)), got = out.value({i});
            EXPECT_TRUE(std::isnan(expected) ? std::isnan(got)
                                             : got == expected && std::signbit(got) == std::signbit(expected))
                << from.str() << " " << (i & 255) << " as " << to.str() << ": " << got;
          });
    for (const Type to : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64), Bool()})
      each_result(mapped(from, [&](const Expr& e) { return cast(to, e); }), in, to,
                  [&](const Buffer& out, std::int64_t i) {
                    const double number = float8_number(from, static_cast<int>(i & 255));
                    const double low = static_cast<double>(to.min_int()),
                                 high = to == UInt(64) ? 0x1p64 : static_cast<double>(to.max_int());
                    const double expected = to.is_bool()         ? number != 0
                                            : std::isnan(number) ? 0
                                                                 : std::clamp(std::trunc(number), low, high);
                    EXPECT_EQ(out.value({i}), expected)
                        << from.str() << " " << (i & 255) << " as " << to.str();
                  });
  }
}

template <class F>
Buffer buffer_of(const std::vector<F>& values) {
  const Buffer b(type_of<F>(), {static_cast<std::int64_t>(values.size())});
  std::memcpy(b.data(), values.data(), values.size() * sizeof(F));
  return b;
}

void expect_rounded(Type to, const Buffer& in) {
  each_result(mapped(in.type(), [&](const Expr& e) { return cast(to, e); }), in, to,
              [&](const Buffer& out, std::int64_t i) {
                EXPECT_EQ(bits_at(out, i), float8_nearest(to, in.value({i})))
                    << in.value({i}) << " of " << in.type().str() << " as " << to.str();
              });
}

TEST(Float8, FloatsAreRoundedToNearestEvenAndSaturated) {
  for (const Type to : kTypes) {
    expect_rounded(to, buffer_of(testing::float8_probes<float>(to)));
    expect_rounded(to, buffer_of(testing::float8_probes<double>(to)));
    for (const Type from : {Float(16), BFloat(16)}) {  // every value there is
      Buffer all(from, {65536});
      for (int i = 0; i < 65536; ++i)
        static_cast<std::uint16_t*>(all.data())[i] = static_cast<std::uint16_t>(i);
      expect_rounded(to, all);
    }
  }
}

TEST(Float8, IntegersAreRoundedAndSaturated) {
  const double values[] = {0,    1,   -1,  9,   17,   18,    19,    25,  27,   104, 127,
                           -128, 255, 447, 449, 5000, 57345, 65537, 1e9, -1e9, 9e18};
  for (const Type to : kTypes)
    for (const Type from :
         {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64), Bool()}) {
      Buffer in(from, {21});
      for (int i = 0; i < 21; ++i) in.set_value({i}, values[i]);
      expect_rounded(to, in);
    }
}

TEST(Float8, OneFormatBecomesTheOther) {
  for (const Type from : kTypes)
    for (const Type to : kTypes) {
      const Buffer in = patterns(from, 256);
      each_result(mapped(from, [&](const Expr& e) { return cast(to, cast<float>(e)); }), in, to,
                  [&](const Buffer& out, std::int64_t i) {
                    EXPECT_EQ(bits_at(out, i), float8_nearest(to, float8_number(from, static_cast<int>(i))));
                  });
      if (from == to) continue;
      each_result(mapped(from, [&](const Expr& e) { return cast(to, e); }), in, to,
                  [&](const Buffer& out, std::int64_t i) {
                    EXPECT_EQ(bits_at(out, i), float8_nearest(to, float8_number(from, static_cast<int>(i))));
                  });
    }
}

TEST(Float8, WhatIsOnlyMovedKeepsItsBits) {
  for (const Type type : kTypes) {
    const Buffer in = patterns(type, 256);
    const auto kept = [&](const Buffer& out, std::int64_t i) {
      EXPECT_TRUE(bits_at(out, i) == i || std::isnan(float8_number(type, static_cast<int>(i)))) << i;
    };
    each_result(mapped(type, [](const Expr& e) { return e; }), in, type, kept);
    each_result(mapped(type, [](const Expr& e) { return reinterpret<std::uint8_t>(e); }), in, UInt(8), kept);
    each_result(mapped(type, [](const Expr& e) { return reinterpret<std::int8_t>(e); }), in, Int(8), kept);
    each_result(mapped(type, [&](const Expr& e) { return select(cast<float>(e) < 0, Expr(e), e); }), in, type,
                kept);
    each_result(mapped(UInt(8), [&](const Expr& e) { return reinterpret(type, e); }), patterns(UInt(8), 256),
                type, kept);
  }
}

/// A stage of its own, a boundary, an update and a Tuple of 8-bit floats between f32 and f32.
Pipeline staged(Type type) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in"), narrow(type, {W, H}, "narrow");
  Var x("x"), y("y");
  Func edged = boundary::constant_exterior(
      narrow, type == E4M3() ? Expr(float8_e4m3_t(1.5f)) : Expr(float8_e5m2_t(1.5f)), "edged");
  Func packed("packed"), pair("pair"), out("out");
  packed(x, y) = cast(type, in(clamp(x, 0, W - 1), y) * 3.0f);
  packed(x, 0) = edged(x - 1, 0);
  pair(x, y) = Tuple(packed(x, y), cast<int>(packed(x + 1, y)));
  out(x, y) = cast<float>(pair(x, y)[0]) + cast<float>(edged(x - 1, y + 1)) + cast<float>(pair(x, y)[1]);
  return {"staged", {in, narrow}, {{out, {W, H}}}};
}

TEST(Float8, StagesStoreIt) {
  for (const Type type : kTypes)
    for (const std::int64_t width : {1, 5, 37}) {
      const Pipeline p = staged(type);
      const Buffer in = testing::random_buffer(Float(32), {width, 9}, 3),
                   narrow = testing::random_buffer(type, {width, 9}, 4), out(Float(32), {width, 9});
      Schedule roots, inside;
      roots["packed"].compute_root();
      roots["edged"].compute_root();
      roots["pair"].compute_root();
      for (const Target& target : targets())
        for (const Schedule& s : {Schedule{}, roots}) {
          testing::expect_matches(p, s, target, {in, narrow}, {out});
          testing::expect_stages_match(p, s, target, {in, narrow});
        }
#ifdef CALOTYPE_HAS_LLVM
      inside["out"].split("y", "yo", "yi", 4).vectorize("x", 8).parallel("yo");
      inside["packed"].compute_at("out", "yo").vectorize("x", 16);
      inside["pair"].compute_at("out", "yi").vectorize("x", 8);
      testing::expect_matches(p, inside, Target::host(), {in, narrow}, {out});
      EXPECT_NE(p.compile(inside, Target::host()).show("lowered").find("u8"), std::string::npos);
#endif
    }
}

TEST(Float8, CallsCheckTheTypeOfBuffers) {
  const Kernel kernel = mapped(E4M3(), [](const Expr& e) { return e; }).compile({}, targets().back());
  const auto refused = [&](const Buffer& in, const Buffer& out) {
    try {
      kernel(in, out);
      ADD_FAILURE() << "taken: " << in.type().str() << " to " << out.type().str();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Argument);
      EXPECT_NE(std::string(error.what()).find("e4m3"), std::string::npos) << error.what();
    }
  };
  const Buffer good = patterns(E4M3(), 8), out(E4M3(), {8});
  refused(patterns(E5M2(), 8), out);
  refused(patterns(UInt(8), 8), out);
  refused(good, Buffer(UInt(8), {8}));
  kernel(good, out);
}

TEST(Float8, ParamsAndImplicitConversionsAreRefused) {
  const auto refused = [](const std::function<void()>& f) {
    try {
      f();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Algorithm) << error.what();
    }
  };
  refused([] { Param p(E4M3(), "p"); });
  refused([] {
    Var x("x");
    ImageParam in(E4M3(), 1, "in");
    Func f("f");
    f(x) = 0.0f;
    f(x) = in(x);
  });
  refused([] {
    Var x("x");
    ImageParam in(E4M3(), 1, "in");
    Func f("f");
    f(x) += in(x);
  });
  refused([] {
    Var x("x");
    ImageParam in(Float(32), 1, "in");
    Func f("f");
    f(x) = float8_e5m2_t(1.0f);
    f(x) = in(x);
  });
}

}  // namespace
}  // namespace calotype
