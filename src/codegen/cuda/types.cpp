// The spelling of types and constants.

#include "codegen/cuda/types.h"

#include <fmt/format.h>

#include <cmath>

namespace calotype::cuda {

std::string c_type(Type type) {
  if (type.is_bool()) return "bool";
  if (is_half(type)) return type.code == TypeCode::BFloat ? "bf16" : "f16";
  if (type.is_float()) return type.bits == 64 ? "double" : "float";
  const std::string sign = type.is_uint() ? "unsigned " : "";
  switch (type.bits) {
    case 8:
      return type.is_uint() ? "unsigned char" : "signed char";
    case 16:
      return sign + "short";
    case 32:
      return sign + "int";
    default:
      return sign + "long long";
  }
}

std::string c_int(Type type, std::int64_t value) {
  if (type.is_bool()) return value ? "true" : "false";
  if (type.is_uint() && type.bits == 64) return fmt::format("{}ull", static_cast<std::uint64_t>(value));
  if (type.is_uint()) return fmt::format("{}{}", value, type.bits == 32 ? "u" : "");
  if (type.bits == 64 && value == INT64_MIN) return "(-9223372036854775807ll - 1)";
  if (type.bits == 32 && value == INT32_MIN) return "(-2147483647 - 1)";
  return fmt::format("{}{}", value, type.bits == 64 ? "ll" : "");
}

namespace {

/// Digits that read back as the same value, with a point or exponent.
std::string digits(std::string shortest) {
  return shortest.find_first_of(".e") == std::string::npos ? shortest + ".0" : shortest;
}

}  // namespace

std::string c_float(Type type, double value) {
  if (is_half(type)) return fmt::format("{}_of({})", c_type(type), c_float(Float(32), value));
  if (type.bits == 64) {
    if (std::isnan(value)) return "__longlong_as_double(0x7ff8000000000000ll)";
    if (std::isinf(value))
      return value > 0 ? "__longlong_as_double(0x7ff0000000000000ll)"
                       : "-__longlong_as_double(0x7ff0000000000000ll)";
    return digits(fmt::format("{}", value));
  }
  if (std::isnan(value)) return "__int_as_float(0x7fffffff)";
  if (std::isinf(value)) return value > 0 ? "__int_as_float(0x7f800000)" : "-__int_as_float(0x7f800000)";
  return digits(fmt::format("{}", static_cast<float>(value))) + "f";
}

}  // namespace calotype::cuda
