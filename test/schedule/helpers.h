#pragma once
// Small algorithms and checks that the tests of schedules share.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calotype/pipeline.h"
#include "calotype/schedule.h"
#include "lang/graph.h"
#include "schedule/scheduled.h"

namespace calotype::test {

/// by <- bx <- image: a blur of 3 in x, then of 3 in y, on an image of W + 2 by H + 2.
Pipeline blur();

/// C = A * B, with the sum in acc.
Pipeline matmul(Type type = Float(32));

/// C = acc, acc(n, m) += A * B of bf16, summed in f32, both factors dense along what is summed.
Pipeline product();

/// product() in tiles of 64 x 64 x 64, from boxes in shared memory.
Schedule product_tiles();

/// hist(b): how often each value occurs in an image; the update scatters.
Pipeline histogram();

/// s(x, y) = s(x, y - 1) + s(x - 1, y): an update whose order matters in both dimensions of its domain.
Pipeline recurrence();

/// scan(x, y) sums a column up to y: pure in x, ordered in y.
Pipeline column_scan();

inline schedule::Scheduled apply(const Pipeline& p, const Schedule& s,
                                 const Target& target = Target::host()) {
  return schedule::apply_or_throw(p.graph(), s, target);
}

/// The present loops of a stage, innermost first, as "xi:vector".
std::vector<std::string> loops(const schedule::Scheduled& s, const std::string& func, int stage = 0);

/// The place where a Func is computed, as "inline", "root" or "by.y".
std::string place(const schedule::Scheduled& s, const schedule::Place& p);
inline std::string computed(const schedule::Scheduled& s, const std::string& func) {
  return place(s, s.of(s.graph.find_func(func)->id).compute);
}
inline std::string stored(const schedule::Scheduled& s, const std::string& func) {
  return place(s, s.of(s.graph.find_func(func)->id).store);
}

/// Exactly one diagnostic, of kind Schedule, whose text has every part.
void expect_refused(const Pipeline& p, const Schedule& s, const std::vector<std::string>& parts,
                    const Target& target = Target::host());

/// The directives are legal; the schedule's file gives it back, and writing that again gives the same bytes.
void expect_round_trip(const Pipeline& p, const Schedule& s, const Target& target = Target::host());

inline bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text + "\n").find("\n" + line + "\n") != std::string::npos;
}
/// The file has the directive spelled so, and `str()` the line of C++.
void expect_spelling(const Pipeline& p, const Schedule& s, const std::string& json, const std::string& cpp,
                     const Target& target = Target::host());

using Names = std::vector<std::string>;

inline const Target gpu = Target::interpreter();

/// blur in tiles of 32 by 8 threads.
Schedule tiled();

}  // namespace calotype::test
