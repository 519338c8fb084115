// Construction of expression nodes and access to what they hold.

#include "ir/expr_node.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string_view>

#include "calotype/error.h"
#include "ir/value.h"

namespace calotype::ir {

namespace {

constexpr std::array kOps = {
#define OP(name, arity, text, group) OpInfo{#name, arity, text, OpGroup::group},
#include "ir/ops.def"
#undef OP
};

std::uint64_t mix(std::uint64_t seed, std::uint64_t value) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15 + value;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = text.size();
  for (const char c : text) h = mix(h, static_cast<unsigned char>(c));
  return h;
}

/// Equal attributes hash alike; no address enters, so that hashes do not depend on where memory lies.
struct HashAttr {
  std::uint64_t operator()(std::monostate) const { return 0; }
  std::uint64_t operator()(std::int64_t value) const { return static_cast<std::uint64_t>(value); }
  std::uint64_t operator()(double value) const { return std::bit_cast<std::uint64_t>(value); }
  std::uint64_t operator()(const SymbolPtr& symbol) const { return symbol->unique; }
  std::uint64_t operator()(const CalleePtr& callee) const {
    return mix(hash_text(callee->name), static_cast<std::uint64_t>(callee->index));
  }
  std::uint64_t operator()(const TextPtr& text) const { return hash_text(*text); }
  std::uint64_t operator()(const ExternPtr& callee) const { return hash_text(callee->function.name); }
  std::uint64_t operator()(const BufferPtr& buffer) const {
    return mix(buffer->unique, hash_text(buffer->name));
  }
};

std::uint64_t hash_node(Op op, Type type, const std::vector<Expr>& args, const Attr& attr) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(op), static_cast<std::uint64_t>(type.code));
  h = mix(h, (std::uint64_t{type.bits} << 16) | type.lanes);
  h = mix(h, attr.index());
  h = mix(h, std::visit(HashAttr{}, attr));
  for (const Expr& arg : args) h = mix(h, arg->hash);
  return h;
}

[[noreturn]] void broken(std::string message, std::string value = "") {
  throw Error({.kind = ErrorKind::Internal, .message = std::move(message), .value = std::move(value)});
}

Expr broadcast_to(Type type, Expr scalar) {
  if (type.is_scalar()) return scalar;
  return make(Op::Broadcast, type, {std::move(scalar)});
}

const ExprNode* constant_of(const Expr& e) {
  const ExprNode* node = e.node().get();
  if (node != nullptr && node->op == Op::Broadcast) node = node->args[0].node().get();
  return node != nullptr && node->op == Op::Const ? node : nullptr;
}

template <class T>
const T& attr_of(const Expr& e, const char* what) {
  if (!e.defined()) broken(fmt::format("an undefined expression was asked for its {}", what));
  const T* attr = std::get_if<T>(&e->attr);
  if (attr == nullptr) broken(fmt::format("an expression was asked for a {} that it has not", what), e.str());
  return *attr;
}

}  // namespace

const OpInfo& info(Op op) { return kOps[static_cast<std::size_t>(op)]; }

Expr make(Op op, Type type, std::vector<Expr> args, Attr attr) {
  const OpInfo& op_info = info(op);
  if (op_info.arity >= 0 && args.size() != static_cast<std::size_t>(op_info.arity)) {
    broken(fmt::format("{} takes {} operands, {} were given", op_info.name, op_info.arity, args.size()));
  }
  for (const Expr& arg : args) {
    if (!arg.defined()) broken(fmt::format("{} has an undefined operand", op_info.name));
  }
  const std::uint64_t hash = hash_node(op, type, args, attr);
  return Expr(std::make_shared<const ExprNode>(ExprNode{op, type, hash, std::move(attr), std::move(args)}));
}

Expr make_int(Type type, std::int64_t value) {
  if (type.is_float()) return make_float(type, static_cast<double>(value));
  return broadcast_to(type, make(Op::Const, type.element(), {}, wrap_int(type, value)));
}

Expr make_float(Type type, double value) {
  if (!type.is_float()) broken(fmt::format("a float constant of the type {}", type.str()));
  return broadcast_to(type, make(Op::Const, type.element(), {}, round_float(type, value)));
}

Expr make_typed(const Expr& constant) {
  ExprNode node = *constant;
  node.typed = true;
  return Expr(std::make_shared<const ExprNode>(std::move(node)));
}

Expr make_zero(Type type) { return make_const(type, 0); }
Expr make_one(Type type) { return make_const(type, 1); }

Expr make_const(Type type, double value) {
  if (type.is_float()) return make_float(type, value);
  return make_int(type, convert(type.element(), Value::of_float(Float(64), value)).i);
}

Expr make_var(const SymbolPtr& symbol) { return make(Op::Variable, symbol->type, {}, symbol); }

Expr joined(const std::vector<Expr>& values) {
  return values.size() == 1 ? values.front() : make(Op::Tuple, values.front()->type, values);
}

std::optional<std::int64_t> as_int(const Expr& e) {
  const ExprNode* node = constant_of(e);
  if (node == nullptr || !node->type.is_integral()) return std::nullopt;
  return std::get<std::int64_t>(node->attr);
}

std::optional<double> as_float(const Expr& e) {
  const ExprNode* node = constant_of(e);
  if (node == nullptr || !node->type.is_float()) return std::nullopt;
  return std::get<double>(node->attr);
}

bool is_int(const Expr& e, std::int64_t value) { return as_int(e) == value; }

bool is_zero(const Expr& e) {
  const auto value = as_float(e);
  return value ? std::bit_cast<std::uint64_t>(*value) == 0 : is_int(e, 0);
}

bool is_one(const Expr& e) { return is_int(e, 1) || as_float(e) == 1.0; }

const SymbolPtr& symbol_of(const Expr& e) { return attr_of<SymbolPtr>(e, "symbol"); }
const CalleePtr& callee_of(const Expr& e) { return attr_of<CalleePtr>(e, "callee"); }
const BufferPtr& buffer_of(const Expr& e) { return attr_of<BufferPtr>(e, "buffer"); }
const TextPtr& text_of(const Expr& e) { return attr_of<TextPtr>(e, "text"); }
const ExternPtr& extern_of(const Expr& e) { return attr_of<ExternPtr>(e, "function"); }

}  // namespace calotype::ir
