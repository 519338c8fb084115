// Conditions that leave one value of a size, 0 among them, are legal for every operator: the program for each
// side is made.
#include "calotype/schedule.h"
#include "lang/graph.h"
#include "operators/harness.h"
#include "support/run.h"

namespace calotype::test {
namespace {

class PinnedSizes : public ::testing::TestWithParam<std::string> {};

TEST_P(PinnedSizes, LeaveALegalProgram) {
  const Operator& op = find_operator(GetParam());
  const Pipeline pipeline = op.pipeline(op.types.front());
  const lang::Graph& graph = pipeline.graph();
  const std::string output = graph.func(graph.outputs.front().func).name;
  for (const Target& target : testing::targets())
    for (const ir::SymbolPtr& size : graph.dims)
      for (const char* condition : {" > 0", " == 1"}) {
        Schedule s;
        s[output].specialize(size->name + condition);
        for (const Diagnostic& d : s.check(pipeline, target))
          ADD_FAILURE() << size->name << condition << " on " << target.str() << ": " << d.str();
      }
}

/// But for two whose programs take seconds, and have nothing that the others lack.
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Operator* op : operators())
    if (op->name != "stencil_chain" && op->name != "local_laplacian") all.push_back(op->name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Operators, PinnedSizes, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace calotype::test
