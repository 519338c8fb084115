#pragma once
// How the buffers of a call lie, before any kernel is chosen.

#include <span>
#include <string>
#include <vector>

#include "calotype/kernel.h"
#include "lang/graph.h"
#include "schedule/cases.h"

namespace calotype::driver {

class BufferReader {
 public:
  /// For the inputs and outputs of these names.
  BufferReader(const lang::Graph& graph, const std::vector<std::string>& names, const Target& target);

  /// By name. An argument that is not as the algorithm says is left out: the kernel that is called says what
  /// is wrong.
  schedule::CaseBuffers read(std::span<const Arg> args) const;

 private:
  struct Source {
    std::string name;
    std::size_t argument = 0;
  };
  std::vector<Source> sources_;
  bool copies_;  ///< host memory is copied to where the kernel runs
};

/// A buffer as a call of this target sees it.
schedule::CaseBuffer case_buffer(const Buffer& buffer, bool copied);

}  // namespace calotype::driver
