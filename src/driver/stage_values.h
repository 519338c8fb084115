#pragma once
// The values that the stages of a kernel compute: a run that stores them, and their comparison with the
// reference. Stages are Funcs of the schedule's graph, those that a schedule made among them.

#include <map>
#include <string>
#include <vector>

#include "lang/equality.h"
#include "lang/evaluate.h"
#include "schedule/scheduled.h"

namespace calotype::driver {

/// Inputs in the order of the graph's, Params and sizes by name, as for Pipeline::evaluate.
struct StageArguments {
  std::vector<Buffer> inputs;
  std::map<std::string, double> params;
  std::map<std::string, std::int64_t> sizes;
};

/// The schedule applied for the way through its conditions that a call with these arguments and dense outputs
/// takes. Throws what it refuses.
schedule::Scheduled schedule_for(const lang::Graph& algorithm, const Schedule& schedule, const Target& target,
                                 const StageArguments& arguments);

/// Funcs that are not inlined, producers first, outputs among them.
std::vector<lang::FuncId> realised_stages(const schedule::Scheduled& scheduled);

/// Of one component of a Func.
struct StageValues {
  lang::FuncId func;
  std::string name;  ///< the Func's; with ".0", ".1" and on for the components of a Tuple
  /// Over the box on which the algorithm's outputs need the Func, with its coordinates; of an output, over
  /// the output. Undefined where nothing needs it. Elements that were not computed are NaN, or 0 in integers.
  Buffer values;
  /// u8 over the same box: 1 where the schedule computes the element. Boxes are hulls, so it need not
  /// compute all of a stage; undefined: an output, of which it must.
  Buffer computed;
};

/// Compiles the schedule with the stages stored and runs it, twice: an element that keeps what it held before
/// both runs was not computed. `algorithm` is the graph that the schedule was applied to. What a Func holds
/// after its last definition is what counts. Errors as of compile and call.
std::vector<StageValues> run_stages(const lang::Graph& algorithm, const schedule::Scheduled& scheduled,
                                    const std::vector<lang::FuncId>& stages, const StageArguments& arguments);

/// The reference's values of the stages, by component as run_stages has them: of the algorithm's own Funcs by
/// its own definitions, of those that the schedule made by theirs.
std::vector<lang::FuncValues> reference_stages(const lang::Graph& algorithm,
                                               const schedule::Scheduled& scheduled,
                                               const std::vector<lang::FuncId>& stages,
                                               const StageArguments& arguments);

/// How a stage compares. `elements` counts those that were compared.
struct StageComparison : lang::EqualityReport {
  lang::FuncId func;
  std::string name;
  std::int64_t box = 0;  ///< elements of the box
  /// Something differs, or nothing was computed of what is needed.
  bool passed() const { return ok && (elements > 0 || box == 0); }
};

/// Compares what was computed, stage by stage, by the rule of lang/equality.h.
std::vector<StageComparison> compare_stages(const std::vector<StageValues>& values,
                                            const std::vector<lang::FuncValues>& reference);

}  // namespace calotype::driver
