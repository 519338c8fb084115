// Trees of text: reading and writing.
#include "fuzz/node.h"

#include <cctype>
#include <stdexcept>

namespace calotype::fuzz {

namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Node read() {
    skip();
    if (at_ == text_.size()) throw std::runtime_error("a tree of text ends too early");
    if (text_[at_] != '(') return Node(std::string(word()));
    ++at_;
    Node node;
    for (skip(); at_ < text_.size() && text_[at_] != ')'; skip()) node.items.push_back(read());
    if (at_ == text_.size()) throw std::runtime_error("a tree of text lacks a parenthesis");
    ++at_;
    return node;
  }

  bool at_end() {
    skip();
    return at_ == text_.size();
  }

 private:
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(text_[at_])) && text_[at_] != '(' &&
           text_[at_] != ')')
      ++at_;
    if (at_ == begin) throw std::runtime_error("a tree of text has a parenthesis too many");
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string Node::str() const {
  if (is_atom()) return atom;
  std::string text = "(";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i ? " " : "") + items[i].str();
  return text + ")";
}

std::size_t Node::atoms() const {
  std::size_t n = is_atom() ? 1 : 0;
  for (const Node& item : items) n += item.atoms();
  return n;
}

Node parse_node(std::string_view text) {
  Reader reader(text);
  Node node = reader.read();
  if (!reader.at_end()) throw std::runtime_error("more than one tree of text");
  return node;
}

}  // namespace calotype::fuzz
