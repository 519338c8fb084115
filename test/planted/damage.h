#pragma once
// Correct lowered programs, damaged in one place: what the simulator has to find.

#include <optional>
#include <string>
#include <vector>

#include "lower/program.h"

namespace calotype::test {

enum class Damage {
  DropBarrier,   ///< of a block or cluster
  DropWait,      ///< for copies, or for the slot of a ring
  DropArrival,   ///< at the slot of a ring
  WaitTwice,     ///< for the slot of a ring: for the phase behind the one that is meant
  WaitForLess,   ///< for copies but one more of the latest groups
  DropFence,     ///< of bulk copies, at a barrier
  FewerBytes,    ///< that the blocks of a cluster are said to send
  ShorterCopy,   ///< a row, by one element; a box, by one of its last dimension
  OtherSwizzle,  ///< of a box, as its readers do not expect it
  ShiftedLoads,  ///< of shared memory, in one statement, by one element
  ShiftedStore,  ///< to shared memory, by one element
  FartherStore,  ///< to memory of the call, by as many elements as the buffer could have
};
const std::vector<Damage>& all_damages();
std::string to_string(Damage damage);
/// Whether a GPU can show anything of it but a hang: kernels whose blocks are said to send fewer bytes wait
/// for ever, and a wait that is printed twice is for the same phase both times.
bool shows_on_gpu(Damage damage);

/// Whether a line is printed each time that the damaged place is passed.
enum class Passing { Silent, Printed };

/// The program with the damage at its `site`-th place, in the order of the text; nullopt: there are not so
/// many. No loads are shifted of storage of the Func `spared`.
std::optional<lower::Program> damaged(const lower::Program& program, Damage damage, int site,
                                      const std::string& spared, Passing passing);

}  // namespace calotype::test
