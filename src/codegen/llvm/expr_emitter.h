#pragma once
// Emits the value of expressions, and accesses to memory, at the builder's place.

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/llvm/emit_module.h"
#include "codegen/llvm/environment.h"
#include "codegen/llvm/values.h"
#include "ir/stmt.h"

namespace calotype::llvm_backend {

/// A sum, difference or product of parts of an index, folded where constants allow it.
Expr combined_index(ir::Op op, const Expr& x, const Expr& y);

class ExprEmitter {
 public:
  ExprEmitter(Builder& builder, const EmitSettings& settings, Environment& environment)
      : b_(builder), settings_(settings), environment_(environment), contract_(settings.contract) {}

  llvm::Value* emit(const Expr& e);
  void store(const ir::StmtNode& s);

  /// Nodes are emitted once a statement; to be called between statements, whose stores may change what loads
  /// give.
  void forget() { memo_.clear(), memo_order_.clear(); }

 private:
  // expr_emitter.cpp
  llvm::Value* emit_node(const Expr& e);
  llvm::Value* constant(const Expr& e);
  llvm::Value* variable(const Expr& e);
  llvm::Value* let(const Expr& e);
  llvm::Value* strict(const Expr& e);
  llvm::Value* arithmetic(const Expr& e);
  llvm::Value* comparison(const Expr& e);
  llvm::Value* contracted(const Expr& e);
  llvm::Value* vector_op(const Expr& e);
  llvm::Value* ramp(const Expr& e);
  llvm::Value* reduce(const Expr& e);
  llvm::Value* with_last(llvm::Value* pairs, llvm::Value* lanes, int groups);

  // dots.cpp
  bool repeats(const Expr& e) const;
  llvm::Value* dot(const Expr& e, const Expr& sum);
  llvm::Value* accumulated(const Expr& e);

  // ramp_compare.cpp
  struct Steps {
    Expr base;                        ///< scalar
    std::vector<std::int64_t> steps;  ///< of each lane, from it
    std::int64_t largest() const { return *std::max_element(steps.begin(), steps.end()); }
    bool varies() const { return largest() > 0; }
  };
  std::optional<Steps> as_steps(const Expr& index, std::int64_t most) const;
  llvm::Value* ramp_comparison(const Expr& e);
  bool first_row_decides(const Expr& condition) const;

  // columns.cpp
  static bool whole_run_is_ours(const ir::Buffer& buffer, const Expr& base, std::int64_t stride, int lanes);
  static bool is_column(const ir::Buffer& buffer, Type type, const Expr& base, std::int64_t stride);
  llvm::Value* load_column(const ir::BufferPtr& buffer, Type type, std::int64_t base, int stride);

