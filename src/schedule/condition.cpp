// Reading conditions: a parser by precedence, whose operators are those of the language.
#include "schedule/condition.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <functional>

#include "schedule/directive.h"

namespace calotype {

namespace {

Expr argument_symbol(const FuncName& argument, const char* what, int dimension) {
  return ir::make_var(
      ir::make_symbol(ir::SymbolKind::Stride, fmt::format("{}.{}.{}", argument.name, what, dimension)));
}

}  // namespace

Expr stride_of(const FuncName& argument, int dimension) {
  return argument_symbol(argument, "stride", dimension);
}

Expr extent_of(const FuncName& argument, int dimension) {
  return argument_symbol(argument, "extent", dimension);
}

namespace schedule {

namespace {

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool in_name(char c) { return starts_name(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.'; }

struct Operator {
  const char* text;
  int level;  ///< a larger one binds tighter
  Expr (*apply)(Expr, Expr);
};

// Longer spellings stand before those that they begin with.
const Operator operators[] = {
    {"||", 1, [](Expr a, Expr b) { return a || b; }}, {"&&", 2, [](Expr a, Expr b) { return a && b; }},
    {"==", 3, [](Expr a, Expr b) { return a == b; }}, {"!=", 3, [](Expr a, Expr b) { return a != b; }},
    {"<=", 4, [](Expr a, Expr b) { return a <= b; }}, {">=", 4, [](Expr a, Expr b) { return a >= b; }},
    {"<", 4, [](Expr a, Expr b) { return a < b; }},   {">", 4, [](Expr a, Expr b) { return a > b; }},
    {"+", 5, [](Expr a, Expr b) { return a + b; }},   {"-", 5, [](Expr a, Expr b) { return a - b; }},
    {"*", 6, [](Expr a, Expr b) { return a * b; }},   {"/", 6, [](Expr a, Expr b) { return a / b; }},
    {"%", 6, [](Expr a, Expr b) { return a % b; }},
};

/// An argument's dimension, as "A.stride.1" names one.
struct Dimension {
  std::string argument, what;
  int number = -1;
};

std::optional<Dimension> dimension_of(const std::string& name) {
  for (const char* what : {"stride", "extent"}) {
    const std::string middle = fmt::format(".{}.", what);
    const std::size_t at = name.rfind(middle);
    if (at == std::string::npos) continue;
    const std::string number = name.substr(at + middle.size());
    if (number.size() != 1 || !std::isdigit(static_cast<unsigned char>(number[0]))) continue;
    return Dimension{name.substr(0, at), what, number[0] - '0'};
  }
  return std::nullopt;
}

class Parser {
 public:
  Parser(const std::string& text, const lang::Graph& graph, StrideSymbols& strides)
      : text_(text), graph_(graph), strides_(strides) {}

  Expr run() {
    const Expr e = infix(0);
    blanks();
    if (at_ != text_.size()) fail("does not go on with", "an operator, or its end");
    if (!e->type.is_bool())
      throw ConditionProblem{fmt::format("'{}' is no condition but a value of type {}", text_, e->type.str()),
                             text_, "a comparison, or several joined by &&, || and !"};
    return e;
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& legal) const {
    throw ConditionProblem{fmt::format("the condition '{}' {} '{}'", text_, what, text_.substr(at_)), text_,
                           legal};
  }

  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
  }

  bool take(const char* token) {
    blanks();
    if (text_.compare(at_, std::char_traits<char>::length(token), token) != 0) return false;
    at_ += std::char_traits<char>::length(token);
    return true;
  }

  Expr infix(int least) {
    Expr left = operand();
    for (;;) {
      const Operator* found = nullptr;
      for (const Operator& o : operators)
        if (!found && o.level >= least && take(o.text)) found = &o;
      if (!found) return left;
      left = applied(*found, left, infix(found->level + 1));
    }
  }

  /// Types that do not go together are refused in the words of the language.
  Expr applied(const Operator& o, const Expr& a, const Expr& b) const {
    return guarded([&] { return o.apply(a, b); });
  }

  template <class F>
  Expr guarded(F&& make) const {
    try {
      return make();
    } catch (const Error& e) {
      throw ConditionProblem{e.diagnostic().message, text_, e.diagnostic().legal};
    }
  }

  Expr operand() {
    if (take("!")) return negated([](Expr e) { return !e; });
    if (take("-")) return negated([](Expr e) { return -e; });
    if (take("(")) {
      const Expr e = infix(0);
      close();
      return e;
    }
    blanks();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    if (at_ < text_.size() && starts_name(text_[at_])) return named();
    fail("needs a value at", "a size, a Param, a stride or extent, a number");
  }

  Expr negated(Expr (*apply)(Expr)) {
    const Expr e = operand();
    return guarded([&] { return apply(e); });
  }

  void close() {
    if (!take(")")) fail("needs a ')' before", "as many closing brackets as opening ones");
  }

  Expr number() {
    const char* begin = text_.c_str() + at_;
    char *whole_end = nullptr, *real_end = nullptr;
    const long long whole = std::strtoll(begin, &whole_end, 10);
    const double real = std::strtod(begin, &real_end);
    at_ += static_cast<std::size_t>(std::max(whole_end, real_end) - begin);
    return real_end > whole_end ? Expr(real) : Expr(whole);
  }

  Expr named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_name(text_[at_])) at_++;
    const std::string name = text_.substr(begin, at_ - begin);
    if (take("(")) return function(name, begin);
    if (name == "true" || name == "false") return Expr(name == "true");
    if (const Expr e = value_of(name); e.defined()) return e;
    std::vector<std::string> names;
    for (const ir::SymbolPtr& d : graph_.dims) names.push_back(d->name);
    for (const lang::ParamDef& p : graph_.params) names.push_back(p.name);
    throw ConditionProblem{fmt::format("the condition '{}' names '{}', which no call gives", text_, name),
                           name,
                           name_choices(name, names, "sizes and Params") +
                               "; strides and extents of arguments as NAME.stride.0, NAME.extent.0"};
  }

