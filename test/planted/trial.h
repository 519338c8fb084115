#pragma once
// Running damaged programs: what the simulator finds in them, and whether they give what they should.

#include <string>
#include <vector>

#include "driver/executable.h"
#include "planted/damage.h"
#include "planted/subject.h"

namespace calotype::test {

/// A program with its arguments and what they are to give.
class Trial {
 public:
  explicit Trial(const Subject& subject);

  /// Lowered for sm_90a.
  const lower::Program& program() const;

  /// Runs a program, damaged or not, with poison in the outputs. std::runtime_error if the call fails.
  void run(const lower::Program& program, const driver::Executable& executable,
           const driver::CallMode& mode = {});
  /// Whether the outputs of the latest run are those of the reference.
  bool is_equal() const;

  /// The kinds of what the simulator finds in a program, each once, "wrong result" among them.
  std::vector<std::string> kinds(const lower::Program& program);

 private:
  Trial(const Subject& subject, const Scheduled& scheduled);

  Pipeline pipeline_;
  Kernel kernel_;
  cli::Call call_;
  Evaluation reference_;
};

/// A damaged place, and what the simulator finds there.
struct Planted {
  Damage damage;
  int site;
  bool passed;  ///< else it is the same program on this input
  std::vector<std::string> kinds;
};
/// Every damage of one program, one at a time.
std::vector<Planted> plant_all(const Subject& subject, Trial& trial);

}  // namespace calotype::test
