// JSON with positions.
#include "schedule/json_tree.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace calotype::schedule {

const JsonNode* JsonNode::find(const std::string& key) const {
  for (const JsonNode& member : members)
    if (member.key == key) return &member;
  return nullptr;
}

std::vector<std::string> JsonNode::keys() const {
  std::vector<std::string> keys;
  for (const JsonNode& member : members) keys.push_back(member.key);
  return keys;
}

const char* to_string(JsonNode::Kind kind) {
  static const char* const names[] = {"null",     "a bool", "an integer", "a number",
                                      "a string", "a list", "an object"};
  return names[static_cast<int>(kind)];
}

std::string JsonSource::at(const JsonNode& node, const std::string& message) const {
  return fmt::format("{}:{}: {} (at {})", file.empty() ? "schedule" : file, node.line, message,
                     node.pointer.empty() ? "/" : node.pointer);
}

void JsonSource::fail(const JsonNode& node, const std::string& message, const std::string& value,
                      const std::string& legal) const {
  throw Error({.kind = ErrorKind::Usage, .message = at(node, message), .value = value, .legal = legal});
}

namespace {

constexpr std::size_t deepest = 64;

/// The line of the last character read that was no blank: where the token ends that an event is about.
struct Lines {
  int now = 1, token = 1;
  void read(char c) {
    if (c == '\n') {
      now++;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      token = now;
    }
  }
};

/// Counts lines as the parser reads.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Lines* lines) : at_(at), lines_(lines) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    lines_->read(*at_++);
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Lines* lines_;
};

std::string escaped(const std::string& key) {
  std::string out;
  for (char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

/// Builds the tree from the parser's events. Stops at the first problem.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(const Lines& lines, const JsonSource& source) : lines_(lines), source_(source) {}

  bool null() override { return add({}); }
  bool boolean(bool value) override { return add({.kind = JsonNode::Kind::Bool, .boolean = value}); }
  bool number_integer(number_integer_t value) override {
    return add({.kind = JsonNode::Kind::Integer, .integer = value, .text = std::to_string(value)});
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX))
      return add({.kind = JsonNode::Kind::Real, .text = std::to_string(value)});
    return number_integer(static_cast<number_integer_t>(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return add({.kind = JsonNode::Kind::Real, .text = text});
  }
  bool string(string_t& value) override { return add({.kind = JsonNode::Kind::String, .text = value}); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open({.kind = JsonNode::Kind::Object}); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open({.kind = JsonNode::Kind::Array}); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    JsonNode here{.line = lines_.token, .pointer = open_.back()->pointer + "/" + escaped(value)};
    if (!keys_.back().insert(value).second)
      source_.fail(here, fmt::format("the key '{}' is given twice", value), value, "once");
    key_ = value;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    std::string what = e.what();
    // Without what the parser says of itself, which goes up to the bracket where there is no "syntax error".
    const std::size_t syntax = what.find("syntax error"), bracket = what.find("] ");
    if (syntax != std::string::npos)
      what = what.substr(syntax);
    else if (bracket != std::string::npos)
      what = what.substr(bracket + 2);
    JsonNode here{.line = lines_.token, .pointer = open_.empty() ? "" : open_.back()->pointer};
    source_.fail(here, "this is no JSON: " + what, "", "a whole JSON object");
  }

  JsonNode root;

 private:
  JsonNode* place(JsonNode node) {
    node.line = lines_.token;
    if (open_.empty()) {
      root = std::move(node);
      return &root;
    }
    JsonNode& parent = *open_.back();
    if (parent.is(JsonNode::Kind::Array)) {
      node.pointer = fmt::format("{}/{}", parent.pointer, parent.items.size());
      parent.items.push_back(std::move(node));
      return &parent.items.back();
    }
    node.pointer = parent.pointer + "/" + escaped(key_);
    node.key = key_;
    parent.members.push_back(std::move(node));
    return &parent.members.back();
  }
  bool add(JsonNode node) {
    place(std::move(node));
    return true;
  }
  // Pointers to open nodes stay valid: a parent's list grows only when its children are closed.
  bool open(JsonNode node) {
    JsonNode* placed = place(std::move(node));
    if (open_.size() == deepest)
      source_.fail({.line = lines_.token, .pointer = "/"}, "the text is nested too deep",
                   fmt::format("more than {} levels", deepest), "a schedule file, which nests 8 levels");
    open_.push_back(placed);
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  const Lines& lines_;
  const JsonSource& source_;
  std::vector<JsonNode*> open_;
  std::vector<std::set<std::string>> keys_;  ///< of each open node
  std::string key_;
};

}  // namespace

JsonNode parse_json(const std::string& text, const JsonSource& source) {
  Lines lines;
  TreeBuilder builder(lines, source);
  nlohmann::json::sax_parse(CountingIterator(text.data(), &lines),
                            CountingIterator(text.data() + text.size(), &lines), &builder);
  return std::move(builder.root);
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string one_line(const JsonNode& node) {
  std::string inside;
  auto add = [&](const std::string& part) { inside += (inside.empty() ? "" : ", ") + part; };
  switch (node.kind) {
    case JsonNode::Kind::Null:
      return "null";
    case JsonNode::Kind::Bool:
      return node.boolean ? "true" : "false";
    case JsonNode::Kind::Integer:
    case JsonNode::Kind::Real:
      return node.text;
    case JsonNode::Kind::String:
      return quoted(node.text);
    case JsonNode::Kind::Array:
      for (const JsonNode& item : node.items) add(one_line(item));
      return "[" + inside + "]";
    case JsonNode::Kind::Object:
      for (const JsonNode& member : node.members) add(quoted(member.key) + ": " + one_line(member));
      return inside.empty() ? "{}" : "{ " + inside + " }";
  }
  return {};
}

}  // namespace calotype::schedule
