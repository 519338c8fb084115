#pragma once
// Scalar expressions as CUDA C.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/names.h"
#include "codegen/cuda/prelude.h"
#include "ir/expr_node.h"

namespace calotype::cuda {

/// How tightly a piece of text binds; C's precedences, larger binds tighter.
enum class Precedence {
  Conditional,
  Or,
  And,
  BitOr,
  BitXor,
  BitAnd,
  Equal,
  Relation,
  Shift,
  Sum,
  Product,
  Unary,
  Primary
};

struct Text {
  std::string text;
  Precedence precedence = Precedence::Primary;
};

/// Where vector values that a scalar expression takes apart, and its lets, come from: whoever prints the
/// statement.
class Hoister {
 public:
  virtual ~Hoister() = default;
  /// Declare `const T name = value;` before the statement at hand.
  virtual void declare(const ir::SymbolPtr& symbol, const Expr& value) = 0;
  /// A scalar expression for a Lane or ReduceAdd, ReduceMul, ReduceMin, ReduceMax of a vector.
  virtual Expr take_apart(const Expr& e) = 0;
};

/// What integers of 32 and 64 bits are: data wraps, so it is computed unsigned; indices do not overflow.
enum class Arithmetic { Index, Data };

class ExprPrinter {
 public:
  ExprPrinter(Names& names, Prelude& prelude, Hoister& hoister)
      : names_(names), prelude_(prelude), hoister_(hoister) {}

  std::string print(const Expr& e, Arithmetic arithmetic) {
    return print(e, arithmetic, Precedence::Conditional);
  }
  /// With parentheses if it binds less tightly than `at_least`.
  std::string print(const Expr& e, Arithmetic arithmetic, Precedence at_least);

  /// `name[index]`, or just the name of a buffer that is a single variable; of none that is packed.
  std::string element(const ir::BufferPtr& buffer, const Expr& index);
  /// The buffer is one variable and no array from now on.
  void set_single(const ir::BufferPtr& buffer) { single_.insert(buffer.get()); }
  bool is_single(const ir::BufferPtr& buffer) const { return single_.contains(buffer.get()); }
  /// The buffer has words of two elements of 16 bits, or four of 8, from now on.
  void set_packed(const ir::BufferPtr& buffer) { packed_.insert(buffer.get()); }
  bool is_packed(const ir::BufferPtr& buffer) const { return packed_.contains(buffer.get()); }

 private:
  Text node(const Expr& e);
  Text literal(const Expr& e);
  Text binary(const Expr& e, const char* symbol, Precedence precedence);
  Text arith(const Expr& e);
  Text integer_arith(const Expr& e);
  Text unsigned_arith(const Expr& e);
  Text narrow_arith(const Expr& e);
  Text float_arith(const Expr& e);
  Text strict_arith(const Expr& e);
  Text half_arith(const Expr& e);
  Text division(const Expr& e);
  Text extreme(const Expr& e);
  Text absolute(const Expr& e);
  Text comparison(const Expr& e);
  Text bits(const Expr& e);
  Text shift(const Expr& e);
  Text count_bits(const Expr& e);
  Text select(const Expr& e);
  Text convert(const Expr& e);
  Text float_to_int(const Expr& e);
  Text to_half(Type to, const Expr& from);
  Text bitcast(const Expr& e);
  Text math(const Expr& e);
  Text fast_math(const Expr& e);
  Text fused_multiply_add(const Expr& e);
  Text load(const Expr& e);
  std::string packed_element(const ir::BufferPtr& buffer, const Expr& index);
  std::string swizzled(const ir::Buffer& buffer, const Expr& index);
  Text shuffle(const Expr& e);
  std::string operand(const Expr& e, Precedence at_least);
  std::string as_float(const Expr& e, Precedence at_least = Precedence::Conditional);
  Text call(const std::string& function, const std::vector<std::string>& arguments) const;
  Text helper(const std::string& name, const std::vector<std::string>& arguments);
  Text half_of(Type type, const std::string& value);

  Names& names_;
  Prelude& prelude_;
  Hoister& hoister_;
  std::set<const ir::Buffer*> single_;
  std::set<const ir::Buffer*> packed_;
  Arithmetic arithmetic_ = Arithmetic::Index;
  bool strict_ = false;
};

}  // namespace calotype::cuda
