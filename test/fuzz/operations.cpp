// Operations of random programs.
#include "fuzz/operations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "calotype/math.h"

namespace calotype::fuzz {

namespace {

using Args = std::vector<Expr>;

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all = {
      {"+", 2, Spelling::Infix, "+", [](const Args& a) { return a[0] + a[1]; }},
      {"-", 2, Spelling::Infix, "-", [](const Args& a) { return a[0] - a[1]; }},
      {"*", 2, Spelling::Infix, "*", [](const Args& a) { return a[0] * a[1]; }},
      {"/", 2, Spelling::Infix, "/", [](const Args& a) { return a[0] / a[1]; }},
      {"%", 2, Spelling::Infix, "%", [](const Args& a) { return a[0] % a[1]; }},
      {"<", 2, Spelling::Infix, "<", [](const Args& a) { return a[0] < a[1]; }},
      {"<=", 2, Spelling::Infix, "<=", [](const Args& a) { return a[0] <= a[1]; }},
      {"==", 2, Spelling::Infix, "==", [](const Args& a) { return a[0] == a[1]; }},
      {"!=", 2, Spelling::Infix, "!=", [](const Args& a) { return a[0] != a[1]; }},
      {"&&", 2, Spelling::Infix, "&&", [](const Args& a) { return a[0] && a[1]; }},
      {"||", 2, Spelling::Infix, "||", [](const Args& a) { return a[0] || a[1]; }},
      {"!", 1, Spelling::Prefix, "!", [](const Args& a) { return !a[0]; }},
      {"&", 2, Spelling::Infix, "&", [](const Args& a) { return a[0] & a[1]; }},
      {"|", 2, Spelling::Infix, "|", [](const Args& a) { return a[0] | a[1]; }},
      {"^", 2, Spelling::Infix, "^", [](const Args& a) { return a[0] ^ a[1]; }},
      {"<<", 2, Spelling::Infix, "<<", [](const Args& a) { return a[0] << a[1]; }},
      {">>", 2, Spelling::Infix, ">>", [](const Args& a) { return a[0] >> a[1]; }},
      {"neg", 1, Spelling::Prefix, "-", [](const Args& a) { return -a[0]; }},
      {"min", 2, Spelling::Call, "min", [](const Args& a) { return min(a[0], a[1]); }},
      {"max", 2, Spelling::Call, "max", [](const Args& a) { return max(a[0], a[1]); }},
      {"clamp", 3, Spelling::Call, "clamp", [](const Args& a) { return clamp(a[0], a[1], a[2]); }},
      {"select", 3, Spelling::Call, "select", [](const Args& a) { return select(a[0], a[1], a[2]); }},
      {"abs", 1, Spelling::Call, "abs", [](const Args& a) { return abs(a[0]); }},
      {"sqrt", 1, Spelling::Call, "sqrt", [](const Args& a) { return sqrt(a[0]); }},
      {"exp", 1, Spelling::Call, "exp", [](const Args& a) { return exp(a[0]); }},
      {"tanh", 1, Spelling::Call, "tanh", [](const Args& a) { return tanh(a[0]); }},
      {"floor", 1, Spelling::Call, "floor", [](const Args& a) { return floor(a[0]); }},
  };
  return all;
}

bool is_number(const std::string& text) {
  return std::isdigit(static_cast<unsigned char>(text[0])) || (text[0] == '-' && text.size() > 1);
}

std::string cpp_type(const Node& type) { return fmt::format("Type::parse(\"{}\")", type.atom); }

}  // namespace

const Operation* find_operation(const std::string& name) {
  const auto found = std::find_if(operations().begin(), operations().end(),
                                  [&](const Operation& o) { return o.name == name; });
  return found == operations().end() ? nullptr : &*found;
}

Expr build(const Node& node, const Scope& scope) {
  if (node.is_atom()) {
    if (is_number(node.atom)) return Expr(std::stoll(node.atom));
    const auto found = scope.values.find(node.atom);
    if (found == scope.values.end()) throw std::runtime_error("nothing is named '" + node.atom + "'");
    return found->second;
  }
  if (node.head() == "cast") return cast(Type::parse(node[1].atom), build(node[2], scope));
  if (node.head() == "const") return cast(Type::parse(node[1].atom), Expr(std::stoll(node[2].atom)));
  Args args;
  for (std::size_t i = 1; i < node.size(); ++i) args.push_back(build(node[i], scope));
  if (const Operation* o = find_operation(node.head())) {
    if (args.size() != o->arity) throw std::runtime_error("operands of " + node.str());
    return o->build(args);
  }
  const auto call = scope.calls.find(node.head());
  if (call == scope.calls.end()) throw std::runtime_error("nothing is called '" + node.head() + "'");
  return call->second(std::move(args));
}

std::string cpp(const Node& node) {
  if (node.is_atom()) return node.atom;
  if (node.head() == "cast") return fmt::format("cast({}, {})", cpp_type(node[1]), cpp(node[2]));
  if (node.head() == "const") return fmt::format("cast({}, {})", cpp_type(node[1]), node[2].atom);
  std::vector<std::string> args;
  for (std::size_t i = 1; i < node.size(); ++i) args.push_back(cpp(node[i]));
  const Operation* o = find_operation(node.head());
  if (o && o->spelling == Spelling::Infix) return fmt::format("({} {} {})", args[0], o->cpp, args[1]);
  if (o && o->spelling == Spelling::Prefix) return fmt::format("({}{})", o->cpp, args[0]);
  return fmt::format("{}({})", o ? o->cpp : node.head(), fmt::join(args, ", "));
}

}  // namespace calotype::fuzz
