#pragma once
// What the Funcs of a schedule cost on the host: a run of code that measures itself.

#include <optional>
#include <string>
#include <vector>

#include "driver/stage_values.h"

namespace calotype::driver {

/// Of one Func that is not inlined, in one call.
struct FuncProfile {
  std::string name;
  std::string place;   ///< the directive that says where it is computed; empty: an output or a default
  double seconds = 0;  ///< of all threads while they computed it, without the Funcs computed inside its loops
  double share = 0;    ///< of the seconds of all Funcs
  /// The most memory that all its storage took at one time, in bytes. 0: an output.
  std::int64_t peak_bytes = 0;
  std::int64_t loads = 0;    ///< elements loaded while it was computed, from whatever buffer
  std::int64_t gathers = 0;  ///< of those the ones that vectors gathered from places without a common stride
  std::int64_t stores = 0;   ///< elements stored by all its definitions
  std::int64_t scalars = 0;  ///< of those the floats stored one at a time
  std::int64_t points = 0;   ///< elements that its pure definition computed
  /// Elements of the box on which the outputs need it; nullopt: nothing needs it.
  std::optional<std::int64_t> needed;
  /// points / needed: how many times over it was computed. Below 1 where not all of the box is used.
  double times_over() const {
    return needed && *needed > 0 ? static_cast<double>(points) / static_cast<double>(*needed) : 0;
  }
  std::vector<std::string> warnings;
};

/// A call whose code measured itself.
struct Profile {
  double call_seconds = 0;     ///< the call as its caller sees it
  double thread_seconds = 0;   ///< of all threads in all Funcs
  double waiting_seconds = 0;  ///< of threads that waited for others at the end of parallel loops
  std::int64_t clock_starts = 0;
  double clock_share = 0;            ///< about how much of thread_seconds starting and stopping clocks took
  std::size_t threads = 0;           ///< that took part
  int calls = 0;                     ///< that were made; these are the figures of the fastest
  std::vector<FuncProfile> funcs;    ///< in the order in which they are computed
  std::vector<std::string> inlined;  ///< Funcs without cost of their own
};

/// Compiles the schedule with meters and calls it several times with the arguments; `outputs` are as those of
/// an ordinary call, and get the same values. `scheduled` is for the host: Error(Usage) for another target.
/// Other errors as of compile and call. `cache_bytes` is the size of the last-level cache, by which large
/// stages are told; 0: what the system says.
Profile profile(const lang::Graph& algorithm, const schedule::Scheduled& scheduled,
                const StageArguments& arguments, const std::vector<Buffer>& outputs,
                std::int64_t cache_bytes = 0);

}  // namespace calotype::driver
