// Compilation of a definition: one instruction for each distinct expression, then registers shared by values
// that are not needed at the same time.

#include "lang/bytecode.h"

#include <algorithm>
#include <bit>

namespace calotype::lang {

namespace {

using ir::Op;
using Kind = Instruction::Kind;

class Compiler {
 public:
  Compiler(const FuncDef& func, const StageDef& stage, const Constants& constants)
      : func_(func), stage_(stage), constants_(constants) {}

  Bytecode operator()() {
    if (stage_.predicate.defined()) code_.predicate = compile(stage_.predicate);
    for (const Expr& e : stage_.lhs) code_.lhs.push_back(compile(e));
    code_.head = code_.instructions.size();
    for (const Expr& value : stage_.values()) code_.values.push_back(compile(value));
    if (stage_.reduce_op == Op::Add && func_.type().is_float()) mark_accumulation();
    share_registers();
    return std::move(code_);
  }

 private:
  int compile(const Expr& e) {
    ir::visit(e, [&](const Expr& node) {
      if (!registers_.contains(node.node().get())) registers_[node.node().get()] = compile_node(node);
    });
    return registers_.at(e.node().get());
  }

  int compile_node(const Expr& node) {
    if (node->op == Op::Likely || node->op == Op::Strict || node->op == Op::PromiseClamped)
      return register_of(node->args[0]);
    if (ir::is_const(node)) return constant(ir::value_of(node));
    if (ir::is(node, Op::Variable)) return variable(ir::symbol_of(node));
    Instruction instruction{
        .kind = ir::is(node, Op::Call) ? Kind::Load : Kind::Apply, .op = node->op, .type = node->type};
    if (instruction.kind == Kind::Load) {
      instruction.source = source(ir::callee_of(node));
      for (const Expr& arg : node->args) instruction.coordinates.push_back(register_of(arg));
    } else {
      if (ir::is(node, Op::Print)) return add(printing(node));
      if (ir::is(node, Op::Require)) {
        instruction.kind = Kind::Require;
        instruction.text = *ir::text_of(node);
      }
      // A select's first operand is its condition; the type of the values is the last one's.
      instruction.operand = node->args.back()->type;
      for (std::size_t i = 0; i < node->args.size(); ++i) instruction.in[i] = register_of(node->args[i]);
    }
    return add(std::move(instruction));
  }

  Instruction printing(const Expr& node) const {
    Instruction print{.kind = Kind::Print, .op = node->op, .type = node->type, .operand = node->type};
    print.in = {register_of(node->args[0]), register_of(node->args[1]), -1};
    print.text = *ir::text_of(node);
    for (std::size_t i = 2; i < node->args.size(); ++i) {
      const Type t = node->args[i]->type;
      print.printed.push_back(register_of(node->args[i]));
      print.kinds += t.is_bool() ? 'b' : t.is_int() ? 'i' : t.is_uint() ? 'u' : t.bits == 64 ? 'd' : 's';
    }
    return print;
  }

  int register_of(const Expr& e) const { return registers_.at(e.node().get()); }

  int variable(const ir::SymbolPtr& symbol) {
    const auto value = constants_.find(symbol.get());
    if (value != constants_.end()) return constant(value->second);
    Instruction instruction{.kind = Kind::Coordinate, .type = Int(64)};
    for (std::size_t d = 0; d < func_.args.size(); ++d) {
      if (func_.args[d] == symbol) instruction.loop = static_cast<int>(d);
    }
    for (std::size_t d = 0; d < stage_.reduction.size(); ++d) {
      if (stage_.reduction[d].symbol == symbol) instruction.loop = static_cast<int>(func_.args.size() + d);
    }
    return add(std::move(instruction));
  }

  int constant(const ir::Value& value) {
    for (const auto& [slot, known] : code_.constants) {
      if (known.type == value.type && known.i == value.i) return slot;  // floats by their bits
    }
    const int slot = code_.registers++;
    code_.constants.emplace_back(slot, value);
    return slot;
  }

