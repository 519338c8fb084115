#pragma once
// Which conditions of a schedule hold for a call, before any kernel is chosen.

#include <map>
#include <span>
#include <vector>

#include "driver/size_reader.h"
#include "schedule/ways.h"

namespace calotype::driver {

class ConditionReader {
 public:
  ConditionReader(const lang::Graph& graph, const schedule::Ways& ways);

  /// One a condition. What cannot be told, because an argument is not as the algorithm says, counts as not
  /// holding: the kernel that is called says what is wrong.
  std::vector<bool> holds(std::span<const Arg> args) const;

 private:
  struct Source {
    enum class Kind { Size, Param, Stride } kind;
    ir::SymbolPtr symbol;
    int argument = 0, dim = 0;
  };
  void add(const lang::Graph& graph, const schedule::Ways& ways, const ir::SymbolPtr& symbol);
  Expr value(const Source& source, std::span<const Arg> args,
             const std::map<std::string, std::int64_t>& sizes) const;

  std::vector<Expr> conditions_;
  std::vector<Source> sources_;
  SizeReader sizes_;
};

}  // namespace calotype::driver
