#pragma once
// Kernels as someone would write them for a GPU: loops in blocks, clusters, turns and threads, and what is
// computed in a block for them. Recipes are made of these steps.

#include <optional>
#include <string>
#include <vector>

#include "fuzz/draft.h"
#include "fuzz/propose.h"

namespace calotype::fuzz {

/// What a kernel is to have.
struct Wishes {
  bool cluster = false;
  bool turns = false;  ///< a serial loop in each block, for what is computed anew in each of its iterations
  bool rows = false;   ///< whole rows: the first coordinate is not cut into blocks
  bool whole = false;  ///< turns that are a whole coordinate, along which a window can move
};

/// One kernel: the stage that has the blocks, and the loops that others may be computed at.
class KernelShape {
 public:
  /// Of the stage that the draft addresses, which is at root or is put there.
  KernelShape(Draft& draft, const Wishes& wishes);

  /// Cuts the stage's loops up; false if they cannot be cut so.
  bool cut();

  /// Computes a Func at the loop: by its name `block`, `cluster` or `turns`.
  bool compute_inside(schedule::FuncId func, const std::string& loop, Memory memory);
  /// Deals the pure loops of a stage out to the threads, as the kernel's own.
  void deal_out(schedule::FuncId func, int stage);
  /// A loop of reduction, whole or a part of it, to threads, to lanes, or to warps and lanes; with blocks of
  /// the cluster if there is one.
  bool reduce(schedule::FuncId func, int stage);

  /// The stage, as directives on others name it.
  std::string stage_text() const;

  schedule::FuncId func;
  int stage;
  std::string block, cluster, turns;  ///< the innermost block loop, and the others if there are any
  /// Where what the whole cluster has part in may be computed.
  const std::string& outside_cluster() const { return turns_in_cluster_ || turns.empty() ? block : turns; }

 private:
  struct Cut;
  bool cut_loop(const std::string& loop, bool first, Cut& cut);
  bool cut_row(const std::string& loop, Cut& cut);
  bool take_turns(Cut& cut);
  bool bind_threads(const std::vector<std::string>& loops);
  std::vector<std::string> loops_of(bool reduction) const;
  bool split(const std::string& loop, const std::string& outer, const std::string& inner, std::int64_t by);

  Draft& d_;
  const Wishes wishes_;
  const bool warps_;  ///< lanes and warps in place of threads
  const bool turns_in_cluster_;
  std::int64_t parts_ = 0;  ///< blocks of a cluster
};

/// Func `func` as the one that the draft addresses, until the end of the scope.
class Addressed {
 public:
  Addressed(Draft& d, schedule::FuncId func, int stage) : d_(d), func_(d.func), stage_(d.stage) {
    d.func = func;
    d.stage = stage;
  }
  ~Addressed() {
    d_.func = func_;
    d_.stage = stage_;
  }
  Addressed(const Addressed&) = delete;

 private:
  Draft& d_;
  const schedule::FuncId func_;
  const int stage_;
};

}  // namespace calotype::fuzz
