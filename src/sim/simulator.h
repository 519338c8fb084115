#pragma once
// The simulator of lowered GPU programs: runs a kernel on the host, warp by warp in a seeded random order,
// and reports what a GPU would do wrong without saying so: races, missing barriers, accesses outside a
// buffer, reads of memory that nobody wrote.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calotype/verification.h"
#include "lower/program.h"

namespace calotype::sim {

struct Options {
  std::uint64_t seed = 1;  ///< of the order of blocks and warps
  bool detect = true;      ///< races and uninitialised reads of shared memory; the rest is always found
  std::int64_t max_findings = 20;  ///< places reported; more are only counted
  std::int64_t max_steps =
      1 << 30;  ///< instructions of warps, so that a loop that is too long ends with a finding
  bool random_landing = false;  ///< see VerifyOptions
  /// Findings have both accesses of a conflict: where there is one the launch is run once more.
  bool explain = true;
  bool figures = false;  ///< Report::stages
};

/// Host memory that stands for the memory behind one pointer argument. `data` is what the kernel is given
/// (the element of smallest coordinates); the bytes from data + low up to data + high are legal, and low is
/// negative where a stride is.
struct Memory {
  void* data = nullptr;
  std::int64_t low = 0, high = 0;
};

/// Host memory that stands for a tensor of which boxes are copied.
struct Tensor {
  Memory memory;
  std::vector<std::int64_t> extents,
      strides;  ///< strides in bytes; of the first dimension it does not matter
};

/// One launch; `scalars`, `buffers` and `tensors` follow those of the Function. Integers are sign- or
/// zero-extended, floats are the bits of their own width in the low part (as in the runtime's arguments).
struct Launch {
  std::array<std::int64_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::vector<std::int64_t> scalars;
  std::vector<Memory> buffers;
  std::vector<Tensor> tensors = {};
  /// Takes the lines that the kernel prints, as for calotype_print; null: they are dropped.
  std::function<void(const char* text, const std::int64_t* values, const char* kinds)> print = {};
};

struct Report {
  std::vector<Finding> findings;                     ///< in the order in which they were seen
  std::int64_t dropped = 0;                          ///< places beyond max_findings
  std::int64_t blocks = 0, barriers = 0;             ///< barriers: completed by a whole block
  std::int64_t loads = 0, stores = 0;                ///< elements, of all threads
  std::map<std::string, std::int64_t> instructions;  ///< executed by warps, by kind
  std::vector<StageFigures> stages;                  ///< with Options::figures, in the order of the code
  bool clean() const { return findings.empty(); }
};

/// The findings one a line, then the counters.
std::string to_string(const Report& report);

struct Code;

/// A kernel compiled to the simulator's code once, to be run any number of times, by several threads at a
/// time if they like. Throws Error(Internal) for a body that breaks the promises of level `lowered`.
class Kernel {
 public:
  explicit Kernel(const lower::Function& function);
  /// Throws Error(Internal) where the launch does not fit the function; what the program does wrong is a
  /// finding.
  Report run(const Launch& launch, const Options& options = {}) const;

 private:
  std::shared_ptr<const Code> code_;
};

}  // namespace calotype::sim
