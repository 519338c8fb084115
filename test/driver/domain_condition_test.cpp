// Conditions of reduction domains that read values: the parts that bound coordinates are tested first, so
// that nothing is read where they do not hold.

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

/// Sums the positive elements of rows of N, over a domain that is longer.
Pipeline positive_sums() {
  Dim N("N"), M("M");
  ImageParam in(Int(32), {N, M}, "in");
  Var y("y");
  RDom r(0, N + 37, "r");
  r.where(r < N && in(r, y) > 0);
  Func sum("sum");
  sum(y) = 0;
  sum(y) += in(r, y);
  return Pipeline("positive_sums", {in}, {Output(sum, {M})});
}

/// The same of every row, over exactly its elements.
Pipeline positive_row_sums() {
  Dim N("N"), M("M");
  ImageParam in(Int(32), {N, M}, "in");
  Var y("y");
  RDom r(0, N, "r");
  r.where(in(r, y) > 0);
  Func sum("sum");
  sum(y) = 0;
  sum(y) += in(r, y);
  return Pipeline("positive_row_sums", {in}, {Output(sum, {M})});
}

void expect_right(const Pipeline& p, const Schedule& s, const Target& target) {
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 2}, {10, 5}, {64, 9}})
    testing::expect_matches(p, s, target, {random_buffer(Int(32), {n, m}, 7)}, {Buffer(Int(32), {m})});
}

TEST(DomainCondition, ReadsOnlyWhereItsOtherPartsHold) {
  for (const Target& target : testing::targets()) expect_right(positive_sums(), {}, target);
}

TEST(DomainCondition, OfAnRfactorBoundsWhatItReads) {
  for (const Target& target : testing::targets()) {
    Schedule s;
    s["sum"].update(0).split("r", "ro", "ri", 8).rfactor({{"ri", "q"}}, "part");
    if (target.is_gpu()) {
      s["sum"].update(0).gpu_blocks("y");
      s["part"].gpu_blocks("q");
      s["part"].update(0).gpu_blocks("y", "q");
    } else {
      s["part"].update(0).vectorize("q", 4).parallel("y");
    }
    expect_right(positive_row_sums(), s, target);
  }
}

/// Lanes that the condition leaves out read nothing either.
TEST(DomainCondition, OfLanes) {
  for (const Target& target : testing::targets()) {
    if (target.is_gpu()) continue;
    Schedule s;
    s["sum"].update(0).vectorize("r", 8);
    expect_right(positive_sums(), s, target);
    expect_right(positive_row_sums(), s, target);
  }
}

}  // namespace
}  // namespace calotype
