#pragma once
// Extern stages: Funcs whose values a function written elsewhere computes, a box at a time.

#include <string>

#include "calotype/runtime.h"

namespace calotype {

/// A function that computes a box of values: a sort, a transform of a library, a decoder.
///
/// It writes every element of each output buffer and reads of the inputs nothing but what `reads` of
/// Func::define_extern said for the elements of the box. The buffers have any strides, and may hold more than
/// is read: coordinates are those of the Funcs, `dims` says where they begin. It may be called for any box
/// with elements, for several at the same time (in parallel loops, and in calls of several threads) and for
/// one box more than once; its results depend on nothing but what it is given. It returns 0, or a number of
/// its own where it failed; an exception that leaves it counts as a failure.
struct ExternFunction {
  std::string name;  ///< for messages and fingerprints; names the same function wherever it is used
  calotype_extern_function function = nullptr;
  void* user = nullptr;  ///< passed on; outlives every call
};

}  // namespace calotype
