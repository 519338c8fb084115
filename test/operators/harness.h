#pragma once
// Every operator is tested in the same way: under each of its schedules and the empty one, on the host and on
// the interpreter of GPU programs (and on a GPU where CALOTYPE_TEST_GPU is set), the results equal the
// reference; and the reference equals a closed form that the test computes with no help of the library.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "calotype/operator.h"
#include "cli/inputs.h"
#include "cli/stages.h"

namespace calotype::test {

/// One schedule of an operator for one combination of element types.
struct ScheduleCase {
  std::string op, types, schedule;  ///< schedule: "empty" or a name of the operator's own
  bool gpu = false;
  friend void PrintTo(const ScheduleCase& c, std::ostream* out) { *out << c.types << " " << c.schedule; }
};

/// All schedules and types of an operator, and the empty schedule on both kinds of target.
std::vector<ScheduleCase> schedule_cases(const std::string& op);
/// The schedule of a case, and the target its tests run on.
Schedule make_schedule(const ScheduleCase& c);
Target test_target(const ScheduleCase& c);
/// A call with random inputs.
cli::Call random_call(const std::string& op, const Pipeline& pipeline, const cli::Sizes& sizes,
                      const std::map<std::string, double>& params = {});
std::string case_name(const testing::TestParamInfo<ScheduleCase>& info);

/// What an output must be at the coordinates, in double arithmetic.
using ClosedForm = std::function<double(const cli::Call& call, const std::vector<std::int64_t>& at)>;

/// The reference of the algorithm equals the closed form: integers exactly, floats within the reference's own
/// error bound and `relative` in float64. `output` says which of several outputs it is.
void check_reference(const std::string& op, const std::string& types, const cli::Sizes& sizes,
                     const std::map<std::string, double>& params, const ClosedForm& expected,
                     double relative = 1e-12, std::size_t output = 0);

/// Whether the sizes are among those that the schedule's assume directives name.
bool is_for(const Pipeline& pipeline, const Schedule& schedule, const Target& target,
            const cli::Sizes& sizes);

/// The schedule's results equal the reference; a call with sizes that it is not for is refused with nothing
/// written.
void check_schedule(const ScheduleCase& c, const cli::Sizes& sizes,
                    const std::map<std::string, double>& params = {});
/// The same under a schedule of the caller's, which messages call by c.schedule.
void check_schedule(const Schedule& schedule, const ScheduleCase& c, const cli::Sizes& sizes);
/// The same for a call of the caller's.
void check_call(const ScheduleCase& c, const Pipeline& pipeline, const cli::Call& call);

/// The same with inputs that do not lie densely in memory: every other element of rows that are further
/// apart.
void check_schedule_on_strided_inputs(const ScheduleCase& c, const cli::Sizes& sizes,
                                      const std::map<std::string, double>& params = {});

}  // namespace calotype::test
