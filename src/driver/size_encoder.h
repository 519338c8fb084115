#pragma once
// Size expressions to the postfix code that the runtime evaluates.

#include <map>
#include <string>
#include <vector>

#include "ir/expr_node.h"
#include "runtime/size_code.h"

namespace calotype::driver {

class SizeEncoder {
 public:
  /// The symbol is slot `slot` from now on.
  void bind(const ir::SymbolPtr& symbol, std::uint32_t slot) { slots_[symbol.get()] = slot; }
  /// The slot of a symbol; Error(Internal), naming `user`, if it has none.
  std::uint32_t slot_of(const ir::SymbolPtr& symbol, const std::string& user) const;
  /// Append the code of an expression. An undefined expression is 1.
  calotype_code encode(const Expr& e);

  const std::vector<calotype_op>& ops() const { return ops_; }
  std::uint32_t stack_size() const { return static_cast<std::uint32_t>(deepest_); }
  std::uint32_t temp_count() const { return most_temps_; }

 private:
  void push(const Expr& e);
  void push_node(const Expr& e);
  void push_variable(const Expr& e);
  void push_binary(const Expr& e, calotype_opcode opcode);
  void push_shift(const Expr& e, calotype_opcode by_power);
  void push_cast(const Expr& e);
  void push_let(const Expr& e);
  void wrap(Type type);
  void emit(calotype_opcode opcode, int effect, std::int64_t value = 0);
  void constant(std::int64_t value) { emit(CALOTYPE_OP_CONST, 1, value); }
  void set_temp(std::uint32_t temp) { emit(CALOTYPE_OP_SET_TEMP, -1, temp); }
  std::uint32_t new_temp();

  std::vector<calotype_op> ops_;
  std::map<const ir::Symbol*, std::uint32_t> slots_;  // looked up, never walked
  // Of the expression at hand: how often each node is used, and the temporaries of those used again and of
  // lets.
  std::map<const ir::ExprNode*, int> uses_;
  std::map<const ir::ExprNode*, std::uint32_t> shared_;
  std::map<const ir::Symbol*, std::uint32_t> lets_;
  std::uint32_t temps_ = 0, most_temps_ = 0;
  int depth_ = 0, deepest_ = 1;
};

}  // namespace calotype::driver
