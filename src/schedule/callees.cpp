// What a directive names that is read: a Func or an input.
#include "schedule/callees.h"

#include <fmt/format.h>

namespace calotype::schedule {

ir::CalleePtr find_callee(const Application& a, const std::string& arg) {
  const lang::Graph& graph = a.state.out.graph;
  const std::string& name = a.name(arg);
  if (const lang::FuncDef* f = graph.find_func(name)) return f->callee();
  if (const lang::InputDef* input = graph.find_input(name)) return input->callee;
  std::vector<std::string> names = graph.func_names();
  for (const lang::InputDef& input : graph.inputs) names.push_back(input.name);
  a.refuse(fmt::format("there is no Func or input '{}'", name), name,
           name_choices(name, names, "Funcs and inputs"));
}

}  // namespace calotype::schedule
