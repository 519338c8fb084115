#pragma once
// The schedule that an operator is measured under.

#include "calotype/operator.h"
#include "cli/select.h"

namespace calotype::bench {

/// The file under schedules/ if there is one for these types, else the operator's own schedule "host" or
/// "gpu". Of a file with cases that of the sizes, which may be left out.
inline cli::ChosenSchedule shipped_schedule(const Operator& op, const OperatorTypes& types,
                                            const Pipeline& pipeline, const Target& target,
                                            const cli::Sizes& sizes = {}) {
  const schedule::CaseBuffers buffers = cli::made_buffers(pipeline.graph(), sizes);
  cli::Selection select;
  select.op = op.name;
  bool exists = true;
  try {
    cli::find_best(op.name, target);
  } catch (const Error&) {
    exists = false;
  }
  if (exists) {
    select.schedule = "best";
    // A file for the operator's other types is passed over for the empty schedule.
    cli::ChosenSchedule chosen = cli::choose_schedule(select, op, types, pipeline, target, sizes, buffers);
    if (chosen.source != "empty") return chosen;
  }
  select.schedule = target.is_gpu() ? "@gpu" : "@host";
  return cli::choose_schedule(select, op, types, pipeline, target, sizes, buffers);
}

/// The schedule of that name, as for `calotype run`; "shipped": the one that users get.
inline cli::ChosenSchedule schedule_named(const std::string& name, const Operator& op,
                                          const OperatorTypes& types, const Pipeline& pipeline,
                                          const Target& target, const cli::Sizes& sizes = {}) {
  if (name == "shipped") return shipped_schedule(op, types, pipeline, target, sizes);
  cli::Selection select;
  select.op = op.name;
  select.schedule = name;
  return cli::choose_schedule(select, op, types, pipeline, target, sizes,
                              cli::made_buffers(pipeline.graph(), sizes));
}

}  // namespace calotype::bench
