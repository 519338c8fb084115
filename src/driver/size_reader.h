#pragma once
// Named sizes from the arguments of a call, before any kernel is chosen.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "calotype/kernel.h"
#include "lang/graph.h"

namespace calotype::driver {

class SizeReader {
 public:
  /// For these sizes of the graph. Each follows from the first argument that has it alone as an extent, or a
  /// multiple of it plus sizes that are known, as the plan of a kernel finds it.
  SizeReader(const lang::Graph& graph, const std::vector<std::string>& names);

  /// By name. A size that does not follow, or whose argument is not as the algorithm says, is left out: the
  /// kernel that is called says what is wrong.
  std::map<std::string, std::int64_t> read(std::span<const Arg> args) const;

 private:
  /// value = (extent - rest) / coefficient
  struct Source {
    ir::SymbolPtr size;
    int argument = 0, dim = 0;
    std::int64_t coefficient = 1;
    Expr rest;  ///< undefined: the extent is the size
  };
  void add_all(const lang::Graph& graph);
  void add(const Expr& extent, int argument, int dim);
  bool known(const ir::SymbolPtr& s) const;
  void keep_needed(const std::vector<std::string>& names);

  std::vector<Source> sources_;
};

}  // namespace calotype::driver
