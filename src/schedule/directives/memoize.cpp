// memoize: values that stay from one call to the next.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/state.h"

namespace calotype {

Stage& Stage::memoize() { return record("memoize", {}); }

namespace schedule {

namespace {

/// The way from a Func to an input that its values depend on, as "f reads g reads in"; empty: there is none.
class InputSearch {
 public:
  explicit InputSearch(const lang::Graph& graph) : graph_(graph) {}

  std::string from(FuncId id) {
    if (std::find(seen_.begin(), seen_.end(), id) != seen_.end()) return "";
    seen_.push_back(id);
    const lang::FuncDef& f = graph_.func(id);
    std::string way;
    for (const lang::StageDef& s : f.stages) {
      look(s.value, way);
      look(s.predicate, way);
      for (const Expr& e : s.lhs) look(e, way);
      for (const lang::ReductionDim& r : s.reduction) {
        look(r.min, way);
        look(r.extent, way);
      }
    }
    return way.empty() ? "" : fmt::format("'{}' reads {}", f.name, way);
  }

 private:
  void look(const Expr& e, std::string& way) {
    if (!e.defined() || !way.empty()) return;
    ir::visit(e, [&](const Expr& n) {
      if (!ir::is(n, ir::Op::Call) || !way.empty()) return;
      const ir::Callee& callee = *ir::callee_of(n);
      way = callee.kind == ir::CalleeKind::Input ? fmt::format("the input '{}'", callee.name)
                                                 : from(FuncId{callee.index});
    });
  }

  const lang::Graph& graph_;
  std::vector<FuncId> seen_;
};

void apply(Application& a) {
  const std::string& name = a.func_def().name;
  if (a.state.out.target.is_gpu())
    a.refuse("on a device nothing stays between calls", a.state.out.target.str(),
             "a host target; or the values as an input, computed by a pipeline of their own");
  if (a.state.out.graph.is_output(a.func))
    a.refuse(fmt::format("'{}' is an output, which lives in the caller's memory", name), name,
             "a Func of its own for what goes before it");
  if (const std::string way = InputSearch(a.state.out.graph).from(a.func); !way.empty())
    a.refuse(fmt::format("{}, whose contents may change from one call to the next", way), name,
             "a Func of coordinates, sizes, Params and other such Funcs");
  std::string& origin = a.state.out.funcs[a.func.value].memoize_origin;
  if (!origin.empty())
    a.refuse(fmt::format("the values of '{}' stay already, by {}", name, origin), name, "one memoize a Func");
  origin = a.origin();
}

void check(Application& a) {
  const FuncSchedule& f = a.state.out.of(a.func);
  const std::string& name = a.func_def().name;
  if (f.compute.kind == Place::Kind::At)
    a.refuse(fmt::format("'{}' is computed inside a loop, which needs a part of it at a time", name), name,
             "compute_root");
  if (f.memory == Memory::Stack)
    a.refuse(fmt::format("'{}' is stored on the stack, which is gone after the call", name), "stack",
             "auto, heap");
  for (const SharedNest& nest : a.state.out.shared)
    if (nest.func == a.func || nest.with == a.func)
      a.refuse(fmt::format("'{}' is computed in the loops of another Func, by {}", name, nest.origin), name,
               "loops of its own");
}

}  // namespace

DirectiveSpec memoize_spec() {
  return {
      .name = "memoize",
      .addresses = Addresses::Func,
      .doc =
          "Keeps the values of a Func from one call of a kernel to the next: a call with the same sizes and "
          "Params, as far as the values depend on them, finds them and computes neither the Func nor what it "
          "alone reads. The kernel keeps what the last calls used, for each of its memoized Funcs at least "
          "the newest, beyond that up to 64 MB and 256 entries in all, until it goes; with branches of "
          "`specialize`, each of them keeps so much. Threads that call it at one time share the values. They "
          "lie in memory of the kernel's own, not in that of the context's hooks. A call that fails leaves "
          "none.",
      .args = {},
      .refused = {"the target is a GPU", "the Func is an output", "it has memoize already",
                  "it is not computed at root, or in loops that it shares", "it is stored on the stack",
                  "it reads an input, itself or through other Funcs"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