  Expr function(const std::string& name, std::size_t begin) {
    if (name == "min" || name == "max") {
      const Expr first = infix(0);
      if (!take(",")) fail("needs two operands before", "min(a, b), max(a, b)");
      const Expr second = infix(0);
      close();
      return guarded([&] { return name == "min" ? min(first, second) : max(first, second); });
    }
    for (const Type& type :
         {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64), Float(32), Float(64)}) {
      if (name != type.str()) continue;
      const Expr value = infix(0);
      close();
      return guarded([&] { return cast(type, value); });
    }
    at_ = begin;
    fail("may not call", "min, max, and types as conversions: s64(p)");
  }

  Expr value_of(const std::string& name) {
    for (const ir::SymbolPtr& d : graph_.dims)
      if (d->name == name) return ir::make_var(d);
    for (const lang::ParamDef& p : graph_.params)
      if (p.name == name) return ir::make_var(p.symbol);
    const std::optional<Dimension> d = dimension_of(name);
    if (!d) return {};
    for (const lang::InputDef& i : graph_.inputs)
      if (i.name == d->argument) return of_argument(*d, name, i.extents);
    for (const lang::OutputDef& o : graph_.outputs)
      if (graph_.output_name(o) == d->argument) return of_argument(*d, name, o.extents);
    return {};
  }

  Expr of_argument(const Dimension& d, const std::string& name, const std::vector<Expr>& extents) {
    if (d.number >= static_cast<int>(extents.size()))
      throw ConditionProblem{
          fmt::format("'{}' has {} dimensions", d.argument, extents.size()), name,
          extents.empty() ? "another argument" : fmt::format("dimensions 0 to {}", extents.size() - 1)};
    if (d.what == "extent") return extents[d.number];
    for (const auto& [known, symbol] : strides_)
      if (known == name) return ir::make_var(symbol);
    strides_.emplace_back(name, ir::make_symbol(ir::SymbolKind::Stride, name));
    return ir::make_var(strides_.back().second);
  }

  const std::string& text_;
  const lang::Graph& graph_;
  StrideSymbols& strides_;
  std::size_t at_ = 0;
};

}  // namespace

Expr parse_condition(const std::string& text, const lang::Graph& graph, StrideSymbols& strides) {
  return Parser(text, graph, strides).run();
}

std::string rename_arguments(const std::string& text,
                             const std::function<std::string(const std::string&)>& rename) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (!starts_name(text[at])) {
      out += text[at++];
      continue;
    }
    while (at < text.size() && in_name(text[at])) at++;
    const std::string name = text.substr(begin, at - begin);
    const std::optional<Dimension> d = dimension_of(name);
    out += d ? fmt::format("{}.{}.{}", rename(d->argument), d->what, d->number) : name;
  }
  return out;
}

}  // namespace schedule
}  // namespace calotype