  // memory.cpp
  struct Affine {
    Expr base;    ///< scalar
    Expr stride;  ///< scalar
  };
  std::optional<Affine> as_affine(const Expr& index) const;
  Expr look_through(const Expr& e) const;
  llvm::Value* load(const Expr& e);
  llvm::Value* load_scalar(const ir::BufferPtr& buffer, const Expr& index, const Expr& predicate);
  llvm::Value* load_vector(const ir::BufferPtr& buffer, Type type, const Expr& index, llvm::Value* mask);
  llvm::Value* load_strided(const ir::BufferPtr& buffer, Type type, llvm::Value* base, int stride,
                            llvm::Value* mask, std::optional<int> lead);
  llvm::Value* gather(const ir::BufferPtr& buffer, Type type, const Expr& index, llvm::Value* mask);
  void store_vector(const ir::BufferPtr& buffer, Type type, llvm::Value* value, const Expr& index,
                    llvm::Value* mask);
  void store_strided(const ir::BufferPtr& buffer, Type type, llvm::Value* value, llvm::Value* base,
                     int stride, llvm::Value* mask);
  void scatter(const ir::BufferPtr& buffer, Type type, llvm::Value* value, const Expr& index,
               llvm::Value* mask);
  const BufferRef& buffer_ref(const ir::BufferPtr& buffer) const;
  llvm::Value* address(const ir::BufferPtr& buffer, llvm::Value* index);
  llvm::Value* offset(const ir::BufferPtr& buffer, llvm::Value* pointer, std::int64_t elements);
  llvm::Value* pointers(const ir::BufferPtr& buffer, const Expr& index);
  llvm::Instruction* annotate(llvm::Instruction* access, const ir::BufferPtr& buffer) const;
  llvm::Value* dense_load(const ir::BufferPtr& buffer, Type type, llvm::Value* pointer, llvm::Value* mask);
  void dense_store(const ir::BufferPtr& buffer, Type type, llvm::Value* value, llvm::Value* pointer,
                   llvm::Value* mask);
  bool masks_dense(Type type) const;
  // masked_lanes.cpp
  bool goes_lane_by_lane(Type type, llvm::Value* mask) const;
  struct MaskedAccess {
    std::function<llvm::Value*()> whole;
    std::function<void()> before;
    std::function<void(llvm::Value* lane)> some;
    std::function<llvm::Value*()> rest;
  };
  llvm::Value* by_mask(llvm::Value* mask, const MaskedAccess& access);
  llvm::Value* load_pieces(const ir::BufferPtr& buffer, Type type, llvm::Value* pointer,
                           const llvm::Constant& mask);
  void store_pieces(const ir::BufferPtr& buffer, Type type, llvm::Value* value, llvm::Value* pointer,
                    const llvm::Constant& mask);
  llvm::Value* load_by_lanes(const ir::BufferPtr& buffer, Type type, llvm::Value* pointer, llvm::Value* mask);
  void store_by_lanes(const ir::BufferPtr& buffer, Type type, llvm::Value* value, llvm::Value* pointer,
                      llvm::Value* mask);
  // rows.cpp
  struct Rows {
    int count;  ///< 0: all lanes are equal
    Affine row;
    Expr step;  ///< from a row to the next
  };
  std::optional<Rows> as_rows(const Expr& index) const;
  std::optional<Rows> find_rows(const Expr& index) const;
  Expr row_index(const Rows& rows, int row, int lanes) const;
  llvm::Value* row_of(llvm::Value* vector, int row, int lanes);
  llvm::Value* load_rows(const ir::BufferPtr& buffer, Type type, const Rows& rows, const Expr& predicate);
  llvm::Value* load_repeated(const ir::BufferPtr& buffer, Type type, const Rows& rows, const Expr& predicate);
  void store_rows(const ir::BufferPtr& buffer, Type type, llvm::Value* value, const Rows& rows,
                  llvm::Value* mask);
  // atomic.cpp
  void atomic_store(const ir::StmtNode& s);
  void atomic_update(const ir::Atomic& update, Type type, llvm::Value* pointer, llvm::Value* term);
  void exchange_until_done(const ir::Atomic& update, Type type, llvm::Value* pointer, llvm::Value* term);
  llvm::Value* combined(ir::Op op, Type type, llvm::Value* old_bits, llvm::Value* term);
  // stream.cpp
  bool streams(const ir::BufferPtr& buffer, Type type) const;
  void stream_load(llvm::LoadInst& load) const;
  void stream_store(const ir::BufferPtr& buffer, Type type, llvm::Value* value, llvm::Value* pointer);

  /// Values emitted inside are forgotten at the end: they are bound to a name, a branch or a mode that ends
  /// there.
  class MemoScope;

  Builder& b_;
  const EmitSettings& settings_;
  Environment& environment_;
  bool contract_;
  struct Memo {
    Expr key;  ///< keeps the node alive, so that no other takes its address
    llvm::Value* value;
  };
  std::unordered_map<const ir::ExprNode*, Memo> memo_;
  std::vector<const ir::ExprNode*> memo_order_;
};

class ExprEmitter::MemoScope {
 public:
  /// `fresh`: values from outside do not hold inside.
  MemoScope(ExprEmitter& emitter, bool fresh) : emitter_(emitter), fresh_(fresh) {
    if (fresh_) {
      memo_.swap(emitter_.memo_);
      order_.swap(emitter_.memo_order_);
    }
    mark_ = emitter_.memo_order_.size();
  }
  ~MemoScope() {
    if (fresh_) {
      memo_.swap(emitter_.memo_);
      order_.swap(emitter_.memo_order_);
      return;
    }
    for (; emitter_.memo_order_.size() > mark_; emitter_.memo_order_.pop_back()) {
      emitter_.memo_.erase(emitter_.memo_order_.back());
    }
  }
  MemoScope(const MemoScope&) = delete;
  MemoScope& operator=(const MemoScope&) = delete;

 private:
  ExprEmitter& emitter_;
  bool fresh_;
  std::size_t mark_ = 0;
  std::unordered_map<const ir::ExprNode*, Memo> memo_;
  std::vector<const ir::ExprNode*> order_;
};

}  // namespace calotype::llvm_backend
