#pragma once
// Directives that belong together on a GPU: one alone is refused, or does nothing, where the others are
// missing, so that proposers of single directives hardly ever come by them.

#include <string>
#include <vector>

#include "fuzz/draft.h"

namespace calotype::fuzz {

class KernelShape;

struct Recipe {
  const char* name;
  int weight;
  /// Records all directives of a kernel around some Func; false if one of those that it cannot do without is
  /// refused.
  bool (*draw)(Draft&);
};

const std::vector<Recipe>& recipes();

/// Makes a copy of what is in global memory for `reader` and shapes its loops for who carries it. The loop is
/// one of the kernel's.
bool stage_a_copy(Draft& d, KernelShape& kernel, const std::string& source, schedule::FuncId reader,
                  const std::string& loop, Copy how);

}  // namespace calotype::fuzz
