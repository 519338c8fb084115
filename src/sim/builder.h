#pragma once
// Makes code: registers and constants by need, and the instructions of expressions.
//
// Registers are handed out like a stack: a statement's temporaries are free again after it, those of a Let or
// loop after its body. A result never overlaps its operands.

#include <map>
#include <tuple>
#include <unordered_map>

#include "sim/code.h"
#include "sim/machine.h"

namespace calotype::sim {

[[noreturn]] void refuse(const Code& code, std::string message, std::string value = "");

class Builder {
 public:
  explicit Builder(Code& code) : code_(code) {}

  // Names
  void bind(const ir::SymbolPtr& symbol, Register r) { symbols_[symbol->unique] = r; }
  void declare_buffer(const ir::BufferPtr& buffer, BufferUse use);
  int buffer_index(const ir::BufferPtr& buffer) const;

  // Registers
  Register reserve(int components, bool uniform);
  /// Temporaries and values remembered from here on are dropped by `release`.
  int mark() const { return top_; }
  void release(int mark);
  /// Values computed so far are computed anew where they are needed: what follows runs later.
  void forget();
  Register constant(Cell value);

  // Instructions
  Instruction& emit(Handler run, const char* name) {
    Instruction& i = code_.instructions.emplace_back(Instruction{run, name});
    i.scope = scope_;
    return i;
  }
  /// What is emitted until `leave` stands in this.
  void enter(Scope scope) {
    scope.outer = scope_;
    scope_ = static_cast<int>(code_.scopes.size());
    code_.scopes.push_back(std::move(scope));
  }
  void leave() { scope_ = code_.scopes[static_cast<std::size_t>(scope_)].outer; }
  int position() const { return static_cast<int>(code_.instructions.size()); }
  Instruction& at(int position) { return code_.instructions[static_cast<std::size_t>(position)]; }

  // Expressions
  Register value(const Expr& e);
  /// The value as it is, in that many components.
  Register value(const Expr& e, int components);
  /// The value of an index, or what one comes of: sums and products that leave their type are found.
  Register index(const Expr& e, int components);
  /// The value in that many components and, unless `uniform`, one a lane.
  Register shaped(Register r, Type element, int components, bool uniform);
  /// A copy that may change, as the variable of a loop does.
  Register copy(Register r, bool uniform);
  /// A Store: plain, or an atomic update.
  void store(const ir::Stmt& s);
  /// A Store of a box, by each thread that comes there.
  void box_store(const ir::Stmt& s);
  /// An instruction of tiles (tile_code.cpp).
  void tile(const ir::Stmt& s);
  /// Which of the kernel's rings it is.
  int ring_index(const ir::Ring& ring) const;

 private:
  Register make_value(const Expr& e);
  Register arithmetic(const Expr& e);
  Register operation(Operation operation, Register a, Register b, Register c, int components, bool uniform);
  Register vector_of(const Expr& e);
  Register lane(const Expr& e);
  Register reduce(const Expr& e);
  Register load(const Expr& e);
  Register shuffle(const Expr& e);
  void note_written(int buffer);
  TileOperand tile_operand(const ir::OperandUse& use, const instr::Operand& operand, int threads,
                           const Expr& index);
  int access(const ir::BufferPtr& buffer, const Expr& index, bool predicated);
  int tensor_access(const ir::Stmt& s, int tensor);
  Register spread_over_lanes(Register r, Type element);
  Register spread_constant(Register r);
  Register repeat(Compute compute, const char* name, Register r, Register result, Type element);

  struct Known {
    Register at;
    bool watched;  ///< as an index
  };

  Code& code_;
  bool watching_ = false;
  bool in_bulk_ = false;
  int scope_ = -1;
  int top_ = 0;
  std::unordered_map<std::uint64_t, Register> symbols_;
  std::unordered_map<const ir::Buffer*, int> buffers_;
  std::unordered_map<const ir::ExprNode*, Known> known_;     ///< values of this statement's shared nodes
  std::unordered_map<int, Register> spreads_;                ///< of this statement's uniform registers
  std::map<std::tuple<std::int64_t, bool>, int> constants_;  ///< by bits and whether spread over lanes
};

}  // namespace calotype::sim
