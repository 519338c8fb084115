#pragma once
// From names on the command line to the three things a kernel is made of: algorithm, schedule, target.

#include <string>
#include <vector>

#include "calotype/operator.h"
#include "cli/options.h"

namespace calotype::cli {

/// A schedule with where it came from.
struct ChosenSchedule {
  Schedule schedule;
  std::string source;              ///< "empty", "@naive", or the file
  std::vector<std::string> notes;  ///< as a looked-up file that was passed over
};

/// The file of `--schedule best`: OP/ARCH.json under $CALOTYPE_SCHEDULES, ./schedules, or the schedules that
/// this program was built or installed with. Error(Usage) lists the places if there is none.
std::string find_best(const std::string& op, const Target& target);

/// Whether a schedule file is for the structure of this pipeline, rather than for other element types of the
/// operator or another version of it.
bool made_for(const std::string& path, const Pipeline& pipeline);

/// `--schedule`: nothing, a file, "best" or "@NAME".
ChosenSchedule choose_schedule(const Selection& select, const Operator& op, const OperatorTypes& types,
                               const Pipeline& pipeline, const Target& target);

/// Every combination of the values of `--set`, the last knob fastest; one without knobs if there are none.
std::vector<Knobs> combinations(const KnobValues& values);
Schedule with_knobs(Schedule schedule, const Knobs& knobs);

/// Sets knobs from `--set`, each with one value. Error(Usage) for several values or an unknown knob.
void set_knobs(Schedule& schedule, const Selection& select);

}  // namespace calotype::cli
