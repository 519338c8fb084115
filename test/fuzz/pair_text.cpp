// A pair as text: the program as a tree, the target, and the schedule as one directive a line, so that it
// can be stored whether it is legal or not.
#include <fmt/format.h>

#include <stdexcept>

#include "fuzz/property.h"

namespace calotype::fuzz {

namespace {

using schedule::Value;

// Names of copies, branches and conditions have characters that trees use for themselves; in a tree others
// stand for them.
const std::string in_words = "()[] ", in_trees = "[]{}~";

std::string translated(std::string text, const std::string& from, const std::string& to) {
  for (char& c : text)
    if (const std::size_t at = from.find(c); at != std::string::npos) c = to[at];
  return text;
}

/// Numbers as they are, knobs with a '$', words with a quote before them, lists as lists.
Node to_node(const Value& v) {
  if (const auto* n = std::get_if<std::int64_t>(&v.data)) return Node(*n);
  if (const auto* k = std::get_if<schedule::KnobRef>(&v.data)) return Node("$" + k->name);
  if (const auto* s = std::get_if<std::string>(&v.data))
    return Node("'" + translated(*s, in_words, in_trees));
  Node node = list("of");
  for (const Value& item : std::get<Value::List>(v.data)) node.items.push_back(to_node(item));
  return node;
}

std::string word(const std::string& text) { return translated(text.substr(1), in_trees, in_words); }

Value value_of(const Node& n) {
  if (!n.is_atom()) {
    Value::List items;
    for (std::size_t i = 1; i < n.size(); ++i) items.push_back(value_of(n[i]));
    return {items};
  }
  if (n.atom[0] == '\'') return {word(n.atom)};
  if (n.atom[0] == '$') return {schedule::KnobRef{n.atom.substr(1)}};
  return {static_cast<std::int64_t>(std::stoll(n.atom))};
}

Node to_node(const schedule::Directive& d) {
  Node node = list("do", to_node(Value(d.stage)), d.name);
  for (const auto& [name, value] : d.args) node.items.push_back(list(name, to_node(value)));
  return node;
}

schedule::Directive directive_of(const Node& n) {
  schedule::Directive d{.stage = word(n[1].atom), .name = n[2].atom, .args = {}};
  for (std::size_t i = 3; i < n.size(); ++i) d.args.emplace_back(n[i][0].atom, value_of(n[i][1]));
  return d;
}

}  // namespace

std::string text(const Pair& pair) {
  std::string all = fmt::format("(pair (target {})\n", pair.target.str());
  const Node program = to_node(pair.program);
  all += "(program\n";
  for (std::size_t i = 1; i < program.size(); ++i) all += "  " + program[i].str() + "\n";
  all += ")\n(schedule\n";
  for (const Knob& k : pair.schedule.knobs()) all += "  " + list("knob", k.name, k.value).str() + "\n";
  for (const schedule::Directive& d : pair.schedule.directives()) all += "  " + to_node(d).str() + "\n";
  return all + "))\n";
}

Pair pair_of(const std::string& text) {
  const Node n = parse_node(text);
  if (n.is_atom() || n.head() != "pair" || n.size() != 4) throw std::runtime_error("no pair: " + text);
  Pair pair{.program = program_of(n[2]), .schedule = {}, .target = Target::parse(n[1][1].atom)};
  for (std::size_t i = 1; i < n[3].size(); ++i) {
    const Node& line = n[3][i];
    if (line.head() == "knob")
      pair.schedule.knob(line[1].atom, std::stoll(line[2].atom));
    else
      pair.schedule.append(directive_of(line));
  }
  return pair;
}

}  // namespace calotype::fuzz
