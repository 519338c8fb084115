#pragma once
// How many threads the host's parallel loops use.

namespace calotype::cli {

/// 0: as many as the machine has. Error(Usage) where the build has no CPU backend and so no such loops.
void set_threads(int count);

}  // namespace calotype::cli
