#pragma once
// How many blocks of a kernel a multiprocessor has room for.

#include <cstdint>
#include <string>

#include "calotype/target.h"

namespace calotype::driver {

struct Occupancy {
  std::int64_t blocks = 0;
  std::string limited_by;  ///< "threads", "shared memory" or "blocks": which of them is used up first
};

/// By the CUDA C++ Programming Guide, technical specifications per compute capability: threads, shared memory
/// (of which each block takes 1 KB more than it asks for) and blocks. Registers are not looked at: only the
/// assembler knows them. Of a target that names no architecture: that of sm_90a.
Occupancy occupancy(const Target& target, std::int64_t threads, std::int64_t shared_bytes);

}  // namespace calotype::driver
