// Expressions as text, with the parentheses that the tree needs and no others.

#include <fmt/format.h>

#include <cmath>

#include "ir/expr_node.h"
#include "ir/questions.h"
#include "ir/shared_nodes.h"
#include "ir/value.h"

namespace calotype::ir {

namespace {

constexpr std::size_t kMostWritten = 20000;  // nodes that are written out; beyond, what is shared gets names

/// How tightly an operation binds; a larger number binds tighter.
enum Precedence {
  kLoosest,
  kOr,
  kAnd,
  kBitOr,
  kBitXor,
  kBitAnd,
  kEqual,
  kOrder,
  kShift,
  kSum,
  kProduct,
  kUnary,
  kAtom
};

/// The precedence of an operation that is written between its operands; kAtom for all others.
Precedence infix_precedence(Op op) {
  switch (op) {
    case Op::Or:
      return kOr;
    case Op::And:
      return kAnd;
    case Op::BitOr:
      return kBitOr;
    case Op::BitXor:
      return kBitXor;
    case Op::BitAnd:
      return kBitAnd;
    case Op::Eq:
    case Op::Ne:
      return kEqual;
    case Op::Lt:
    case Op::Le:
      return kOrder;
    case Op::Shl:
    case Op::Shr:
      return kShift;
    case Op::Add:
    case Op::Sub:
      return kSum;
    case Op::Mul:
    case Op::Div:
    case Op::Mod:
    case Op::TruncDiv:
    case Op::TruncMod:
      return kProduct;
    default:
      return kAtom;
  }
}

std::string float_text(Type type, double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text =
      type.bits == 64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string constant_text(const Value& value) {
  if (value.type.is_float()) return float_text(value.type, value.f);
  if (value.type.is_bool()) return value.i != 0 ? "true" : "false";
  if (value.type.is_uint()) return fmt::format("{}", static_cast<std::uint64_t>(value.i));
  return fmt::format("{}", value.i);
}

std::string print_operand(const Expr& e, int least);

std::string whole(const Expr& e) { return print_operand(e, kLoosest); }

std::string list(const std::vector<Expr>& args, std::size_t first = 0) {
  std::string text;
  for (std::size_t i = first; i < args.size(); ++i) text += (i > first ? ", " : "") + whole(args[i]);
  return text;
}

/// The constant without its sign if `e` is a negative one: `x + -1` reads better as `x - 1`.
std::string without_sign(const Expr& e) {
  if (!is_const(e)) return "";
  const std::string text = whole(e);
  return text[0] == '-' ? text.substr(1) : "";
}

std::string print_infix(const Expr& e, Precedence precedence) {
  const Expr &a = e->args[0], &b = e->args[1];
  // Operators group to the left; a comparison's operands are set apart from any other comparison.
  const bool compares = precedence == kEqual || precedence == kOrder;
  const std::string left = print_operand(a, compares ? kShift : precedence);
  const std::string text = info(e->op).text;
  // Products are set tight so that sums show their terms.
  if (precedence == kProduct) return left + text + print_operand(b, precedence + 1);
  if (e->op == Op::Add) {
    const std::string positive = without_sign(b);
    if (!positive.empty()) return left + " - " + positive;
  }
  return fmt::format("{} {} {}", left, text, print_operand(b, compares ? kShift : precedence + 1));
}

std::string print_unary(const Expr& e) {
  const Expr& operand = e->args[0];
  std::string inner = print_operand(operand, kUnary);
  if (inner[0] == '-' && e->op == Op::Neg) inner = "(" + inner + ")";
  return info(e->op).text + inner;
}

/// "extern name(g(x), g(x + 1); n)": what is read, then what is passed on.
std::string print_extern(const Expr& e) {
  const auto reads = e->args.begin() + static_cast<std::ptrdiff_t>(extern_of(e)->reads);
  const std::string scalars = list(e->args, extern_of(e)->reads);
  return fmt::format("extern {}({}{}{})", extern_of(e)->function.name, list({e->args.begin(), reads}),
                     scalars.empty() ? "" : "; ", scalars);
}

/// Everything that is written as a name, or as a name with operands in brackets.
std::string print_atom(const Expr& e) {
  switch (e->op) {
    case Op::Variable:
      return symbol_of(e)->name;
    case Op::Cast:
      return fmt::format("{}({})", e->type.str(), list(e->args));
    case Op::Bitcast:
      return fmt::format("bitcast<{}>({})", e->type.str(), list(e->args));
    case Op::Call:
      return fmt::format("{}({})", callee_of(e)->name, list(e->args));
    case Op::Load:
      return fmt::format("{}[{}]", buffer_of(e)->name, list(e->args));
    case Op::LoadIf:
      return fmt::format("load_if({}, {}[{}])", whole(e->args[0]), buffer_of(e)->name, list(e->args, 1));
    case Op::Require:
      return fmt::format("require({}, \"{}\")", list(e->args), *text_of(e));
    case Op::Print:
      return fmt::format("print({}, \"{}\")", list(e->args), *text_of(e));
    case Op::Extern:
      return print_extern(e);
    case Op::Ramp:
    case Op::Broadcast:
      return fmt::format("{}({}, {})", info(e->op).text, list(e->args), e->type.lanes);
    case Op::ReduceAdd:
    case Op::ReduceMin:
    case Op::ReduceMax:
    case Op::ReduceMul:
      if (e->type.is_vector())
        return fmt::format("{}({}, {})", info(e->op).text, list(e->args), e->type.lanes);
      [[fallthrough]];
    default:
      return fmt::format("{}({})", info(e->op).text, list(e->args));
  }
}

std::string parenthesised_if(bool needed, std::string text) {
  return needed ? "(" + std::move(text) + ")" : std::move(text);
}

/// `e` as an operand where everything binding less than `least` needs parentheses.
std::string print_operand(const Expr& e, int least) {
  if (!e.defined()) return "<undefined>";
  const Precedence precedence = infix_precedence(e->op);
  if (precedence != kAtom) return parenthesised_if(precedence < least, print_infix(e, precedence));
  switch (e->op) {
    case Op::Const:
      return constant_text(value_of(e));
    case Op::Neg:
    case Op::Not:
    case Op::BitNot:
      return parenthesised_if(kUnary < least, print_unary(e));
    case Op::Let: {
      std::string text =
          fmt::format("let {} = {} in {}", symbol_of(e)->name, whole(e->args[0]), whole(e->args[1]));
      return parenthesised_if(least > kLoosest, std::move(text));
    }
    default:
      return print_atom(e);
  }
}

}  // namespace

std::string to_string(const Expr& e) {
  if (!e.defined() || size_up_to(e, kMostWritten) <= kMostWritten) return whole(e);
  std::string text;
  for (const auto& [symbol, part] : named_parts(e))
    text += symbol ? fmt::format("let {} = {}; ", symbol->name, whole(part)) : whole(part);
  return text;
}

}  // namespace calotype::ir
