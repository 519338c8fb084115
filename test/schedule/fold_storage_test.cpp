// fold_storage.
#include "helpers.h"

namespace calotype::test {

Schedule rows() {
  Schedule s;
  s["by"].serial("y");
  s["bx"].store_root().compute_at("by", "y");
  return s;
}

TEST(FoldStorage, IsRecorded) {
  Schedule s = rows();
  s["bx"].fold_storage("y", 3);
  const auto applied = apply(blur(), s);
  const auto& folds = applied.of(applied.graph.find_func("bx")->id).storage.folds;
  ASSERT_EQ(folds.size(), 1u);
  EXPECT_EQ(folds[0].dim, 1);
  EXPECT_EQ(folds[0].value, 3);
  EXPECT_TRUE(s.check(blur()).empty());
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "fold_storage", "dim": "y", "extent": 3 })",
                  R"(s["bx"].fold_storage("y", 3);)");
}

TEST(FoldStorage, IsRefused) {
  Schedule output, unknown, twice = rows(), unstored;
  output["by"].fold_storage("y", 3);
  expect_refused(blur(), output, {"'by' is an output"});
  unknown["bx"].store_root().compute_at("by", "y").fold_storage("z", 3);
  expect_refused(blur(), unknown, {"'bx' has no coordinate 'z'"});
  twice["bx"].fold_storage("y", 3).fold_storage("y", 4);
  expect_refused(blur(), twice, {"'y' has one already"});
  unstored["bx"].compute_at("by", "y").fold_storage("y", 3);
  expect_refused(blur(), unstored,
                 {"'bx' is stored where it is computed, so there is nothing to fold", "store_root"});
}

TEST(FoldStorage, OfLessThanIsAliveIsRefused) {
  Schedule small = rows(), other = rows();
  small["bx"].fold_storage("y", 2);
  expect_refused(blur(), small, {"3 are alive at once along 'y'", "at least 3"});
  other["bx"].fold_storage("x", 64);
  expect_refused(
      blur(), other,
      {"earlier iterations are kept along 'y', with all there is along 'x'", "fold_storage along 'y'"});
}

TEST(FoldStorage, OfAnUnboundedDimensionIsRefused) {
  Schedule s;
  s["by"].serial("y").reorder("y", "x");
  s["bx"].store_root().compute_at("by", "x").fold_storage("y", 16);
  expect_refused(blur(), s, {"along 'y'"});
}

}  // namespace calotype::test
