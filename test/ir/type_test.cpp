// Element types: names, limits, and the 16-bit float formats against their definitions.

#include "calotype/type.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "calotype/error.h"

namespace calotype {
namespace {

TEST(Type, NamesRoundTrip) {
  const std::pair<const char*, Type> named[] = {
      {"bool", Bool()},   {"s8", Int(8)},     {"s16", Int(16)},    {"s32", Int(32)},  {"s64", Int(64)},
      {"u8", UInt(8)},    {"u16", UInt(16)},  {"u32", UInt(32)},   {"u64", UInt(64)}, {"f16", Float(16)},
      {"f32", Float(32)}, {"f64", Float(64)}, {"bf16", BFloat(16)}};
  for (const auto& [name, type] : named) {
    EXPECT_EQ(type.str(), name);
    EXPECT_EQ(Type::parse(name), type);
  }
  EXPECT_EQ(Float(32, 8).str(), "f32x8");
}

TEST(Type, UnknownNameListsTheLegalOnes) {
  for (const char* name : {"", "f33", "float", "f32x8", "F32"}) {
    try {
      Type::parse(name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Usage);
      EXPECT_EQ(error.diagnostic().value, name);
      EXPECT_NE(error.diagnostic().legal.find("bf16"), std::string::npos);
    }
  }
}

TEST(Type, Limits) {
  EXPECT_EQ(Int(8).min_int(), -128);
  EXPECT_EQ(Int(64).min_int(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(UInt(16).max_int(), 65535);
  EXPECT_EQ(Bool().max_int(), 1);
  EXPECT_EQ(Bool().bytes(), 1);
  EXPECT_EQ(type_of<bfloat16_t>(), BFloat(16));
}

/// The value of a 16-bit float by its definition: `fraction_bits` below the exponent, whose bias is given.
double value_by_definition(std::uint16_t bits, int fraction_bits, int bias) {
  const int exponent = (bits & 0x7fff) >> fraction_bits;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double magnitude = exponent == 0
                               ? std::ldexp(fraction, 1 - bias - fraction_bits)
                               : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  return bits & 0x8000 ? -magnitude : magnitude;
}

struct Format {
  const char* name;
  int fraction_bits, bias;
  std::uint16_t infinity;
  float (*decode)(std::uint16_t);
  std::uint16_t (*encode)(float);
};
constexpr Format kFormats[] = {{"f16", 10, 15, 0x7c00, half_bits_to_float, float_to_half_bits},
                               {"bf16", 7, 127, 0x7f80, bfloat_bits_to_float, float_to_bfloat_bits}};

TEST(Float16, EveryBitPatternDecodesAndRoundTrips) {
  for (const Format& format : kFormats) {
    for (int i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      const float value = format.decode(bits);
      if ((bits & 0x7fff) > format.infinity) {
        EXPECT_TRUE(std::isnan(value));
        EXPECT_TRUE(std::isnan(format.decode(format.encode(value))));
        continue;
      }
      if ((bits & 0x7fff) == format.infinity) {
        EXPECT_TRUE(std::isinf(value));
      } else {
        ASSERT_EQ(value, value_by_definition(bits, format.fraction_bits, format.bias))
            << format.name << " " << i;
      }
      ASSERT_EQ(format.encode(value), bits) << format.name;
    }
  }
}

/// The nearest pattern by comparing with both neighbours; the one with an even last bit on a tie.
void expect_nearest(const Format& format, float value) {
  const std::uint16_t got = format.encode(value);
  const int magnitude = got & 0x7fff;
  const double wanted = std::abs(static_cast<double>(value));
  // Infinity takes the place of the next value of the format when distances are compared.
  const auto at = [&](int m) {
    return value_by_definition(static_cast<std::uint16_t>(m), format.fraction_bits, format.bias);
  };
  const double distance = std::abs(at(magnitude) - wanted);
  ASSERT_EQ(got >> 15, std::signbit(value) ? 1 : 0);
  ASSERT_LE(magnitude, format.infinity);
  for (const int other : {magnitude - 1, magnitude + 1}) {
    if (other < 0 || other > format.infinity) continue;
    const double other_distance = std::abs(at(other) - wanted);
    if (magnitude == format.infinity && wanted >= at(magnitude)) continue;
    ASSERT_LE(distance, other_distance) << format.name << " " << value;
    if (distance == other_distance) {
      ASSERT_EQ(magnitude & 1, 0) << format.name << " tie at " << value;
    }
  }
}

TEST(Float16, RoundsToNearestEven) {
  std::mt19937 random(7);
  for (const Format& format : kFormats) {
    for (int i = 0; i < 200000; ++i) {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      if (std::isfinite(value)) expect_nearest(format, value);
    }
    for (int i = 0; i < format.infinity; ++i) {  // every tie, and its neighbours
      const double tie =
          (value_by_definition(static_cast<std::uint16_t>(i), format.fraction_bits, format.bias) +
           value_by_definition(static_cast<std::uint16_t>(i + 1), format.fraction_bits, format.bias)) /
          2;
      const auto value = static_cast<float>(tie);
      expect_nearest(format, value);
      expect_nearest(format, -std::nextafter(value, 0.0f));
      expect_nearest(format, std::nextafter(value, INFINITY));
    }
  }
}

}  // namespace
}  // namespace calotype
