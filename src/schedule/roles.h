#pragma once
// Roles of a kernel: which Funcs they belong to, and the registers that their threads begin with.

#include "schedule/state.h"

namespace calotype::schedule {

inline constexpr std::int64_t kRegisterStep = 8, kMostRegisters = 256;  ///< of a thread

/// The Func at root in whose loops this one is computed.
FuncId outermost(const Scheduled& scheduled, FuncId func);
/// Positions of the roles whose Funcs are computed by the kernel of that Func at root.
std::vector<std::size_t> roles_of(const Scheduled& scheduled, FuncId root);
/// Registers of a thread as a kernel with one block on a multiprocessor begins: of the 65536 that there are,
/// in steps of 8 (CUDA C++ Programming Guide, technical specifications per compute capability).
std::int64_t registers_at_first(std::int64_t threads);
/// After the defaults: the Funcs of a role are parts of one block, all of whose work is some role's, and the
/// block has the warps and registers.
void check_roles(State& state);

}  // namespace calotype::schedule