  int source(const ir::CalleePtr& callee) {
    const auto found = std::find(code_.sources.begin(), code_.sources.end(), callee);
    if (found == code_.sources.end()) code_.sources.push_back(callee);
    return static_cast<int>(std::find(code_.sources.begin(), code_.sources.end(), callee) -
                            code_.sources.begin());
  }

  /// Registers count up, each written once; equal instructions share theirs, so equal trees are computed
  /// once.
  int add(Instruction instruction) {
    const auto same = [&](const Instruction& other) {
      return other.kind == instruction.kind && other.op == instruction.op && other.type == instruction.type &&
             other.operand == instruction.operand && other.in == instruction.in &&
             other.loop == instruction.loop && other.text == instruction.text &&
             other.source == instruction.source && other.coordinates == instruction.coordinates &&
             other.printed == instruction.printed;
    };
    const auto found = std::find_if(code_.instructions.begin(), code_.instructions.end(), same);
    if (found != code_.instructions.end()) return found->out;
    instruction.out = code_.registers++;
    code_.instructions.push_back(std::move(instruction));
    return code_.instructions.back().out;
  }

  /// The sum at the top of the value, with the old value as its first operand.
  void mark_accumulation() {
    for (Instruction& instruction : code_.instructions) {
      if (instruction.out != code_.values.front() || instruction.op != Op::Add) continue;
      instruction.kind = Kind::Accumulate;
      if (ir::equal(stage_.value->args[0], stage_.reduce_term))
        std::swap(instruction.in[0], instruction.in[1]);
    }
  }

  static std::vector<int*> operands(Instruction& instruction) {
    std::vector<int*> slots;
    for (int& slot : instruction.in) {
      if (slot >= 0) slots.push_back(&slot);
    }
    for (int& slot : instruction.coordinates) slots.push_back(&slot);
    for (int& slot : instruction.printed) slots.push_back(&slot);
    return slots;
  }

  /// Registers whose value is no longer needed are used again. Those of constants, of the predicate, the left
  /// side and the value are kept.
  void share_registers() {
    std::vector<std::size_t> last_use(code_.registers, 0);
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
      for (const int* slot : operands(code_.instructions[i])) last_use[*slot] = i;
    }
    std::vector<int> kept = code_.lhs;
    kept.insert(kept.end(), code_.values.begin(), code_.values.end());
    if (code_.predicate >= 0) kept.push_back(code_.predicate);
    for (const auto& [slot, value] : code_.constants) kept.push_back(slot);
    for (const int slot : kept) last_use[slot] = code_.instructions.size();

    std::vector<int> physical(code_.registers, -1), free;
    int count = 0;
    for (auto& [slot, value] : code_.constants) slot = physical[slot] = count++;
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
      Instruction& instruction = code_.instructions[i];
      std::vector<int> ended;
      for (int* slot : operands(instruction)) {
        const int before = *slot;
        *slot = physical[before];
        const bool is_last = last_use[before] == i;
        if (is_last && std::find(ended.begin(), ended.end(), *slot) == ended.end()) ended.push_back(*slot);
      }
      // Freed only after the result has its place: lanes of operand and result must not be the same memory.
      int& out = physical[instruction.out];
      if (free.empty()) {
        out = count++;
      } else {
        out = free.back();
        free.pop_back();
      }
      if (last_use[instruction.out] <= i) ended.push_back(out);  // not used at all
      instruction.out = out;
      free.insert(free.end(), ended.begin(), ended.end());
    }
    for (int& slot : code_.lhs) slot = physical[slot];
    for (int& slot : code_.values) slot = physical[slot];
    if (code_.predicate >= 0) code_.predicate = physical[code_.predicate];
    code_.registers = count;
  }

  const FuncDef& func_;
  const StageDef& stage_;
  const Constants& constants_;
  Bytecode code_;
  std::map<const ir::ExprNode*, int> registers_;  // keyed by address for look-up alone
};

}  // namespace

Bytecode compile_stage(const FuncDef& func, int stage, const Constants& constants) {
  return Compiler(func, func.stages[stage], constants)();
}

}  // namespace calotype::lang
