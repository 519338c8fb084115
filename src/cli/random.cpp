// Random inputs. The generator is Philox 4x32-10 (Salmon et al., SC 2011); normal values invert the
// distribution with Acklam's rational approximation. Compiled without contraction (see CMake), and with a
// logarithm of its own, so that no platform's libm or fused multiply-add shows.
#include "cli/random.h"

#include <cmath>

#include "cli/convert.h"

namespace calotype::cli {
namespace {

// Natural logarithm of x in (0, 1): exponent times ln 2, plus the series of 2 atanh((m - 1) / (m + 1)).
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact
  const double t = (m - 1) / (m + 1), t2 = t * t;
  double term = t, total = 0;
  for (int k = 1; k < 60; k += 2, term = term * t2) total = total + term / k;
  return exponent * 0.69314718055994530942 + 2 * total;
}

// Acklam's inverse of the normal distribution; relative error below 1.2e-9.
double inverse_normal(double p) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                          6.680131188771972e+01, -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                          3.754408661907416e+00};
  constexpr double low = 0.02425;
  if (p > 1 - low) return -inverse_normal(1 - p);
  if (p < low) {
    const double q = std::sqrt(-2 * portable_log(p));
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  }
  const double q = p - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

double random_integer(Type type, std::uint64_t bits) {
  if (type.is_bool()) return static_cast<double>(bits & 1);
  if (type.bits == 8) return static_cast<double>(bits & 255) + static_cast<double>(type.min_int());
  const auto value = static_cast<double>((bits >> 32) % 201);
  return type.is_uint() ? value : value - 100;
}

}  // namespace

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  std::uint32_t c0 = static_cast<std::uint32_t>(index), c1 = static_cast<std::uint32_t>(index >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(stream), c3 = static_cast<std::uint32_t>(stream >> 32);
  std::uint32_t k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c0, p1 = std::uint64_t{0xCD9E8D57} * c2;
    const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const std::uint32_t n2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return std::uint64_t{c0} | std::uint64_t{c1} << 32;
}

double random_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const std::uint64_t bits = random_bits(seed, stream, index) >> 12;  // 52 bits
  return inverse_normal((static_cast<double>(bits) + 0.5) / 4503599627370496.0);
}

Buffer random_buffer(Type type, const std::vector<std::int64_t>& extents, std::uint64_t seed,
                     std::uint64_t stream) {
  Buffer buffer(type, extents);
  for (std::int64_t i = 0; i < buffer.elements(); ++i)
    set_element(buffer, i,
                type.is_float() ? random_normal(seed, stream, i)
                                : random_integer(type, random_bits(seed, stream, i)));
  return buffer;
}

}  // namespace calotype::cli
