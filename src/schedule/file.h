#pragma once
// The schedule file: one variant, one template, one case. docs/schedule_files.md describes it.

#include <string>
#include <vector>

#include "calotype/schedule.h"
#include "lang/graph.h"

namespace calotype::schedule {

/// The number after "calotype_schedule" that this library writes, and the newest it reads.
inline constexpr int file_version = 1;
/// As in the project's CMakeLists.txt; written into provenance.
inline constexpr const char* library_version = "0.1.0";

/// The names of an algorithm in the order of its fingerprint: depth first from the outputs, operands left to
/// right.
struct Binding {
  struct Func {
    std::string name;
    std::vector<std::string> loops;  ///< coordinates, then the reduction loops of all updates
  };
  std::vector<std::string> inputs;
  std::vector<Func> funcs;
};
Binding bind_names(const lang::Graph& graph);

/// One directive as a line of a file, without the comma.
std::string json_line(const Directive& directive);

}  // namespace calotype::schedule
