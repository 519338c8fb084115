// Operations of random programs.
#include "fuzz/operations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "calotype/fixed_point.h"
#include "calotype/integer.h"
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
      {"~", 1, Spelling::Prefix, "~", [](const Args& a) { return ~a[0]; }},
      {"absd", 2, Spelling::Call, "absd", [](const Args& a) { return absd(a[0], a[1]); }},
      {"lerp", 3, Spelling::Call, "lerp", [](const Args& a) { return lerp(a[0], a[1], a[2]); }},
      {"mux", 4, Spelling::Listed, "mux", [](const Args& a) { return mux(a[0], {a[1], a[2], a[3]}); }},
      {"popcount", 1, Spelling::Call, "popcount", [](const Args& a) { return popcount(a[0]); }},
      {"count_leading_zeros", 1, Spelling::Call, "count_leading_zeros",
       [](const Args& a) { return count_leading_zeros(a[0]); }},
      {"count_trailing_zeros", 1, Spelling::Call, "count_trailing_zeros",
       [](const Args& a) { return count_trailing_zeros(a[0]); }},
      {"div_round_to_zero", 2, Spelling::Call, "div_round_to_zero",
       [](const Args& a) { return div_round_to_zero(a[0], a[1]); }},
      {"mod_round_to_zero", 2, Spelling::Call, "mod_round_to_zero",
       [](const Args& a) { return mod_round_to_zero(a[0], a[1]); }},
      {"fma", 3, Spelling::Call, "fma", [](const Args& a) { return fma(a[0], a[1], a[2]); }},
      {"widening_add", 2, Spelling::Call, "widening_add",
       [](const Args& a) { return widening_add(a[0], a[1]); }},
      {"widening_sub", 2, Spelling::Call, "widening_sub",
       [](const Args& a) { return widening_sub(a[0], a[1]); }},
      {"widening_mul", 2, Spelling::Call, "widening_mul",
       [](const Args& a) { return widening_mul(a[0], a[1]); }},
      {"widening_shift_left", 2, Spelling::Call, "widening_shift_left",
       [](const Args& a) { return widening_shift_left(a[0], a[1]); }},
      {"saturating_add", 2, Spelling::Call, "saturating_add",
       [](const Args& a) { return saturating_add(a[0], a[1]); }},
      {"saturating_sub", 2, Spelling::Call, "saturating_sub",
       [](const Args& a) { return saturating_sub(a[0], a[1]); }},
      {"halving_add", 2, Spelling::Call, "halving_add",
       [](const Args& a) { return halving_add(a[0], a[1]); }},
      {"rounding_halving_add", 2, Spelling::Call, "rounding_halving_add",
       [](const Args& a) { return rounding_halving_add(a[0], a[1]); }},
      {"halving_sub", 2, Spelling::Call, "halving_sub",
       [](const Args& a) { return halving_sub(a[0], a[1]); }},
      {"rounding_shift_left", 2, Spelling::Call, "rounding_shift_left",
       [](const Args& a) { return rounding_shift_left(a[0], a[1]); }},
      {"rounding_shift_right", 2, Spelling::Call, "rounding_shift_right",
       [](const Args& a) { return rounding_shift_right(a[0], a[1]); }},
      {"mul_shift_right", 3, Spelling::Call, "mul_shift_right",
       [](const Args& a) { return mul_shift_right(a[0], a[1], a[2]); }},
      {"rounding_mul_shift_right", 3, Spelling::Call, "rounding_mul_shift_right",
       [](const Args& a) { return rounding_mul_shift_right(a[0], a[1], a[2]); }},
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

bool names_type(const std::string& head) {
  return head == "cast" || head == "const" || head == "saturating_cast" || head == "reinterpret";
}

bool is_call(const std::string& head) {
  return !names_type(head) && head != "tuple" && head != "function" && !find_operation(head);
}

std::string called(const std::string& head) { return head.substr(0, head.find('.')); }

Expr build(const Node& node, const Scope& scope) {
  if (node.is_atom()) {
    if (is_number(node.atom)) return Expr(std::stoll(node.atom));
    const auto found = scope.values.find(node.atom);
    if (found == scope.values.end()) throw std::runtime_error("nothing is named '" + node.atom + "'");
    return found->second;
  }
  if (node.head() == "cast") return cast(Type::parse(node[1].atom), build(node[2], scope));
  if (node.head() == "saturating_cast")
    return saturating_cast(Type::parse(node[1].atom), build(node[2], scope));
  if (node.head() == "reinterpret") return reinterpret(Type::parse(node[1].atom), build(node[2], scope));
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
  if (names_type(node.head()))
    return fmt::format("{}({}, {})", node.head() == "const" ? "cast" : node.head(), cpp_type(node[1]),
                       cpp(node[2]));
  std::vector<std::string> args;
  for (std::size_t i = 1; i < node.size(); ++i) args.push_back(cpp(node[i]));
  const Operation* o = find_operation(node.head());
  if (o && o->spelling == Spelling::Infix) return fmt::format("({} {} {})", args[0], o->cpp, args[1]);
  if (o && o->spelling == Spelling::Prefix) return fmt::format("({}{})", o->cpp, args[0]);
  if (o && o->spelling == Spelling::Listed)
    return fmt::format("{}({}, {{{}}})", o->cpp, args[0],
                       fmt::join(std::vector<std::string>(args.begin() + 1, args.end()), ", "));
  if (node.head() == "tuple") return fmt::format("Tuple({})", fmt::join(args, ", "));
  const std::string func = o ? o->cpp : called(node.head());
  const std::string component =
      o || func == node.head() ? "" : fmt::format("[{}]", node.head().substr(func.size() + 1));
  return fmt::format("{}({}){}", func, fmt::join(args, ", "), component);
}

}  // namespace calotype::fuzz
