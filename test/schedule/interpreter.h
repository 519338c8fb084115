#pragma once
// A direct interpreter of integer definitions, for tests of directives that change the graph: every stage
// over a box given by the test, in the order of its definition, on 64-bit integers.

#include <functional>
#include <map>
#include <stdexcept>

#include "lang/graph.h"

namespace calotype::test {

using Point = std::vector<std::int64_t>;

class Interpreter {
 public:
  /// `sizes` by the name of a Dim; `input` gives the elements; every coordinate runs over [low, high).
  Interpreter(const lang::Graph& graph, std::map<std::string, std::int64_t> sizes,
              std::function<std::int64_t(const std::string&, const Point&)> input, std::int64_t low,
              std::int64_t high)
      : graph_(graph), sizes_(std::move(sizes)), input_(std::move(input)), low_(low), high_(high) {}

  /// The values of a Func after all its stages.
  const std::map<Point, std::int64_t>& values(const std::string& name) {
    const lang::FuncDef& f = *graph_.find_func(name);
    if (memory_.count(f.id.value)) return memory_[f.id.value];
    for (const lang::StageDef& s : f.stages)
      for (const ir::CalleePtr& c : lang::callees(s))
        if (c->kind == ir::CalleeKind::Func && c->index != f.id.value) values(c->name);
    memory_[f.id.value];
    for (const lang::StageDef& s : f.stages) run(f, s);
    return memory_[f.id.value];
  }

 private:
  using Scope = std::map<ir::SymbolPtr, std::int64_t>;

  void run(const lang::FuncDef& f, const lang::StageDef& s) {
    Scope scope;
    pure(f, s, static_cast<int>(f.args.size()) - 1, scope);
  }

  /// A dimension whose coordinate is no plain argument has no loop.
  void pure(const lang::FuncDef& f, const lang::StageDef& s, int d, Scope& scope) {
    if (d < 0) return reduce(f, s, static_cast<int>(s.reduction.size()) - 1, scope);
    const bool plain = ir::is(s.lhs[d], ir::Op::Variable) && ir::symbol_of(s.lhs[d]) == f.args[d];
    if (!plain) return pure(f, s, d - 1, scope);
    for (std::int64_t v = low_; v < high_; v++) {
      scope[f.args[d]] = v;
      pure(f, s, d - 1, scope);
    }
  }

  void reduce(const lang::FuncDef& f, const lang::StageDef& s, int d, Scope& scope) {
    if (d >= 0) {
      const std::int64_t min = value(s.reduction[d].min, scope), extent = value(s.reduction[d].extent, scope);
      for (std::int64_t v = min; v < min + extent; v++) {
        scope[s.reduction[d].symbol] = v;
        reduce(f, s, d - 1, scope);
      }
      return;
    }
    if (s.predicate.defined() && !value(s.predicate, scope)) return;
    const std::int64_t result = value(s.value, scope);
    Point at;
    for (const Expr& e : s.lhs) at.push_back(value(e, scope));
    memory_[f.id.value][at] = result;
  }

  std::int64_t value(const Expr& e, const Scope& scope) {
    if (ir::is_const(e)) return *ir::as_int(e);
    if (ir::is(e, ir::Op::Variable)) {
      const auto found = scope.find(ir::symbol_of(e));
      return found != scope.end() ? found->second : sizes_.at(ir::symbol_of(e)->name);
    }
    Point args;
    for (const Expr& arg : e->args) args.push_back(value(arg, scope));
    if (ir::is(e, ir::Op::Call)) {
      const ir::CalleePtr& c = ir::callee_of(e);
      return c->kind == ir::CalleeKind::Input ? input_(c->name, args) : memory_.at(c->index).at(args);
    }
    return operate(e, args);
  }

  static std::int64_t operate(const Expr& e, const Point& a) {
    // Long products wrap, as they do in every order.
    auto unsigned_of = [](std::int64_t x) { return static_cast<std::uint64_t>(x); };
    auto wrap = [](std::uint64_t x) { return static_cast<std::int64_t>(x); };
    auto floor_div = [](std::int64_t x, std::int64_t y) {
      return y == 0 ? 0 : (x - (((x % y) + y) % y)) / y;
    };
    switch (e->op) {
      case ir::Op::Add:
        return wrap(unsigned_of(a[0]) + unsigned_of(a[1]));
      case ir::Op::Sub:
        return wrap(unsigned_of(a[0]) - unsigned_of(a[1]));
      case ir::Op::Mul:
        return wrap(unsigned_of(a[0]) * unsigned_of(a[1]));
      case ir::Op::Div:
        return floor_div(a[0], a[1]);
      case ir::Op::Mod:
        return a[1] == 0 ? 0 : a[0] - floor_div(a[0], a[1]) * a[1];
      case ir::Op::Min:
        return std::min(a[0], a[1]);
      case ir::Op::Max:
        return std::max(a[0], a[1]);
      case ir::Op::Eq:
        return a[0] == a[1];
      case ir::Op::Ne:
        return a[0] != a[1];
      case ir::Op::Lt:
        return a[0] < a[1];
      case ir::Op::Le:
        return a[0] <= a[1];
      case ir::Op::And:
        return a[0] && a[1];
      case ir::Op::Or:
        return a[0] || a[1];
      case ir::Op::Not:
        return !a[0];
      case ir::Op::Select:
        return a[0] ? a[1] : a[2];
      case ir::Op::Cast:
      case ir::Op::Likely:
        return a[0];
      default:
        throw std::logic_error(std::string("the test's interpreter has no ") + ir::info(e->op).name);
    }
  }

  const lang::Graph& graph_;
  std::map<std::string, std::int64_t> sizes_;
  std::function<std::int64_t(const std::string&, const Point&)> input_;
  std::int64_t low_, high_;
  std::map<int, std::map<Point, std::int64_t>> memory_;
};

}  // namespace calotype::test
