// Each operand is pushed before its operation. A node used several times is computed once and kept in a
// temporary, so that code is no longer than the graph of the expression.

#include "driver/size_encoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"

namespace calotype::driver {
namespace {

using ir::Op;

[[noreturn]] void refuse(const Expr& e, const char* why) {
  throw Error({.kind = ErrorKind::Internal,
               .message = fmt::format("a size expression of the plan {}", why),
               .value = ir::to_string(e)});
}

bool wide_unsigned(Type t) { return t.is_uint() && t.bits == 64; }

}  // namespace

std::uint32_t SizeEncoder::slot_of(const ir::SymbolPtr& symbol, const std::string& user) const {
  const auto it = slots_.find(symbol.get());
  if (it != slots_.end()) return it->second;
  throw Error({.kind = ErrorKind::Internal,
               .message = fmt::format("'{}' uses a scalar that the plan does not compute", user),
               .value = symbol->name});
}

calotype_code SizeEncoder::encode(const Expr& e) {
  uses_.clear();
  shared_.clear();
  lets_.clear();
  temps_ = 0;
  depth_ = 0;
  const auto first = static_cast<std::uint32_t>(ops_.size());
  if (e.defined()) {
    ir::visit(e, [&](const Expr& node) {
      for (const Expr& operand : node->args) ++uses_[operand.node().get()];
    });
    push(e);
  } else {
    constant(1);
  }
  return {first, static_cast<std::uint32_t>(ops_.size()) - first};
}

void SizeEncoder::emit(calotype_opcode opcode, int effect, std::int64_t value) {
  ops_.push_back({opcode, value});
  depth_ += effect;
  deepest_ = std::max(deepest_, depth_);
}

std::uint32_t SizeEncoder::new_temp() {
  most_temps_ = std::max(most_temps_, temps_ + 1);
  return temps_++;
}

void SizeEncoder::push(const Expr& e) {
  if (e->type.is_vector()) refuse(e, "is a vector");
  const ir::ExprNode* node = e.node().get();
  if (const auto it = shared_.find(node); it != shared_.end()) return emit(CALOTYPE_OP_TEMP, 1, it->second);
  push_node(e);
  if (uses_[node] < 2 || node->args.empty()) return;
  const std::uint32_t temp = new_temp();
  set_temp(temp);
  emit(CALOTYPE_OP_TEMP, 1, temp);
  shared_[node] = temp;
}

void SizeEncoder::push_node(const Expr& e) {
  if (e->type.is_float() && e->op != Op::Variable) refuse(e, "computes with floats");
  switch (e->op) {
    case Op::Const:
      return constant(std::get<std::int64_t>(e->attr));
    case Op::Variable:
      return push_variable(e);
    case Op::Add:
      return push_binary(e, CALOTYPE_OP_ADD);
    case Op::Sub:
      return push_binary(e, CALOTYPE_OP_SUB);
    case Op::Mul:
      return push_binary(e, CALOTYPE_OP_MUL);
    case Op::Div:
    case Op::TruncDiv:
      return push_binary(e, CALOTYPE_OP_DIV);
    case Op::Mod:
    case Op::TruncMod:
      return push_binary(e, CALOTYPE_OP_MOD);
    case Op::Min:
      return push_binary(e, CALOTYPE_OP_MIN);
    case Op::Max:
      return push_binary(e, CALOTYPE_OP_MAX);
    case Op::Eq:
      return push_binary(e, CALOTYPE_OP_EQ);
    case Op::Ne:
      return push_binary(e, CALOTYPE_OP_NE);
    case Op::Lt:
      return push_binary(e, CALOTYPE_OP_LT);
    case Op::Le:
      return push_binary(e, CALOTYPE_OP_LE);
    case Op::And:
      return push_binary(e, CALOTYPE_OP_AND);
    case Op::Or:
      return push_binary(e, CALOTYPE_OP_OR);
    case Op::Shl:
      return push_shift(e, CALOTYPE_OP_MUL);
    case Op::Shr:
      return push_shift(e, CALOTYPE_OP_DIV);
    case Op::Cast:
      return push_cast(e);
    case Op::Let:
      return push_let(e);
    case Op::Likely:
    case Op::Strict:
      return push(e->args[0]);
    case Op::Not:
      push(e->args[0]);
      return emit(CALOTYPE_OP_NOT, 0);
    case Op::Neg:
      constant(0);
      push(e->args[0]);
      emit(CALOTYPE_OP_SUB, -1);
      return wrap(e->type);
    case Op::Select:
      for (const Expr& operand : e->args) push(operand);
      return emit(CALOTYPE_OP_SELECT, -2);
    default:
      refuse(e, "uses an operation that the runtime does not have");
  }
}

void SizeEncoder::push_variable(const Expr& e) {
  const ir::SymbolPtr& symbol = ir::symbol_of(e);
  if (const auto it = lets_.find(symbol.get()); it != lets_.end())
    return emit(CALOTYPE_OP_TEMP, 1, it->second);
  emit(CALOTYPE_OP_SLOT, 1, slot_of(symbol, "a size expression"));
}

void SizeEncoder::push_binary(const Expr& e, calotype_opcode opcode) {
  if (wide_unsigned(e->args[0]->type) && opcode != CALOTYPE_OP_EQ && opcode != CALOTYPE_OP_NE)
    refuse(e, "computes with unsigned 64-bit integers");
  if (e->args[0]->type.is_float()) refuse(e, "compares floats");
  push(e->args[0]);
  push(e->args[1]);
  emit(opcode, -1);
  const bool may_leave = opcode == CALOTYPE_OP_ADD || opcode == CALOTYPE_OP_SUB ||
                         opcode == CALOTYPE_OP_MUL || opcode == CALOTYPE_OP_DIV;
  if (may_leave) wrap(e->type);
}

/// Shifts by a constant are products or floor quotients by a power of two.
void SizeEncoder::push_shift(const Expr& e, calotype_opcode by_power) {
  const std::optional<std::int64_t> amount = ir::as_int(e->args[1]);
  if (!amount || *amount < 0 || *amount > 62 || wide_unsigned(e->type))
    refuse(e, "shifts by an unknown amount");
  push(e->args[0]);
  constant(std::int64_t{1} << *amount);
  emit(by_power, -1);
  wrap(e->type);
}

void SizeEncoder::push_cast(const Expr& e) {
  const Type to = e->type, from = e->args[0]->type;
  push(e->args[0]);
  if (from.is_float()) {
    if (from.bits < 32 || to.is_bool() || wide_unsigned(to)) refuse(e, "converts a float of this type");
    emit(from.bits == 64 ? CALOTYPE_OP_FROM_F64 : CALOTYPE_OP_FROM_F32, 0);
    constant(to.min_int());
    emit(CALOTYPE_OP_MAX, -1);
    constant(to.max_int());
    return emit(CALOTYPE_OP_MIN, -1);
  }
  if (to.is_bool()) {
    constant(0);
    return emit(CALOTYPE_OP_NE, -1);
  }
  wrap(to);
}

void SizeEncoder::push_let(const Expr& e) {
  push(e->args[0]);
  const std::uint32_t temp = new_temp();
  set_temp(temp);
  lets_[ir::symbol_of(e).get()] = temp;
  push(e->args[1]);
}

void SizeEncoder::wrap(Type type) {
  if (type.bits < 64 && !type.is_bool()) emit(CALOTYPE_OP_WRAP, 0, type.is_int() ? -type.bits : type.bits);
}

}  // namespace calotype::driver
