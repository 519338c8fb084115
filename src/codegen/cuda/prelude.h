#pragma once
// Device functions and types that kernels may need, printed before them if they do.

#include <set>
#include <string>

#include "calotype/type.h"

namespace calotype::cuda {

class Prelude {
 public:
  /// The helper of this name is needed, with those it rests on. Returns the name.
  const std::string& use(const std::string& name);
  /// The struct of `lanes` elements for wide accesses of `align` bytes: "f32x4", "f32x4_align8".
  std::string use_vector(Type element, int lanes, int align);
  /// The functions that load and store a `type` of C of 4, 8 or 16 bytes that is used once: the value does
  /// not stay in the first cache, and is the first to leave the second. Read-only is what no thread writes
  /// while the kernel runs.
  std::string use_streamed_load(const std::string& type, int bytes, bool read_only);
  std::string use_streamed_store(const std::string& type, int bytes);
  /// A function that is made for the kernel: its text, with @ as in that of helpers.
  void use_made(const std::string& text) { made_.insert(text); }
  /// Everything used, in a fixed order.
  std::string str() const;

 private:
  std::set<std::string> used_;
  std::set<std::string> vectors_;  // their definitions
  std::set<std::string> made_;     // functions, of theirs too
};

/// Names that kernels' own variables must not take.
bool is_reserved(const std::string& name);

}  // namespace calotype::cuda
