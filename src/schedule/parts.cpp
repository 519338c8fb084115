// Parts of coordinates as text.
#include "schedule/parts.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace calotype::schedule {

namespace {

bool may_be_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$';
}

void skip_spaces(const std::string& text, std::size_t& at) {
  while (at < text.size() && text[at] == ' ') at++;
}

/// The number after `sign`; nothing if it does not stand here, or stands without a number of 32 bits.
std::optional<std::int64_t> number_after(char sign, const std::string& text, std::size_t& at) {
  std::size_t next = at;
  skip_spaces(text, next);
  if (next == text.size() || text[next] != sign) return std::nullopt;
  skip_spaces(text, ++next);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + next, text.data() + text.size(), number);
  if (error != std::errc() || number < 1) return std::nullopt;
  at = static_cast<std::size_t>(end - text.data());
  return number;
}

}  // namespace

std::size_t coordinate_length(const std::string& text) {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0]))) return 0;
  std::size_t length = 0;
  while (length < text.size() && may_be_in_name(text[length])) length++;
  return length;
}

std::optional<PartText> parse_part(const std::string& text) {
  std::size_t at = coordinate_length(text);
  if (at == 0) return std::nullopt;
  PartText part{.coordinate = text.substr(0, at)};
  part.divide = number_after('/', text, at).value_or(1);
  part.modulo = number_after('%', text, at);
  return at == text.size() ? std::optional(part) : std::nullopt;
}

std::string part_text(const StoragePart& part, const std::string& coordinate) {
  std::string text = coordinate;
  if (part.divide != 1) text += fmt::format(" / {}", part.divide);
  if (part.modulo) text += fmt::format(" % {}", *part.modulo);
  return text;
}

}  // namespace calotype::schedule
