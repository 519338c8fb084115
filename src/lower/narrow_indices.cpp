// Index width: a kernel's index arithmetic in 32 bits.
//
// Requires: a kernel whose arguments the caller has found to span less than 2^31 elements. Leaves: loop
// variables, sizes, strides and everything computed of them for addresses, bounds and guards in Int(32);
// values of the algorithm keep their types (a coordinate used as a value is widened again). An address is
// right modulo 2^32 whatever its parts are, but what is compared, divided or clamped on the way must be the
// number itself: that is narrowed only where every step of it surely fits (index_range.h), since the
// algorithm may compute anything of its coordinates. Stands last, since every pass before it reasons in the
// algorithm's 64 bits.

#include <algorithm>
#include <set>

#include "ir/questions.h"
#include "lower/index_range.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

/// Whether an operation on the low halves of its operands gives the low half of its result.
bool keeps_low_half(ir::Op op) {
  switch (op) {
    case ir::Op::Add:
    case ir::Op::Sub:
    case ir::Op::Mul:
    case ir::Op::Neg:
    case ir::Op::Select:
    case ir::Op::Ramp:
    case ir::Op::Broadcast:
    case ir::Op::Lane:
      return true;
    default:
      return false;
  }
}

/// Whether Int(32) holds every value of the type.
bool fits_32(Type t) { return t.is_int() ? t.bits <= 32 : t.is_uint() && t.bits < 32; }

/// The names of values: what reads memory, and what an element is computed of. They may need all 64 bits.
class ValueNames {
 public:
  explicit ValueNames(const ir::Stmt& s) { statement(s); }
  const std::set<std::uint64_t>& symbols() const { return symbols_; }

 private:
  bool has(const ir::Symbol& s) const { return symbols_.contains(s.unique); }

  void statement(const ir::Stmt& s) {
    for (const ir::Stmt& child : s->stmts) statement(child);  // uses before definitions
    if (s->kind == ir::StmtKind::Store) value(s->exprs[0]);
    if (s->kind == ir::StmtKind::Print || s->kind == ir::StmtKind::Check)
      for (const Expr& e : s->exprs) value(e);
    if (s->kind != ir::StmtKind::Let) return;
    if (ir::reads_memory(s->exprs[0])) symbols_.insert(s->symbol()->unique);
    if (has(*s->symbol())) value(s->exprs[0]);
  }

  /// Operands of loads are addresses, and lanes are numbers of threads.
  void value(const Expr& e) {
    if (ir::is(e, ir::Op::Shuffle)) return value(e->args[0]);
    if (ir::is(e, ir::Op::Variable) && ir::symbol_of(e)->kind == ir::SymbolKind::Let)
      symbols_.insert(ir::symbol_of(e)->unique);
    if (ir::is(e, ir::Op::Load) || ir::is(e, ir::Op::LoadIf)) return;
    for (const Expr& a : e->args) value(a);
  }

  std::set<std::uint64_t> symbols_;
};

/// The names that a comparison, a division or the like is computed of: their upper halves matter.
class ExactNames {
 public:
  explicit ExactNames(const ir::Stmt& s) { statement(s); }
  bool has(const ir::SymbolPtr& s) const { return symbols_.contains(s->unique); }

 private:
  void statement(const ir::Stmt& s) {
    for (const ir::Stmt& child : s->stmts) statement(child);  // uses before definitions
    const bool exact = s->kind == ir::StmtKind::For || (s->kind == ir::StmtKind::Let && has(s->symbol()));
    for (const Expr& e : s->exprs)
      if (e.defined()) expression(e, exact);
  }

  void expression(const Expr& e, bool exact) {
    if (exact && ir::is(e, ir::Op::Variable)) symbols_.insert(ir::symbol_of(e)->unique);
    const bool load = ir::is(e, ir::Op::Load) || ir::is(e, ir::Op::LoadIf);
    const bool passes_on = keeps_low_half(e->op) || ir::is(e, ir::Op::Cast);
    for (const Expr& a : e->args) expression(a, !load && (exact || !passes_on));
  }

  std::set<std::uint64_t> symbols_;
};

class Narrower {
 public:
  Narrower(const Function& f, const std::vector<ir::BufferPtr>& arguments, const std::vector<Binding>& lets)
      : ranges_(f, arguments, lets), exact_(f.body), values_(ValueNames(f.body).symbols()) {}

