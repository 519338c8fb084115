// Measuring: clocks and counters in the code of a profiled program.
//
// Requires: statements as the code generators take them, in which emission has marked what each Func (Time)
// and each of its stages (Stage) computes. Leaves: Time around what a Func computes, also inside each
// iteration of a parallel loop, since clocks belong to threads, and around such a loop a clock of its own for
// the wait; Sum for loads and stores; Peak for storage; no Stage. Stands last, so that what is measured is
// the code as it runs: loops cut, widened and unrolled.
//
// Counting does not slow loops down: what a loop's body counts is an expression, which is multiplied by the
// number of iterations and moved out of the loop, as far as it does not depend on the loop. Only what depends
// on memory, or differs from one iteration to the next, is counted inside.

#include "lower/measure.h"

#include <algorithm>
#include <map>

#include "ir/questions.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

using ir::Meter;

constexpr std::size_t kLargestAmount = 200;  // nodes of an expression that is moved out of a loop
constexpr std::int64_t kLargestStride = 4;   // of elements that are loaded as whole vectors and sorted

/// Whether an expression may be evaluated earlier, where its symbols are known.
bool is_movable(const Expr& e) {
  return e->type.is_scalar() && ir::size_up_to(e, kLargestAmount) <= kLargestAmount && !ir::reads_memory(e);
}

Expr from_zero_to(const Expr& value, int most) { return min(max(value, ir::index(0)), ir::index(most)); }

bool is_unit_ramp(const Expr& e) { return ir::is(e, ir::Op::Ramp) && ir::is_one(e->args[1]); }

/// How many lanes of a condition hold.
Expr active_lanes(const Expr& condition) {
  const int lanes = condition->type.lanes;
  if (ir::is_one(condition)) return ir::index(lanes);
  if (lanes == 1) return select(condition, ir::index(1), ir::index(0));
  if (ir::is(condition, ir::Op::Broadcast)) return select(condition->args[0], ir::index(lanes), ir::index(0));
  if (ir::is(condition, ir::Op::And))
    for (int i : {0, 1})
      if (ir::is(condition->args[i], ir::Op::Broadcast))
        return select(condition->args[i]->args[0], active_lanes(condition->args[1 - i]), ir::index(0));
  const bool le = ir::is(condition, ir::Op::Le);
  if (le || ir::is(condition, ir::Op::Lt)) {
    const Expr &a = condition->args[0], &b = condition->args[1];
    if (is_unit_ramp(a) && ir::is(b, ir::Op::Broadcast) && a->type.element() == Int(64))
      return from_zero_to(b->args[0] - a->args[0] + ir::index(le), lanes);
    if (ir::is(a, ir::Op::Broadcast) && is_unit_ramp(b) && a->type.element() == Int(64))
      return ir::index(lanes) - from_zero_to(a->args[0] - b->args[0] + ir::index(!le), lanes);
  }
  Expr sum = ir::index(0);
  for (int i = 0; i < lanes; ++i)
    sum = sum + select(ir::make(ir::Op::Lane, Bool(), {condition, ir::index(i)}), ir::index(1), ir::index(0));
  return sum;
}

/// Whether the lanes of an access lie where no few loads of whole vectors have them.
bool is_gather(const Expr& index) {
  if (index->type.is_scalar() || ir::is(index, ir::Op::Broadcast)) return false;
  if (!ir::is(index, ir::Op::Ramp)) return true;
  const std::optional<std::int64_t> stride = ir::as_int(index->args[1]);
  return !stride || *stride > kLargestStride || *stride < -kLargestStride;
}

/// How often something happens, by counter, in terms of symbols that are known before the statement.
using Tally = std::map<int, Expr>;

void add(Tally& to, int counter, const Expr& amount) {
  Expr& total = to[counter];
  total = total.defined() ? total + amount : amount;
}

class Measurer {
 public:
  explicit Measurer(const LoopTree& tree) : tree_(tree) {
    for (const auto& [func, storage] : tree.storage)
      for (std::size_t c = 0; c < storage.buffers.size(); ++c)
        owners_[storage.buffers[c].get()] = {func, static_cast<int>(c)};
  }

  ir::Stmt run(const ir::Stmt& s) {
    Tally tally;
    const ir::Stmt done = measured(s, tally);
    return counted(tally, done);
  }

