#pragma once
// Parts of coordinates, as a layout of memory names them: "x", "x / 8", "x % 8", "x / 8 % 4".

#include <optional>
#include <string>

#include "schedule/scheduled.h"

namespace calotype::schedule {

/// A part as it is written: (coordinate / divide) % modulo.
struct PartText {
  std::string coordinate;
  std::int64_t divide = 1;
  std::optional<std::int64_t> modulo;
};

/// Nothing if the text is no part.
std::optional<PartText> parse_part(const std::string& text);
/// How many characters at the start of a part are its coordinate.
std::size_t coordinate_length(const std::string& text);
/// "x / 8 % 4".
std::string part_text(const StoragePart& part, const std::string& coordinate);

}  // namespace calotype::schedule
