#pragma once
// Collects findings: one for each kind and place in the code, however often it happens.

#include <map>
#include <utility>

#include "sim/code.h"
#include "sim/simulator.h"

namespace calotype::sim {

enum class Fault {
  Race,
  OutOfBounds,
  Uninitialised,
  Unfinished,
  UnfinishedProduct,
  MissingFence,
  RingOverwrite,
  PhaseMisuse,
  Divergence,
  Deadlock,
  NotRunning,
  Misaligned,
  IllegalBox,
  IllegalMatrix,
  Registers,
  IndexOverflow,
  CheckFailed,
  StepLimit,
};
const char* to_string(Fault fault);

class Findings {
 public:
  Findings(const Code& code, Report& report, std::int64_t most) : code_(code), report_(report), most_(most) {}

  /// Reports the fault at a place (an instruction, or a negative number for none); `make` gives the Finding
  /// but for its kind and where it comes from, and is called for the first one alone. Whether it was the
  /// first.
  template <class Make>
  bool add(Fault fault, int place, Make make) {
    if (seen_before(fault, place)) return false;
    Finding finding = make();
    finding.kind = to_string(fault);
    place_in_program(finding, place);
    report_.findings.push_back(std::move(finding));
    return true;
  }

 private:
  void place_in_program(Finding& finding, int place) const;
  /// Counts one that is known already, or that is beyond the limit; true if there is nothing more to do.
  bool seen_before(Fault fault, int place);

  const Code& code_;
  Report& report_;
  std::int64_t most_;
  std::map<std::pair<Fault, int>, std::int64_t> known_;  ///< position among the findings, -1 for dropped ones
};

}  // namespace calotype::sim
