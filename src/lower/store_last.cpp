// Stores to shared memory behind the loads of all iterations of an unrolled nest.
//
// A compiler does not move a load of shared memory ahead of a store to it, since the two may be to one place:
// an unrolled nest that loads and stores in turn waits for each load. Here the values of all iterations are
// kept in registers, and stored when the last one is there. Requires: expanded statements, in which the loops
// that are left unrolled are those that the text has as such. Leaves: of a nest of these around one store
// whose value loads other shared memory two such nests, and an array in registers between them.

#include "lower/passes.h"

namespace calotype::lower {
namespace {

using ir::StmtKind;

constexpr std::int64_t kMostBytes = 128;  // of a thread: 32 registers

bool is_shared(const ir::BufferPtr& b) { return b->space == ir::MemorySpace::Shared; }

/// For all lanes.
bool is_always(const Expr& predicate) {
  return ir::is_one(predicate) || (ir::is(predicate, ir::Op::Broadcast) && ir::is_one(predicate->args[0]));
}

class Nest {
 public:
  explicit Nest(const ir::Stmt& s) { holds_ = s->kind == StmtKind::For && walk(s); }

  bool is_one() const { return holds_ && count_ > 1 && bytes() <= kMostBytes && loads_others(); }

  ir::Stmt split(const ir::Stmt& s) const {
    const ir::BufferPtr& to = store_->buffer();
    const ir::BufferPtr held = ir::make_buffer({.name = to->name + ".held",
                                                .type = to->type,
                                                .space = ir::MemorySpace::Register,
                                                .mins = {ir::index(0)},
                                                .extents = {ir::index(count_ * store_->exprs[0]->type.lanes)},
                                                .strides = {ir::index(1)}});
    const Type type = store_->exprs[0]->type;
    const Expr first = position_ * ir::index(type.lanes);
    const Expr all =
        type.is_scalar() ? first : ir::make(ir::Op::Ramp, Int(64, type.lanes), {first, ir::index(1)});
    const ir::Stmt values = with_store(s, ir::store(held, store_->exprs[0], {all}));
    const Expr value = ir::make(ir::Op::Load, type, {all}, held);
    const ir::Stmt stores = with_store(s, ir::store(to, value, {store_->exprs[2]}));
    return ir::allocate(held, ir::block({values, fresh_copy(stores)}));
  }

 private:
  bool walk(const ir::Stmt& s) {
    switch (s->kind) {
      case StmtKind::Let:
        values_.push_back(s->exprs[0]);
        return walk(s->body());
      case StmtKind::For: {
        const ir::LoopInfo& loop = s->loop();
        const bool unrolled = loop.binding == ir::Binding::Unrolled && loop.in_text;
        const std::optional<std::int64_t> extent = ir::as_int(s->exprs[1]);
        if (!extent || !ir::is_zero(s->exprs[0]) || !unrolled) return false;
        position_ = position_.defined() ? position_ * ir::index(*extent) + ir::make_var(loop.var)
                                        : ir::make_var(loop.var);
        count_ *= *extent;
        return walk(s->body());
      }
      case StmtKind::Store: {
        store_ = s;
        values_.push_back(s->exprs[0]);
        const bool plain = std::holds_alternative<ir::BufferPtr>(s->attr);
        return plain && is_shared(s->buffer()) && is_always(s->exprs[1]) && s->exprs.size() == 3;
      }
      default:
        return false;
    }
  }

  std::int64_t bytes() const {
    return count_ * store_->exprs[0]->type.lanes * store_->buffer()->type.bytes();
  }

  /// Other shared memory, and nothing that an iteration before may have stored.
  bool loads_others() const {
    bool others = false, own = false;
    for (const Expr& value : values_)
      ir::visit(value, [&](const Expr& e) {
        if (!ir::is(e, ir::Op::Load) && !ir::is(e, ir::Op::LoadIf)) return;
        own |= ir::buffer_of(e) == store_->buffer();
        others |= is_shared(ir::buffer_of(e));
      });
    return others && !own;
  }

  ir::Stmt with_store(const ir::Stmt& s, const ir::Stmt& store) const {
    return ir::rewrite(s, [&](const ir::Stmt& n) { return n == store_ ? store : n; });
  }

  bool holds_ = false;
  std::int64_t count_ = 1;
  Expr position_;             ///< of the iteration's value in the array
  std::vector<Expr> values_;  ///< that are computed in it
  ir::Stmt store_;
};

}  // namespace

ir::Stmt store_last(const ir::Stmt& s) {
  const Nest nest(s);
  if (nest.is_one()) return nest.split(s);
  return ir::map_children(s, [](const Expr& e) { return e; }, store_last);
}

}  // namespace calotype::lower
