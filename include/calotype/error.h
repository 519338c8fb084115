#pragma once
// Errors and diagnostics: what a refusal says, in C++ and on the command line.

#include <stdexcept>
#include <string>
#include <vector>

namespace calotype {

enum class ErrorKind {
  Usage,      ///< a call of the API or command line that cannot be right; bad files (exit code 2)
  Algorithm,  ///< a definition that is not legal: undefined Func, cycle, wrong rank or type
  Schedule,   ///< a directive that is not legal for this algorithm or target
  Argument,   ///< a buffer or Param of a call that does not fit
  Target,     ///< a target that cannot run here (exit code 3)
  Internal,   ///< a broken invariant of the library (exit code 4)
  Memory,     ///< a call that needs more memory than there is, of the host or the device (exit code 2)
};

/// "usage", "algorithm", "schedule", "argument", "target", "internal", "memory".
const char* to_string(ErrorKind kind);

/// What a name in a refusal is.
enum class Subject { Func, Input, Param, Size, Pipeline };

/// "Func", "Input", "Param", "Size", "Pipeline".
const char* to_string(Subject subject);

/// One refusal. Members that do not apply are empty. `str()` is the text a user reads:
/// message, then the place, then what would be legal.
struct Diagnostic {
  ErrorKind kind = ErrorKind::Internal;
  Subject subject = Subject::Func;  ///< what `func` names
  std::string message;              ///< one sentence
  std::string func;                 ///< the Func concerned, or what `subject` says
  std::string stage;                ///< the stage, as `acc.update(0)`
  std::string directive;            ///< the directive with its position, as `#3 split(x, xo, xi, 0)`
  std::string value;                ///< the offending value
  std::string legal;                ///< what would be legal, with the nearest names ("did you mean")

  std::string str() const;
};

/// Thrown by definition, compile and call. Nothing is left half changed.
class Error : public std::runtime_error {
 public:
  explicit Error(Diagnostic diagnostic);
  const Diagnostic& diagnostic() const { return diagnostic_; }
  ErrorKind kind() const { return diagnostic_.kind; }

 private:
  Diagnostic diagnostic_;
};

/// The names of `candidates` nearest to `name` by edit distance, at most `most`, for "did you mean".
std::vector<std::string> nearest_names(const std::string& name, const std::vector<std::string>& candidates,
                                       std::size_t most = 3);
/// "did you mean 'a' or 'b'?" from `nearest_names`, or "one of: a, b, c" when nothing is near; "" without
/// candidates.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates);

}  // namespace calotype
