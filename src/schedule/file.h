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

/// What of the needs of templates a schedule shows before it is lowered, the threads of a block: of its ways
/// the one that asks for most.
std::vector<std::pair<std::string, std::int64_t>> needs_of(const Ways& ways);

/// Written beside the file and renamed, so that nobody reads half of it. Error(Usage) if that fails.
void write_atomically(const std::string& path, const std::string& text);
/// One directive as a line of a file, without the comma.
std::string json_line(const Directive& directive);
/// A case's condition on a size as its value in a file: `64`, `[64, null]`, `"multiple 16"`.
std::string json_value(const SizeRange& range);
/// A case's conditions on a buffer as members of its `when`: "A": "dense", "A.pitch": "multiple 16 bytes",
/// "A.base": "aligned 64 bytes".
std::vector<std::pair<std::string, std::string>> json_members(const BufferForm& form);
/// What the directives and knobs of a case are told apart by: "t1:" and 16 hex digits.
std::string template_hash(const Schedule& schedule);

/// How many directives at the end of ScheduleFile::schedule stand for the conditions of a case.
inline std::size_t condition_count(const std::vector<SizeRange>& when,
                                   const std::vector<BufferForm>& buffers) {
  return when.size() + buffers.size();
}
/// Whether two cases of a variant are for the same calls.
bool same_conditions(const FileCase& a, const FileCase& b);
/// Whether a case is for all sizes and buffers.
inline bool for_all_calls(const FileCase& c) { return c.when.empty() && c.buffers.empty(); }

/// The `assume` that stands for a condition of a case.
Directive assume_directive(const SizeRange& range);
/// The `assume_buffer` that says a form.
Directive assume_buffer_directive(const BufferForm& form);

}  // namespace calotype::schedule
