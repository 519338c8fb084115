#pragma once
// What the parts that read, bind, write and edit schedule files share. docs/schedule_files.md describes the
// text, calotype/schedule_file.h the value.

#include <string>
#include <vector>

#include "calotype/schedule_file.h"
#include "lang/graph.h"
#include "schedule/json_tree.h"
#include "schedule/ways.h"

namespace calotype::schedule {

/// The number after "calotype_schedule" that this library writes, and the newest it reads.
inline constexpr int file_version = 1;
/// As in the project's CMakeLists.txt; written into provenance.
inline constexpr const char* library_version = "0.1.0";
/// No schedule file is larger. Thousands of cases fit.
inline constexpr std::size_t largest_file = std::size_t{2} << 20;

/// Where the parts of a file that was read stand, for messages.
struct FileSource {
  JsonSource source;
  JsonNode root;

  /// The node at a path of keys and positions, or the last one on the way that is there.
  const JsonNode& node(const std::vector<std::string>& path) const;
};

/// The bytes of a file, or of one that is too large the first ones: more than `largest_file`, which `parse`
/// refuses. Error(Usage) if it cannot be read.
std::string read_schedule_text(const std::string& path);

/// The names of an algorithm in the order of its fingerprint: depth first from the outputs, operands left to
/// right. `name` is the variant's.
FileVariant bind_names(const lang::Graph& graph, const std::string& name = "");
/// "X -> A" for each name of the variant that is another one in the algorithm, whose structure is the same.
std::vector<std::string> renaming(const FileVariant& variant, const FileVariant& algorithm);

/// What a schedule asks of a device, as templates list it: of its ways the one that asks for most.
std::vector<std::pair<std::string, std::int64_t>> needs_of(const Ways& ways);

/// One directive as a line of a file, without the comma.
std::string json_line(const Directive& directive);
/// A case's condition on a size as its value in a file: `64`, `[64, null]`, `"multiple 16"`.
std::string json_value(const SizeRange& range);
/// What the directives and knobs of a case are told apart by: "t1:" and 16 hex digits.
std::string template_hash(const Schedule& schedule);

/// The `assume` that stands for a condition of a case.
Directive assume_directive(const SizeRange& range);

}  // namespace calotype::schedule
