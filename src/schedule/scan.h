#pragma once
// Scans: Funcs whose one update gives a value for each iteration of its reduction loop, from those of the
// iterations before, as m(k) = max(m(k - 1), x(k)).

#include <optional>

#include "schedule/scheduled.h"

namespace calotype::schedule {

/// The form of a scan along coordinate `dim`.
struct Scan {
  int dim = 0;
  int step = 1;            ///< by which the coordinate written moves from one iteration to the next: 1 or -1
  std::int64_t reach = 0;  ///< how many iterations back the update reads its own values: 1 or more
};

/// The Func's form if it is a scan: a definition and one update over one reduction dimension without a
/// condition, which moves one coordinate by 1 in each iteration, has its own Vars in the others, and reads of
/// its own what it has written some iterations before at the same others.
std::optional<Scan> scan_form(const lang::FuncDef& func);

/// The form of a scan of which memory is to hold the last values alone: by a fold_storage along its
/// coordinate, or by itself, if store_in puts it into registers, local memory or on the stack, no directive
/// gives it an extent there and it is stored where it is computed.
std::optional<Scan> folded_scan(const Scheduled& scheduled, FuncId func);

}  // namespace calotype::schedule
