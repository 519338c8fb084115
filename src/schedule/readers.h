#pragma once
// Who reads whom.

#include <vector>

#include "schedule/scheduled.h"

namespace calotype::schedule {

/// A stage of a Func.
struct StageId {
  FuncId func;
  int stage = 0;
  bool operator==(const StageId&) const = default;
};

/// The stages that read each Func, in order: made once for many questions, since a definition may be long.
class Readers {
 public:
  explicit Readers(const lang::Graph& graph);
  const std::vector<StageId>& of(FuncId func) const { return of_[func.value]; }
  /// Whether values of `func` reach `consumer`, directly or through other Funcs.
  bool reach(FuncId func, FuncId consumer) const;

 private:
  std::vector<std::vector<StageId>> of_;
};

}  // namespace calotype::schedule
