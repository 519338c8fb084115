// A row as the iterations of a loop: where it begins, how far its elements are apart, how many there are.
#include "lower/row_copy.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"

namespace calotype::lower {
namespace {

class Row {
 public:
  Row(const LoopTree& tree, StageRef stage, const ir::Stmt& loop)
      : tree_(tree), stage_(stage), loop_(loop), count_(loop->exprs[1]) {}

  ir::Stmt run(bool common) {
    if (loop_->loop().binding != ir::Binding::Serial)
      refuse(fmt::format("its innermost loop '{}' is {}", variable()->name,
                         ir::to_string(loop_->loop().binding)),
             variable()->name, "a serial innermost loop, whose iterations are one copy; or copy(async)");
    find(loop_->body());
    const ir::BufferPtr& to = store_->buffer();
    const Expr &index = store_->exprs[2], &load = store_->exprs[0], &from = load->args.back();
    const Expr to_step = step(index), from_step = step(from);
    if (!to_step.defined() || !ir::is_one(to_step))
      refuse(fmt::format("the elements of '{}' are no neighbours in its memory", variable()->name),
             to_step.defined() ? ir::to_string(to_step) : ir::to_string(index),
             "the coordinate that has neighbours in memory innermost; or copy(async)");
    // Code for calls whose buffers lie otherwise is made too, with their strides as constants perhaps.
    const ir::BufferPtr& source = ir::buffer_of(load);
    const bool otherwise = source->space == ir::MemorySpace::Argument && !ir::is_one(source->strides[0]);
    if (!from_step.defined() || (ir::as_int(from_step) && !ir::is_one(from_step) && !otherwise))
      refuse(
          fmt::format("the elements that '{}' reads are no neighbours in memory", variable()->name),
          from_step.defined() ? ir::to_string(from_step) : ir::to_string(from),
          "a copy of what lies side by side, with that coordinate innermost; or copy(async), copy(threads)");
    const RingUse& use = tree_.rings[tree_.ring_of.at(stage_.func)];
    const Expr first = ir::rewrite(load, [&](const Expr& n) { return at(n, loop_->exprs[0]); });
    ir::Stmt s = ir::bulk_store({to, use.ring, common}, {.load = first,
                                                         .index = at(index, loop_->exprs[0]),
                                                         .count = simple(count_),
                                                         .step = from_step,
                                                         .slot = use.slot});
    for (const Expr& condition : uniform_) s = ir::if_then(condition, s);
    const Expr any = simple(count_ > ir::index(0));
    if (!ir::is_one(any)) s = ir::if_then(any, s);
    const lang::FuncDef& func = tree_.func(stage_.func);
    return ir::note(fmt::format("{}: {}", func.name, tree_.scheduled.of(func.id).copy_origin), s);
  }

 private:
  const ir::SymbolPtr& variable() const { return loop_->loop().var; }
  Expr simple(const Expr& e) const { return ir::simplify(e, tree_.facts); }
  Expr at(const Expr& e, const Expr& value) const { return simple(ir::substitute(e, {{variable(), value}})); }

  [[noreturn]] void refuse(const std::string& message, std::string value, std::string legal) const {
    const lang::FuncDef& func = tree_.func(stage_.func);
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("'{}' is copied in whole rows, and {}", func.name, message),
                 .func = func.name,
                 .directive = tree_.scheduled.of(func.id).copy_origin,
                 .value = std::move(value),
                 .legal = std::move(legal)});
  }

  /// From one iteration to the next; undefined: not always the same.
  Expr step(const Expr& e) const {
    const Expr next = ir::make_var(variable()) + ir::index(1);
    const Expr difference = simple(ir::substitute(e, {{variable(), next}}) - e);
    return ir::uses(difference, variable()) ? Expr() : difference;
  }

  void find(const ir::Stmt& s) {
    switch (s->kind) {
      case ir::StmtKind::Let:
        return find(ir::substitute(s->body(), {{s->symbol(), s->exprs[0]}}));
      case ir::StmtKind::If:
        if (!has_copy(s)) return;
        take(s->exprs[0]);
        return find(s->stmts[0]);
      case ir::StmtKind::Store:
        if (s->is_async()) store_ = s;
        return;
      default:
        for (const ir::Stmt& child : s->stmts) find(child);
    }
  }

  static bool has_copy(const ir::Stmt& s) {
    bool found = false;
    ir::visit(s, [&](const ir::Stmt& n) { found |= n->kind == ir::StmtKind::Store && n->is_async(); });
    return found;
  }

  /// A condition becomes a number of iterations, if it holds for the first ones.
  void take(const Expr& condition) {
    if (ir::is(condition, ir::Op::And)) {
      for (const Expr& part : condition->args) take(part);
      return;
    }
    if (!ir::uses(condition, variable())) return uniform_.push_back(condition);
    const bool less = ir::is(condition, ir::Op::Lt), most = ir::is(condition, ir::Op::Le);
    const Expr room = less || most ? condition->args[1] - condition->args[0] : Expr();
    const Expr change = room.defined() ? step(room) : Expr();
    const std::optional<std::int64_t> by = change.defined() ? ir::as_int(change) : std::nullopt;
    if (!by || *by >= 0)
      refuse(fmt::format("a condition leaves out others than the last: {}", ir::to_string(condition)),
             ir::to_string(condition), "a factor that divides, or the tail shift_inwards; or copy(async)");
    const Expr first = at(room, loop_->exprs[0]) + ir::index(less ? 0 : 1);
    count_ = min(count_, (first - ir::index(*by + 1)) / ir::index(-*by));
  }

  const LoopTree& tree_;
  const StageRef stage_;
  const ir::Stmt& loop_;
  ir::Stmt store_;
  Expr count_;
  std::vector<Expr> uniform_;
};

}  // namespace

bool is_row_copy(const Node& node) {
  return node.kind == NodeKind::Loop && node.children.size() == 1 &&
         node.children[0].kind == NodeKind::Body &&
         node.children[0].instruction->engine == instr::Engine::BulkCopy;
}

ir::Stmt row_copy(const LoopTree& tree, StageRef stage, const ir::Stmt& loop, const std::vector<LoopId>& open,
                  const std::function<ir::Stmt(const ir::Stmt&)>& by_one) {
  const bool common = std::none_of(
      open.begin(), open.end(), [&](LoopId id) { return tree.loop(id).binding == ir::Binding::GpuThread; });
  const ir::Stmt row = Row(tree, stage, loop).run(common), copy = common ? row : by_one(row);
  const ir::Stmt rest = ir::rewrite(loop, [](const ir::Stmt& s) {
    return s->kind == ir::StmtKind::Store && s->is_async() ? ir::block({}) : s;
  });
  bool any = false;
  ir::visit(rest, [&](const ir::Stmt& s) {
    any |= s->kind == ir::StmtKind::Store || s->kind == ir::StmtKind::Print;
  });
  return any ? ir::block({copy, by_one(rest)}) : copy;
}

}  // namespace calotype::lower
