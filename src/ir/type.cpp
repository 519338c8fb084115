// Names of element types: printing and parsing.

#include "calotype/type.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "calotype/error.h"

namespace calotype {

namespace {

/// Every scalar type a user can name, in the order in which messages list them.
constexpr std::array kNamed = {
    std::pair{"bool", Bool()},     std::pair{"s8", Int(8)},     std::pair{"s16", Int(16)},
    std::pair{"s32", Int(32)},     std::pair{"s64", Int(64)},   std::pair{"u8", UInt(8)},
    std::pair{"u16", UInt(16)},    std::pair{"u32", UInt(32)},  std::pair{"u64", UInt(64)},
    std::pair{"f16", Float(16)},   std::pair{"f32", Float(32)}, std::pair{"f64", Float(64)},
    std::pair{"bf16", BFloat(16)}, std::pair{"e4m3", E4M3()},   std::pair{"e5m2", E5M2()},
};

const char* prefix(TypeCode code) {
  switch (code) {
    case TypeCode::Int:
      return "s";
    case TypeCode::UInt:
      return "u";
    case TypeCode::Float:
      return "f";
    case TypeCode::BFloat:
      return "bf";
    case TypeCode::E4M3:
    case TypeCode::E5M2:
      break;  // named whole
  }
  return "?";
}

}  // namespace

std::string Type::str() const {
  std::string text = is_bool()                ? "bool"
                     : code == TypeCode::E4M3 ? "e4m3"
                     : code == TypeCode::E5M2 ? "e5m2"
                                              : fmt::format("{}{}", prefix(code), bits);
  if (lanes != 1) text += fmt::format("x{}", lanes);
  return text;
}

Type Type::parse(const std::string& name) {
  std::vector<std::string> legal;
  for (const auto& [text, type] : kNamed) {
    if (name == text) return type;
    legal.emplace_back(text);
  }
  throw Error({.kind = ErrorKind::Usage,
               .message = fmt::format("'{}' is not the name of an element type", name),
               .value = name,
               .legal = fmt::format("one of: {}", fmt::join(legal, ", "))});
}

}  // namespace calotype
