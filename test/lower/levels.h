#pragma once
// Small pipelines, their text at the levels of lowering, and the passes run up to a point.

#include <gtest/gtest.h>

#include <string>

#include "calotype/calotype.h"
#include "lower/lower.h"

namespace calotype::test {

/// out(x, y) = up(x, y) + up(x, y + 1) + up(x, y + 2) with up = in * 2, on an input of two rows more.
Pipeline chain();
/// out(x) = edged(x - 1) + edged(x) + edged(x + 1) with edged = in, repeated at its edges.
Pipeline edges();
/// out(y) = sum of row y.
Pipeline row_sums();

inline const Target gpu = Target::interpreter("sm_90a");

/// The text of one level, after a line end so that it compares with a raw string.
std::string level(const Pipeline& pipeline, const Schedule& schedule, const std::string& name,
                  const Target& target = Target::host());
/// The first host function or kernel alone, without its head.
std::string body(const Pipeline& pipeline, const Schedule& schedule, const Target& target = Target::host());

lower::Program lowered(const Pipeline& pipeline, const Schedule& schedule, const Target& target,
                       int index_bits = 64);

/// The loop tree with every pass on it done, and the statements made of it.
struct Emitted {
  lower::LoopTree tree;
  std::vector<lower::Unit> units;
};
Emitted emitted(const Pipeline& pipeline, const Schedule& schedule, const Target& target = Target::host());

/// How many loops of the binding are in the statement.
int count_loops(const ir::Stmt& s, ir::Binding binding);

}  // namespace calotype::test
