#pragma once
// Random products for the rules of tensor cores: the same numbers wherever they are made, so that results of
// a GPU can be kept.

#include <cstdint>
#include <string>
#include <vector>

#include "instr/tensor_sum.h"
#include "sim/random.h"

namespace calotype::testing {

/// Tiles of m x 8 results, k products each, as bits: a[tile][m][k], b[tile][n][k], c[tile][m][n].
struct TensorProducts {
  int tiles, m, n = 8, k;
  std::vector<std::uint32_t> a, b, c;
  std::int64_t results() const { return std::int64_t{tiles} * m * n; }
};

inline std::string name_of(instr::Number n) {
  static const char* const names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"};
  return names[static_cast<int>(n)];
}
inline std::string name_of(const instr::TensorRule& r) {
  return r.instruction + " " + name_of(r.a) + " " + name_of(r.b) + " " +
         (r.integer() ? "s32"
          : r.to_f16  ? "f16"
                      : "f32");
}

/// Exponents close together in most tiles, any in others; zeros, subnormals, in one tile of 16 infinities and
/// NaNs.
inline std::uint32_t random_operand(instr::Number n, sim::Random& random, int tile) {
  const std::uint32_t bits = static_cast<std::uint32_t>(random.next());
  const bool any = tile % 4 == 3, special = tile % 16 == 15;
  if (random.below(12) == 0) return 0;
  const auto made = [&](std::uint32_t exponents, int mantissa, std::uint32_t middle, std::uint32_t spread,
                        int low) {
    const std::uint32_t top = exponents - (special ? 0 : 1);
    const std::uint32_t e = any ? bits % (top + 1) : middle - spread + bits % (2 * spread + 1);
    const std::uint32_t sign = bits >> 31, digits = bits >> 8 & ((1u << mantissa) - 1);
    return (((sign * (exponents + 1) + e) << mantissa) | digits) << low |
           (low ? bits & ((1u << low) - 1) : 0);
  };
  switch (n) {
    case instr::Number::F16:
      return made(31, 10, 15, 6, 0);
    case instr::Number::BF16:
      return made(255, 7, 127, 12, 0);
    case instr::Number::TF32:
      return made(255, 10, 127, 12, 13);
    case instr::Number::E4M3: {
      const std::uint32_t x = bits & 0xff;
      return (x & 0x7f) == 0x7f && !special ? x ^ 1 : x;
    }
    case instr::Number::E5M2:
      return made(31, 2, 15, 5, 0);
    default:
      return bits & 0xff;
  }
}

/// At least 10,000 results.
inline TensorProducts random_products(const instr::TensorRule& rule) {
  TensorProducts p{.tiles = rule.instruction == "wgmma" ? 20 : 80,
                   .m = rule.instruction == "wgmma" ? 64 : 16,
                   .k = rule.products};
  std::uint64_t seed = 0;
  for (const char letter : name_of(rule)) seed = seed * 131 + static_cast<unsigned char>(letter);
  sim::Random random(seed);
  for (int t = 0; t < p.tiles; ++t) {
    for (int i = 0; i < p.m * p.k; ++i) p.a.push_back(random_operand(rule.a, random, t));
    for (int i = 0; i < p.n * p.k; ++i) p.b.push_back(random_operand(rule.b, random, t));
    for (int i = 0; i < p.m * p.n; ++i) {
      const std::uint32_t bits = static_cast<std::uint32_t>(random.next());
      const bool any = t % 4 == 3 && t % 16 != 15;
      if (rule.integer() || (any && !rule.to_f16))
        p.c.push_back((bits >> 23 & 0xff) == 0xff && !rule.integer() ? bits ^ 0x800000 : bits);
      else if (rule.to_f16)
        p.c.push_back(random_operand(instr::Number::F16, random, t));
      else
        p.c.push_back((bits & 0x807fffff) | (127 - 14 + bits % 29) << 23);
    }
  }
  return p;
}

/// By the rule, c's shape.
inline std::vector<std::uint32_t> sums(const instr::TensorRule& rule, const TensorProducts& p) {
  std::vector<std::uint32_t> d;
  const auto row = [&](const std::vector<std::uint32_t>& all, std::int64_t number) {
    return std::span<const std::uint32_t>(all).subspan(static_cast<std::size_t>(number * p.k),
                                                       static_cast<std::size_t>(p.k));
  };
  for (std::int64_t t = 0; t < p.tiles; ++t)
    for (std::int64_t m = 0; m < p.m; ++m)
      for (std::int64_t n = 0; n < p.n; ++n)
        d.push_back(instr::tensor_sum(rule, row(p.a, t * p.m + m), row(p.b, t * p.n + n), p.c[d.size()]));
  return d;
}

/// FNV-1a over the results, low byte first.
inline std::uint64_t hash_of(const std::vector<std::uint32_t>& results) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint32_t r : results)
    for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (r >> (8 * byte) & 0xff)) * 0x100000001b3;
  return hash;
}

}  // namespace calotype::testing
