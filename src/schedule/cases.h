#pragma once
// Which case of a schedule file a call takes: by the needs of its template, then by the sizes of the call and
// by how its buffers lie.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calotype/schedule_file.h"
#include "lang/graph.h"

namespace calotype::schedule {

/// Named sizes of a call.
using CaseSizes = std::map<std::string, std::int64_t>;

/// A buffer of a call.
struct CaseBuffer {
  std::vector<std::int64_t> extents, strides;  ///< strides in bytes
  std::int64_t element = 1;                    ///< its size in bytes
  /// Of the element at the smallest coordinates; none: of a copy that is made as the kernel wants it.
  std::optional<std::uint64_t> address;
};
/// Those of a call, by name.
using CaseBuffers = std::map<std::string, CaseBuffer>;

/// By position in ScheduleFile::cases the buffers that the case copies boxes of.
using CaseTensors = std::map<std::size_t, std::vector<std::string>>;
/// Of the cases of a variant whose schedules do.
CaseTensors tensors_of_cases(const lang::Graph& graph, const ScheduleFile& file, const FileVariant& variant,
                             const Target& target);

/// What of a form does not hold of a buffer, as "A.pitch is 20 bytes in dimension 1, not a multiple of 16
/// bytes", or "".
std::string misfit(const BufferForm& form, const CaseBuffer& buffer);

/// The cases of one variant of a file, in the order in which calls try them: narrowest intervals first, of
/// equal ones those that ask more of buffers, then the order of the file. Those whose needs the target does
/// not meet are left out.
class CaseOrder {
 public:
  /// Error(Target) if no case for all sizes is left.
  CaseOrder(const ScheduleFile& file, const FileVariant& variant, const Target& target,
            CaseTensors tensors = {});

  /// Positions in ScheduleFile::cases.
  const std::vector<std::size_t>& tried() const { return tried_; }
  std::size_t general() const { return tried_.back(); }
  /// The case that a call takes: where none fits, since its buffers are no tensors, the last, which says so.
  /// A size or buffer that is not given fits no condition on it.
  std::size_t choose(const CaseSizes& sizes, const CaseBuffers& buffers = {}) const;
  /// A line a case of the variant, in the order of the file: the case, and that it is taken, or the first key
  /// of it that does not fit.
  std::string explain(const CaseSizes& sizes, const CaseBuffers& buffers = {}) const;
  /// The sizes that conditions name.
  std::vector<std::string> sizes() const;
  /// The buffers.
  std::vector<std::string> buffers() const;

 private:
  bool fits(std::size_t index, const CaseSizes& sizes, const CaseBuffers& buffers) const;
  std::string misfit(std::size_t index, const CaseSizes& sizes, const CaseBuffers& buffers) const;

  const ScheduleFile& file_;
  const CaseTensors tensors_;
  std::vector<std::size_t> all_, tried_;
  std::map<std::size_t, std::string> unmet_;  ///< of cases left out: the need
};

/// "case 1: M 64 to 128, A dense; template small; B=8", or "all sizes".
std::string case_text(const ScheduleFile& file, std::size_t index);

}  // namespace calotype::schedule
