#pragma once
// Programs and their expressions as trees of text, so that one form serves building, shrinking and storing:
// an atom is a name or number, a list is "(head item ...)".

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace calotype::fuzz {

struct Node {
  std::string atom;         ///< empty: a list
  std::vector<Node> items;  ///< of a list; the first is its head

  Node() = default;
  Node(const char* text) : atom(text) {}
  Node(std::string text) : atom(std::move(text)) {}
  template <std::integral Number>
  Node(Number number) : atom(std::to_string(number)) {}
  Node(std::vector<Node> list) : items(std::move(list)) {}

  bool is_atom() const { return !atom.empty(); }
  bool defined() const { return is_atom() || !items.empty(); }
  /// The head of a list; the text of an atom.
  const std::string& head() const { return is_atom() ? atom : items.at(0).atom; }
  std::size_t size() const { return items.size(); }
  const Node& operator[](std::size_t i) const { return items.at(i); }
  bool operator==(const Node&) const = default;

  std::string str() const;
  /// Atoms in it.
  std::size_t atoms() const;
};

/// "(head item ...)".
template <class... Items>
Node list(const Items&... items) {
  return Node(std::vector<Node>{Node(items)...});
}

/// std::runtime_error for text that is no single tree.
Node parse_node(std::string_view text);

}  // namespace calotype::fuzz
