// compute_inline.
#include "helpers.h"

namespace calotype::test {

TEST(ComputeInline, PutsTheFuncInline) {
  Schedule s;
  s["bx"].compute_inline();
  const auto applied = apply(blur(), s);
  EXPECT_EQ(computed(applied, "bx"), "inline");
  EXPECT_EQ(applied.of(applied.graph.find_func("bx")->id).compute_origin, "#1 compute_inline()");
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "compute_inline" })", R"(s["bx"].compute_inline();)");
}

TEST(ComputeInline, IsRefusedForUpdatesAndOutputs) {
  Schedule updates, output;
  updates["acc"].compute_inline();
  expect_refused(matmul(), updates, {"'acc' has updates", "#1 compute_inline()", "compute_root"});
  output["C"].compute_inline();
  expect_refused(matmul(), output, {"'C' is an output", "compute_root"});
}

TEST(ComputeInline, IsRefusedWhereLoopsOrStorageAreAddressed) {
  Schedule s;
  s["bx"].compute_inline();
  s["bx"].vectorize("x", 8);
  expect_refused(
      blur(), s,
      {"'bx' is inlined by #1 compute_inline()", "#2 vectorize(x, 8)", "compute_root or compute_at"});
}

TEST(ComputeInline, ADefaultInlineWithDirectivesSaysSo) {
  Schedule s;
  s["bx"].split("x", 8);
  expect_refused(blur(), s, {"'bx' is inlined by default", "#1 split(x, x.o, x.i, 8)"});
}

}  // namespace calotype::test
