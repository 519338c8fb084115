#pragma once
// Which case of a schedule file a call takes: by the needs of its template, then by the sizes of the call.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "calotype/schedule_file.h"

namespace calotype::schedule {

/// Named sizes of a call.
using CaseSizes = std::map<std::string, std::int64_t>;

/// The cases of one variant of a file, in the order in which calls try them: narrowest intervals first, then
/// the order of the file. Those whose needs the target does not meet are left out.
class CaseOrder {
 public:
  /// Error(Target) if no case for all sizes is left.
  CaseOrder(const ScheduleFile& file, const FileVariant& variant, const Target& target);

  /// Positions in ScheduleFile::cases.
  const std::vector<std::size_t>& tried() const { return tried_; }
  std::size_t general() const { return tried_.back(); }
  /// The case that a call of these sizes takes. A size that is not given fits no condition on it.
  std::size_t choose(const CaseSizes& sizes) const;
  /// A line a case of the variant, in the order of the file: the case, and that it is taken, or the first key
  /// of it that does not fit.
  std::string explain(const CaseSizes& sizes) const;
  /// The sizes that conditions name.
  std::vector<std::string> sizes() const;

 private:
  const ScheduleFile& file_;
  std::vector<std::size_t> all_, tried_;
  std::map<std::size_t, std::string> unmet_;  ///< of cases left out: the need
};

/// "case 1: M 64 to 128; template small; B=8", or "all sizes".
std::string case_text(const ScheduleFile& file, std::size_t index);

}  // namespace calotype::schedule
