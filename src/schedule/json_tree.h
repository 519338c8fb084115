#pragma once
// JSON with positions: a tree whose nodes know their line and their JSON pointer. nlohmann's parser gives
// neither, so its events are turned into this tree while the lines read so far are counted.

#include <memory>
#include <string>
#include <vector>

#include "calotype/error.h"

namespace calotype::schedule {

struct JsonNode {
  enum class Kind { Null, Bool, Integer, Real, String, Array, Object } kind = Kind::Null;
  int line = 0;
  std::string pointer;  ///< "/templates/main/do/3"
  bool boolean = false;
  std::int64_t integer = 0;
  std::string text;  ///< String: its value; numbers: as written
  std::vector<JsonNode> items;
  std::vector<JsonNode> members;  ///< of an Object, in the order of the text
  std::string key;                ///< of a member

  bool is(Kind k) const { return kind == k; }
  const JsonNode* find(const std::string& key) const;
  std::vector<std::string> keys() const;
};

/// "null", "a bool", "an integer", ...
const char* to_string(JsonNode::Kind kind);

/// A file as messages name it, and how errors in it are made.
struct JsonSource {
  std::string file;  ///< empty: "schedule"

  /// "FILE:LINE: message (at POINTER)".
  std::string at(const JsonNode& node, const std::string& message) const;
  [[noreturn]] void fail(const JsonNode& node, const std::string& message, const std::string& value = {},
                         const std::string& legal = {}) const;
};

/// Error(Usage) with file and line for anything that is no JSON, for a key given twice, and for nesting
/// deeper than any schedule file has.
JsonNode parse_json(const std::string& text, const JsonSource& source);

/// The node on one line, with a blank after colons and commas and inside braces.
std::string one_line(const JsonNode& node);
/// A JSON string with its quotes.
std::string quoted(const std::string& text);

}  // namespace calotype::schedule
