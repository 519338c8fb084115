// Refusals of the front end, and the names it accepts.

#include "lang/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace calotype::lang {

void refuse(std::string message, std::string func, std::string value, std::string legal) {
  Diagnostic d;
  d.kind = ErrorKind::Algorithm;
  d.message = std::move(message);
  d.func = std::move(func);
  d.value = std::move(value);
  d.legal = std::move(legal);
  throw Error(std::move(d));
}

void require_name(const char* what, const std::string& name) {
  const auto in_name = [](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 128) || c == '_' || c == '.';
  };
  const bool good = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                    name[0] != '.' && std::all_of(name.begin(), name.end(), in_name);
  if (good) return;
  refuse(fmt::format("'{}' cannot name a {}", name, what), "", name,
         "letters, digits, '_' and '.', starting with a letter or '_'");
}

}  // namespace calotype::lang
