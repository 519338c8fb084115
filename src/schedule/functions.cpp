// What directives refuse for the sake of Funcs that a function computes.
#include "schedule/functions.h"

#include <fmt/format.h>

#include <algorithm>

namespace calotype::schedule {

void refuse_function(const Application& a, FuncId func, const std::string& legal) {
  const lang::FuncDef& f = a.state.def(func);
  if (const ir::Extern* function = f.stages.front().function())
    a.refuse(
        fmt::format("'{}' is computed by the function '{}', into memory", f.name, function->function.name),
        f.name, legal);
}

void refuse_function_reading(const Application& a, FuncId func, const std::string& legal) {
  const lang::FuncDef& f = a.state.def(func);
  for (const lang::FuncDef& reader : a.state.out.graph.funcs) {
    const ir::Extern* function = reader.stages.front().function();
    if (!function) continue;
    const std::vector<Expr> reads = reader.stages.front().reads();
    if (std::none_of(reads.begin(), reads.end(), [&](const Expr& e) { return f.is_read(e); })) continue;
    a.refuse(fmt::format("the function '{}', which computes '{}', reads '{}' from memory",
                         function->function.name, reader.name, f.name),
             f.name, legal);
  }
}

void check_functions(State& state) {
  if (!state.out.target.is_gpu()) return;
  for (const lang::FuncDef& f : state.out.graph.funcs)
    if (const ir::Extern* function = f.stages.front().function())
      state.refusals.push_back(
          {{.kind = ErrorKind::Target,
            .message = fmt::format("'{}' is computed by the function '{}', which runs on the host alone",
                                   f.name, function->function.name),
            .func = f.name,
            .value = state.out.target.str(),
            .legal = "a host target"},
           -1});
}

}  // namespace calotype::schedule