 private:
  /// The statement with its meters; what is to be counted before it is added to `tally`.
  ir::Stmt measured(const ir::Stmt& s, Tally& tally) {
    switch (s->kind) {
      case ir::StmtKind::Block: {
        std::vector<ir::Stmt> stmts;
        for (const ir::Stmt& child : s->stmts) stmts.push_back(measured(child, tally));
        return ir::block(std::move(stmts));
      }
      case ir::StmtKind::Let:
        return measured_let(s, tally);
      case ir::StmtKind::For:
        return measured_for(s, tally);
      case ir::StmtKind::If:
        return measured_if(s, tally);
      case ir::StmtKind::Store:
        return measured_store(s, tally);
      case ir::StmtKind::Extern:
        return measured_extern(s, tally);
      case ir::StmtKind::Allocate:
        return measured_allocation(s, tally);
      case ir::StmtKind::Meter:
        return measured_mark(s, tally);
      default:
        count_loads(s->exprs, tally);
        return ir::map_children(
            s, [](const Expr& e) { return e; },
            [&](const ir::Stmt& child) { return measured(child, tally); });
    }
  }

  ir::Stmt measured_mark(const ir::Stmt& s, Tally& tally) {
    const bool is_func = s->meter().kind == Meter::Kind::Time;
    const auto before = std::pair(func_, stage_);
    if (is_func) func_ = lang::FuncId{s->meter().index};
    stage_ = is_func ? -1 : s->meter().index;
    ir::Stmt body = measured(s->body(), tally);
    std::tie(func_, stage_) = before;
    return is_func ? ir::metered(s->meter(), body) : body;
  }

  ir::Stmt measured_let(const ir::Stmt& s, Tally& tally) {
    count_loads(s->exprs, tally);
    Tally inside;
    ir::Stmt body = measured(s->body(), inside);
    const bool movable = is_movable(s->exprs[0]);
    Tally kept;
    for (const auto& [counter, amount] : inside) {
      if (!ir::uses(amount, s->symbol()))
        add(tally, counter, amount);
      else if (movable)
        move(tally, kept, counter, amount, ir::substitute(amount, {{s->symbol(), s->exprs[0]}}));
      else
        add(kept, counter, amount);
    }
    return ir::let_stmt(s->symbol(), s->exprs[0], counted(kept, body));
  }

  ir::Stmt measured_for(const ir::Stmt& s, Tally& tally) {
    count_loads(s->exprs, tally);
    Tally inside;
    ir::Stmt body = measured(s->body(), inside);
    const ir::LoopInfo& loop = s->loop();
    const Expr times = max(s->exprs[1], ir::index(0));
    Tally kept;
    for (const auto& [counter, amount] : inside) {
      if (is_movable(times) && !ir::uses(amount, loop.var))
        move(tally, kept, counter, amount, amount * times);
      else
        add(kept, counter, amount);
    }
    body = counted(kept, body);
    if (loop.binding != ir::Binding::Parallel) return ir::for_loop(loop, s->exprs[0], s->exprs[1], body);
    const lang::Graph& graph = tree_.scheduled.graph;
    body = ir::metered({Meter::Kind::Time, meter_of(func_), tree_.func(func_).name}, body);
    return ir::metered({Meter::Kind::Time, waiting_meter(graph), "waiting"},
                       ir::for_loop(loop, s->exprs[0], s->exprs[1], body));
  }

  ir::Stmt measured_if(const ir::Stmt& s, Tally& tally) {
    count_loads(s->exprs, tally);
    const Expr& condition = s->exprs[0];
    std::vector<ir::Stmt> cases;
    for (std::size_t i = 0; i < s->stmts.size(); ++i) {
      Tally inside, kept;
      ir::Stmt body = s->stmts[i] ? measured(s->stmts[i], inside) : ir::block({});
      for (const auto& [counter, amount] : inside) {
        if (is_movable(condition))
          move(tally, kept, counter, amount,
               i == 0 ? select(condition, amount, ir::index(0)) : select(condition, ir::index(0), amount));
        else
          add(kept, counter, amount);
      }
      cases.push_back(counted(kept, body));
    }
    return ir::make_stmt(ir::StmtKind::If, s->exprs, std::move(cases), s->attr);
  }

  ir::Stmt measured_store(const ir::Stmt& s, Tally& tally) {
    Tally now;
    count_loads(s->exprs, now);
    const Expr &value = s->exprs[0], lanes = active_lanes(s->exprs[1]);
    count(Count::Stores, lanes, now);
    if (value->type.is_scalar() && value->type.is_float()) count(Count::Scalars, lanes, now);
    if (stage_ == 0 && is_first_component(s->buffer())) count(Count::Points, lanes, now);
    Tally kept;
    for (const auto& [counter, amount] : now)
      is_movable(amount) ? add(tally, counter, amount) : add(kept, counter, amount);
    return counted(kept, s);
  }

