#pragma once
// From names on the command line to the three things a kernel is made of: algorithm, schedule, target.

#include <string>
#include <vector>

#include "calotype/operator.h"
#include "calotype/schedule_file.h"
#include "cli/options.h"
#include "cli/sizes.h"
#include "schedule/cases.h"

namespace calotype::cli {

/// A schedule with where it came from.
struct ChosenSchedule {
  Schedule schedule;
  std::string source;              ///< "empty", "@naive", or the file
  std::vector<std::string> notes;  ///< as a looked-up file that was passed over
  std::string explanation = {};  ///< of a file: its cases for this algorithm, and which is taken; a line each
  int cases = 0;                 ///< how many that are
};

/// The file of `--schedule best`: OP/ARCH.json under $CALOTYPE_SCHEDULES, ./schedules, or the schedules that
/// this program was built or installed with. Error(Usage) lists the places if there is none.
std::string find_best(const std::string& op, const Target& target);

/// The folders in which `best` is looked up, in order.
std::vector<std::string> schedule_folders();
/// Whether `--schedule` names a file, or looks one up.
bool is_file(const Selection& select);
/// That file.
std::string schedule_path(const Selection& select, const Target& target);

/// Error(Usage) for a file of schedules for GPUs where the target is a host, or the other way round.
void require_target(const ScheduleFile& file, const std::string& path, const Target& target);

/// `--schedule`: nothing, a file, "best" or "@NAME". Of a file with several cases the one for these sizes and
/// buffers, or where one it depends on is not given the one for all. A file that was looked up and has no
/// variant of the algorithm is passed over for the empty schedule with a note, or with
/// CALOTYPE_SCHEDULE_STRICT=1 is an error.
ChosenSchedule choose_schedule(const Selection& select, const Operator& op, const OperatorTypes& types,
                               const Pipeline& pipeline, const Target& target, const Sizes& sizes,
                               const schedule::CaseBuffers& buffers);
/// The arguments of these sizes as `run` makes them: dense, aligned to 64 bytes. Those of which a size is not
/// given are left out.
schedule::CaseBuffers made_buffers(const lang::Graph& graph, const Sizes& sizes);

/// Every combination of the values of `--set`, the last knob fastest; one without knobs if there are none.
std::vector<Knobs> combinations(const KnobValues& values);
Schedule with_knobs(Schedule schedule, const Knobs& knobs);

/// Sets knobs from `--set`, each with one value. Error(Usage) for several values or an unknown knob.
void set_knobs(Schedule& schedule, const Selection& select);

}  // namespace calotype::cli