  void run(Function& f) {
    for (ir::SymbolPtr& s : f.block_vars) s = s ? narrow_symbol(s) : s;
    for (ir::SymbolPtr& s : f.thread_vars) s = s ? narrow_symbol(s) : s;
    if (f.resident_blocks) f.resident_blocks = narrow_symbol(f.resident_blocks);
    f.body = statement(f.body);
    // The plan knows scalars in 64 bits; the kernel narrows them once at its head.
    for (auto s = f.scalars.rbegin(); s != f.scalars.rend(); ++s)
      if (is_index_symbol(**s))
        f.body = ir::let_stmt(narrow_symbol(*s), ir::make(ir::Op::Cast, Int(32), {ir::make_var(*s)}), f.body);
  }

 private:
  ir::SymbolPtr narrow_symbol(const ir::SymbolPtr& s) {
    if (!is_index_symbol(*s)) return s;
    ir::SymbolPtr& twin = twins_[s->unique];
    if (!twin) twin = ir::make_symbol(s->kind, s->name, Int(32, s->type.lanes));
    return twin;
  }

  bool is_index_symbol(const ir::Symbol& s) const {
    return s.kind != ir::SymbolKind::Param && s.type.element() == Int(64) && !values_.count(s.unique);
  }

  static bool wide_index(Type t) { return t.element() == Int(64); }

  /// Whether a value of the algorithm is in it, which may be anything.
  bool uses_values(const Expr& e) const {
    return ir::any_of(e, [&](const Expr& n) {
      return ir::is(n, ir::Op::Load) || ir::is(n, ir::Op::LoadIf) ||
             (ir::is(n, ir::Op::Variable) && !is_index_symbol(*ir::symbol_of(n)));
    });
  }

  /// Whether an Int(64) fits 32 bits for what it is made of: loops and sizes do, what is computed of them by
  /// its range, values by their type.
  bool fits(const Expr& e) const {
    if (ir::is(e, ir::Op::Cast) && fits_32(e->args[0]->type.element())) return true;
    if (ir::is(e, ir::Op::Min) || ir::is(e, ir::Op::Max)) return fits(e->args[0]) && fits(e->args[1]);
    return !uses_values(e) && (ir::is(e, ir::Op::Variable) || ranges_.fits(e));
  }

  /// Whether the low half of a name's value can be had without the upper one.
  bool may_narrow(const Expr& e) const {
    if (ir::is(e, ir::Op::Cast) && fits_32(e->args[0]->type.element())) return true;
    if (ir::is(e, ir::Op::Min) || ir::is(e, ir::Op::Max))
      return may_narrow(e->args[0]) && may_narrow(e->args[1]);
    return !uses_values(e);
  }

  static bool compares_indices(const Expr& e) {
    return ir::info(e->op).group == ir::OpGroup::compare && wide_index(e->args[0]->type);
  }

  bool all_fit(const Expr& e) const {
    return std::all_of(e->args.begin(), e->args.end(),
                       [&](const Expr& a) { return wide_index(a->type) ? fits(a) : true; });
  }

  /// In address context: Int(64) arithmetic on index symbols becomes Int(32).
  Expr narrow(const Expr& e) {
    if (compares_indices(e) && !all_fit(e)) return value(e);
    if (!wide_index(e->type)) return ir::map_args(e, [&](const Expr& a) { return narrow(a); });
    const Type type = Int(32, e->type.lanes);
    switch (e->op) {
      case ir::Op::Const:
        return ir::make_int(type, *ir::as_int(e));
      case ir::Op::Variable:
        return is_index_symbol(*ir::symbol_of(e)) ? ir::make_var(narrow_symbol(ir::symbol_of(e)))
                                                  : cast(type, e);
      case ir::Op::Load:
      case ir::Op::LoadIf:
      case ir::Op::Cast:
        return cast_to(type, ir::map_args(e, [&](const Expr& a) { return narrow(a); }));
      default: {
        // A clamp brings a value into range, so it is computed before the upper half goes.
        if (!keeps_low_half(e->op) && !all_fit(e)) return ir::make(ir::Op::Cast, type, {value(e)});
        std::vector<Expr> args;
        for (const Expr& a : e->args) args.push_back(narrow(a));
        return ir::make(e->op, type, std::move(args), e->attr);
      }
    }
  }

