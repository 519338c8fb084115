// How many threads the host's parallel loops use.
#include "cli/threads.h"

#ifdef CALOTYPE_HAS_LLVM
#include "codegen/llvm/hooks.h"
#endif
#include "cli/usage.h"

namespace calotype::cli {

void set_threads(int count) {
#ifdef CALOTYPE_HAS_LLVM
  llvm_backend::set_threads(count);
#else
  if (count > 0) usage_error("this build has no CPU backend, so no loop of the host runs on several threads");
#endif
}

}  // namespace calotype::cli
