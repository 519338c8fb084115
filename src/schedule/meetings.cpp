// Whether iterations of a reduction loop touch what others of it write.
#include "schedule/meetings.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/lane_nest.h"
#include "schedule/loops.h"

namespace calotype::schedule {

Meetings::Meetings(const State& state, FuncId func, int stage, LoopId loop, bool outside_stands)
    : state_(state),
      func_(func),
      stage_(stage),
      loop_(loop),
      f_(state.def(func)),
      def_(f_.stages[stage]),
      sched_(state.loops_of(func, stage)),
      name_(state.loop(loop).name) {
  if (outside_stands) fix_outer_loops();
}

std::string Meetings::find() const {
  std::set<std::size_t> telling;  // coordinates written that tell the loop's dimensions
  for (int d : roots(sched_, loop_)) {
    std::set<ir::SymbolPtr> open;
    if (d >= f_.rank() && !told(dim(d).symbol, telling, open)) return of_writes();
  }
  for (const Expr& read : own_reads()) {
    const bool own = std::all_of(telling.begin(), telling.end(),
                                 [&](std::size_t c) { return ir::equal(read->args[c], def_.lhs[c]); });
    if (!own && !apart(read)) return of_read(read);
  }
  return "";
}

/// The reduction dimensions whose loops are all outside this one stand still.
void Meetings::fix_outer_loops() {
  std::vector<int> moving;
  for (LoopId loop : sched_.loops) {  // innermost first
    for (int d : roots(sched_, loop)) moving.push_back(d);
    if (loop == loop_) break;
  }
  for (int d = f_.rank(); d < f_.rank() + static_cast<int>(def_.reduction.size()); ++d)
    if (std::find(moving.begin(), moving.end(), d) == moving.end()) fixed_.insert(dim(d).symbol);
}

bool Meetings::is_variable(const ir::SymbolPtr& s) const {
  if (fixed_.count(s)) return false;
  return std::find(f_.args.begin(), f_.args.end(), s) != f_.args.end() ||
         std::any_of(def_.reduction.begin(), def_.reduction.end(),
                     [&](const lang::ReductionDim& r) { return r.symbol == s; });
}

/// Whether the coordinates written tell the symbol's value. `open`: what that is being asked of already.
bool Meetings::told(const ir::SymbolPtr& symbol, std::set<std::size_t>& telling,
                    std::set<ir::SymbolPtr>& open) const {
  if (!open.insert(symbol).second) return false;
  bool found = false;
  for (std::size_t c = 0; c < def_.lhs.size() && !found; ++c) {
    const std::optional<ir::LinearIn> line = ir::linear_in(ir::simplify(def_.lhs[c]), symbol);
    if (!line || line->coefficient == 0 || reads_self(line->rest)) continue;
    std::set<std::size_t> also = telling;
    const std::vector<ir::SymbolPtr> others = ir::free_symbols(line->rest);
    found = std::all_of(others.begin(), others.end(),
                        [&](const ir::SymbolPtr& s) { return !is_variable(s) || told(s, also, open); });
    if (!found) continue;
    also.insert(c);
    telling = std::move(also);
  }
  open.erase(symbol);
  return found;
}

bool Meetings::reads_self(const Expr& e) const {
  return ir::any_of(e, [&](const Expr& node) { return f_.is_read(node); });
}

std::vector<Expr> Meetings::own_reads() const {
  std::vector<Expr> reads;
  const auto collect = [&](const Expr& node) {
    if (f_.is_read(node)) reads.push_back(node);
  };
  ir::visit(def_.value, collect);
  if (def_.predicate.defined()) ir::visit(def_.predicate, collect);
  for (const Expr& e : def_.lhs) ir::visit(e, collect);
  return reads;
}

/// Whether what is read lies where no iteration writes: in some coordinate outside the range written.
bool Meetings::apart(const Expr& read) const {
  ir::Scope moving = ir::make_scope();
  for (const lang::ReductionDim& r : def_.reduction)
    if (!fixed_.count(r.symbol)) moving[r.symbol] = {r.min, ir::simplify(r.min + r.extent - ir::index(1))};
  for (std::size_t c = 0; c < def_.lhs.size(); ++c) {
    const ir::Interval written = ir::bounds_of(def_.lhs[c], moving),
                       seen = ir::bounds_of(read->args[c], moving);
    if (written.max.defined() && seen.min.defined() && ir::prove(written.max < seen.min)) return true;
    if (seen.max.defined() && written.min.defined() && ir::prove(seen.max < written.min)) return true;
  }
  return false;
}

// ---- Messages

std::string Meetings::place() const {
  const Expr whole = f_.read(def_.lhs);
  return ir::to_string(f_.is_tuple() ? whole->args[0] : whole);
}

std::string Meetings::of_writes() const {
  if (!moves_place(state_.out, func_, stage_, loop_))
    return fmt::format("iterations 0 and 1 of '{}' both write {}", name_, place());
  return fmt::format("iterations i and j of '{}' may both write {}, which is not proved to differ", name_,
                     place());
}

std::string Meetings::of_read(const Expr& read) const {
  return fmt::format("iteration i of '{}' reads {}, which iteration {} writes as {}", name_,
                     ir::to_string(read), other_iteration(read), place());
}

/// "i - 1" where the distance is known.
std::string Meetings::other_iteration(const Expr& read) const {
  for (int d : roots(sched_, loop_)) {
    if (d < f_.rank() || sched_.dims[d] != loop_) continue;
    for (std::size_t c = 0; c < def_.lhs.size(); ++c) {
      const auto line = ir::linear_in(ir::simplify(def_.lhs[c]), dim(d).symbol);
      const auto distance = ir::as_int(ir::simplify(read->args[c] - def_.lhs[c]));
      if (!line || !distance || line->coefficient == 0 || *distance == 0) continue;
      if (*distance % line->coefficient != 0) continue;
      const std::int64_t steps = *distance / line->coefficient;
      return fmt::format("i {} {}", steps < 0 ? '-' : '+', steps < 0 ? -steps : steps);
    }
  }
  return "j perhaps";
}

bool is_independent(const State& state, FuncId func, int stage, LoopId loop) {
  return !state.loop(loop).reduction || Meetings(state, func, stage, loop, false).find().empty();
}

}  // namespace calotype::schedule
