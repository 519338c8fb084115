#pragma once
// ScheduleFile: what a schedule file holds, as a value: an operator's variants (a variant is the algorithm
// for some element types), templates (lists of directives) and cases (which template, with which knobs, for
// which sizes). docs/schedule_files.md describes the text.
//
//   ScheduleFile file("matmul", Target::host());
//   file.add(matmul, small, {.when = {{.size = "M", .low = 1, .high = 64}}, .template_name = "small"});
//   file.add(matmul, general);                       // the last case of a variant is for all sizes
//   Kernel kernel = matmul.compile(file, Target::host());   // each call takes the case that fits it

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calotype/schedule.h"
#include "calotype/size_range.h"
#include "calotype/target.h"

namespace calotype {

namespace schedule {
struct FileSource;
class FileReader;

/// An algorithm by its structure, and the names bound to it: depth first from the outputs, operands left to
/// right.
struct FileVariant {
  std::string name;
  std::string structure;  ///< Pipeline::fingerprint
  std::vector<std::string> inputs;
  std::vector<std::pair<std::string, std::vector<std::string>>> funcs;  ///< each with its loops
};

struct FileTemplate {
  std::string name;
  /// Of a device: "threads" a block, "shared_kb" of shared memory a block.
  std::vector<std::pair<std::string, std::int64_t>> needs;
  std::vector<Directive> directives;
};

struct FileCase {
  std::string variant;
  std::vector<SizeRange> when;      ///< empty: all sizes
  std::vector<BufferForm> buffers;  ///< empty: however they lie
  std::string template_name;
  std::vector<Knob> knobs;
  std::string measured;  ///< a JSON object as text, or empty
};

/// What the cases of a file let the compiler do to float results.
struct FileNumerics {
  std::vector<std::string> reassociates;
  bool contract = true;
};

/// How `ScheduleFile::add` names what it adds. Empty: the variant that has the algorithm's structure already,
/// or the element types of its inputs; the template that has the same directives, or "main", or the variant's
/// name. Each buffer stands in `buffers` once.
struct NewCase {
  std::vector<SizeRange> when = {};
  std::vector<BufferForm> buffers = {};
  std::string variant = {};
  std::string template_name = {};
  std::string measured = {};
};

}  // namespace schedule

class ScheduleFile {
 public:
  /// A file without cases.
  ScheduleFile(std::string operator_name, Target target);

  /// All or nothing, and by the text alone: every key, name, number and directive has its form, every variant
  /// ends with a case for all sizes, every template is used. Error(Usage) with file, line and JSON pointer.
  /// What the directives do to an algorithm is looked at by `check`.
  static ScheduleFile parse(const std::string& text, const std::string& file = "");
  static ScheduleFile load(const std::string& path);
  /// The same, then `check`.
  static ScheduleFile load(const std::string& path, const Pipeline& pipeline);

  /// The text in canonical order, one directive a line. A text that the library wrote, parsed, has the same
  /// bytes again.
  std::string str() const;
  /// Writes to a temporary file beside `path` and renames it. Error(Usage) if that fails, or if a variant
  /// does not end with a case for all sizes.
  void save(const std::string& path) const;

  const std::string& operator_name() const { return operator_name_; }
  const Target& target() const { return target_; }
  const std::vector<schedule::FileVariant>& variants() const { return variants_; }
  const std::vector<schedule::FileTemplate>& templates() const { return templates_; }
  const std::vector<schedule::FileCase>& cases() const { return cases_; }
  const schedule::FileNumerics& numerics() const { return numerics_; }
  /// A JSON object as text.
  const std::string& provenance() const { return provenance_; }
  void set_provenance(std::string json) { provenance_ = std::move(json); }

  /// The variant with the algorithm's structure; nullptr if there is none.
  const schedule::FileVariant* find_variant(const Pipeline& pipeline) const;
  /// The same. Error(Usage): no variant has it (lists those there are), or its names differ (prints the
  /// renaming).
  const schedule::FileVariant& variant(const Pipeline& pipeline) const;
  /// Positions in `cases` of a variant's cases, in the order of the file.
  std::vector<std::size_t> cases_of(const schedule::FileVariant& variant) const;

  /// What a case says: the directives of its template, its knobs, and an `assume` for each size of its
  /// `when` and an `assume_buffer` for each buffer.
  Schedule schedule(std::size_t case_index) const;

  /// Whether every case of the algorithm's variant is legal for it on the file's target and names only sizes
  /// and buffers that it has, and whether `needs` and `numerics` hold all that these cases do. The first
  /// fault is thrown as Error with its place. A file of one variant must list no more in `numerics` than it
  /// does.
  void check(const Pipeline& pipeline) const;

  /// Adds a case, before the cases of its variant that are for all sizes if it is not; one with the same
  /// `when` is replaced. Writes the variant, the template, its needs and numerics. Error: the schedule is not
  /// legal, or a name is taken by something else.
  void add(const Pipeline& pipeline, const Schedule& schedule, const schedule::NewCase& as = {});

  /// Gives a variant that has the algorithm's structure the algorithm's names, in all that refers to them.
  /// Returns the renaming, as "X -> A"; empty if the names are the algorithm's already. Error(Usage): no
  /// variant has the structure, or the result is not legal.
  std::vector<std::string> rebind(const Pipeline& pipeline);

 private:
  friend class schedule::FileReader;
  std::string operator_name_;
  Target target_;
  std::vector<schedule::FileVariant> variants_;
  std::vector<schedule::FileTemplate> templates_;
  std::vector<schedule::FileCase> cases_;
  schedule::FileNumerics numerics_;
  std::string provenance_;
  std::shared_ptr<const schedule::FileSource> source_;  ///< of a file that was read: places for messages
};

}  // namespace calotype