  /// The elements that a function writes; what it loads it alone knows.
  ir::Stmt measured_extern(const ir::Stmt& s, Tally& tally) {
    const ir::ExternCall& call = s->extern_call();
    Expr elements = ir::index(1);
    for (int d = 0; d < call.boxes.front().rank; ++d)
      elements = elements * s->exprs[static_cast<std::size_t>(3 * d) + 2];
    elements = ir::simplify(elements);
    count(Count::Points, elements, tally);
    for (std::size_t c = 0; c < call.outputs(); ++c) count(Count::Stores, elements, tally);
    return s;
  }

  ir::Stmt measured_allocation(const ir::Stmt& s, Tally& tally) {
    const ir::BufferPtr& buffer = s->buffer();
    const auto owner = owners_.find(buffer.get());
    const ir::Stmt allocation = ir::allocate(buffer, measured(s->body(), tally));
    if (owner == owners_.end()) return allocation;
    Expr bytes = ir::index(buffer->type.element().bytes());
    for (const Expr& extent : buffer->extents) bytes = bytes * extent;
    bytes = ir::simplify(bytes);
    const Meter level{Meter::Kind::Peak, meter_of(owner->second.first), "memory of " + buffer->name};
    return ir::block(
        {ir::count(level, bytes), allocation, ir::count(level, ir::simplify(ir::index(0) - bytes))});
  }

  /// Each load of the statement once, as code generation makes it.
  void count_loads(const std::vector<Expr>& exprs, Tally& tally) {
    std::vector<Expr> seen;
    for (const Expr& root : exprs)
      ir::visit(root, [&](const Expr& e) {
        const bool masked = ir::is(e, ir::Op::LoadIf);
        if (!masked && !ir::is(e, ir::Op::Load)) return;
        if (std::any_of(seen.begin(), seen.end(), [&](const Expr& known) { return ir::equal(known, e); }))
          return;
        seen.push_back(e);
        Expr lanes = masked ? active_lanes(e->args[0]) : ir::index(e->type.lanes);
        // A mask that reads memory is counted as if it held: its lanes may differ once it is evaluated again.
        if (!is_movable(lanes)) lanes = ir::index(e->type.lanes);
        count(Count::Loads, lanes, tally);
        if (is_gather(e->args.back())) count(Count::Gathers, lanes, tally);
      });
  }

  void count(Count what, const Expr& amount, Tally& tally) {
    if (func_.valid()) add(tally, counter_of(func_, what), amount);
  }

  bool is_first_component(const ir::BufferPtr& buffer) const {
    const auto output = tree_.output_of.find(func_);
    if (output != tree_.output_of.end()) return output->second.front() == buffer;
    const auto owner = owners_.find(buffer.get());
    return owner != owners_.end() && owner->second == std::pair(func_, 0);
  }

  /// `amount`, counted inside, is `outside` before the statement; it stays inside if that is too large.
  static void move(Tally& tally, Tally& kept, int counter, const Expr& amount, const Expr& outside) {
    const Expr simple = ir::simplify(outside);
    is_movable(simple) ? add(tally, counter, simple) : add(kept, counter, amount);
  }

  ir::Stmt counted(const Tally& tally, const ir::Stmt& s) const {
    std::vector<ir::Stmt> stmts;
    static constexpr const char* kNames[kCounts] = {"points", "stores", "scalar stores", "loads", "gathers"};
    for (const auto& [counter, amount] : tally)
      stmts.push_back(ir::count({Meter::Kind::Sum, counter,
                                 std::string(kNames[counter % kCounts]) + " of " +
                                     tree_.func(lang::FuncId{counter / kCounts}).name},
                                ir::simplify(amount)));
    stmts.push_back(s);
    return ir::block(std::move(stmts));
  }

  const LoopTree& tree_;
  std::map<const ir::Buffer*, std::pair<lang::FuncId, int>> owners_;  ///< by component
  lang::FuncId func_;                                                 ///< what is being computed
  int stage_ = -1;
};

}  // namespace

ir::Stmt measure(const ir::Stmt& s, const LoopTree& tree) { return Measurer(tree).run(s); }

}  // namespace calotype::lower
