#pragma once
// What a refusal must say, member by member, and the pipeline on which most of them are tried.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "calotype/calotype.h"

namespace calotype::test {

/// The members of a Diagnostic. `message` and `legal` are parts of its text; the others are the whole.
struct Refusal {
  ErrorKind kind;
  std::string message;
  std::string func = {};
  std::string directive = {};
  std::string value = {};
  std::vector<std::string> legal;
};

void expect_refusal(const Diagnostic& found, const Refusal& expected);
/// What is run throws an Error, and it is that refusal.
void expect_refused(const std::function<void()>& run, const Refusal& expected);

/// A schedule of `sample` that must be refused.
struct ScheduleRow {
  const char* what;
  void (*edit)(Schedule&);
  Refusal refusal;
};
/// `check` and `compile` say the same of each; the schedules and the pipeline are as before.
void expect_refused_schedules(const std::vector<ScheduleRow>& rows, const Target& target);

/// image -> rows -> scan, total -> out: a pure stage, an update whose order matters (three loops), a sum, and
/// an output that consumes them.
Pipeline sample();
/// `sample` computes what it should: nothing that was refused has changed it.
void expect_usable(const Pipeline& sample);

inline const Target gpu = Target::interpreter("sm_90a");

}  // namespace calotype::test