  static Expr cast_to(Type type, const Expr& e) {
    if (ir::is(e, ir::Op::Cast))
      return e->args[0]->type == type ? e->args[0] : ir::make(ir::Op::Cast, type, {e->args[0]});
    return ir::make(ir::Op::Cast, type, {e});
  }

  /// In value context: types stay; index symbols are widened where a value uses them.
  Expr value(const Expr& e) {
    if (ir::is(e, ir::Op::Variable) && is_index_symbol(*ir::symbol_of(e)))
      return ir::make(ir::Op::Cast, e->type, {ir::make_var(narrow_symbol(ir::symbol_of(e)))});
    if (ir::is(e, ir::Op::Load) || ir::is(e, ir::Op::LoadIf))
      return ir::map_args(e, [&](const Expr& a) { return narrow(a); });
    if (ir::is(e, ir::Op::Shuffle))
      return ir::make(e->op, e->type, {value(e->args[0]), narrow(e->args[1])}, e->attr);
    // Conditions on coordinates decide which accesses happen: they are address arithmetic.
    if (compares_indices(e) && !uses_values(e) && all_fit(e)) return narrow(e);
    if (ir::is(e, ir::Op::Cast) && wide_index(e->args[0]->type) && ir::is(e->args[0], ir::Op::Variable) &&
        is_index_symbol(*ir::symbol_of(e->args[0])))
      return ir::make(ir::Op::Cast, e->type, {narrow(e->args[0])});
    return ir::map_args(e, [&](const Expr& a) { return value(a); });
  }

  ir::Stmt statement(const ir::Stmt& s) {
    const auto children = [&](const ir::Stmt& child) { return statement(child); };
    switch (s->kind) {
      case ir::StmtKind::For: {
        ir::LoopInfo loop = s->loop();
        ranges_.enter_loop(loop.var, s->exprs[0], s->exprs[1]);
        loop.var = narrow_symbol(loop.var);
        return ir::for_loop(loop, narrow(s->exprs[0]), narrow(s->exprs[1]), statement(s->body()));
      }
      case ir::StmtKind::Let: {
        // Numbers of tiles are less than what a launch takes.
        const bool counts_tiles = s->symbol()->kind == ir::SymbolKind::Thread;
        const bool lossless = !exact_.has(s->symbol()) || ranges_.fits(s->exprs[0]);
        if (wide_index(s->symbol()->type) && !counts_tiles && (!may_narrow(s->exprs[0]) || !lossless))
          values_.insert(s->symbol()->unique);
        ranges_.enter_let(s->symbol(), s->exprs[0]);
        if (!is_index_symbol(*s->symbol()))
          return ir::map_children(s, [&](const Expr& e) { return value(e); }, children);
        return ir::let_stmt(narrow_symbol(s->symbol()), narrow(s->exprs[0]), statement(s->body()));
      }
      case ir::StmtKind::If:
        return ir::map_children(
            s, [&](const Expr& e) { return uses_values(e) ? value(e) : narrow(e); }, children);
      case ir::StmtKind::Store: {
        std::vector<Expr> coordinates;
        for (std::size_t i = 2; i < s->exprs.size(); ++i) coordinates.push_back(narrow(s->exprs[i]));
        return ir::store_like(s, value(s->exprs[0]), std::move(coordinates),
                              s->exprs[1].defined() ? value(s->exprs[1]) : Expr());
      }
      case ir::StmtKind::Barrier:
      case ir::StmtKind::Instruction:
        return ir::map_children(s, [&](const Expr& e) { return narrow(e); }, children);
      default:
        return ir::map_children(s, [&](const Expr& e) { return value(e); }, children);
    }
  }

  IndexRanges ranges_;
  const ExactNames exact_;
  std::map<std::uint64_t, ir::SymbolPtr> twins_;
  std::set<std::uint64_t> values_;  ///< symbols bound to values, which keep 64 bits
};

}  // namespace

void narrow_indices(Function& kernel, int bits, const std::vector<ir::BufferPtr>& arguments,
                    const std::vector<Binding>& lets) {
  if (bits == 32) Narrower(kernel, arguments, lets).run(kernel);
}

}  // namespace calotype::lower
